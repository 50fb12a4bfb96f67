#include <algorithm>

#include "arrays.hpp"
#include "votes.hpp"

namespace rosenblatt {
namespace {

// Scores of the rows (all, or those named), one column a weight row.
Matrix<double> scores(const Rows& rows, const FloatsIn& weights, Input<double> intercept,
                      std::optional<Input<std::uint32_t>> order_index) {
  const std::int64_t K = static_cast<std::int64_t>(intercept.size());
  const Order order = to_order(order_index, rows.count());
  Matrix<double> out = new_matrix(order.count, K);
  Interrupt interrupt(std::nullopt);
  std::visit(
      [&](const auto& view) {
        using View = std::decay_t<decltype(view)>;
        using T = typename View::Value;
        const Linear<View> model{floats<T>(weights, K * view.features, "weights"), intercept.data(), K, true};
        nb::gil_scoped_release release;
        double* at = out.data();
        std::vector<T> raw(K);
        for_each_row(view, order, K, interrupt.poll(), [&](std::int64_t i, std::int64_t next) {
          if (K == 1)
            *at = static_cast<double>(view.dot(i, model.weights, next)) + model.intercept[0];
          else
            model.scores(view, i, raw.data(), at, next);
          at += K;
        });
      },
      rows.view);
  interrupt.raise_if_stopped();
  return out;
}

Matrix<double> votes(const Rows& rows, const Rows& support, Input<std::int64_t> which, Input<double> steps,
                     Input<std::int32_t> gains, Input<std::int32_t> loses, Input<std::int64_t> survived,
                     std::int64_t survived_last, const FloatsIn& start, Input<double> start_intercept,
                     bool fit_intercept) {
  const std::int64_t K = static_cast<std::int64_t>(start_intercept.size());
  const std::int64_t count = static_cast<std::int64_t>(which.size());
  for (std::int64_t size : {steps.size(), gains.size(), loses.size(), survived.size()})
    if (size != count) throw nb::value_error("updates: the arrays differ in length");
  for (std::int64_t u = 0; u < count; ++u) {
    const bool inside = which.data()[u] >= 0 && which.data()[u] < support.count() && gains.data()[u] >= 0 &&
                        gains.data()[u] < K && loses.data()[u] >= -1 && loses.data()[u] < K;
    if (!inside) throw nb::value_error("updates: one names a row or a class that is not there");
  }
  if (support.features() != rows.features()) throw nb::value_error("support: its features do not fit the rows");
  const Updates updates{which.data(), steps.data(), gains.data(), loses.data(), survived.data(), count, survived_last};
  Matrix<double> out = new_matrix(rows.count(), K);
  Interrupt interrupt(std::nullopt);
  std::visit(
      [&](const auto& view, const auto& stored) {
        using View = std::decay_t<decltype(view)>;
        using T = typename View::Value;
        if constexpr (std::is_same_v<T, typename std::decay_t<decltype(stored)>::Value>) {
          const Linear<View> model{floats<T>(start, K * view.features, "start"), start_intercept.data(), K,
                                   fit_intercept};
          nb::gil_scoped_release release;
          votes_of_rows(view, stored, updates, model, out.data(), interrupt.poll());
        } else {
          throw nb::type_error("support: its dtype is not that of the rows");
        }
      },
      rows.view, support.view);
  interrupt.raise_if_stopped();
  return out;
}

}  // namespace

void bind_predict(nb::module_& m) {
  m.def("scores", &scores, "rows"_a, "weights"_a.noconvert(), "intercept"_a.noconvert(),
        "order"_a.noconvert().none() = nb::none(), "Scores, one column a weight row.");
  m.def("votes", &votes, "rows"_a, "support"_a, nb::kw_only(), "which"_a.noconvert(), "steps"_a.noconvert(),
        "gains"_a.noconvert(), "loses"_a.noconvert(), "survived"_a.noconvert(), "survived_last"_a,
        "start"_a.noconvert(), "start_intercept"_a.noconvert(), "fit_intercept"_a,
        "Votes of every weight vector that lived, one column a weight row.");
}

}  // namespace rosenblatt
