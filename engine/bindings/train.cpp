#include "train.hpp"

#include <cmath>

#include "arrays.hpp"

namespace rosenblatt {
namespace {

using AnyRule = std::variant<PerceptronRule, PassiveAggressiveRule>;

AnyRule to_rule(const std::string& name, double eta0, double beta, double C) {
  using Variant = PassiveAggressiveRule::Variant;
  if (name == "perceptron") return PerceptronRule(eta0, beta);
  if (name == "PA") return PassiveAggressiveRule{Variant::PA, C};
  if (name == "PA-I") return PassiveAggressiveRule{Variant::PA_I, C};
  if (name == "PA-II") return PassiveAggressiveRule{Variant::PA_II, C};
  throw nb::value_error("rule: must be perceptron, PA, PA-I or PA-II");
}

struct Labels {
  const std::int8_t* signs;      // two classes
  const std::int32_t* classes;  // more
};

using AnyLabels = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Labels to_labels(const AnyLabels& y, std::int64_t rows, std::int64_t K) {
  check_size(y, rows, "y");
  if (K == 1) {
    if (y.dtype() != nb::dtype<std::int8_t>()) throw nb::type_error("y: signs must be int8");
    return {static_cast<const std::int8_t*>(y.data()), nullptr};
  }
  if (y.dtype() != nb::dtype<std::int32_t>()) throw nb::type_error("y: classes must be int32");
  const auto* classes = static_cast<const std::int32_t*>(y.data());
  for (std::int64_t i = 0; i < rows; ++i)
    if (classes[i] < 0 || classes[i] >= K) throw nb::value_error("y: names a class that is not there");
  return {nullptr, classes};
}

// One pass over the rows. K weight rows: 1 with two classes, else one a class (class after class for dense rows,
// feature after feature for sparse rows; the sums and the pocket likewise). Returns the list of updates for keep="vote".
nb::object learn(const Rows& rows, const AnyLabels& y, std::optional<Input<double>> sample_weight,
                 std::optional<Input<std::uint32_t>> order_index, const Floats& weights, Array<double> intercept,
                 bool fit_intercept, const std::string& rule_name, double eta0, double beta, double C,
                 bool tie_positive, const std::string& keep, std::optional<Array<double>> sums,
                 std::optional<Array<double>> intercept_sums, std::optional<Floats> pocket,
                 std::optional<Array<double>> pocket_intercept, std::optional<Array<double>> pocket_mistakes,
                 bool ratchet, Array<std::int64_t> counters, Array<double> mistake_weight,
                 std::optional<Array<std::uint8_t>> cancel) {
  const std::int64_t K = static_cast<std::int64_t>(intercept.size());
  const std::int64_t size = K * rows.features();
  const Labels labels = to_labels(y, rows.count(), K);
  const Order order = to_order(order_index, rows.count());
  const AnyRule rule = to_rule(rule_name, eta0, beta, C);
  const double* s = sample_weight ? sample_weight->data() : nullptr;
  if (s) check_size(*sample_weight, rows.count(), "sample_weight");
  check_size(counters, sizeof(Counters) / sizeof(std::int64_t), "counters");
  check_size(mistake_weight, 1, "mistake_weight");
  auto& counted = *reinterpret_cast<Counters*>(counters.data());
  Interrupt interrupt(cancel);
  Vote vote;

  std::visit(
      [&](const auto& view) {
        using View = std::decay_t<decltype(view)>;
        using T = typename View::Value;
        Linear<View, true> model{floats<T>(weights, size, "weights"), intercept.data(), K, fit_intercept};
        const auto run = [&](auto& kept) {
          nb::gil_scoped_release release;
          std::visit(
              [&](const auto& r) {
                if (K == 1)
                  learn_binary(view, labels.signs, s, order, model, r, kept, tie_positive, counted,
                               *mistake_weight.data(), interrupt.poll());
                else
                  learn_joint(view, labels.classes, s, order, model, r, kept, counted, *mistake_weight.data(),
                              interrupt.poll());
              },
              rule);
        };
        if (keep == "last") {
          Last last;
          run(last);
        } else if (keep == "average" && sums && intercept_sums) {
          check_size(*sums, size, "sums");
          check_size(*intercept_sums, K, "intercept_sums");
          Average average{sums->data(), fit_intercept ? intercept_sums->data() : nullptr, K};
          run(average);
        } else if (keep == "vote") {
          run(vote);
        } else if (keep == "pocket" && pocket && pocket_intercept && pocket_mistakes) {
          check_size(*pocket_intercept, K, "pocket_intercept");
          check_size(*pocket_mistakes, 1, "pocket_mistakes");
          Pocket<T> held{floats<T>(*pocket, size, "pocket"), pocket_intercept->data(), pocket_mistakes->data(),
                         model.weights, model.intercept, size, K, ratchet};
          run(held);
        } else {
          throw nb::value_error("keep: must be last, average, vote or pocket, with its arrays");
        }
      },
      rows.view);
  interrupt.raise_if_stopped();
  if (keep != "vote") return nb::none();
  return nb::make_tuple(to_vector(std::move(vote.rows)), to_vector(std::move(vote.steps)),
                        to_vector(std::move(vote.gains)), to_vector(std::move(vote.loses)),
                        to_vector(std::move(vote.survived)));
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
  m.def("learn", &learn, "rows"_a, "y"_a.noconvert(), nb::kw_only(), "sample_weight"_a.noconvert().none(),
        "order"_a.noconvert().none(), "weights"_a.noconvert(), "intercept"_a.noconvert(), "fit_intercept"_a, "rule"_a,
        "eta0"_a, "beta"_a, "C"_a, "tie_positive"_a, "keep"_a, "sums"_a.noconvert().none(),
        "intercept_sums"_a.noconvert().none(), "pocket"_a.noconvert().none(),
        "pocket_intercept"_a.noconvert().none(), "pocket_mistakes"_a.noconvert().none(), "ratchet"_a, "counters"_a.noconvert(),
        "mistake_weight"_a.noconvert(),
        "cancel"_a.noconvert().none() = nb::none(), "One pass over the rows, in place; the updates if keep='vote'.");
  m.def("count_mistakes", &count_mistakes_of, "rows"_a, "y"_a.noconvert(), nb::kw_only(), "sample_weight"_a.noconvert().none(),
        "order"_a.noconvert().none(), "weights"_a.noconvert(), "intercept"_a.noconvert(), "tie_positive"_a,
        "How many rows the weights get wrong, each counted with its sample weight; a score of 0 is wrong.");
}

}  // namespace rosenblatt
