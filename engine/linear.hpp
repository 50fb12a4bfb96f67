// The one linear loop: Task x Rows, with the rule and the keep chosen at run time.
//
// On entry: the arrays of a state, targets in range, an order of rows or none.
// On exit: the same arrays, one pass later. Nothing else is read or kept, so a pass may be cut anywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "example.hpp"
#include "loops.hpp"
#include "threads.hpp"

namespace rosenblatt {

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

// The same whatever the model.
template <class Rows, class Visit>
void for_each_score(const Rows& rows, Order order, Part part, const Linear<Rows>& model, Poll& poll, Visit&& visit) {
  const auto nothing = [](std::int64_t) {};
  if (model.K == 1)
    for_each_score<true>(rows, order, part, model, poll, nothing, visit);
  else
    for_each_score<false>(rows, order, part, model, poll, nothing, visit);
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

// What a row within the rule's reach does to the weights. Rule and keep are chosen at run time, once per such row: a
// loop of its own for each of them would not be faster, and took minutes to compile. What is not inlined is rare, or
// long enough for a call.
template <class Rows, class Task, class Rule, class Keep>
struct Steps {
  using T = typename Rows::Value;
  static constexpr bool one_row = Task::one_row;
  const Rows& rows;
  const State<T>& state;
  const Rule& rule;
  Keep& keep;

  // Was there a step? Not by std::visit, which is not inlined: what has an address stays in memory.
  ALWAYS_INLINE bool take(std::int64_t i, const Verdict& verdict, double weight, const Counters& c) const {
    double q = 1.0, tau = 0.0;
    const auto judge = [&](const auto& chosen) INLINE_LAMBDA {
      if (!chosen.wants(verdict.margin, verdict.mistake)) return;
      q = length(chosen, i, verdict);
      if (q > 0) tau = chosen.step(verdict.loss, q, weight);
    };
    const Confident<T>* confident = nullptr;
    if constexpr (!std::is_same_v<Rule, RuleOf<T>>)
      judge(rule);
    else if (const auto* perceptron = std::get_if<Perceptron>(&rule))
      judge(*perceptron);
    else if (const auto* passive = std::get_if<PassiveAggressive>(&rule))
      judge(*passive);
    else if (const auto* normalised = std::get_if<Normalised>(&rule))
      judge(*normalised);
    else
      judge(*(confident = std::get_if<Confident<T>>(&rule)));
    if (tau == 0) return false;
    const double step = tau * verdict.direction;
    if constexpr (std::is_same_v<Rule, RuleOf<T>>)
      if (confident) {
        space(*confident).move(i, step, q, weight, verdict.gain, verdict.lose, c.seen);
        return true;
      }
    move(i, step, verdict, c);
    return true;
  }

 private:
  // ‖x‖² + 1 with an intercept; rules that ignore it only need to know whether it is 0.
  template <class Chosen>
  ALWAYS_INLINE double length(const Chosen& chosen, std::int64_t i, const Verdict& verdict) const {
    if constexpr (Chosen::second_order)
      return space(chosen).q(i, verdict.gain, verdict.lose);
    else if constexpr (Chosen::needs_norm)
      return Task::norms * (squared_norm(rows, i) + (state.fit_intercept ? 1.0 : 0.0));
    else
      return state.fit_intercept || !rows.is_zero(i) ? 1.0 : 0.0;
  }

  ALWAYS_INLINE void move(std::int64_t i, double step, const Verdict& verdict, const Counters& c) const {
    if constexpr (!std::is_same_v<Keep, KeepOf<T>>)
      keep.before_update(rows, i, step, verdict.gain, verdict.lose, c);
    else if (keep.index() != 0)
      tell(rows, keep, i, step, verdict.gain, verdict.lose, c.seen, c.survived);
    rows.add_to(i, static_cast<T>(step), state.weights, verdict.gain, one_row ? 1 : state.K);
    if constexpr (!one_row) rows.add_to(i, static_cast<T>(-step), state.weights, verdict.lose, state.K);
    if (!state.fit_intercept) return;
    state.intercept[verdict.gain] += step;
    if constexpr (!one_row) state.intercept[verdict.lose] -= step;
  }

  SecondOrder<Rows> space(const Confident<T>& chosen) const {
    return {rows, state, chosen, std::get_if<Average>(&keep)};
  }

  [[gnu::noinline]] static double squared_norm(const Rows& rows, std::int64_t i) {
    return static_cast<double>(rows.squared_norm(i));
  }
  [[gnu::noinline]] static void tell(const Rows& rows, Keep& keep, std::int64_t i, double step, std::int64_t gain,
                                     std::int64_t lose, std::int64_t seen, std::int64_t survived) {
    Counters c{};
    c.seen = seen;
    c.survived = survived;
    std::visit([&](auto& chosen) { chosen.before_update(rows, i, step, gain, lose, c); }, keep);
  }
};

template <class Rule>
double reach_of(const Rule& rule) {
  return rule.reach();
}
template <class... Rules>
double reach_of(const std::variant<Rules...>& rule) {
  return std::visit([](const auto& chosen) { return chosen.reach(); }, rule);
}

// Learns from a part of the order; a pocket is checked on all of it. `watched`: the keep hears of every example, not
// only of updates.
template <bool watched, class Rows, class Task, class Rule, class Keep>
void learn_as(const Rows& given_rows, const Task& given, Order order, Part part,
              const State<typename Rows::Value> state, const Rule& rule, Keep& keep, Poll& poll) {
  using T = typename Rows::Value;
  const Rows& rows = given_rows;
  const Task task = given;
  Counters c = *state.counters;
  double mistake_weight = *state.mistake_weight;
  const Steps<Rows, Task, Rule, Keep> steps{given_rows, state, rule, keep};
  const double reach = reach_of(rule);
  const Shrunk<T>* shrunk = nullptr;
  if constexpr (watched) shrunk = std::get_if<Shrunk<T>>(&keep);
  const auto check = [&](double limit) {
    return count_mistakes(given_rows, given, order, Linear<Rows>(state), limit, poll);
  };
  for_each_score<Task::one_row>(
      rows, order, part, Linear<Rows>(state), poll,
      [&](std::int64_t i) INLINE_LAMBDA {
        if constexpr (watched)
          if (shrunk) shrunk->bring_row(rows, i, state.weights, state.K, c.seen);
      },
      [&](std::int64_t i, const double* scores) INLINE_LAMBDA {
        learn_example(
            task, reach, i, task.of(scores, i), watched && shrunk, c, mistake_weight,
            [&](std::int64_t at, const Verdict& verdict, double weight, const Counters& counted)
                INLINE_LAMBDA { return steps.take(at, verdict, weight, counted); },
            [&](Counters& counted, bool mistake, bool update) INLINE_LAMBDA {
              if constexpr (watched) std::visit([&](auto& kept) { kept.after(counted, mistake, update, check); }, keep);
            });
      });
  *state.counters = c;
  *state.mistake_weight = mistake_weight;
}

// Rows and targets for which the perceptron and its average have loops of their own, a tenth shorter.
template <class Rows, class Task>
inline constexpr bool is_common = !std::is_same_v<Task, Number>;
template <class T, class Task>
inline constexpr bool is_common<SparseRows<T, std::int64_t>, Task> = false;

template <class Rows>
void Loops<Rows>::learn(const Rows& rows, const AnyTask& task, Order order, Part part, const State<T>& state,
                        const RuleOf<T>& rule, KeepOf<T>& keep, Poll& poll) {
  const bool watches = std::visit([](const auto& kept) { return kept.watches; }, keep);
  std::visit(
      [&](const auto& given) {
        using Task = std::decay_t<decltype(given)>;
        if constexpr (is_common<Rows, Task>) {
          const auto* perceptron = std::get_if<Perceptron>(&rule);
          auto* last = std::get_if<Last>(&keep);
          auto* average = std::get_if<Average>(&keep);
          if (perceptron && last) return learn_as<false>(rows, given, order, part, state, *perceptron, *last, poll);
          if (perceptron && average)
            return learn_as<false>(rows, given, order, part, state, *perceptron, *average, poll);
        }
        if (watches)
          learn_as<true>(rows, given, order, part, state, rule, keep, poll);
        else
          learn_as<false>(rows, given, order, part, state, rule, keep, poll);
      },
      task);
}

template <class Rows>
double Loops<Rows>::count_mistakes(const Rows& rows, const AnyTask& task, Order order, const Linear<Rows>& model,
                                   double limit, Poll& poll) {
  return std::visit(
      [&](const auto& given) { return rosenblatt::count_mistakes(rows, given, order, model, limit, poll); }, task);
}

template <class Rows>
double Loops<Rows>::accuracy(const Rows& rows, const AnyTask& task, Order order, const Linear<Rows>& model,
                             Poll& poll) {
  if (order.count == 0) return 0.0;
  double right = 0, all = 0;
  const auto count = [&](const auto& given) {
    for_each_score<std::decay_t<decltype(given)>::one_row>(
        rows, order, {0, order.count}, model, poll, [](std::int64_t) {},
        [&](std::int64_t i, const double* scores) {
          all += given.weight(i);
          if (given.is_right(scores, i)) right += given.weight(i);
        });
  };
  std::visit(count, task);
  return right / all;
}

template <class Rows>
void Loops<Rows>::scores(const Rows& rows, Order order, const Linear<Rows>& model, double* out, Poll& poll) {
  run_in_parts(order.count, order.count * rows.values_a_row() * model.K, poll, [&](Part part, Poll& asked) {
    double* at = out + part.begin * model.K;
    const auto write = [&](std::int64_t, const double* found) { at = std::copy_n(found, model.K, at); };
    for_each_score(rows, order, part, model, asked, write);
  });
}

}  // namespace rosenblatt
