// Learning with a penalty: after every row every weight, but not the intercept, shrinks towards 0.
//
//   |w| becomes a |w| - l, or 0 where that is not above 0       a: l2, l: l1; the sign stays
//
// After n rows |w| is A |w| - L, with an A and an L that are the same for all weights, until 0 is reached, where it
// stays. So no weight is touched but by steps: what is held is what it was, or would have had to be, n rows ago, when
// all weights were settled: v, with |v| = (|w| + L) / A. A row reads A |v| - L of its own features, or 0, and a step
// writes them back in this form. Before A becomes too small all weights are settled again: v = w, n = 0.
//
// Invariant: weights are settled after so many rows, wherever the rows are cut, and at no other time. So any cut gives
// the same bits.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "keep.hpp"
#include "rows.hpp"

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
class Shrinking {
 public:
  Shrinking(double a, double l) : cuts_(l > 0) {
    blocks_[0] = {a, l, a, l};
    for (std::size_t b = 0; b + 1 < blocks_.size(); ++b) blocks_[b + 1] = blocks_[b].then(blocks_[b]);
    for (std::size_t n = 1; n < few; ++n) {
      rest_[n] = rest_[n - 1].then(blocks_[0]);
      hundreds_[n] = hundreds_[n - 1].then(blocks_[few_bits]);
    }
  }

  bool cuts() const { return cuts_; }

  // Weights are settled after so many rows: as many as leave them, and sums, precise and far from overflowing. A sum
  // loses what 1/A has in front of the point.
  template <class T>
  std::int64_t period(bool sums) const {
    const double least = sums ? 1e-4 : sizeof(T) == 4 ? 1e-6 : 1e-60;
    int bits = sizeof(T) == 4 ? 2 * few_bits - 2 : 2 * few_bits;
    while (bits > 0 && !(blocks_[bits].A >= least)) --bits;
    return std::int64_t{1} << bits;
  }

  // What n rows do.
  Shrinkage after(std::int64_t n) const {
    if (n < static_cast<std::int64_t>(few * few)) [[likely]]
      return hundreds_[n / few].then(rest_[n % few]);
    Shrinkage all;
    for (int b = std::bit_width(static_cast<std::uint64_t>(n)) - 1; b >= 0; --b)
      if (n >> b & 1) all = all.then(blocks_[b]);
    return all;
  }

  // The sum of what a weight is after each of n rows, within which it reaches 0.
  [[gnu::noinline]] double sum_to_zero(double weight, std::int64_t n) const {
    double size = std::fabs(weight), total = 0;
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
    return std::copysign(total, weight);
  }

 private:
  static constexpr int few_bits = 7;
  static constexpr std::size_t few = 1 << few_bits;
  std::array<Shrinkage, 63> blocks_;            // of 1, 2, 4, … rows
  std::array<Shrinkage, few> rest_, hundreds_;  // of 0, 1, 2, … rows, and as many times 128
  bool cuts_;
};

// How a weight that is held becomes one that is used: max(A v - L, 0) + min(A v + L, 0).
template <class T>
struct Cut {
  T A, L;

  T operator()(T v) const {
    const T above = A * v - L, below = A * v + L;
    return (above > 0 ? above : T(0)) + (below < 0 ? below : T(0));
  }
  template <class P>
  ALWAYS_INLINE typename P::type lanes(typename P::type v) const {
    const typename P::type some = v * A, none{};
    return P::larger(some + -L, none) + P::smaller(some + L, none);
  }
};

// The weights of a penalised learner. The sums serve the average; null: the last weights are kept. They are those of
// the weights after each example until all were settled; what has come since is added when a weight changes, and what
// is to come is taken off in advance: its sum from the same rows on, as if it had always been so.
template <class T>
struct Shrunk : Last {
  static constexpr bool watches = true;
  const Shrinking* shrinking;
  T* weights;
  std::int64_t size, K;  // size: of all weights
  std::int64_t* settled_at;
  double* sums = nullptr;
  double* intercept_sums = nullptr;  // as in keep.hpp: examples before a change times the change
  std::int64_t period, rows = 0;     // rows: since all were settled
  Shrinkage now = {};

  static Shrunk of(const State<T>& s, const Shrinking& shrinking) {
    Shrunk made{{},
                &shrinking,
                s.weights,
                s.K * s.features,
                s.K,
                s.arrays.template get<std::int64_t>("settled_at", 1),
                nullptr,
                nullptr,
                shrinking.period<T>(s.keep == Average::name)};
    if (s.keep == Average::name) {
      const Average average = Average::of(s);
      made.sums = average.sums;
      if (s.fit_intercept) made.intercept_sums = average.intercept_sums;
    }
    made.come_to(s.counters->seen);
    return made;
  }

  // So many examples have been seen.
  void come_to(std::int64_t seen) {
    rows = seen - *settled_at;
    now = shrinking->after(rows);
    if (rows >= period) settle(seen);
  }

  template <class Check>
  void after(Counters& c, bool, bool, Check&&) {
    come_to(c.seen);
  }

  [[gnu::noinline]] void settle(std::int64_t seen) {
    for (std::int64_t at = 0; at < size && sums; ++at) sums[at] += sum_of(weights[at]);
    const Cut<double> cut{now.A, now.L};
    for (std::int64_t at = 0; at < size; ++at) weights[at] = static_cast<T>(cut(static_cast<double>(weights[at])));
    *settled_at = seen;
    rows = 0;
    now = {};
  }

  // The product of row i and a single row of weights.
  template <class Rows>
  ALWAYS_INLINE double product(const Rows& given, std::int64_t i, std::int64_t next) const {
    if (!shrinking->cuts()) return now.A * static_cast<double>(given.dot(i, weights, next));
    return static_cast<double>(cut_product(given, i));
  }

  // Its products with all of them.
  template <class Rows>
  void products(const Rows& given, std::int64_t i, std::int64_t next, T* raw, double* out) const {
    const bool cuts = shrinking->cuts();
    if (cuts)
      given.products(i, weights, K, raw, cut());
    else
      given.scores(i, weights, K, raw, next);
    for (std::int64_t k = 0; k < K; ++k) out[k] = (cuts ? 1.0 : now.A) * static_cast<double>(raw[k]);
  }

  // Steps along row i; and for the class that loses, if there is one, the other way.
  template <class Rows>
  void move(const Rows& given, std::int64_t i, double step, std::int64_t gain, std::int64_t lose, std::int64_t seen) {
    move_one(given, i, step, gain);
    if (lose >= 0) move_one(given, i, -step, lose);
    if (!intercept_sums) return;
    const double before = static_cast<double>(seen) * step;
    intercept_sums[gain] += before;
    if (lose >= 0) intercept_sums[lose] -= before;
  }

 private:
  Cut<T> cut() const { return {static_cast<T>(now.A), static_cast<T>(now.L)}; }

  template <class Rows>
  [[gnu::noinline]] T cut_product(const Rows& given, std::int64_t i) const {
    return given.product(i, weights, cut());
  }

  // The sum of what a weight has been since all were settled.
  double sum_of(double v) const {
    if (v == 0) return 0;
    const double before = std::fabs(v);
    return now.size(before) > 0 ? std::copysign(now.sum(before), v) : shrinking->sum_to_zero(v, rows);
  }

  template <class Rows>
  [[gnu::noinline]] void move_one(const Rows& given, std::int64_t i, double step, std::int64_t k) const {
    const Cut<double> use{now.A, now.L};
    const double back = 1 / now.A;
    given.for_each_weight(i, weights, k, K, [&](T& held, T x) INLINE_LAMBDA {
      const double w = use(static_cast<double>(held)) + step * static_cast<double>(x);
      const double v = w == 0 ? 0.0 : (w + std::copysign(now.L, w)) * back;
      if (sums) {
        double& sum = sums[&held - weights];
        sum += sum_of(static_cast<double>(held));
        held = static_cast<T>(v);
        if (held != 0) sum -= std::copysign(now.sum(std::fabs(static_cast<double>(held))), static_cast<double>(held));
      } else {
        held = static_cast<T>(v);
      }
    });
  }
};

}  // namespace rosenblatt
