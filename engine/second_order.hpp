// Second-order learning: a variance beside every weight says how sure it is, and rare features move further.
//
// AROW (Crammer, Kulesza, Dredze 2009, figure 1) with a diagonal covariance. From w = 0 and Σ = 1, on a row x of margin
// m < 1, with the constant 1 of the intercept as one more feature:
//   v = sum_j Σ_j x_j²,  β = 1/(v + r/s),  α = (1 - m) β        s: the sample weight
//   w_j += α y Σ_j x_j,  Σ_j -= β (Σ_j x_j)²
// More classes: m is the right score less the highest wrong one, v the sum over both rows, and the right row gains what the
// wrong one loses, each by its own variances.
//
// Invariant: variances never grow and never fall below 0; the order of summation is that of lanes.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "train.hpp"

namespace rosenblatt {

// sum_j v_j x_j² in the one order of lanes.hpp.
template <class T>
inline T weighted_squares(const T* x, const T* v, std::size_t n) {
  using L = Lanes<T>;
  using V = typename L::vector;
  constexpr std::size_t lanes = L::count;
  const auto at = [](const T* p) { return *reinterpret_cast<const V*>(p); };
  V s0{}, s1{};
  std::size_t j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    s0 += at(v + j) * at(x + j) * at(x + j);
    s1 += at(v + j + lanes) * at(x + j + lanes) * at(x + j + lanes);
  }
  T rest = 0;
  for (; j < n; ++j) rest += v[j] * x[j] * x[j];
  return L::sum(L::fold(s0 + s1)) + rest;
}

template <class T>
T variance_of(const DenseRows<T>& rows, std::int64_t i, const T* variances, std::int64_t k, std::int64_t) {
  return weighted_squares(rows.row(i), variances + k * rows.features, rows.features);
}

template <class T, class Index>
T variance_of(const SparseRows<T, Index>& rows, std::int64_t i, const T* variances, std::int64_t k, std::int64_t K) {
  T s0 = 0, s1 = 0;
  const Index end = rows.starts[i + 1];
  Index p = rows.starts[i];
  const auto term = [&](Index q) {
    return variances[static_cast<std::int64_t>(rows.indices[q]) * K + k] * rows.values[q] * rows.values[q];
  };
  for (; p + 2 <= end; p += 2) {
    s0 += term(p);
    s1 += term(p + 1);
  }
  if (p < end) s0 += term(p);
  return s0 + s1;
}

// One weight and its variance along a feature of value x; returns by how much the weight moved.
template <class T>
inline T move(T& weight, T& variance, T x, T alpha, T beta) {
  const T reach = variance * x;
  const T change = alpha * reach;
  weight += change;
  const T left = variance - beta * reach * reach;
  variance = left > 0 ? left : 0;  // rounding only: v + r >= variance x²
  return change;
}

// Moves row k along row i. `seen`, the examples before this one, weighs the change in the sums of the average.
template <class T>
void move_along(const DenseRows<T>& rows, std::int64_t i, T* __restrict weights, T* __restrict variances,
                double* __restrict sums, double seen, std::int64_t k, std::int64_t, T alpha, T beta) {
  const T* x = rows.row(i);
  const std::int64_t first = k * rows.features;
  if (sums) {
    for (std::int64_t j = 0; j < rows.features; ++j)
      sums[first + j] += seen * static_cast<double>(move(weights[first + j], variances[first + j], x[j], alpha, beta));
  } else {
    for (std::int64_t j = 0; j < rows.features; ++j) move(weights[first + j], variances[first + j], x[j], alpha, beta);
  }
}

template <class T, class Index>
void move_along(const SparseRows<T, Index>& rows, std::int64_t i, T* weights, T* variances, double* sums, double seen,
                std::int64_t k, std::int64_t K, T alpha, T beta) {
  for (Index p = rows.starts[i]; p < rows.starts[i + 1]; ++p) {
    const std::int64_t at = static_cast<std::int64_t>(rows.indices[p]) * K + k;
    const T change = move(weights[at], variances[at], rows.values[p], alpha, beta);
    if (sums) sums[at] += seen * static_cast<double>(change);
  }
}

// What a second-order learner holds beside its weights. The sums serve the average; null: the last weights are kept.
template <class Rows>
struct SecondOrder {
  using T = typename Rows::Value;
  T* variances;
  double* intercept_variances;
  double* sums;
  double* intercept_sums;
  double r;

  double variance(const Rows& rows, std::int64_t i, std::int64_t k, const Linear<Rows, true>& model) const {
    const double v = static_cast<double>(variance_of(rows, i, variances, k, model.K));
    return model.fit_intercept ? v + intercept_variances[k] : v;
  }

  void step(const Rows& rows, std::int64_t i, std::int64_t k, Linear<Rows, true> model, double alpha, double beta,
            const Counters& c) const {
    const double seen = static_cast<double>(c.seen);
    move_along(rows, i, model.weights, variances, sums, seen, k, model.K, static_cast<T>(alpha), static_cast<T>(beta));
    if (!model.fit_intercept) return;
    const double change = move(model.intercept[k], intercept_variances[k], 1.0, alpha, beta);
    if (sums) intercept_sums[k] += seen * change;
  }
};

inline void count_example(Counters& c, bool mistake, bool update, double weight, double& mistake_weight) {
  c.updates += update;
  c.mistakes += mistake;
  if (mistake) mistake_weight += weight;
  c.survived = update ? 1 : c.survived + 1;
  ++c.seen;
}

template <class Rows>
void learn_binary(const Rows& rows, const std::int8_t* signs, const double* sample_weight, Order order, Part part,
                  Linear<Rows, true> model, const SecondOrder<Rows>& second, bool tie_positive, Counters& c,
                  double& mistake_weight, Poll& poll) {
  for_each_row(rows, order, part, 1, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
    const int sign = signs[i];
    const double score = static_cast<double>(rows.dot(i, model.weights, next)) + model.intercept[0];
    const double margin = sign * score;
    const double weight = sample_weight ? sample_weight[i] : 1.0;
    bool update = false;
    if (margin < 1.0) {
      const double v = second.variance(rows, i, 0, model);
      update = v > 0;
      const double beta = 1.0 / (v + second.r / weight);
      if (update) second.step(rows, i, 0, model, sign * (1.0 - margin) * beta, beta, c);
    }
    count_example(c, is_mistake(score, sign, tie_positive), update, weight, mistake_weight);
  });
}

template <class Rows>
void learn_joint(const Rows& rows, const std::int32_t* labels, const double* sample_weight, Order order, Part part,
                 Linear<Rows, true> model, const SecondOrder<Rows>& second, Counters& c, double& mistake_weight,
                 Poll& poll) {
  std::vector<typename Rows::Value> raw(model.K);
  std::vector<double> scores(model.K);
  for_each_row(rows, order, part, model.K, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
    const std::int64_t right = labels[i];
    model.scores(rows, i, raw.data(), scores.data(), next);
    const std::int64_t wrong = highest_wrong(scores.data(), model.K, right);
    const double margin = scores[right] - scores[wrong];
    const double weight = sample_weight ? sample_weight[i] : 1.0;
    bool update = false;
    if (margin < 1.0) {
      const double v = second.variance(rows, i, right, model) + second.variance(rows, i, wrong, model);
      update = v > 0;
      const double beta = 1.0 / (v + second.r / weight);
      if (update) {
        second.step(rows, i, right, model, (1.0 - margin) * beta, beta, c);
        second.step(rows, i, wrong, model, (margin - 1.0) * beta, beta, c);
      }
    }
    count_example(c, !(margin > 0), update, weight, mistake_weight);
  });
}

}  // namespace rosenblatt
