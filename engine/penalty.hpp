// Learning with a penalty: after every row every weight, but not the intercept, shrinks towards 0.
//
//   |w_j| becomes a |w_j| - l, or 0 where that is not above 0       a: l2, l: l1; the sign stays
//
// A weight is brought up to date only when a row with its feature changes it, for all the rows since at once, and so a
// sparse row costs what its own values cost; a row that is only scored reads what the weight would be. Shrinking n rows
// is |w| -> a^n |w| - l (1 + a + … + a^(n-1)) until 0 is reached, where it stays. An n below 2^20 is looked up, its
// thousands first and then the rest; a larger one, or one that reaches 0, is taken in blocks of powers of two. Products
// and sums of positive numbers are all it takes.
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
  Shrinking(double a, double l) : a_(a), l_(l) {
    const Block one{a, 1.0, a, 1.0};
    blocks_[0] = one;
    for (std::size_t b = 0; b + 1 < blocks_.size(); ++b) blocks_[b + 1] = blocks_[b].then(blocks_[b]);
    few_.fill(one, l);
    thousands_.fill(blocks_[few_bits], l);
  }

  using Four = Pack<double, 32>;
  typedef Four::type Lane;
  static constexpr int few_bits = 10;
  static constexpr std::uint64_t few_rows = std::uint64_t{1} << few_bits, many_rows = few_rows << few_bits;

  bool scales() const { return a_ != 1; }
  bool cuts() const { return l_ > 0; }

  // Four weights after fewer than `many_rows` rows each, which is what almost all values of a sparse row ask for:
  // looked up, and without a branch that depends on a weight. The same bits as by `after`.
  template <bool scale, bool cut>
  ALWAYS_INLINE Lane after_many(Lane weights, const std::uint64_t* rows, std::uint64_t most) const {
    if (most < few_rows) return shrunk<scale, cut>(few_.weight, weights, rows);
    const std::uint64_t few[] = {rows[0] % few_rows, rows[1] % few_rows, rows[2] % few_rows, rows[3] % few_rows};
    const std::uint64_t thousands[] = {rows[0] / few_rows, rows[1] / few_rows, rows[2] / few_rows, rows[3] / few_rows};
    return shrunk<scale, cut>(few_.weight, shrunk<scale, cut>(thousands_.weight, weights, thousands), few);
  }

  // The weight after one row: the same bits as after(weight, 1).
  double after_one(double weight) const {
    const double size = blocks_[0].power * std::fabs(weight) - l_;
    return size > 0 ? std::copysign(size, weight) : 0.0;
  }

  // The weight after so many rows, however many.
  ALWAYS_INLINE double after(double weight, std::int64_t rows) const {
    double size = std::fabs(weight), unused = 0;
    if (rows >= static_cast<std::int64_t>(many_rows)) [[unlikely]]
      return block_by_block(weight, rows, unused);
    size = std::max(thousands_.weight.of(rows / few_rows, size), 0.0);
    size = few_.weight.of(rows % few_rows, size);
    return size > 0 ? std::copysign(size, weight) : 0.0;
  }
  // The same bits; `sum` grows by what it is after each of them.
  ALWAYS_INLINE double after(double weight, std::int64_t rows, double& sum) const {
    if (weight == 0 || rows <= 0) return weight;
    if (rows < static_cast<std::int64_t>(many_rows)) [[likely]] {
      const std::uint64_t many = rows / few_rows, few = rows % few_rows;
      const double size = std::fabs(weight), between = thousands_.weight.of(many, size);
      const double next = few_.weight.of(few, between);
      if (between > 0 && next > 0) [[likely]] {
        sum += std::copysign(thousands_.sum.of(many, size) + few_.sum.of(few, between), weight);
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
  struct Lines {
    double factor[few_rows], less[few_rows];

    double of(std::uint64_t n, double size) const { return factor[n] * size - less[n]; }
  };
  // For 0, 1, 2, … times the rows of a block: the weight, and the sum of what it is after each of them.
  struct Lookup {
    Lines weight, sum;

    void fill(const Block& block, double l) {
      weight.factor[0] = 1.0;
      weight.less[0] = sum.factor[0] = sum.less[0] = 0.0;
      Block some = block;
      for (std::uint64_t n = 1; n < few_rows; ++n, some = some.then(block)) {
        weight.factor[n] = some.power, weight.less[n] = l * some.steps;
        sum.factor[n] = some.powers, sum.less[n] = l * some.totals;
      }
    }
  };

  // A size less what is cut, or 0, with its sign: max(w - cut, 0) + min(w + cut, 0).
  template <bool scale, bool cut>
  ALWAYS_INLINE static Lane shrunk(const Lines& lines, Lane weights, const std::uint64_t* n) {
    const double *factor = lines.factor, *less = lines.less;
    Lane left = weights;
    if constexpr (scale) left = left * Lane{factor[n[0]], factor[n[1]], factor[n[2]], factor[n[3]]};
    if constexpr (!cut) return left;
    const Lane taken = {less[n[0]], less[n[1]], less[n[2]], less[n[3]]}, none{};
    return Four::larger(left - taken, none) + Four::smaller(left + taken, none);
  }

  double a_, l_;
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
  T* weights;
  std::int64_t K;
  double* sums;
  double* intercept_sums;  // as in keep.hpp: examples before a change times the change

  static Shrunk of(const State<T>& s, const Shrinking& shrinking) {
    Shrunk made{{},      &shrinking, s.arrays.template get<std::int64_t>("as_of", s.features), s.weights, s.K,
                nullptr, nullptr};
    if (s.keep != Average::name) return made;
    const Average average = Average::of(s);
    made.sums = average.sums;
    if (s.fit_intercept) made.intercept_sums = average.intercept_sums;
    return made;
  }

  template <class Rows>
  void before_update(const Rows& rows, std::int64_t i, double step, std::int64_t gain, std::int64_t lose,
                     const Counters& c) {
    if constexpr (Rows::sparse) bring_row(rows, i, c.seen);  // a dense row was brought up to date for its score
    if (!intercept_sums) return;
    const double before = static_cast<double>(c.seen) * step;
    intercept_sums[gain] += before;
    if (lose >= 0) intercept_sums[lose] -= before;
  }

  // Brings the K weights of feature j, `apart` from one to the next, up to date.
  void bring(std::int64_t j, std::int64_t first, std::int64_t apart, std::int64_t seen) const {
    const std::int64_t rows = seen - as_of[j];
    if (rows == 0) return;
    for (std::int64_t k = 0; k < K; ++k) {
      const std::int64_t at = first + k * apart;
      const auto weight = static_cast<double>(weights[at]);
      weights[at] = static_cast<T>(sums ? shrinking->after(weight, rows, sums[at]) : shrinking->after(weight, rows));
    }
    as_of[j] = seen;
  }

  // A dense row brings every weight up to date, so all of them are one row behind but at the start.
  void bring_row(const DenseRows<T>& rows, std::int64_t, std::int64_t seen) const {
    std::int64_t others = 0;
    for (std::int64_t j = 0; j < rows.features; ++j) others |= seen - as_of[j] - 1;
    if (others != 0) {
      for (std::int64_t j = 0; j < rows.features; ++j) bring(j, j, rows.features, seen);
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
  void bring_row(const SparseRows<T, Index>& rows, std::int64_t i, std::int64_t seen) const {
    if (K == 1 && !sums) {
      take<true>(rows, i, seen);
      return;
    }
    for (Index p = rows.starts[i]; p < rows.starts[i + 1]; ++p) {
      const std::int64_t j = rows.indices[p];
      bring(j, j * K, 1, seen);
    }
  }

  // The score of row i by a single row of weights, as they would be if they were up to date.
  T score(const DenseRows<T>& rows, std::int64_t i, std::int64_t seen, std::int64_t next) const {
    bring_row(rows, i, seen);
    return rows.dot(i, weights, next);
  }
  template <class Index>
  ALWAYS_INLINE T score(const SparseRows<T, Index>& rows, std::int64_t i, std::int64_t seen, std::int64_t) const {
    return take<false>(rows, i, seen);
  }

 private:
  template <bool write, class Index>
  ALWAYS_INLINE T take(const SparseRows<T, Index>& rows, std::int64_t i, std::int64_t seen) const {
    if (!shrinking->cuts()) return take_as<write, true, false>(rows, i, seen);
    return shrinking->scales() ? take_as<write, true, true>(rows, i, seen) : take_as<write, false, true>(rows, i, seen);
  }

  // The product of row i and the weights as they are by now, in the order of SparseRows::dot; `write` brings them up to
  // date.
  template <bool write, bool scale, bool cut, class Index>
  [[gnu::noinline]] T take_as(const SparseRows<T, Index>& rows, std::int64_t i, std::int64_t seen) const {
    const T* x = rows.values + rows.starts[i];
    const Index* at = rows.indices + rows.starts[i];
    const Index* const end = rows.indices + rows.starts[i + 1];
    T* const w = weights;
    std::int64_t* const since = as_of;
    const Shrinking& shrink = *shrinking;
    const auto one = [&](Index j) {
      const auto now = static_cast<T>(shrink.after(static_cast<double>(w[j]), seen - since[j]));
      if constexpr (write) w[j] = now, since[j] = seen;
      return now;
    };
    T s0 = 0, s1 = 0, s2 = 0, s3 = 0, rest = 0;
    for (; at + 4 <= end; at += 4, x += 4) {
      const Index a = at[0], b = at[1], c = at[2], d = at[3];
      const auto late = [&](Index j) { return static_cast<std::uint64_t>(seen - since[j]); };
      const std::uint64_t behind[] = {late(a), late(b), late(c), late(d)};
      const std::uint64_t most = behind[0] | behind[1] | behind[2] | behind[3];
      T now[4];
      if (most < Shrinking::many_rows) [[likely]] {
        const Shrinking::Lane before = {static_cast<double>(w[a]), static_cast<double>(w[b]), static_cast<double>(w[c]),
                                        static_cast<double>(w[d])};
        const Shrinking::Lane after = shrink.after_many<scale, cut>(before, behind, most);
        for (int k = 0; k < 4; ++k) now[k] = static_cast<T>(after[k]);
        if constexpr (write) {
          w[a] = now[0], w[b] = now[1], w[c] = now[2], w[d] = now[3];
          since[a] = since[b] = since[c] = since[d] = seen;
        }
      } else {
        for (int k = 0; k < 4; ++k) now[k] = one(at[k]);
      }
      s0 += x[0] * now[0], s1 += x[1] * now[1], s2 += x[2] * now[2], s3 += x[3] * now[3];
    }
    for (; at < end; ++at, ++x) rest += *x * one(*at);
    return ((s0 + s1) + (s2 + s3)) + rest;
  }
};

}  // namespace rosenblatt
