// Learning: a pass of a learner over rows, ready to run part by part, and several of them side by side.
//
// Invariant: a block of rows is read from memory once and stays in the cache while every learner takes its turn; each
// does exactly what it would do alone. Weights too large for the cache come anew with every turn: then a turn is as
// long as they are large.
#pragma once

#include <functional>

#include "arow.hpp"
#include "averaging.hpp"
#include "penalty.hpp"
#include "rules.hpp"
#include "tasks.hpp"

namespace rosenblatt {

// Asked between blocks of rows whether to stop; a block takes some ten milliseconds.
struct StopToken {
  std::function<bool()> ask;
  bool stopped = false;

  bool operator()() { return stopped = stopped || (ask && ask()); }

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

// Raises unless the arrays are there, and the keep is one that goes with the rule and the penalty.
inline void check_state(const StateArrays& state, const Rule& rule) {
  const bool arow = rule.second_order(), shrinks = state.penalty != nullptr;
  if (arow && shrinks) throw std::invalid_argument("rule='AROW': it takes no penalty");
  if ((arow || shrinks) && state.keep != Keep::last && state.keep != Keep::average)
    throw std::invalid_argument("keep='" + std::string(keep_names[static_cast<int>(state.keep)]) + "': with " +
                                (arow ? "AROW" : "a penalty") + " it must be last or average");
  if (arow && !state.variances) throw std::invalid_argument("variances: the array is missing");
  if (shrinks && !state.settled_at) throw std::invalid_argument("settled_at: the array is missing");
}

// What happens to one example, for every loop. weigh() is its sample weight, step(weight) takes a step of the rule and
// says whether there was one. Have the weights changed?
template <class Weigh, class TakeStep>
ALWAYS_INLINE bool learn_example(const Verdict& verdict, double threshold, bool shrinks, Counters& c,
                                 double& mistake_weight, Weigh&& weigh, TakeStep&& step) {
  bool update = false;
  if (!(verdict.margin > threshold)) {
    const double weight = weigh();
    update = step(weight);
    c.updates += update;
    c.mistakes += verdict.mistake;
    if (verdict.mistake || update) mistake_weight += weight;
  }
  c.survived = update || shrinks ? 1 : c.survived + 1;  // a penalty changes the weights with every row
  ++c.seen;
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
  static void learn(const Rows& rows, const AnyTask& task, Order order, Range range, const StateArrays& state,
                    const Rule& rule, StopToken& stop);
  // K scores per row, in the order, on several threads.
  static void scores(const Rows& rows, Order order, const Linear<T>& model, double* out, StopToken& stop);
};

extern template struct Loops<DenseRows<float>>;
extern template struct Loops<DenseRows<double>>;
extern template struct Loops<SparseRows<float>>;
extern template struct Loops<SparseRows<double>>;

// The arrays that rows, task and state point to must outlive the pass.
struct Pass {
  AnyRows rows;
  AnyTask task;
  Order order;
  StateArrays state;
  Rule rule;

  void run(Range range, StopToken& stop) const {
    const auto learn = [&]<class R>(const R& r) { Loops<R>::learn(r, task, order, range, state, rule, stop); };
    std::visit(learn, rows);
  }

  // As many rows as fit half of a small second-level cache, or take as much memory as the weights.
  std::int64_t rows_per_turn() const {
    const std::int64_t cached = (1 << 17) / (state.is_float32 ? sizeof(float) : sizeof(double));
    const std::int64_t values_per_row = std::visit([](const auto& r) { return r.values_per_row(); }, rows);
    const std::int64_t values = std::max(cached, state.K * state.features);
    return std::max<std::int64_t>(8, values / std::max<std::int64_t>(1, values_per_row));
  }
};

// Passes over the same order.
inline void run_passes(const std::vector<const Pass*>& passes, StopToken& stop) {
  if (passes.empty()) return;
  const std::int64_t count = passes[0]->order.count;
  if (passes.size() == 1) return passes[0]->run({0, count}, stop);
  const std::int64_t block = passes[0]->rows_per_turn();
  StopToken inner;
  std::int64_t turns = 0;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    if (turns++ % 64 == 0 && stop()) return;
    for (const Pass* pass : passes) pass->run({begin, std::min(count, begin + block)}, inner);
  }
}

}  // namespace rosenblatt
