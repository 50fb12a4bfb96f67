// Second-order learning: a variance beside every weight says how sure it is, and rare features move further.
//
// AROW (Crammer, Kulesza, Dredze 2009, figure 1) with a diagonal covariance. From w = 0 and Σ = 1, on a row x of margin
// m < 1, with the constant 1 of the intercept as one more feature:
//   v = sum_j Σ_j x_j²,  β = 1/(v + r/s),  α = (1 - m) β        s: the sample weight
//   w_j += α y Σ_j x_j,  Σ_j -= β (Σ_j x_j)²
// More classes: m is the right score less the highest wrong one, v the sum over both rows, and the right row gains what
// the wrong one loses, each by its own variances.
//
// Invariant: variances never grow and never fall below 0; the order of summation is that of lanes.hpp.
#pragma once

#include <cstdint>

#include "example.hpp"
#include "keep.hpp"
#include "rows.hpp"
#include "rules.hpp"

namespace rosenblatt {

// sum_j v_j x_j² in the one order of lanes.hpp.
template <class T>
inline T weighted_squares(const T* x, const T* v, std::size_t n) {
  using L = Lanes<T>;
  using V = typename L::vector;
  constexpr std::size_t lanes = L::count;
  const auto at = [](const T* p) { return Lanes<T>::Full::load(p); };
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

// AROW and the variances of a state.
template <class T>
struct Confident : Arow {
  T* variances;
  double* intercept_variances;

  Confident(const Arow& rule, const State<T>& s)
      : Arow(rule), variances(s.arrays.template get<T>("variances", s.K * s.features, 1)),
        intercept_variances(s.arrays.template get<double>("intercept_variances", s.K, 1)) {}
};

// Weights that move the further the less is known of them. The sums of an average move with them.
template <class Rows>
struct SecondOrder {
  using T = typename Rows::Value;
  const Rows& rows;
  const State<T>& state;
  const Confident<T>& rule;
  const Average* average;  // null: the last weights are kept

  // v, over both rows of weights if two would move.
  [[gnu::noinline]] double q(std::int64_t i, std::int64_t gain, std::int64_t lose) const {
    const double v = variance(i, gain);
    return lose < 0 ? v : v + variance(i, lose);
  }

  [[gnu::noinline]] void move(std::int64_t i, double step, double v, double weight, std::int64_t gain,
                              std::int64_t lose, std::int64_t before) const {
    const double beta = rule.confidence(v, weight), seen = static_cast<double>(before);
    move_row(i, gain, step, beta, seen);
    if (lose >= 0) move_row(i, lose, -step, beta, seen);
  }

 private:
  double variance(std::int64_t i, std::int64_t k) const {
    const double v = static_cast<double>(variance_of(rows, i, rule.variances, k, state.K));
    return state.fit_intercept ? v + rule.intercept_variances[k] : v;
  }

  void move_row(std::int64_t i, std::int64_t k, double alpha, double beta, double seen) const {
    move_along(rows, i, state.weights, rule.variances, average ? average->sums : nullptr, seen, k, state.K,
               static_cast<T>(alpha), static_cast<T>(beta));
    if (!state.fit_intercept) return;
    const double change = rosenblatt::move(state.intercept[k], rule.intercept_variances[k], 1.0, alpha, beta);
    if (average) average->intercept_sums[k] += seen * change;
  }
};

}  // namespace rosenblatt
