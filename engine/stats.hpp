// Statistics of the columns of a table: the mean, the deviation and the largest size of each, in one reading.
// Invariant: the sums go from the first row to the last, so the figures are the same on every CPU.
#pragma once

#include "train.hpp"

namespace rosenblatt {

struct Columns {
  std::vector<double> mean, deviation, largest;
};

// Dense rows are measured from the first one, so that a column far from 0 loses no digits, and one that never changes
// has deviation 0. The missing values of sparse rows are 0, and count.
template <class Rows>
Columns columns_of(const Rows& rows) {
  const std::size_t n = rows.features;
  std::vector<double> shift(n), sum(n), square(n), largest(n);
  double* __restrict s = sum.data(), * __restrict q = square.data(), * __restrict most = largest.data();
  const double* __restrict from = shift.data();
  const auto take = [&](std::size_t j, double value) INLINE_LAMBDA {
    const double away = value - from[j], size = value < 0 ? -value : value;
    s[j] += away;
    q[j] += away * away;
    most[j] = size > most[j] ? size : most[j];
  };
  if constexpr (!Rows::sparse) std::copy_n(rows.row(0), n, shift.begin());
  for (std::int64_t i = 0; i < rows.count; ++i) rows.for_each_weight(i, 0, 1, take);
  const double count = static_cast<double>(rows.count);
  for (std::size_t j = 0; j < n; ++j) {
    const double mean = sum[j] / count;
    sum[j] = shift[j] + mean;
    square[j] = std::sqrt(std::max(square[j] / count - mean * mean, 0.0));
  }
  return {std::move(sum), std::move(square), std::move(largest)};
}

// Standardized columns and the products of any two of them, as a row of float32 terms. A row's terms depend on that row
// alone; every term is made by the same few operations on every CPU.

inline std::int64_t count_terms(std::int64_t columns) { return columns * (columns + 3) / 2; }

// How some columns, named in their order, become terms: z = (x - center) / scale, cut off at ±limit; then
// share·z_j·z_k for j < k and share·(z_j² - 1), row by row of the upper triangle.
struct Multiplication {
  std::int64_t n;
  const std::int64_t* columns;
  const double *center, *scale;
  double limit;
  float share;

  float standardized(double value, std::size_t j) const {
    return static_cast<float>(std::clamp((value - center[j]) / scale[j], -limit, limit));
  }

  template <class T>
  void standardize(const DenseRows<T>& rows, std::int64_t i, float* z) const {
    const T* x = rows.row(i);
    for (std::int64_t j = 0; j < n; ++j) z[j] = standardized(static_cast<double>(x[columns[j]]), j);
  }

  template <class T>
  void standardize(const SparseRows<T>& rows, std::int64_t i, float* z) const {
    std::int64_t p = rows.starts[i];
    const std::int64_t end = rows.starts[i + 1];
    for (std::int64_t j = 0; j < n; ++j) {
      while (p < end && rows.columns[p] < columns[j]) ++p;
      const bool there = p < end && rows.columns[p] == columns[j];
      z[j] = standardized(there ? static_cast<double>(rows.values[p]) : 0.0, j);
    }
  }

  template <class Rows>
  void apply(const Rows& rows, Order order, float* terms) const {
    for (std::int64_t at = 0; at < order.count; ++at, terms += count_terms(n)) {
      standardize(rows, order[at], terms);
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
