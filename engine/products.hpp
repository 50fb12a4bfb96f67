// Standardised columns and the products of any two of them, as a row of float32 terms.
// Invariant: a row's terms depend on that row alone; every term is made by the same few operations on every CPU.
#pragma once

#include <algorithm>
#include <cstdint>

#include "order.hpp"

namespace rosenblatt {

inline std::int64_t count_terms(std::int64_t columns) { return columns * (columns + 3) / 2; }

// How some columns, named in their order, become terms: z = (x - center) / scale, cut off at ±limit; then
// share·z_j·z_k for j < k and share·(z_j² - 1), row by row of the upper triangle.
struct Multiplication {
  std::int64_t n;
  const std::int64_t* columns;
  const double *center, *scale;
  double limit;
  float share;

  float standardised(double value, std::size_t j) const {
    return static_cast<float>(std::clamp((value - center[j]) / scale[j], -limit, limit));
  }

  template <class T>
  void standardise(const DenseRows<T>& rows, std::int64_t i, float* z) const {
    const T* x = rows.row(i);
    for (std::int64_t j = 0; j < n; ++j) z[j] = standardised(static_cast<double>(x[columns[j]]), j);
  }

  template <class T, class Index>
  void standardise(const SparseRows<T, Index>& rows, std::int64_t i, float* z) const {
    Index p = rows.starts[i];
    const Index end = rows.starts[i + 1];
    for (std::int64_t j = 0; j < n; ++j) {
      while (p < end && rows.indices[p] < columns[j]) ++p;
      const bool there = p < end && rows.indices[p] == columns[j];
      z[j] = standardised(there ? static_cast<double>(rows.values[p]) : 0.0, j);
    }
  }

  template <class Rows>
  void apply(const Rows& rows, Order order, float* terms) const {
    for (std::int64_t at = 0; at < order.count; ++at, terms += count_terms(n)) {
      rows.open(order[at]);
      standardise(rows, order[at], terms);
      const float* __restrict z = terms;
      float* __restrict out = terms + n;
      for (std::int64_t j = 0; j < n; ++j) {
        const float factor = share * z[j];
        for (std::int64_t k = j; k < n; ++k) out[k - j] = factor * z[k];
        out[0] -= share;
        out += n - j;
      }
    }
  }
};

}  // namespace rosenblatt
