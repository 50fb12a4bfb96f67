// From names to types, once: every loop gets its rule and its keep from here.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "keep.hpp"
#include "linear.hpp"
#include "penalty.hpp"
#include "rules.hpp"

namespace rosenblatt {

// Calls f(std::type_identity<Keep>) for the keep of this name. A new keep is one line here.
template <class T, class F>
void visit_keep(std::string_view keep, F&& f) {
  if (keep == Last::name) return f(std::type_identity<Last>{});
  if (keep == Average::name) return f(std::type_identity<Average>{});
  if (keep == Tail::name) return f(std::type_identity<Tail>{});
  if (keep == Vote::name) return f(std::type_identity<Vote>{});
  if (keep == Pocket<T>::name) return f(std::type_identity<Pocket<T>>{});
  throw std::invalid_argument("keep='" + std::string(keep) + "': must be last, average, tail, vote or pocket");
}

// Calls f(rule) for a rule that needs no variances.
template <class F>
void visit_first_order(const AnyRule& rule, F&& f) {
  std::visit(
      [&](const auto& chosen) {
        if constexpr (std::decay_t<decltype(chosen)>::second_order)
          throw std::invalid_argument("rule='AROW': it needs weights with variances, which this learner has not");
        else
          f(chosen);
      },
      rule);
}

// Calls f(rule, keep), both bound to the arrays of the state. penalty: null if there is none.
template <class T, class F>
void visit(const AnyRule& rule, const Shrinking* penalty, const State<T>& state, F&& f) {
  if (penalty) {
    if (state.keep != Last::name && state.keep != Average::name)
      throw std::invalid_argument("keep='" + std::string(state.keep) + "': with a penalty it must be last or average");
    if (std::holds_alternative<Arow>(rule)) throw std::invalid_argument("rule='AROW': it takes no penalty");
    return visit_first_order(rule, [&](const auto& chosen) { f(chosen, Shrunk<T>::of(state, *penalty)); });
  }
  visit_keep<T>(state.keep, [&]<class Keep>(std::type_identity<Keep>) {
    std::visit(
        [&](const auto& chosen) {
          if constexpr (!std::decay_t<decltype(chosen)>::second_order)
            f(chosen, Keep::of(state));
          else if constexpr (Keep::second_order)
            f(Confident<T>(chosen, state), Keep::of(state));
          else
            throw std::invalid_argument("keep='" + std::string(state.keep) + "': with AROW it must be last or average");
        },
        rule);
  });
}

}  // namespace rosenblatt
