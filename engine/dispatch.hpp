// From names to types, once: every loop gets its rule and its keep from here.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "keep.hpp"
#include "penalty.hpp"
#include "rules.hpp"
#include "second_order.hpp"

namespace rosenblatt {

// A rule or a keep, bound to the arrays of a state of T.
template <class T>
using RuleOf = std::variant<Perceptron, Normalized, PassiveAggressive, Confident<T>>;
template <class T>
using KeepOf = std::variant<Last, Average, Tail, Vote, Pocket<T>, Shrunk<T>>;

// Calls f(std::type_identity<Keep>) for the keep of this name. A new keep is one line here.
template <class T, class F>
auto visit_keep(std::string_view keep, F&& f) {
  if (keep == Last::name) return f(std::type_identity<Last>{});
  if (keep == Average::name) return f(std::type_identity<Average>{});
  if (keep == Tail::name) return f(std::type_identity<Tail>{});
  if (keep == Vote::name) return f(std::type_identity<Vote>{});
  if (keep == Pocket<T>::name) return f(std::type_identity<Pocket<T>>{});
  throw std::invalid_argument("keep='" + std::string(keep) + "': must be last, average, tail, vote or pocket");
}

// Calls f(rule), which returns a Result, for a rule that needs no variances.
template <class Result, class F>
Result visit_first_order(const AnyRule& rule, F&& f) {
  return std::visit(
      [&](const auto& chosen) -> Result {
        if constexpr (std::decay_t<decltype(chosen)>::second_order)
          throw std::invalid_argument("rule='AROW': it needs weights with variances, which this learner has not");
        else
          return f(chosen);
      },
      rule);
}

// The keep of a state. penalty: null if there is none.
template <class T>
KeepOf<T> bind_keep(const State<T>& state, const Shrinking* penalty) {
  if (!penalty)
    return visit_keep<T>(state.keep,
                         [&]<class Keep>(std::type_identity<Keep>) -> KeepOf<T> { return Keep::of(state); });
  if (state.keep != Last::name && state.keep != Average::name)
    throw std::invalid_argument("keep='" + std::string(state.keep) + "': with a penalty it must be last or average");
  return Shrunk<T>::of(state, *penalty);
}

// A rule for such a state.
template <class T>
RuleOf<T> bind_rule(const AnyRule& rule, const State<T>& state, const Shrinking* penalty) {
  const Arow* arow = std::get_if<Arow>(&rule);
  if (!arow) return visit_first_order<RuleOf<T>>(rule, [](const auto& chosen) -> RuleOf<T> { return chosen; });
  if (penalty) throw std::invalid_argument("rule='AROW': it takes no penalty");
  if (state.keep != Last::name && state.keep != Average::name)
    throw std::invalid_argument("keep='" + std::string(state.keep) + "': with AROW it must be last or average");
  return Confident<T>(*arow, state);
}

}  // namespace rosenblatt
