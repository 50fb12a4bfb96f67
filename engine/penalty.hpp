// Learning with a penalty: after every row every weight, but not the intercept, shrinks towards 0.
//
//   |w_j| becomes a |w_j| - l, or 0 where that is not above 0       a: l2, l: l1; the sign stays
//
// A weight is brought up to date only when a row with its feature is read, for all the rows since at once, and so a
// sparse row costs what its own values cost. Shrinking n rows is |w| -> a^n |w| - l (1 + a + … + a^(n-1)) until 0 is
// reached, where it stays; a small n is looked up, a large one taken in blocks of powers of two. Products and sums of
// positive numbers are all it takes.
//
// Invariant: weights and sums are those after `as_of[j]` examples, feature by feature. Nothing is brought up to date at
// the end of a pass, so that any cut of the rows gives the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "train.hpp"

namespace rosenblatt {

class Shrinking {
 public:
  Shrinking(double a, double l) : l_(l) {
    const Block one{a, 1.0, a, 1.0};
    blocks_[0] = one;
    for (std::size_t b = 0; b + 1 < blocks_.size(); ++b) blocks_[b + 1] = blocks_[b].then(blocks_[b]);
    few_[1] = one;
    for (std::size_t n = 1; n + 1 < few_.size(); ++n) few_[n + 1] = few_[n].then(one);
  }

  // The weight after one row: the same bits as after(weight, 1).
  double after_one(double weight) const {
    const double size = blocks_[0].power * std::fabs(weight) - l_;
    return size > 0 ? std::copysign(size, weight) : 0.0;
  }

  // The weight after so many rows; `sum` grows by what it is after each of them.
  double after(double weight, std::int64_t rows, double& sum) const {
    if (weight == 0 || rows <= 0) return weight;
    double size = std::fabs(weight), total = 0;
    if (rows < static_cast<std::int64_t>(few_.size())) {
      const Block& block = few_[rows];
      const double next = block.power * size - l_ * block.steps;
      if (next > 0) {
        sum += std::copysign(block.powers * size - l_ * block.totals, weight);
        return std::copysign(next, weight);
      }
    }
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

 private:
  // What some rows do while the weight stays above 0: |w| -> power |w| - l steps, and the sum of what it is after each
  // of them grows by powers |w| - l totals.
  struct Block {
    double power, steps, powers, totals;

    Block then(const Block& next) const {
      return {power * next.power, next.steps + next.power * steps, powers + next.powers * power,
              totals + next.totals + next.powers * steps};
    }
  };
  double l_;
  std::array<Block, 1024> few_{};
  std::array<Block, 63> blocks_;
};

// What a penalised learner holds beside its weights. The sums serve the average; null: the last weights are kept.
template <class T>
struct Penalised {
  const Shrinking& shrinking;
  std::int64_t* as_of;     // one a feature
  double* sums;            // of the weights after each example
  double* intercept_sums;  // as in keep.hpp: examples before a change times the change

  // Brings the K weights of feature j, `apart` from one to the next, up to date.
  void bring(T* weights, std::int64_t j, std::int64_t first, std::int64_t apart, std::int64_t K, std::int64_t seen) const {
    const std::int64_t rows = seen - as_of[j];
    if (rows == 0) return;
    for (std::int64_t k = 0; k < K; ++k) {
      const std::int64_t at = first + k * apart;
      double unused = 0;
      weights[at] = static_cast<T>(shrinking.after(static_cast<double>(weights[at]), rows, sums ? sums[at] : unused));
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
      const double after = shrinking.after_one(static_cast<double>(weights[at]));
      weights[at] = static_cast<T>(after);
      if (sums) sums[at] += after;
    }
    std::fill(as_of, as_of + rows.features, seen);
  }

  template <class Index>
  void bring_row(const SparseRows<T, Index>& rows, std::int64_t i, T* weights, std::int64_t K, std::int64_t seen) const {
    for (Index p = rows.starts[i]; p < rows.starts[i + 1]; ++p) {
      const std::int64_t j = rows.indices[p];
      bring(weights, j, j * K, 1, K, seen);
    }
  }

  void move_intercept(double* intercept, std::int64_t k, double step, const Counters& c) const {
    intercept[k] += step;
    if (intercept_sums) intercept_sums[k] += static_cast<double>(c.seen) * step;
  }
};

inline void count_penalised(Counters& c, bool mistake, bool update, double weight, double& mistake_weight) {
  c.updates += update;
  c.mistakes += mistake;
  if (mistake) mistake_weight += weight;
  c.survived = 1;  // every row changes the weights
  ++c.seen;
}

template <class Rows, class Rule>
void learn_binary(const Rows& rows, const std::int8_t* signs, const double* sample_weight, Order order, Part part,
                  Linear<Rows, true> model, const Rule& rule, const Penalised<typename Rows::Value>& penalised,
                  bool tie_positive, Counters& c, double& mistake_weight, Poll& poll) {
  using T = typename Rows::Value;
  for_each_row(rows, order, part, 1, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
    penalised.bring_row(rows, i, model.weights, 1, c.seen);
    const int sign = signs[i];
    const double score = static_cast<double>(rows.dot(i, model.weights, next)) + model.intercept[0];
    const bool mistake = is_mistake(score, sign, tie_positive);
    const double weight = sample_weight ? sample_weight[i] : 1.0;
    double tau = 0;
    if (rule.wants(sign * score, mistake)) {
      const double q = extended_squared_norm<Rule>(rows, i, model.fit_intercept);
      tau = q > 0 ? rule.step(sign * score, q, weight) : 0.0;
      if (tau != 0) {
        rows.add_to(i, static_cast<T>(tau * sign), model.weights, 0, 1);
        if (model.fit_intercept) penalised.move_intercept(model.intercept, 0, tau * sign, c);
      }
    }
    count_penalised(c, mistake, tau != 0, weight, mistake_weight);
  });
}

template <class Rows, class Rule>
void learn_joint(const Rows& rows, const std::int32_t* labels, const double* sample_weight, Order order, Part part,
                 Linear<Rows, true> model, const Rule& rule, const Penalised<typename Rows::Value>& penalised,
                 Counters& c, double& mistake_weight, Poll& poll) {
  using T = typename Rows::Value;
  const std::int64_t K = model.K;
  std::vector<T> raw(K);
  std::vector<double> scores(K);
  for_each_row(rows, order, part, K, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
    penalised.bring_row(rows, i, model.weights, K, c.seen);
    const std::int64_t right = labels[i];
    model.scores(rows, i, raw.data(), scores.data(), next);
    const std::int64_t wrong = highest_wrong(scores.data(), K, right);
    const double margin = scores[right] - scores[wrong];
    const bool mistake = !(margin > 0);
    const double weight = sample_weight ? sample_weight[i] : 1.0;
    double tau = 0;
    if (rule.wants(margin, mistake)) {
      const double q = 2 * extended_squared_norm<Rule>(rows, i, model.fit_intercept);
      tau = q > 0 ? rule.step(margin, q, weight) : 0.0;
      if (tau != 0) {
        rows.add_to(i, static_cast<T>(tau), model.weights, right, K);
        rows.add_to(i, static_cast<T>(-tau), model.weights, wrong, K);
        if (model.fit_intercept) {
          penalised.move_intercept(model.intercept, right, tau, c);
          penalised.move_intercept(model.intercept, wrong, -tau, c);
        }
      }
    }
    count_penalised(c, mistake, tau != 0, weight, mistake_weight);
  });
}

}  // namespace rosenblatt
