// What a row does to the weights of a linear learner, and which rows do anything.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "dispatch.hpp"
#include "task.hpp"

namespace rosenblatt {

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
    else if (const auto* normalized = std::get_if<Normalized>(&rule))
      judge(*normalized);
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
    Shrunk<T>* shrunk = nullptr;
    if constexpr (!std::is_same_v<Keep, KeepOf<T>>)
      keep.before_update(rows, i, step, verdict.gain, verdict.lose, c);
    else if ((shrunk = std::get_if<Shrunk<T>>(&keep)))
      shrunk->move(rows, i, step, verdict.gain, verdict.lose, c.seen);
    else if (keep.index() != 0)
      tell(rows, keep, i, step, verdict.gain, verdict.lose, c.seen, c.survived);
    if (!shrunk) {
      rows.add_to(i, static_cast<T>(step), state.weights, verdict.gain, one_row ? 1 : state.K);
      if constexpr (!one_row) rows.add_to(i, static_cast<T>(-step), state.weights, verdict.lose, state.K);
    }
    if (!state.fit_intercept) return;
    state.intercept[verdict.gain] += step;
    if constexpr (!one_row) state.intercept[verdict.lose] -= step;
  }

  SecondOrder<Rows> space(const Confident<T>& chosen) const {
    return {rows, state, chosen, std::get_if<Average>(&keep)};
  }

  static double squared_norm(const Rows& rows, std::int64_t i) { return static_cast<double>(rows.squared_norm(i)); }
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

}  // namespace rosenblatt
