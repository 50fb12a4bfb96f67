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

template <class Task, class Rule, class Space, class Keep, class Check>
ALWAYS_INLINE void learn_example(const Task& task, const Rule& rule, double reach, std::int64_t i,
                                 const Verdict& verdict, Space& space, Keep& keep, Counters& c, double& mistake_weight,
                                 Check&& check) {
  bool update = false;
  if (!(verdict.margin > reach)) {
    const double weight = task.weight(i);
    if (rule.wants(verdict.margin, verdict.mistake)) {
      const double q = space.q(rule, i, verdict);
      const double tau = q > 0 ? rule.step(verdict.loss, q, weight) : 0.0;
      update = tau != 0;
      if (update) space.move(rule, i, tau * verdict.direction, Basis{q, weight}, verdict, c);
      c.updates += update;
    }
    c.mistakes += verdict.mistake;
    if (verdict.mistake) mistake_weight += weight;
  }
  c.survived = update || Keep::shrinks ? 1 : c.survived + 1;  // a penalty changes the weights with every row
  ++c.seen;
  keep.after(c, verdict.mistake, update, check);
}

}  // namespace rosenblatt
