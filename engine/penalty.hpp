// Learning with a penalty: after every row every weight, but not the intercept, shrinks towards 0.
//
//   |w_j| becomes a |w_j| - l, or 0 where that is not above 0       a: l2, l: l1; the sign stays
//
// A weight is brought up to date only when a row with its feature is read, for all the rows since at once, and so a
// sparse row costs what its own values cost. Shrinking n rows is |w| -> a^n |w| - l (1 + a + … + a^(n-1)) until 0 is
// reached, where it stays. An n below 2^20 is looked up, its thousands first and then the rest; a larger one, or one
// that reaches 0, is taken in blocks of powers of two. Products and sums of positive numbers are all it takes.
//
// Invariant: weights and sums are those after `as_of[j]` examples, feature by feature. Nothing is brought up to date at
// the end of a pass, so that any cut of the rows gives the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "keep.hpp"
#include "rows.hpp"

namespace rosenblatt {

class Shrinking {
 public:
  Shrinking(double a, double l) : l_(l) {
    const Block one{a, 1.0, a, 1.0};
    blocks_[0] = one;
    for (std::size_t b = 0; b + 1 < blocks_.size(); ++b) blocks_[b + 1] = blocks_[b].then(blocks_[b]);
    few_.fill(one, l);
    thousands_.fill(blocks_[few_bits], l);
  }

  using Four = Pack<double, 32>;
  typedef Four::type Lane;
  static constexpr int few_bits = 10;
  static constexpr std::int64_t few_rows = std::int64_t{1} << few_bits, many_rows = few_rows << few_bits;

  bool cuts() const { return l_ > 0; }

  // Four weights after fewer than `many_rows` rows each, which is what almost all values of a sparse row ask for:
  // looked up, and without a branch that depends on a weight. `grown`: what their sums grow by. A weight that has
  // become 0 is to be taken by `after`.
  template <bool cut, bool summed>
  ALWAYS_INLINE Lane after_many(Lane weights, const std::int64_t* rows, Lane& grown) const {
    const std::int64_t few[] = {rows[0] % few_rows, rows[1] % few_rows, rows[2] % few_rows, rows[3] % few_rows};
    const std::int64_t thousands[] = {rows[0] / few_rows, rows[1] / few_rows, rows[2] / few_rows, rows[3] / few_rows};
    const Lane between = shrunk<cut>(thousands_.weight, weights, thousands);
    if constexpr (summed) grown = shrunk<cut>(thousands_.sum, weights, thousands) + shrunk<cut>(few_.sum, between, few);
    return shrunk<cut>(few_.weight, between, few);
  }
  // The same bits, for fewer than `few_rows` rows each.
  template <bool cut, bool summed>
  ALWAYS_INLINE Lane after_few(Lane weights, const std::int64_t* rows, Lane& grown) const {
    if constexpr (summed) grown = shrunk<cut>(few_.sum, weights, rows);
    return shrunk<cut>(few_.weight, weights, rows);
  }

  // The weight after one row: the same bits as after(weight, 1).
  double after_one(double weight) const {
    const double size = blocks_[0].power * std::fabs(weight) - l_;
    return size > 0 ? std::copysign(size, weight) : 0.0;
  }

  // The weight after so many rows, however many; `sum` grows by what it is after each of them.
  ALWAYS_INLINE double after(double weight, std::int64_t rows, double& sum) const {
    if (weight == 0 || rows <= 0) return weight;
    if (rows < many_rows) [[likely]] {
      const std::int64_t many = rows / few_rows, few = rows % few_rows;
      const double size = std::fabs(weight), between = thousands_.weight[many].of(size);
      const double next = few_.weight[few].of(between);
      if (between > 0 && next > 0) [[likely]] {
        sum += std::copysign(thousands_.sum[many].of(size) + few_.sum[few].of(between), weight);
        return std::copysign(next, weight);
      }
      block_by_block(weight, rows, sum);
      return 0.0;
    }
    return block_by_block(weight, rows, sum);
  }

 private:
  [[gnu::noinline]] double block_by_block(double weight, std::int64_t rows, double& sum) const {
    double size = std::fabs(weight), total = 0;
    bool ends = false;  // is 0 reached within the rows that are left?
    for (int b = std::bit_width(static_cast<std::uint64_t>(rows)) - 1; b >= 0; --b) {
      if (!(rows >> b & 1)) continue;
      const Block& block = blocks_[b];
      const double next = block.power * size - l_ * block.steps;
      if (next > 0) {
        total += block.powers * size - l_ * block.totals;
        size = next;
      } else {
        ends = true;
        rows = (std::int64_t{1} << b) - 1;
      }
    }
    sum += std::copysign(total, weight);
    return ends ? 0.0 : std::copysign(size, weight);
  }

  // What some rows do while the weight stays above 0: |w| -> power |w| - l steps, and the sum of what it is after each
  // of them grows by powers |w| - l totals.
  struct Block {
    double power, steps, powers, totals;

    Block then(const Block& next) const {
      return {power * next.power, next.steps + next.power * steps, powers + next.powers * power,
              totals + next.totals + next.powers * steps};
    }
  };
  struct Line {
    double factor, less;

    double of(double size) const { return factor * size - less; }
  };
  // For 0, 1, 2, … times the rows of a block: the weight, and the sum of what it is after each of them.
  struct Lookup {
    Line weight[few_rows], sum[few_rows];

    void fill(const Block& block, double l) {
      weight[0] = {1.0, 0.0}, sum[0] = {0.0, 0.0};
      Block some = block;
      for (std::int64_t n = 1; n < few_rows; ++n, some = some.then(block)) {
        weight[n] = {some.power, l * some.steps};
        sum[n] = {some.powers, l * some.totals};
      }
    }
  };

  // A size less what is cut, or 0, with its sign: max(w - cut, 0) + min(w + cut, 0).
  template <bool cut>
  ALWAYS_INLINE static Lane shrunk(const Line* lines, Lane weights, const std::int64_t* rows) {
    const Line &a = lines[rows[0]], &b = lines[rows[1]], &c = lines[rows[2]], &d = lines[rows[3]];
    const Lane left = Lane{a.factor, b.factor, c.factor, d.factor} * weights;
    if constexpr (!cut) return left;
    const Lane less = {a.less, b.less, c.less, d.less}, none{};
    return Four::larger(left - less, none) + Four::smaller(left + less, none);
  }

  double l_;
  Lookup few_, thousands_;
  std::array<Block, 63> blocks_;
};

// The weights of a penalised learner. The sums, of the weights after each example, serve the average; null: the last
// weights are kept.
template <class T>
struct Shrunk : Last {
  static constexpr bool watches = true;
  const Shrinking* shrinking;
  std::int64_t* as_of;  // one per feature
  double* sums;
  double* intercept_sums;  // as in keep.hpp: examples before a change times the change

  static Shrunk of(const State<T>& s, const Shrinking& shrinking) {
    Shrunk made{{}, &shrinking, s.arrays.template get<std::int64_t>("as_of", s.features), nullptr, nullptr};
    if (s.keep != Average::name) return made;
    const Average average = Average::of(s);
    made.sums = average.sums;
    if (s.fit_intercept) made.intercept_sums = average.intercept_sums;
    return made;
  }

  template <class Rows>
  void before_update(const Rows&, std::int64_t, double step, std::int64_t gain, std::int64_t lose, const Counters& c) {
    if (!intercept_sums) return;
    const double before = static_cast<double>(c.seen) * step;
    intercept_sums[gain] += before;
    if (lose >= 0) intercept_sums[lose] -= before;
  }

  // Brings the K weights of feature j, `apart` from one to the next, up to date.
  void bring(T* weights, std::int64_t j, std::int64_t first, std::int64_t apart, std::int64_t K,
             std::int64_t seen) const {
    const std::int64_t rows = seen - as_of[j];
    if (rows == 0) return;
    for (std::int64_t k = 0; k < K; ++k) {
      const std::int64_t at = first + k * apart;
      double unused = 0;
      weights[at] = static_cast<T>(shrinking->after(static_cast<double>(weights[at]), rows, sums ? sums[at] : unused));
    }
    as_of[j] = seen;
  }

  // A dense row reads every weight, so all of them are one row behind but at the start.
  void bring_row(const DenseRows<T>& rows, std::int64_t, T* weights, std::int64_t K, std::int64_t seen) const {
    std::int64_t others = 0;
    for (std::int64_t j = 0; j < rows.features; ++j) others |= seen - as_of[j] - 1;
    if (others != 0) {
      for (std::int64_t j = 0; j < rows.features; ++j) bring(weights, j, j, rows.features, K, seen);
      return;
    }
    for (std::int64_t at = 0; at < K * rows.features; ++at) {
      const double after = shrinking->after_one(static_cast<double>(weights[at]));
      weights[at] = static_cast<T>(after);
      if (sums) sums[at] += after;
    }
    std::fill(as_of, as_of + rows.features, seen);
  }

  template <class Index>
  void bring_row(const SparseRows<T, Index>& rows, std::int64_t i, T* weights, std::int64_t K,
                 std::int64_t seen) const {
    for (Index p = rows.starts[i]; p < rows.starts[i + 1]; ++p) {
      const std::int64_t j = rows.indices[p];
      bring(weights, j, j * K, 1, K, seen);
    }
  }

  // The score of row i by a single row of weights, which is brought up to date first.
  T score(const DenseRows<T>& rows, std::int64_t i, T* weights, std::int64_t seen, std::int64_t next) const {
    bring_row(rows, i, weights, 1, seen);
    return rows.dot(i, weights, next);
  }
  template <class Index>
  ALWAYS_INLINE T score(const SparseRows<T, Index>& rows, std::int64_t i, T* weights, std::int64_t seen,
                        std::int64_t) const {
    if (shrinking->cuts())
      return sums ? sum_of<true, true>(rows, i, weights, seen) : sum_of<true, false>(rows, i, weights, seen);
    return sums ? sum_of<false, true>(rows, i, weights, seen) : sum_of<false, false>(rows, i, weights, seen);
  }

 private:
  // As SparseRows::dot, in the same order, each weight brought up to date before it is read.
  template <bool cut, bool summed, class Index>
  [[gnu::noinline]] T sum_of(const SparseRows<T, Index>& rows, std::int64_t i, T* __restrict weights,
                             std::int64_t seen) const {
    using Four = Shrinking::Four;
    typedef Four::type Lane;
    const Shrinking& shrink = *shrinking;
    const T* x = rows.values + rows.starts[i];
    const Index* at = rows.indices + rows.starts[i];
    const Index* const end = rows.indices + rows.starts[i + 1];
    T s0 = 0, s1 = 0, s2 = 0, s3 = 0, rest = 0;
    for (; at + 4 <= end; at += 4, x += 4) {
      const Index a = at[0], b = at[1], c = at[2], d = at[3];
      const std::int64_t behind[] = {seen - as_of[a], seen - as_of[b], seen - as_of[c], seen - as_of[d]};
      const Lane before = {static_cast<double>(weights[a]), static_cast<double>(weights[b]),
                           static_cast<double>(weights[c]), static_cast<double>(weights[d])};
      const std::uint64_t most = behind[0] | behind[1] | behind[2] | behind[3];
      bool done = most < Shrinking::many_rows;
      if (done) [[likely]] {
        Lane grown;
        const Lane now = most < Shrinking::few_rows ? shrink.after_few<cut, summed>(before, behind, grown)
                                                    : shrink.after_many<cut, summed>(before, behind, grown);
        if constexpr (cut && summed) done = !Four::differ_in_zeros(now, before);
        if (done) [[likely]] {
          weights[a] = static_cast<T>(now[0]), weights[b] = static_cast<T>(now[1]);
          weights[c] = static_cast<T>(now[2]), weights[d] = static_cast<T>(now[3]);
          as_of[a] = as_of[b] = as_of[c] = as_of[d] = seen;
          if constexpr (summed) sums[a] += grown[0], sums[b] += grown[1], sums[c] += grown[2], sums[d] += grown[3];
        }
      }
      if (!done) [[unlikely]]
        for (int k = 0; k < 4; ++k) bring(weights, at[k], at[k], 1, 1, seen);
      s0 += x[0] * weights[a], s1 += x[1] * weights[b], s2 += x[2] * weights[c], s3 += x[3] * weights[d];
    }
    for (; at < end; ++at, ++x) {
      bring(weights, *at, *at, 1, 1, seen);
      rest += *x * weights[*at];
    }
    return ((s0 + s1) + (s2 + s3)) + rest;
  }
};

}  // namespace rosenblatt
