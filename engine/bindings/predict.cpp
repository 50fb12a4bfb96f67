#include <algorithm>

#include "fixed.hpp"
#include "updates.hpp"
#include "views.hpp"

namespace rosenblatt {
namespace {

// Scores of the rows (all, or those named), one column per weight row.
Matrix<double> scores(const Rows& rows, const FloatsIn& weights, Input<double> intercept,
                      std::optional<Input<std::uint32_t>> order_index) {
  const std::int64_t K = static_cast<std::int64_t>(intercept.size());
  if (K < 1) throw nb::value_error("intercept: there must be one per row of weights");
  const Order order = to_order(order_index, rows.count());
  Matrix<double> out = new_matrix(order.count, K);
  std::visit(
      [&](const auto& view) {
        using View = std::decay_t<decltype(view)>;
        const Linear<View> model(floats<typename View::Value>(weights, product(K, view.features), "weights"),
                                 intercept.data(), K);
        Interrupt().run([&](Poll& poll) { Loops<View>::scores(view, order, model, out.data(), poll); });
      },
      rows.view());
  return out;
}

Matrix<double> votes(const Rows& rows, const Rows& support, const UpdateArrays& updates, std::int64_t survived_last,
                     const std::tuple<FloatsIn, Input<double>>& start, bool fit_intercept) {
  const FloatsIn& weights = std::get<0>(start);
  const Input<double>& intercept = std::get<1>(start);
  const std::int64_t K = static_cast<std::int64_t>(intercept.size());
  if (K < 1) throw nb::value_error("start: there must be an intercept per row of weights");
  if (support.features() != rows.features()) throw nb::value_error("support: its features do not fit the rows");
  check_updates(updates, K, support.count());
  const Updates log = part_of(updates, 0, static_cast<std::int64_t>(std::get<0>(updates).size()), survived_last);
  Matrix<double> out = new_matrix(rows.count(), K);
  std::visit(
      [&](const auto& view, const auto& stored) {
        using View = std::decay_t<decltype(view)>;
        using T = typename View::Value;
        if constexpr (std::is_same_v<T, typename std::decay_t<decltype(stored)>::Value>) {
          const Linear<View> model(floats<T>(weights, product(K, view.features), "start"), intercept.data(), K);
          Interrupt().run(
              [&](Poll& poll) { votes_of_rows(view, stored, log, model, fit_intercept, out.data(), poll); });
        } else {
          throw nb::type_error("support: its dtype is not that of the rows");
        }
      },
      rows.view(), support.view());
  return out;
}

template <double (*function)(double)>
Vector<double> of_each(const Input<double>& numbers) {
  std::vector<double> out(numbers.size());
  std::transform(numbers.data(), numbers.data() + numbers.size(), out.begin(), function);
  return to_vector(std::move(out));
}

}  // namespace

void bind_predict(nb::module_& m) {
  m.def("sigmoid", &of_each<fixed_sigmoid>, "numbers"_a.noconvert(),
        "1 / (1 + exp(-x)) of each, the same bits on every CPU.");
  m.def("log", &of_each<fixed_log>, "numbers"_a.noconvert(),
        "The logarithm of each, which is above 0, the same bits on every CPU.");
  m.def("softplus", &of_each<fixed_softplus>, "numbers"_a.noconvert(),
        "log(1 + exp(x)) of each, the same bits on every CPU.");
  m.def("scores", &scores, "rows"_a, "weights"_a.noconvert(), "intercept"_a.noconvert(),
        "order"_a.noconvert().none() = nb::none(), "Scores, one column per weight row.");
  m.def("votes", &votes, "rows"_a, "support"_a, "updates"_a.noconvert(), nb::kw_only(), "survived_last"_a,
        "start"_a.noconvert(), "fit_intercept"_a,
        "Votes of every weight vector that lived, one column per weight row; start: weights and intercept.");
}

}  // namespace rosenblatt
