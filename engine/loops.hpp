// The one linear loop: Task x Rows, with the rule and the keep chosen at run time. The perceptron and its average on
// classes have loops of their own, a tenth shorter.
//
// On entry: the arrays of a state, targets in range, an order of rows or none.
// On exit: the same arrays, one pass later. Nothing else is read or kept, so a pass may be cut anywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

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
      rows.prefetch_bounds(order.index[std::min(at + 2 * ahead, last)]);
      rows.prefetch(order.index[std::min(at + ahead, last)]);
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
      const T *target = weights_ + changed.target * rows_.features, *rival = weights_ + changed.rival * rows_.features;
      for (std::int64_t r = at_; r < loaded_; ++r) {
        T both[2];
        two_dots(row_[r], target, rival, rows_.features, both);
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
        many_dots<most>(row_, weights, features, raw_.data() + k, K_);
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
      if (lazy) {
        lazy->products(rows, i, products.data(), scores.data());
      } else {
        const auto* raw = blocked.scores(i);
        for (std::int64_t k = 0; k < model.K; ++k) scores[k] = static_cast<double>(raw[k]);
      }
      for (std::int64_t k = 0; k < model.K; ++k) scores[k] += model.intercept[k];
      blocked.compute_again(visit(i, scores.data()));
    });
  }
}

// What a row within the rule's threshold does to the weights. Rule and keep are chosen at run time, once per such row:
// a loop of its own for each of them would not be faster, and took minutes to compile. What is not inlined is rare, or
// long enough for a call.
template <class Rows, class Task, class Rule, class KeepType>
struct Steps {
  using T = typename Rows::Value;
  static constexpr bool one_row = Task::one_row, general = std::is_same_v<Rule, RuleOf<T>>;
  const Rows& rows;
  const State<T>& state;
  const Rule& rule;
  KeepType& keep;

  // Was there a step? Not by std::visit, which is not inlined: what has an address stays in memory.
  ALWAYS_INLINE bool take(std::int64_t i, const Verdict& verdict, double weight, std::int64_t seen,
                          std::int64_t survived) const {
    double q = 1.0, tau = 0.0;
    const auto judge = [&](const auto& chosen) INLINE_LAMBDA {
      if (!chosen.wants(verdict.margin, verdict.mistake)) return;
      q = length(chosen, i, verdict);
      if (q > 0) tau = chosen.step(verdict.loss, q, weight);
    };
    const ArowRule<T>* arow = nullptr;
    if constexpr (!general)
      judge(rule);
    else if (const auto* perceptron = std::get_if<Perceptron>(&rule))
      judge(*perceptron);
    else if (const auto* passive = std::get_if<PassiveAggressive>(&rule))
      judge(*passive);
    else if (const auto* normalized = std::get_if<Normalized>(&rule))
      judge(*normalized);
    else
      judge(*(arow = std::get_if<ArowRule<T>>(&rule)));
    if (tau == 0) return false;
    const Step by{i, tau * verdict.direction, verdict.target_row, one_row ? -1 : verdict.rival_row};
    if (general && arow) {
      arow->update(rows, state, by, q, weight, seen);
      return true;
    }
    if constexpr (!general) {
      Counters now;
      now.seen = seen;
      now.survived = survived;
      keep.update(rows, by, state.weights, one_row ? 1 : state.K, now);
    } else if (auto* last = std::get_if<Last>(&keep)) {
      last->update(rows, by, state.weights, one_row ? 1 : state.K, *state.counters);
    } else {
      update_kept(rows, keep, by, state.weights, state.K, seen, survived);
    }
    if (!state.fit_intercept) return true;
    state.intercept[by.target] += by.step;
    if constexpr (!one_row) state.intercept[by.rival] -= by.step;
    return true;
  }

 private:
  // ‖x‖² + 1 with an intercept; rules that ignore it only need to know whether it is 0.
  template <class Chosen>
  ALWAYS_INLINE double length(const Chosen& chosen, std::int64_t i, const Verdict& verdict) const {
    if constexpr (Chosen::second_order)
      return chosen.variance(rows, state, i, verdict.target_row, verdict.rival_row);
    else if constexpr (Chosen::needs_norm)
      return Task::norms * (squared_norm(rows, i) + (state.fit_intercept ? 1.0 : 0.0));
    else
      return state.fit_intercept || !rows.is_zero(i) ? 1.0 : 0.0;
  }

  static double squared_norm(const Rows& rows, std::int64_t i) { return static_cast<double>(rows.squared_norm(i)); }
  [[gnu::noinline]] static void update_kept(const Rows& rows, KeepType& keep, const Step by, T* weights, std::int64_t K,
                                            std::int64_t seen, std::int64_t survived) {
    Counters now;
    now.seen = seen;
    now.survived = survived;
    std::visit([&](auto& chosen) { chosen.update(rows, by, weights, K, now); }, keep);
  }
};

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

// `observed`: the keep observes every example, not only updates.
template <class Rows, class Task, class Rule, class KeepType>
void learn_as(const Rows& given_rows, const Task& given, Order order, Range range,
              const State<typename Rows::Value> state, const Rule& rule, double threshold, KeepType& keep,
              bool observed, StopToken& stop) {
  using T = typename Rows::Value;
  constexpr bool general = std::is_same_v<Rule, RuleOf<T>>;
  const Rows& rows = given_rows;
  const Task task = given;
  Counters c = *state.counters;
  double mistake_weight = *state.mistake_weight;
  const Steps<Rows, Task, Rule, KeepType> steps{given_rows, state, rule, keep};
  LazyPenalty<T>* lazy = nullptr;
  if constexpr (general) lazy = std::get_if<LazyPenalty<T>>(&keep);
  if (lazy) lazy->come_to(c.seen);
  const Linear<T> model{state.weights, state.intercept, state.K};
  for_each_score<Task::one_row>(
      rows, order, range, model, stop, lazy, [&](std::int64_t i, const double* scores) INLINE_LAMBDA {
        const Verdict verdict = task.of(scores, i);
        const bool update = learn_example(
            task, threshold, i, verdict, general && lazy, c, mistake_weight,
            [&](const Verdict& judged, double weight)
                INLINE_LAMBDA { return steps.take(i, judged, weight, c.seen, c.survived); },
            [&](Counters& counted, bool mistake, bool changed) INLINE_LAMBDA {
              if constexpr (general) {
                if (!observed) return;
                const auto check = [&](double limit) {
                  return count_mistakes_as(given_rows, given, order, model, limit, stop);
                };
                std::visit([&](auto& kept) { kept.after(counted, mistake, changed, check); }, keep);
              }
            });
        return update ? Changed{verdict.target_row, verdict.rival_row} : Changed{};
      });
  *state.counters = c;
  *state.mistake_weight = mistake_weight;
}

template <class Rows>
void Loops<Rows>::learn(const Rows& rows, const AnyTask& task, Order order, Range range, const State<T>& state,
                        const RuleOf<T>& rule, KeepOf<T>& keep, StopToken& stop) {
  const double threshold = std::visit([](const auto& chosen) { return chosen.update_threshold(); }, rule);
  const auto* perceptron = std::get_if<Perceptron>(&rule);
  auto* last = std::get_if<Last>(&keep);
  auto* average = std::get_if<Average>(&keep);
  const auto learn_perceptron = [&](const auto& given) {
    if (last)
      learn_as(rows, given, order, range, state, *perceptron, threshold, *last, false, stop);
    else
      learn_as(rows, given, order, range, state, *perceptron, threshold, *average, false, stop);
  };
  if (perceptron && (last || average)) {
    if (const auto* binary = std::get_if<Binary>(&task)) return learn_perceptron(*binary);
    if (const auto* multiclass = std::get_if<Multiclass>(&task)) return learn_perceptron(*multiclass);
  }
  const bool observed = std::visit([](const auto& kept) { return kept.observes_every_row; }, keep);
  std::visit(
      [&](const auto& given) { learn_as(rows, given, order, range, state, rule, threshold, keep, observed, stop); },
      task);
}

template <class Rows>
double Loops<Rows>::count_mistakes(const Rows& rows, const AnyTask& task, Order order, const Linear<T>& model,
                                   double limit, StopToken& stop) {
  return std::visit([&](const auto& given) { return count_mistakes_as(rows, given, order, model, limit, stop); }, task);
}

template <class Rows>
void Loops<Rows>::scores(const Rows& rows, Order order, const Linear<T>& model, double* out, std::int64_t threads,
                         StopToken& stop) {
  run_threads(order.count, order.count * rows.values_per_row() * model.K, threads, stop,
              [&](Range range, StopToken& inner) {
                double* at = out + range.begin * model.K;
                const auto write = [&](std::int64_t, const double* found) {
                  at = std::copy_n(found, model.K, at);
                  return Changed{};
                };
                if (model.K == 1)
                  for_each_score<true>(rows, order, range, model, inner, nullptr, write);
                else
                  for_each_score<false>(rows, order, range, model, inner, nullptr, write);
              });
}

}  // namespace rosenblatt
