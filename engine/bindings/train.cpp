#include "train.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>

#include "arrays.hpp"
#include "second_order.hpp"
#include "together.hpp"

namespace rosenblatt {
namespace {

// One learner's pass over rows, ready to run part by part; the arrays are the caller's, kept alive and changed in place.
class Pass {
 public:
  // K weight rows: 1 with two classes, else one a class (class after class for dense rows, feature after feature for
  // sparse rows; the sums, the pocket and the variances likewise).
  Pass(const Rows& rows, const AnyLabels& y, std::optional<Input<double>> sample_weight,
       std::optional<Input<std::uint32_t>> order_index, const Floats& weights, Array<double> intercept,
       bool fit_intercept, const std::string& rule_name, double eta0, double beta, double C, double r,
       bool tie_positive, const std::string& keep, std::optional<Array<double>> sums,
       std::optional<Array<double>> intercept_sums, std::optional<Floats> pocket,
       std::optional<Array<double>> pocket_intercept, std::optional<Array<double>> pocket_mistakes,
       std::optional<Floats> variances, std::optional<Array<double>> intercept_variances, bool ratchet,
       Array<std::int64_t> counters, Array<double> mistake_weight)
      : order_(to_order(order_index, rows.count())), keeps_votes_(keep == "vote") {
    const std::int64_t K = static_cast<std::int64_t>(intercept.size());
    const std::int64_t size = K * rows.features();
    const Labels labels = to_labels(y, rows.count(), K);
    const double* s = sample_weight ? sample_weight->data() : nullptr;
    if (s) check_size(*sample_weight, rows.count(), "sample_weight");
    check_size(counters, sizeof(Counters) / sizeof(std::int64_t), "counters");
    check_size(mistake_weight, 1, "mistake_weight");
    if (sums) check_size(*sums, size, "sums");
    if (intercept_sums) check_size(*intercept_sums, K, "intercept_sums");
    for (const auto& owner : {nb::cast(rows), nb::cast(y), nb::cast(sample_weight), nb::cast(order_index),
                              nb::cast(weights), nb::cast(intercept), nb::cast(sums), nb::cast(intercept_sums),
                              nb::cast(pocket), nb::cast(pocket_intercept), nb::cast(pocket_mistakes),
                              nb::cast(variances), nb::cast(intercept_variances), nb::cast(counters),
                              nb::cast(mistake_weight)})
      owners_.push_back(owner);
    auto* counted = reinterpret_cast<Counters*>(counters.data());
    double* weighed = mistake_weight.data();

    std::visit(
        [&](const auto& view) {
          using View = std::decay_t<decltype(view)>;
          using T = typename View::Value;
          const Linear<View, true> model{floats<T>(weights, size, "weights"), intercept.data(), K, fit_intercept};
          bytes_a_row_ = view.values_a_row() * static_cast<std::int64_t>(sizeof(T));
          weight_bytes_ = size * static_cast<std::int64_t>(sizeof(T));

          const auto first_order = [&](const auto& step, auto kept) {
            run_ = [=, order = order_, &vote = vote_](Part part, Poll& poll) mutable {
              auto& held = [&]() -> auto& {
                if constexpr (std::is_same_v<decltype(kept), Vote*>) return vote;
                else return kept;
              }();
              if (K == 1)
                learn_binary(view, labels.signs, s, order, part, model, step, held, tie_positive, *counted, *weighed, poll);
              else
                learn_joint(view, labels.classes, s, order, part, model, step, held, *counted, *weighed, poll);
            };
          };
          const auto with_keep = [&](const auto& step) {
            if (keep == "last") {
              first_order(step, Last{});
            } else if (keep == "average" && sums && intercept_sums) {
              first_order(step, Average{sums->data(), fit_intercept ? intercept_sums->data() : nullptr, K});
            } else if (keep == "vote") {
              first_order(step, static_cast<Vote*>(nullptr));
            } else if (keep == "pocket" && pocket && pocket_intercept && pocket_mistakes) {
              check_size(*pocket_intercept, K, "pocket_intercept");
              check_size(*pocket_mistakes, 1, "pocket_mistakes");
              first_order(step, Pocket<T>{floats<T>(*pocket, size, "pocket"), pocket_intercept->data(),
                                          {pocket_mistakes->data(), ratchet}, model.weights, model.intercept, size, K});
            } else {
              throw nb::value_error("keep: must be last, average, vote or pocket, with its arrays");
            }
          };
          const auto second_order = [&] {
            if (!variances || !intercept_variances) throw nb::value_error("variances: AROW needs them");
            const bool average = keep == "average" && sums && intercept_sums;
            if (keep != "last" && !average) throw nb::value_error("keep: must be last or average, with its arrays");
            check_size(*intercept_variances, K, "intercept_variances");
            const SecondOrder<View> second{floats<T>(*variances, size, "variances"), intercept_variances->data(),
                                           average ? sums->data() : nullptr,
                                           average ? intercept_sums->data() : nullptr, r};
            run_ = [=, order = order_](Part part, Poll& poll) {
              if (K == 1)
                learn_binary(view, labels.signs, s, order, part, model, second, tie_positive, *counted, *weighed, poll);
              else
                learn_joint(view, labels.classes, s, order, part, model, second, *counted, *weighed, poll);
            };
          };
          if (rule_name == "AROW")
            second_order();
          else
            std::visit(with_keep, to_rule(rule_name, eta0, beta, C));
        },
        rows.view);
  }

  const Order& order() const { return order_; }
  std::int64_t bytes_a_row() const { return bytes_a_row_; }
  std::int64_t weight_bytes() const { return weight_bytes_; }
  void run(Part part, Poll& poll) { run_(part, poll); }

  // The list of updates so far, for keep="vote".
  nb::object updates() {
    if (!keeps_votes_) return nb::none();
    return nb::make_tuple(to_vector(std::move(vote_.rows)), to_vector(std::move(vote_.steps)),
                          to_vector(std::move(vote_.gains)), to_vector(std::move(vote_.loses)),
                          to_vector(std::move(vote_.survived)));
  }

 private:
  Order order_;
  bool keeps_votes_;
  std::int64_t bytes_a_row_ = 0, weight_bytes_ = 0;
  Vote vote_;
  std::function<void(Part, Poll&)> run_;
  std::vector<nb::object> owners_;
};

// Runs several passes over the same order side by side.
void run_passes(std::vector<Pass*> passes, std::optional<Array<std::uint8_t>> cancel) {
  if (passes.empty()) return;
  const Order order = passes[0]->order();
  for (const Pass* pass : passes)
    if (pass->order().index != order.index || pass->order().count != order.count)
      throw nb::value_error("passes: they must go over the same order of rows");
  Interrupt interrupt(cancel);
  {
    nb::gil_scoped_release release;
    run_together(passes, interrupt.poll());
  }
  interrupt.raise_if_stopped();
}

double count_mistakes_of(const Rows& rows, const AnyLabels& y, std::optional<Input<double>> sample_weight,
                         std::optional<Input<std::uint32_t>> order_index, const FloatsIn& weights,
                         Input<double> intercept, bool tie_positive) {
  const std::int64_t K = static_cast<std::int64_t>(intercept.size());
  const Labels labels = to_labels(y, rows.count(), K);
  const Order order = to_order(order_index, rows.count());
  const double* s = sample_weight ? sample_weight->data() : nullptr;
  if (s) check_size(*sample_weight, rows.count(), "sample_weight");
  constexpr double no_limit = std::numeric_limits<double>::infinity();
  Interrupt interrupt(std::nullopt);
  double found = 0;
  std::visit(
      [&](const auto& view) {
        using View = std::decay_t<decltype(view)>;
        Linear<View> model{floats<typename View::Value>(weights, K * view.features, "weights"), intercept.data(), K,
                           true};
        nb::gil_scoped_release release;
        found = K == 1 ? count_mistakes(view, labels.signs, s, order, model, tie_positive, no_limit, interrupt.poll())
                       : count_mistakes_joint(view, labels.classes, s, order, model, no_limit, interrupt.poll());
      },
      rows.view);
  interrupt.raise_if_stopped();
  return found;
}

}  // namespace

void bind_train(nb::module_& m) {
  m.attr("COUNTERS") = nb::make_tuple("seen", "mistakes", "updates", "survived", "run", "checked", "pocket_is_current",
                                      "pocket_run");
  nb::class_<Pass>(m, "Pass", "One learner's pass over rows, ready to run; the arrays are changed in place.")
      .def(nb::init<const Rows&, const AnyLabels&, std::optional<Input<double>>, std::optional<Input<std::uint32_t>>,
                    const Floats&, Array<double>, bool, const std::string&, double, double, double, double, bool,
                    const std::string&, std::optional<Array<double>>, std::optional<Array<double>>,
                    std::optional<Floats>, std::optional<Array<double>>, std::optional<Array<double>>,
                    std::optional<Floats>, std::optional<Array<double>>, bool, Array<std::int64_t>, Array<double>>(),
           "rows"_a, "y"_a.noconvert(), nb::kw_only(), "sample_weight"_a.noconvert().none(),
           "order"_a.noconvert().none(), "weights"_a.noconvert(), "intercept"_a.noconvert(), "fit_intercept"_a,
           "rule"_a, "eta0"_a, "beta"_a, "C"_a, "r"_a, "tie_positive"_a, "keep"_a, "sums"_a.noconvert().none(),
           "intercept_sums"_a.noconvert().none(), "pocket"_a.noconvert().none(),
           "pocket_intercept"_a.noconvert().none(), "pocket_mistakes"_a.noconvert().none(),
           "variances"_a.noconvert().none(), "intercept_variances"_a.noconvert().none(), "ratchet"_a,
           "counters"_a.noconvert(), "mistake_weight"_a.noconvert())
      .def("updates", &Pass::updates, "The list of updates if keep='vote', handed over.");
  m.def("run_passes", &run_passes, "passes"_a, "cancel"_a.noconvert().none() = nb::none(),
        "Run passes over the same order side by side, every block of rows read once for all of them.");
  m.def("count_mistakes", &count_mistakes_of, "rows"_a, "y"_a.noconvert(), nb::kw_only(), "sample_weight"_a.noconvert().none(),
        "order"_a.noconvert().none(), "weights"_a.noconvert(), "intercept"_a.noconvert(), "tie_positive"_a,
        "How many rows the weights get wrong, each counted with its sample weight; a score of 0 is wrong.");
}

}  // namespace rosenblatt
