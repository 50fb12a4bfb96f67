// Learning with a penalty: after every row every weight, but not the intercept, shrinks towards 0.
//
//   |w| becomes a |w| - l, or 0 where that is not above 0       a: l2, l: l1; the sign stays
//
// After n rows |w| is A |w| - L, with an A and an L that are the same for all weights, until 0 is reached, where it
// stays. So no weight is touched but by steps: what is held is what it was, or would have had to be, n rows ago, when
// all weights were settled: v, with |v| = (|w| + L) / A. A row reads A |v| - L of its own features, or 0, and a step
// writes them back in this form. Before A becomes small all weights are settled again: v = w, n = 0.
//
// Invariant: weights are settled after so many rows, wherever the rows are cut, and at no other time. So any cut gives
// the same bits.
#pragma once

#include <array>

#include "averaging.hpp"

namespace rosenblatt {

// What some rows do to a weight while it stays above 0: |w| -> A |w| - L, and the sum of what it is after each of them
// is G |w| - H.
struct Shrinkage {
  double A = 1, L = 0, G = 0, H = 0;

  Shrinkage then(const Shrinkage& next) const {
    return {A * next.A, next.L + next.A * L, G + next.G * A, H + next.H + next.G * L};
  }
  double size(double before) const { return A * before - L; }
  double sum(double before) const { return G * before - H; }
};

// The penalty of a rule. What n rows do is looked up, the hundreds first and then the rest: a function of n alone.
class Penalty {
  static constexpr int few_bits = 7;
  static constexpr std::size_t few = 1 << few_bits;

 public:
  static constexpr std::int64_t most_rows = few * few;  // between two moments at which all weights are settled

  Penalty(double a, double l) {
    blocks_[0] = {a, l, a, l};
    for (std::size_t b = 0; b + 1 < blocks_.size(); ++b) blocks_[b + 1] = blocks_[b].then(blocks_[b]);
    for (std::size_t n = 1; n < few; ++n) {
      rest_[n] = rest_[n - 1].then(blocks_[0]);
      hundreds_[n] = hundreds_[n - 1].then(blocks_[few_bits]);
    }
    hundreds_[few] = blocks_[2 * few_bits];
  }

  bool cuts() const { return one().L > 0; }
  const Shrinkage& one() const { return blocks_[0]; }

  // Weights are settled after so many rows: as many as leave them precise, and products with them far from overflowing.
  template <class T>
  std::int64_t period() const {
    constexpr double least = sizeof(T) == 4 ? 1e-2 : 1e-8;
    int bits = sizeof(T) == 4 ? 2 * few_bits - 2 : 2 * few_bits;
    while (bits > 0 && !(blocks_[bits].A >= least)) --bits;
    return std::int64_t{1} << bits;
  }

  // What n rows do.
  Shrinkage after(std::int64_t n) const { return hundreds_[n / few].then(rest_[n % few]); }

  // The sum of what a size is after each of n rows, within which it reaches 0.
  [[gnu::noinline]] double sum_to_zero(double size, std::int64_t n) const {
    double total = 0;
    for (int b = std::bit_width(static_cast<std::uint64_t>(n)) - 1; b >= 0; --b) {
      if (!(n >> b & 1)) continue;
      const double next = blocks_[b].size(size);
      if (next > 0) {
        total += blocks_[b].sum(size);
        size = next;
      } else {
        n = (std::int64_t{1} << b) - 1;
      }
    }
    return total;
  }

 private:
  std::array<Shrinkage, 2 * few_bits + 1> blocks_;  // of 1, 2, 4, … rows
  std::array<Shrinkage, few + 1> rest_, hundreds_;  // of 0, 1, 2, … rows, and as many times 128
};

// How a weight that is held becomes one that is used: max(A v - L, 0) + min(A v + L, 0).
template <class T>
struct SoftThreshold {
  T A, L;

  ALWAYS_INLINE T operator()(T v) const {
    const T some = A * v;
    return std::max(some - L, T(0)) + std::min(some + L, T(0));
  }
  template <class P>
  ALWAYS_INLINE typename P::type lanes(typename P::type v) const {
    const typename P::type some = v * A, none{};
    return P::larger(some + -L, none) + P::smaller(some + L, none);
  }
};

// The weights of a penalized learner. The sums of an average are those of
// the weights after each example, up to `summed_at` examples, weight by weight: what has come since is added when the
// weight changes.
template <class T>
struct LazyPenalty {
  const State<T>& s;
  std::int64_t period = s.penalty->template period<T>();
  std::int64_t rows = 0;  // since all were settled
  Shrinkage now = {};     // what they have done

  explicit LazyPenalty(const State<T>& state) : s(state) { come_to(s.counters->seen); }

  // So many examples have been seen.
  void come_to(std::int64_t seen) {
    rows = from_settled(static_cast<double>(seen), Penalty::most_rows);
    now = s.penalty->after(rows);
    if (rows >= period) materialize(seen);
  }

  [[gnu::noinline]] void materialize(std::int64_t seen) {
    const std::int64_t size = s.K * s.features;
    for (std::int64_t at = 0; at < size && averages(); ++at) bring_sum(at, seen);
    const SoftThreshold<double> use{now.A, now.L};
    for (std::int64_t at = 0; at < size; ++at) s.weights[at] = static_cast<T>(use(static_cast<double>(s.weights[at])));
    *s.settled_at = static_cast<double>(seen);
    rows = 0;
    now = {};
  }

  // The product of row i and a single row of weights.
  template <class Rows>
  [[gnu::noinline]] double product(const Rows& given, std::int64_t i, std::int64_t next) const {
    if (!s.penalty->cuts()) return now.A * static_cast<double>(given.dot(i, s.weights, next));
    return static_cast<double>(given.dot(i, s.weights, next, cut()));
  }

  // Its products with all of them, but for a factor, which is returned.
  template <class Rows>
  double products(const Rows& given, std::int64_t i, T* out) const {
    const bool cuts = s.penalty->cuts();
    if (cuts)
      given.scores(i, s.weights, s.K, out, cut());
    else
      given.scores(i, s.weights, s.K, out);
    return cuts ? 1.0 : now.A;
  }

  template <class Rows>
  [[gnu::noinline]] void update(const Rows& given, const Step by, std::int64_t seen) {
    move_one(given, by.i, by.step, by.target, seen);
    if (by.rival >= 0) move_one(given, by.i, -by.step, by.rival, seen);
    if (!averages() || !s.fit_intercept) return;
    const double before = static_cast<double>(seen) * by.step;
    s.intercept_sums[by.target] += before;
    if (by.rival >= 0) s.intercept_sums[by.rival] -= before;
  }

 private:
  bool averages() const { return s.keep == Keep::average; }
  SoftThreshold<T> cut() const { return {static_cast<T>(now.A), static_cast<T>(now.L)}; }

  // How many rows after all were settled a moment is, at most so many: arrays come from outside.
  std::int64_t from_settled(double examples, std::int64_t most) const {
    const double since = examples - *s.settled_at;
    return since > 0 ? since < static_cast<double>(most) ? static_cast<std::int64_t>(since) : most : 0;
  }

  void bring_sum(std::int64_t at, std::int64_t seen) const {
    s.sums[at] += sum_since(static_cast<double>(s.weights[at]), from_settled(s.summed_at[at], rows));
    s.summed_at[at] = static_cast<double>(seen);
  }

  // The sum of what a weight has been after each row but for the first ones since all were settled.
  double sum_since(double v, std::int64_t first) const {
    if (v == 0 || first == rows) return 0;
    const double before = std::fabs(v), then = s.penalty->after(first).size(before);
    if (!(then > 0)) return 0;
    const bool lives = now.size(before) > 0;
    return std::copysign(lives ? s.penalty->after(rows - first).sum(then) : s.penalty->sum_to_zero(then, rows - first),
                         v);
  }

  // What does not outlive the row's own penalty is 0 at once.
  template <class Rows>
  [[gnu::noinline]] void move_one(const Rows& given, std::int64_t i, double step, std::int64_t k,
                                  std::int64_t seen) const {
    if (averages()) given.for_each_weight(i, k, s.K, [&](std::int64_t at, T) { bring_sum(at, seen); });
    const double back = 1 / now.A;
    if (!s.penalty->cuts()) return given.add_to(i, static_cast<T>(step * back), s.weights, k, s.K);
    // By sizes and signs apart, since a branch on a sign is guessed wrong every second time.
    const Shrinkage before = now, one = s.penalty->one();
    T* const weights = s.weights;
    given.for_each_weight(i, k, s.K, [&](std::int64_t at, T x) INLINE_LAMBDA {
      const auto v = static_cast<double>(weights[at]);
      const double w = std::copysign(std::max(before.size(std::fabs(v)), 0.0), v) + step * static_cast<double>(x);
      const double absolute = std::fabs(w);
      weights[at] = static_cast<T>(one.size(absolute) > 0 ? std::copysign((absolute + before.L) * back, w) : 0.0);
    });
  }
};

}  // namespace rosenblatt
