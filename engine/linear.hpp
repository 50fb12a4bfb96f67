// The one linear loop: Task x Rule x Keep x Rows.
//
// On entry: the arrays of a state, targets in range, an order of rows or none.
// On exit: the same arrays, one pass later. Nothing else is read or kept, so a pass may be cut anywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "example.hpp"
#include "keep.hpp"
#include "order.hpp"
#include "rules.hpp"
#include "second_order.hpp"

namespace rosenblatt {

// K weight rows and intercepts, to read.
template <class Rows>
struct Linear {
  using T = typename Rows::Value;
  const T* weights;
  const double* intercept;
  std::int64_t K;

  Linear(const T* weights_, const double* intercept_, std::int64_t K_)
      : weights(weights_), intercept(intercept_), K(K_) {}
  explicit Linear(const State<T>& state) : Linear(state.weights, state.intercept, state.K) {}
};

// Calls visit(i, scores), one score per weight row, for a part of an order, and before(i) ahead of each row; `one`:
// there is a single weight row.
template <bool one, class Rows, class Before, class Visit>
ALWAYS_INLINE void for_each_score(const Rows& rows, Order order, Part part, const Linear<Rows> model, Poll& poll,
                                  Before&& before, Visit&& visit) {
  const std::int64_t K = one ? 1 : model.K;
  std::vector<typename Rows::Value> raw(one ? 0 : K);
  std::vector<double> scores(one ? 0 : K);
  for_each_row(rows, order, part, K, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
    before(i);
    if constexpr (one) {
      const double score = static_cast<double>(rows.dot(i, model.weights, next)) + model.intercept[0];
      visit(i, &score);
    } else {
      rows.scores(i, model.weights, K, raw.data(), next);
      for (std::int64_t k = 0; k < K; ++k) scores[k] = static_cast<double>(raw[k]) + model.intercept[k];
      visit(i, scores.data());
    }
  });
}

// The same for a whole order, whatever the model.
template <class Rows, class Visit>
void for_each_score(const Rows& rows, Order order, const Linear<Rows>& model, Poll& poll, Visit&& visit) {
  const auto nothing = [](std::int64_t) {};
  if (model.K == 1)
    for_each_score<true>(rows, order, {0, order.count}, model, poll, nothing, visit);
  else
    for_each_score<false>(rows, order, {0, order.count}, model, poll, nothing, visit);
}

// The mistakes of a model on the rows, each counted with its sample weight; it may stop once `limit` is reached.
template <class Rows, class Task>
[[gnu::noinline]] double count_mistakes(const Rows& rows, const Task& task, Order order, const Linear<Rows>& model,
                                        double limit, Poll& poll) {
  double found = 0;
  for_each_score<Task::one_row>(
      rows, order, {0, order.count}, model, poll, [](std::int64_t) {},
      [&](std::int64_t i, const double* scores) INLINE_LAMBDA {
        if (found < limit && task.of(scores, i).mistake) found += task.weight(i);
      });
  return found;
}

// Weights that move along rows, each feature as far as any other.
template <class Rows, class Task, class Keep>
struct FirstOrder {
  using T = typename Rows::Value;
  const Rows& rows;
  const State<T>& state;
  Keep& keep;

  // ‖x‖² + 1 with an intercept; rules that ignore it only need to know whether it is 0.
  template <class Rule>
  ALWAYS_INLINE double q(const Rule&, std::int64_t i, const Verdict&) const {
    if constexpr (Rule::needs_norm)
      return Task::norms * (static_cast<double>(rows.squared_norm(i)) + (state.fit_intercept ? 1.0 : 0.0));
    else
      return state.fit_intercept || !rows.is_zero(i) ? 1.0 : 0.0;
  }

  template <class Rule>
  ALWAYS_INLINE void move(const Rule&, std::int64_t i, double step, Basis, const Verdict& verdict, const Counters& c) {
    keep.before_update(rows, i, step, verdict.gain, verdict.lose, c);
    rows.add_to(i, static_cast<T>(step), state.weights, verdict.gain, Task::one_row ? 1 : state.K);
    if constexpr (!Task::one_row) rows.add_to(i, static_cast<T>(-step), state.weights, verdict.lose, state.K);
    if (!state.fit_intercept) return;
    state.intercept[verdict.gain] += step;
    if constexpr (!Task::one_row) state.intercept[verdict.lose] -= step;
  }
};

// Learns from a part of the order; a pocket is checked on all of it.
template <class Rows, class Task, class Rule, class Keep>
void learn(const Rows& rows, const Task& given, Order order, Part part, const State<typename Rows::Value> state,
           const Rule& rule, Keep& keep, Poll& poll) {
  using Space = std::conditional_t<Rule::second_order, SecondOrder<Rows, Keep>, FirstOrder<Rows, Task, Keep>>;
  const Task task = given;  // in registers, as the counters until the end
  Counters c = *state.counters;
  Space space{rows, state, keep};
  const double reach = rule.reach();
  const auto check = [&](double limit) { return count_mistakes(rows, given, order, Linear<Rows>(state), limit, poll); };
  for_each_score<Task::one_row>(
      rows, order, part, Linear<Rows>(state), poll,
      [&](std::int64_t i) INLINE_LAMBDA {
        if constexpr (Keep::shrinks) keep.bring_row(rows, i, state.weights, state.K, c.seen);
      },
      [&](std::int64_t i, const double* scores) INLINE_LAMBDA {
        learn_example(task, rule, reach, i, task.of(scores, i), space, keep, c, *state.mistake_weight, check);
      });
  *state.counters = c;
}

}  // namespace rosenblatt
