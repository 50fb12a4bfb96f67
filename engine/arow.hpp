// Second-order learning: a variance beside every weight says how sure it is, and rare features move further.
//
// AROW (Crammer, Kulesza, Dredze 2009, figure 1) with a diagonal covariance. From w = 0 and Σ = 1, on a row x of margin
// m < 1, with the constant 1 of the intercept as one more feature:
//   v = sum_j Σ_j x_j²,  β = 1/(v + r/s),  α = (1 - m) β        s: the sample weight
//   w_j += α y Σ_j x_j,  Σ_j -= β (Σ_j x_j)²
// More classes: m is the right score less the highest wrong one, v the sum over both rows, and the right row gains what
// the wrong one loses, each by its own variances.
//
// Invariant: variances never grow and never fall below 0; the order of summation is that of simd.hpp.
#pragma once

#include "averaging.hpp"

namespace rosenblatt {

// sum_j v_j x_j² in the one order of simd.hpp.
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

template <class T>
T variance_of(const SparseRows<T>& rows, std::int64_t i, const T* variances, std::int64_t k, std::int64_t K) {
  T s0 = 0, s1 = 0;
  const std::int64_t end = rows.starts[i + 1];
  std::int64_t p = rows.starts[i];
  const auto term = [&](std::int64_t q) {
    return variances[rows.columns[q] * K + k] * rows.values[q] * rows.values[q];
  };
  for (; p + 2 <= end; p += 2) {
    s0 += term(p);
    s1 += term(p + 1);
  }
  if (p < end) s0 += term(p);
  return s0 + s1;
}

// One weight and its variance along a feature of value x; returns by how much the weight moved, in float32 what
// rounding has left of it.
template <class T>
inline double move(T& weight, T& variance, T x, T alpha, T beta) {
  const T reach = variance * x;
  const T before = weight, step = alpha * reach;
  weight = before + step;
  const double change =
      sizeof(T) == 4 ? static_cast<double>(weight) - static_cast<double>(before) : static_cast<double>(step);
  const T left = variance - beta * reach * reach;
  variance = left > 0 ? left : 0;  // rounding only: v + r >= variance x²
  return change;
}

// v, over both rows of weights if two would move.
template <class Rows, class T>
[[gnu::noinline]] double variance_of_margin(const Rows& rows, const State<T>& s, std::int64_t i, std::int64_t target,
                                            std::int64_t rival) {
  const auto of_row = [&](std::int64_t k) {
    const double v = static_cast<double>(variance_of(rows, i, static_cast<const T*>(s.variances), k, s.K));
    return s.fit_intercept ? v + s.intercept_variances[k] : v;
  };
  const double v = of_row(target);
  return rival < 0 ? v : v + of_row(rival);
}

// Weights move the further the less is known of them, and the sums of an average with them.
template <class Rows, class T>
[[gnu::noinline]] void update_arow(const Rows& rows, const State<T>& s, const Step& by, double beta,
                                   std::int64_t before) {
  const double seen = static_cast<double>(before);
  double* const sums = s.keep == Keep::average ? s.sums : nullptr;
  T* const variances = static_cast<T*>(s.variances);
  const auto move_row = [&](std::int64_t k, double alpha) {
    const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
    T* const weights = s.weights;
    rows.for_each_weight(by.i, k, s.K, [&](std::int64_t at, T x) INLINE_LAMBDA {
      const double change = move(weights[at], variances[at], x, a, b);
      if (sums) sums[at] += seen * change;
    });
    if (!s.fit_intercept) return;
    const double change = move(s.intercept[k], s.intercept_variances[k], 1.0, alpha, beta);
    if (sums) s.intercept_sums[k] += seen * change;
  };
  move_row(by.target, by.step);
  if (by.rival >= 0) move_row(by.rival, -by.step);
}

}  // namespace rosenblatt
