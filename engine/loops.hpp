// The one linear loop: Task x Rows, with the rule and the keep chosen at run time. The perceptron and its average on
// classes have loops of their own, a tenth shorter.
//
// On entry: the arrays of a state, targets in range, an order of rows or none.
// On exit: the same arrays, one pass later. Nothing else is read or kept, so a pass may be cut anywhere.
#pragma once

#include <optional>

#include "threads.hpp"
#include "train.hpp"

namespace rosenblatt {

// Calls visit(i, next) for every row in a range of the order; next is the row after it if the order jumps, else -1.
// Rows are prefetched if the order jumps, so many ahead as fit the first cache.
template <class Rows, class Visit>
ALWAYS_INLINE void for_each_row(const Rows& rows, Order order, Range range, std::int64_t K, StopToken& stop,
                                Visit&& visit) {
  const std::int64_t block = StopToken::rows_per_block(rows.values_per_row(), K);
  const std::int64_t ahead = std::clamp<std::int64_t>(8192 / std::max<std::int64_t>(1, rows.bytes_per_row()), 4, 16);
  for (std::int64_t begin = range.begin; begin < range.end && !stop(); begin += block) {
    const std::int64_t end = std::min(range.end, begin + block), last = order.count - 1;
    if (!order.index) {
      for (std::int64_t at = begin; at < end; ++at) visit(at, -1);
      continue;
    }
    for (std::int64_t at = begin; at < end; ++at) {
      rows.prefetch(order.index[std::min(at + ahead, last)], order.index[std::min(at + 2 * ahead, last)]);
      visit(order.index[at], order.index[std::min(at + 1, last)]);
    }
  }
}

// The weight rows that a visit has changed; none: -1.
struct Changed {
  std::int64_t target = -1, rival = -1;
};

// The scores of more than one weight row. Those of long dense rows are computed for a few rows at a time: a weight row
// is then read once for all of them.
//
// Invariant: a row's scores are those of the weights as they are when its turn comes. An update changes two weight
// rows, and their scores are computed again.
template <class Rows>
class BlockedScores {
 public:
  using T = typename Rows::Value;

  BlockedScores(const Rows& rows, Order order, Range range, const T* weights, std::int64_t K)
      : rows_(rows), order_(order), weights_(weights), K_(K), place_(range.begin), end_(range.end), raw_(most * K) {
    if constexpr (!Rows::sparse) blocked_ = rows.is_long();
  }

  // The scores of row i, which comes next in the order.
  const T* scores(std::int64_t i) {
    if constexpr (!Rows::sparse) {
      if (blocked_) {
        if (at_ == loaded_) load();
        return raw_.data() + K_ * at_++;
      }
    }
    rows_.scores(i, weights_, K_, raw_.data());
    return raw_.data();
  }

  void compute_again(Changed changed) {
    if constexpr (!Rows::sparse) {
      if (changed.target < 0) return;
      const T* const moved[] = {weights_ + changed.target * rows_.features, weights_ + changed.rival * rows_.features};
      for (std::int64_t r = at_; r < loaded_; ++r) {
        T both[2];
        many_dots<2>(row_[r], moved, rows_.features, both, 1);
        raw_[r * K_ + changed.target] = both[0];
        raw_[r * K_ + changed.rival] = both[1];
      }
    }
  }

 private:
  static constexpr std::int64_t most = 3;  // rows at a time (docs/decisions/memory.md)

  // While rows are read, each weight row prefetches its share of those behind them into the second-level cache: the
  // first one has enough to hold.
  void load() {
    const std::int64_t features = rows_.features;
    at_ = 0;
    loaded_ = std::min(most, end_ - place_);
    for (std::int64_t r = 0; r < loaded_; ++r) row_[r] = rows_.row(order_[place_ + r]);
    place_ += loaded_;
    const std::int64_t behind = std::min(most, end_ - place_);
    const std::int64_t bytes = features * sizeof(T), share = bytes / K_ / 64 * 64 + 64;
    for (std::int64_t k = 0; k < K_; ++k) {
      for (std::int64_t r = 0; r < behind; ++r) {
        const char* row = reinterpret_cast<const char*>(rows_.row(order_[place_ + r]));
        for (std::int64_t at = k * share; at < std::min(bytes, (k + 1) * share); at += 64)
          __builtin_prefetch(row + at, 0, 2);
      }
      const T* weights = weights_ + k * features;
      if (loaded_ == most)
        many_dots<most>(weights, row_, features, raw_.data() + k, K_);
      else
        for (std::int64_t r = 0; r < loaded_; ++r) raw_[r * K_ + k] = dot(row_[r], weights, features);
    }
  }

  const Rows& rows_;
  const Order order_;
  const T* const weights_;
  const std::int64_t K_;
  std::int64_t place_, end_;  // in the order: what is to be loaded next
  bool blocked_ = false;
  std::int64_t at_ = 0, loaded_ = 0;  // rows of those that are loaded
  const T* row_[most];
  std::vector<T> raw_;
};

// Calls visit(i, scores), one score per weight row, for a range of an order. `lazy`: the model's weights if a penalty
// shrinks them. A visit that may change weights returns which.
template <bool one, class Rows, class Visit>
ALWAYS_INLINE void for_each_score(const Rows& rows, Order order, Range range, const Linear<typename Rows::Value> model,
                                  StopToken& stop, const LazyPenalty<typename Rows::Value>* lazy, Visit&& visit) {
  if constexpr (one) {
    for_each_row(rows, order, range, 1, stop, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
      const double product =
          lazy ? lazy->product(rows, i, next) : static_cast<double>(rows.dot(i, model.weights, next));
      const double score = product + model.intercept[0];
      visit(i, &score);
    });
  } else {
    BlockedScores<Rows> blocked(rows, order, range, model.weights, model.K);
    std::vector<double> scores(model.K);
    std::vector<typename Rows::Value> products(lazy ? model.K : 0);
    for_each_row(rows, order, range, model.K, stop, [&](std::int64_t i, std::int64_t) INLINE_LAMBDA {
      const double scale = lazy ? lazy->products(rows, i, products.data()) : 1.0;
      const auto* const raw = lazy ? products.data() : blocked.scores(i);
      for (std::int64_t k = 0; k < model.K; ++k) scores[k] = scale * static_cast<double>(raw[k]) + model.intercept[k];
      blocked.compute_again(visit(i, scores.data()));
    });
  }
}

// What a row within the rule's threshold does to the weights; was there a step? Rule and keep are chosen at run time,
// once per such row: a loop of its own for each of them would not be faster, and took minutes to compile. What is not
// inlined is rare, or long enough for a call. The perceptron with the last weights or their average has a loop of its
// own (not `general`).
template <bool general, class Task, class Rows, class T>
ALWAYS_INLINE bool take_step(const Rows& rows, std::int64_t i, const Verdict& verdict, double weight,
                             const State<T>& state, const Rule& rule, LazyPenalty<T>* lazy, const Counters& c) {
  if (!rule.wants(verdict.margin, verdict.mistake)) return false;
  double q;  // rules that ignore it only need to know whether it is 0
  if (!general || !rule.needs_norm())
    q = state.fit_intercept || !rows.is_zero(i) ? 1.0 : 0.0;
  else if (rule.second_order())
    q = variance_of_margin(rows, state, i, verdict.target_row, verdict.rival_row);
  else
    q = Task::norms * (static_cast<double>(rows.squared_norm(i)) + (state.fit_intercept ? 1.0 : 0.0));
  if (!(q > 0)) return false;
  const double tau = general ? rule.step(verdict.loss, q, weight) : weight * rule.eta0;
  if (tau == 0) return false;
  const Step by{i, tau * verdict.direction, verdict.target_row, Task::one_row ? -1 : verdict.rival_row};
  if (general && rule.second_order()) {
    update_arow(rows, state, by, rule.confidence(q, weight), c.seen);
    return true;
  }
  const std::int64_t K = Task::one_row ? 1 : state.K;
  if (general && lazy)
    lazy->update(rows, by, c.seen);
  else if (state.keep == Keep::last)
    move_weights(rows, by, state, K);
  else if (!general || state.keep == Keep::average)
    // Sums u = sum over updates of (examples seen before it) * change, so that the mean of the weights after each of N
    // examples is w - u/N. Only the features of mistaken rows are touched.
    move_weights(rows, by, state, K, WeightedSums{state.sums, state.intercept_sums, static_cast<double>(c.seen)});
  else
    update_kept(rows, by, state, c.seen, c.survived);
  if (!state.fit_intercept) return true;
  state.intercept[by.target] += by.step;
  if constexpr (!Task::one_row) state.intercept[by.rival] -= by.step;
  return true;
}

// Two classes or numbers, chosen at run time: one loop serves both.
struct OneRowTask : OneWeightRow {
  AnyTask task;
  Verdict of(const double* scores, std::int64_t i) const { return verdict_of(task, scores, i); }
};

// The mistakes of a model on the rows, each counted with its sample weight; it may stop once `limit` is reached.
template <class Rows, class Task>
[[gnu::noinline]] double count_mistakes_as(const Rows& rows, const Task& task, Order order,
                                           const Linear<typename Rows::Value>& model, double limit, StopToken& stop) {
  double found = 0;
  for_each_score<Task::one_row>(rows, order, {0, order.count}, model, stop, nullptr,
                                [&](std::int64_t i, const double* scores) INLINE_LAMBDA {
                                  if (found < limit && task.of(scores, i).mistake) found += task.weight(i);
                                  return Changed{};
                                });
  return found;
}

template <bool general, class Rows, class Task>
void learn_as(const Rows& rows, const Task& given, Order order, Range range, const StateArrays& arrays,
              const Rule& rule, StopToken& stop) {
  using T = typename Rows::Value;
  const State<T> state(arrays);
  const Task task = given;
  Counters c = *state.counters;
  double mistake_weight = *state.mistake_weight;
  const double threshold = rule.update_threshold();
  std::optional<LazyPenalty<T>> penalized;
  if (general && state.penalty) penalized.emplace(state);
  LazyPenalty<T>* const lazy = general && penalized ? &*penalized : nullptr;
  const bool observes = observes_rows(state.keep);
  const Linear<T> model{state.weights, state.intercept, state.K};
  for_each_score<Task::one_row>(
      rows, order, range, model, stop, lazy, [&](std::int64_t i, const double* scores) INLINE_LAMBDA {
        const Verdict verdict = task.of(scores, i);
        const bool update = learn_example(
            verdict, threshold, general && lazy, c, mistake_weight, [&]() INLINE_LAMBDA { return task.weight(i); },
            [&](double weight)
                INLINE_LAMBDA { return take_step<general, Task>(rows, i, verdict, weight, state, rule, lazy, c); });
        if (general && lazy) lazy->come_to(c.seen);
        if (general && observes)
          observe_row(state, c, verdict.mistake, update,
                      [&](double limit) { return count_mistakes_as(rows, given, order, model, limit, stop); });
        return update ? Changed{verdict.target_row, verdict.rival_row} : Changed{};
      });
  *state.counters = c;
  *state.mistake_weight = mistake_weight;
}

template <class Rows>
void Loops<Rows>::learn(const Rows& rows, const AnyTask& task, Order order, Range range, const StateArrays& state,
                        const Rule& rule, StopToken& stop) {
  const bool has_own_loop = rule.kind == Rule::Kind::perceptron && !state.penalty &&
                            (state.keep == Keep::last || state.keep == Keep::average);
  const auto* const binary = std::get_if<Binary>(&task);
  const auto* const multiclass = std::get_if<Multiclass>(&task);
  if (has_own_loop && binary) return learn_as<false>(rows, *binary, order, range, state, rule, stop);
  if (has_own_loop && multiclass) return learn_as<false>(rows, *multiclass, order, range, state, rule, stop);
  if (multiclass) return learn_as<true>(rows, *multiclass, order, range, state, rule, stop);
  const double* const sample_weight = std::visit([](const auto& given) { return given.sample_weight; }, task);
  learn_as<true>(rows, OneRowTask{{{sample_weight}}, task}, order, range, state, rule, stop);
}

template <class Rows>
void Loops<Rows>::scores(const Rows& rows, Order order, const Linear<T>& model, double* out, StopToken& stop) {
  run_threads(order.count, order.count * rows.values_per_row() * model.K, stop, [&](Range range, StopToken& inner) {
    double* at = out + range.begin * model.K;
    if (model.K == 1)  // a call per row would take a fifth of the time
      for_each_score<true>(rows, order, range, model, inner, nullptr,
                           [&](std::int64_t, const double* found) { *at++ = *found; });
    else
      for_each_score<false>(rows, order, range, model, inner, nullptr, [&](std::int64_t, const double* found) {
        at = std::copy_n(found, model.K, at);
        return Changed{};
      });
  });
}

}  // namespace rosenblatt
