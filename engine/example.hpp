// What happens to one example, for every loop: the verdict is judged, a step is taken, the counters tell.
//
// A space is where the weights live (linear.hpp, second_order.hpp, dual.hpp, budget.hpp). It answers:
//   q(rule, i, verdict)                how long the example is; 0: nothing to step along
//   move(rule, i, step, {q, weight}, verdict, counters)   step along it
#pragma once

#include <cstdint>

#include "rows.hpp"
#include "state.hpp"
#include "task.hpp"

namespace rosenblatt {

// What a step was made of, for the spaces that need it again.
struct Basis {
  double q, weight;
};

// One step of a rule in a space; was there one?
template <class Rule, class Space>
ALWAYS_INLINE bool take_step(const Rule& rule, std::int64_t i, const Verdict& verdict, double weight, Space& space,
                             const Counters& c) {
  if (!rule.wants(verdict.margin, verdict.mistake)) return false;
  const double q = space.q(rule, i, verdict);
  const double tau = q > 0 ? rule.step(verdict.loss, q, weight) : 0.0;
  if (tau == 0) return false;
  space.move(rule, i, tau * verdict.direction, Basis{q, weight}, verdict, c);
  return true;
}

// Have the weights changed? step(i, verdict, weight, c) says so; after(c, mistake, update) is told of the example's
// end.
template <class Task, class Step, class After>
ALWAYS_INLINE bool learn_example(const Task& task, double reach, std::int64_t i, const Verdict& verdict, bool shrinks,
                                 Counters& c, double& mistake_weight, Step&& step, After&& after) {
  bool update = false;
  if (!(verdict.margin > reach)) {
    const double weight = task.weight(i);
    update = step(i, verdict, weight, c);
    c.updates += update;
    c.mistakes += verdict.mistake;
    if (verdict.mistake) mistake_weight += weight;
  }
  c.survived = update || shrinks ? 1 : c.survived + 1;  // a penalty changes the weights with every row
  ++c.seen;
  after(c, verdict.mistake, update);
  return update;
}

}  // namespace rosenblatt
