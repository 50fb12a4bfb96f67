// Learning: a pass of a learner over rows, ready to run part by part, and several of them side by side.
//
// Invariant: a block of rows is read from memory once and stays in the cache while every learner takes its turn; each
// does exactly what it would do alone. Weights too large for the cache come anew with every turn: then a turn is as
// long as they are large.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "arow.hpp"
#include "averaging.hpp"
#include "penalty.hpp"
#include "rules.hpp"
#include "tasks.hpp"

namespace rosenblatt {

// Asked between blocks of rows whether to stop; a block takes some ten milliseconds.
struct StopToken {
  bool (*ask)(void*) = [](void*) { return false; };
  void* context = nullptr;
  bool stopped = false;

  bool operator()() { return stopped = stopped || ask(context); }

  static std::int64_t rows_per_block(std::int64_t values_per_row, std::int64_t K) {
    return std::max<std::int64_t>(1, (std::int64_t{1} << 25) / (values_per_row * K + 8));
  }
};

// A stretch of an order: the places from begin to end.
struct Range {
  std::int64_t begin, end;
};

// The rows of a pass: index[0..count), or 0..count in order if index is null.
struct Order {
  const std::uint32_t* index;
  std::int64_t count;

  std::int64_t operator[](std::int64_t at) const { return index ? index[at] : at; }
};

// A rule or a keep, bound to the arrays of a state of T.
template <class T>
using RuleOf = std::variant<Perceptron, Normalized, PassiveAggressive, ArowRule<T>>;
template <class T>
using KeepOf = std::variant<Last, Average, Tail<T>, Vote, Pocket<T>, LazyPenalty<T>>;

inline void require_last_or_average(const StateArrays& state, const char* who) {
  if (state.keep != Keep::last && state.keep != Keep::average)
    throw std::invalid_argument("keep='" + std::string(keep_names[static_cast<int>(state.keep)]) + "': with " + who +
                                " it must be last or average");
}

// The keep of a state; a new keep is one line here. penalty: null if there is none.
template <class T>
KeepOf<T> bind_keep(const State<T>& state, const Penalty* penalty) {
  if (penalty) {
    require_last_or_average(state, "a penalty");
    if (!state.settled_at) throw std::invalid_argument("settled_at: the array is missing");
    return LazyPenalty<T>::of(state, *penalty);
  }
  if (state.keep == Keep::average) return Average::of(state);
  if (state.keep == Keep::tail) return Tail<T>::of(state);
  if (state.keep == Keep::vote) return Vote::of(state);
  if (state.keep == Keep::pocket) return Pocket<T>::of(state);
  return Last{};
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

template <class T>
RuleOf<T> bind_rule(const AnyRule& rule, const State<T>& state, const Penalty* penalty) {
  const Arow* arow = std::get_if<Arow>(&rule);
  if (!arow) return visit_first_order<RuleOf<T>>(rule, [](const auto& chosen) -> RuleOf<T> { return chosen; });
  if (penalty) throw std::invalid_argument("rule='AROW': it takes no penalty");
  require_last_or_average(state, "AROW");
  if (!state.variances) throw std::invalid_argument("variances: the array is missing");
  return ArowRule<T>(*arow, state);
}

// What happens to one example, for every loop. step(verdict, weight) takes a step of the rule and says whether there
// was one; after(c, mistake, update) observes the end of the example. Have the weights changed?
template <class Task, class TakeStep, class After>
ALWAYS_INLINE bool learn_example(const Task& task, double threshold, std::int64_t i, const Verdict& verdict,
                                 bool shrinks, Counters& c, double& mistake_weight, TakeStep&& step, After&& after) {
  bool update = false;
  if (!(verdict.margin > threshold)) {
    const double weight = task.weight(i);
    update = step(verdict, weight);
    c.updates += update;
    c.mistakes += verdict.mistake;
    if (verdict.mistake) mistake_weight += weight;
  }
  c.survived = update || shrinks ? 1 : c.survived + 1;  // a penalty changes the weights with every row
  ++c.seen;
  after(c, verdict.mistake, update);
  return update;
}

// K weight rows and intercepts, to read.
template <class T>
struct Linear {
  const T* weights;
  const double* intercept;
  std::int64_t K;
};

// The loops over one kind of rows: compiled once per kind, in engine/train_*.cpp.
template <class Rows>
struct Loops {
  using T = typename Rows::Value;

  // Learns from a range of the order; a pocket is checked on all of it.
  static void learn(const Rows& rows, const AnyTask& task, Order order, Range range, const State<T>& state,
                    const RuleOf<T>& rule, KeepOf<T>& keep, StopToken& stop);
  // The mistakes of a model on the rows, each counted with its sample weight; it may stop once `limit` is reached.
  static double count_mistakes(const Rows& rows, const AnyTask& task, Order order, const Linear<T>& model, double limit,
                               StopToken& stop);
  // K scores per row, in the order, on at most so many threads.
  static void scores(const Rows& rows, Order order, const Linear<T>& model, double* out, std::int64_t threads,
                     StopToken& stop);
};

extern template struct Loops<DenseRows<float>>;
extern template struct Loops<DenseRows<double>>;
extern template struct Loops<SparseRows<float>>;
extern template struct Loops<SparseRows<double>>;

struct Pass {
  Order order;
  std::int64_t bytes_per_row, weight_bytes;
  std::function<void(Order, Range, StopToken&)> run;
};

// The arrays that rows, task and state point to, and the penalty (null: none), must outlive the pass.
inline Pass make_pass(const AnyRows& any_rows, const AnyTask& task, Order order, const StateArrays& arrays,
                      const AnyRule& rule, const Penalty* penalty) {
  return std::visit(
      [&](const auto& rows) -> Pass {
        using Rows = std::decay_t<decltype(rows)>;
        using T = typename Rows::Value;
        const State<T> state(arrays);
        const auto bytes = static_cast<std::int64_t>(sizeof(T));
        return {order, rows.values_per_row() * bytes, state.K * state.features * bytes,
                [=, chosen = bind_rule(rule, state, penalty), keep = bind_keep(state, penalty)](
                    Order all, Range range, StopToken& stop) mutable {
                  Loops<Rows>::learn(rows, task, all, range, state, chosen, keep, stop);
                }};
      },
      any_rows);
}

// Passes over the same order.
inline void run_passes(const std::vector<const Pass*>& passes, StopToken& stop) {
  if (passes.empty()) return;
  const Pass& first = *passes[0];
  const Order order = first.order;
  if (passes.size() == 1) return first.run(order, {0, order.count}, stop);
  constexpr std::int64_t cached = 1 << 17;  // half of a small second-level cache
  const std::int64_t block_bytes = std::max(cached, first.weight_bytes);
  const std::int64_t block = std::max<std::int64_t>(8, block_bytes / std::max<std::int64_t>(1, first.bytes_per_row));
  StopToken inner;
  std::int64_t turns = 0;
  for (std::int64_t begin = 0; begin < order.count; begin += block) {
    if (turns++ % 64 == 0 && stop()) return;
    for (const Pass* pass : passes) pass->run(order, {begin, std::min(order.count, begin + block)}, inner);
  }
}

// The mistakes of the raw weights of a state on the rows.
inline double count_mistakes(const AnyRows& any_rows, const AnyTask& task, Order order, const StateArrays& state,
                             double limit, StopToken& stop) {
  return std::visit(
      [&](const auto& rows) {
        using Rows = std::decay_t<decltype(rows)>;
        const Linear<typename Rows::Value> model{static_cast<const typename Rows::Value*>(state.weights),
                                                 state.intercept, state.K};
        return Loops<Rows>::count_mistakes(rows, task, order, model, limit, stop);
      },
      any_rows);
}

}  // namespace rosenblatt
