#include "penalty.hpp"

#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>

#include "arrays.hpp"
#include "together.hpp"

namespace rosenblatt {
namespace {

// One learner's pass with a penalty, ready to run part by part; the arrays are the caller's, kept alive and changed in
// place.
class PenalisedPass {
 public:
  PenalisedPass(const Rows& rows, const AnyLabels& y, std::optional<Input<double>> sample_weight,
                std::optional<Input<std::uint32_t>> order_index, const Floats& weights, Array<double> intercept,
                bool fit_intercept, const std::string& rule_name, double eta0, double beta, double C, bool tie_positive,
                double shrink, double cut, Array<std::int64_t> as_of, std::optional<Array<double>> sums,
                std::optional<Array<double>> intercept_sums, Array<std::int64_t> counters, Array<double> mistake_weight)
      : order_(to_order(order_index, rows.count())), shrinking_(std::make_shared<Shrinking>(shrink, cut)) {
    const std::int64_t K = static_cast<std::int64_t>(intercept.size());
    const std::int64_t size = K * rows.features();
    const Labels labels = to_labels(y, rows.count(), K);
    const double* s = sample_weight ? sample_weight->data() : nullptr;
    if (s) check_size(*sample_weight, rows.count(), "sample_weight");
    check_size(counters, sizeof(Counters) / sizeof(std::int64_t), "counters");
    check_size(mistake_weight, 1, "mistake_weight");
    check_size(as_of, rows.features(), "as_of");
    if (sums) check_size(*sums, size, "sums");
    if (intercept_sums) check_size(*intercept_sums, K, "intercept_sums");
    if (sums.has_value() != intercept_sums.has_value()) throw nb::value_error("sums: they go with intercept_sums");
    for (const auto& owner : {nb::cast(rows), nb::cast(y), nb::cast(sample_weight), nb::cast(order_index),
                              nb::cast(weights), nb::cast(intercept), nb::cast(as_of), nb::cast(sums),
                              nb::cast(intercept_sums), nb::cast(counters), nb::cast(mistake_weight)})
      owners_.push_back(owner);
    auto* counted = reinterpret_cast<Counters*>(counters.data());
    double* weighed = mistake_weight.data();
    std::visit(
        [&](const auto& view, const auto& rule) {
          using View = std::decay_t<decltype(view)>;
          using T = typename View::Value;
          const Linear<View, true> model{floats<T>(weights, size, "weights"), intercept.data(), K, fit_intercept};
          const Penalised<T> penalised{*shrinking_, as_of.data(), sums ? sums->data() : nullptr,
                                       intercept_sums ? intercept_sums->data() : nullptr};
          bytes_a_row_ = view.values_a_row() * static_cast<std::int64_t>(sizeof(T));
          weight_bytes_ = size * static_cast<std::int64_t>(sizeof(T));
          run_ = [=, order = order_](Part part, Poll& poll) {
            if (K == 1)
              learn_binary(view, labels.signs, s, order, part, model, rule, penalised, tie_positive, *counted, *weighed,
                           poll);
            else
              learn_joint(view, labels.classes, s, order, part, model, rule, penalised, *counted, *weighed, poll);
          };
        },
        rows.view, to_rule(rule_name, eta0, beta, C));
  }

  const Order& order() const { return order_; }
  std::int64_t bytes_a_row() const { return bytes_a_row_; }
  std::int64_t weight_bytes() const { return weight_bytes_; }
  void run(Part part, Poll& poll) { run_(part, poll); }
  nb::object updates() const { return nb::none(); }

 private:
  Order order_;
  std::shared_ptr<Shrinking> shrinking_;
  std::int64_t bytes_a_row_ = 0, weight_bytes_ = 0;
  std::function<void(Part, Poll&)> run_;
  std::vector<nb::object> owners_;
};

void run_penalised(std::vector<PenalisedPass*> passes, std::optional<Array<std::uint8_t>> cancel) {
  for (const PenalisedPass* pass : passes)
    if (pass->order().index != passes[0]->order().index || pass->order().count != passes[0]->order().count)
      throw nb::value_error("passes: they must go over the same order of rows");
  Interrupt interrupt(cancel);
  {
    nb::gil_scoped_release release;
    run_together(passes, interrupt.poll());
  }
  interrupt.raise_if_stopped();
}

// Brings all weights (and sums) of K rows up to date; they lie feature after feature.
void settle(const Floats& weights, std::int64_t K, std::optional<Array<double>> sums, Array<std::int64_t> as_of,
            std::int64_t seen, double shrink, double cut) {
  const std::int64_t features = static_cast<std::int64_t>(as_of.size());
  if (sums) check_size(*sums, K * features, "sums");
  const Shrinking shrinking(shrink, cut);
  const auto bring = [&]<class T>(T* values) {
    const Penalised<T> penalised{shrinking, as_of.data(), sums ? sums->data() : nullptr, nullptr};
    for (std::int64_t j = 0; j < features; ++j) penalised.bring(values, j, j * K, 1, K, seen);
  };
  if (weights.dtype() == nb::dtype<float>())
    bring(floats<float>(weights, K * features, "weights"));
  else
    bring(floats<double>(weights, K * features, "weights"));
}

}  // namespace

void bind_penalty(nb::module_& m) {
  nb::class_<PenalisedPass>(m, "PenalisedPass",
                            "One learner's pass over rows with a penalty, ready to run; the arrays are changed in place.")
      .def(nb::init<const Rows&, const AnyLabels&, std::optional<Input<double>>, std::optional<Input<std::uint32_t>>,
                    const Floats&, Array<double>, bool, const std::string&, double, double, double, bool, double, double,
                    Array<std::int64_t>, std::optional<Array<double>>, std::optional<Array<double>>,
                    Array<std::int64_t>, Array<double>>(),
           "rows"_a, "y"_a.noconvert(), nb::kw_only(), "sample_weight"_a.noconvert().none(),
           "order"_a.noconvert().none(), "weights"_a.noconvert(), "intercept"_a.noconvert(), "fit_intercept"_a,
           "rule"_a, "eta0"_a, "beta"_a, "C"_a, "tie_positive"_a, "shrink"_a, "cut"_a, "as_of"_a.noconvert(),
           "sums"_a.noconvert().none(), "intercept_sums"_a.noconvert().none(), "counters"_a.noconvert(),
           "mistake_weight"_a.noconvert())
      .def("updates", &PenalisedPass::updates, "None: no vote is kept.");
  m.def("run_penalised", &run_penalised, "passes"_a, "cancel"_a.noconvert().none() = nb::none(),
        "Run penalised passes over the same order side by side, every block of rows read once for all of them.");
  m.def("settle", &settle, "weights"_a.noconvert(), nb::kw_only(), "K"_a, "sums"_a.noconvert().none(),
        "as_of"_a.noconvert(), "seen"_a, "shrink"_a, "cut"_a,
        "Bring all weights up to date, and the sums; they lie feature after feature.");
}

}  // namespace rosenblatt
