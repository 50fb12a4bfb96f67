// What the columns of a table look like: the mean, the deviation and the largest size of each, in one reading.
// Invariant: the sums go from the first row to the last, so the figures are the same on every CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "scan.hpp"

namespace rosenblatt {

struct Columns {
  std::vector<double> mean, deviation, largest;
};

// Measured from the first row, so that a column far from 0 loses no digits, and one that never changes has deviation 0.
template <class T>
Columns columns_of(const DenseRows<T>& rows) {
  const std::size_t n = rows.features;
  rows.open(0);
  const std::vector<double> shift(rows.row(0), rows.row(0) + n);
  std::vector<double> sum(n), square(n), largest(n);
  const double* __restrict from = shift.data();
  double* __restrict s = sum.data(), * __restrict q = square.data(), * __restrict most = largest.data();
  for_each_dense(rows, [&](std::int64_t, const T* __restrict x) {
    for (std::size_t j = 0; j < n; ++j) {
      const double value = static_cast<double>(x[j]), away = value - from[j], size = value < 0 ? -value : value;
      s[j] += away;
      q[j] += away * away;
      most[j] = size > most[j] ? size : most[j];
    }
    return true;
  });
  const double count = static_cast<double>(rows.count);
  for (std::size_t j = 0; j < n; ++j) {
    const double mean = sum[j] / count;
    sum[j] = shift[j] + mean;
    square[j] = std::sqrt(std::max(square[j] / count - mean * mean, 0.0));
  }
  return {std::move(sum), std::move(square), std::move(largest)};
}

// Values that are not there are 0, and count.
template <class T, class Index>
Columns columns_of(const SparseRows<T, Index>& rows) {
  const std::size_t n = rows.features;
  std::vector<double> sum(n), square(n), largest(n);
  for (Index p = rows.starts[0]; p < rows.starts[rows.count]; ++p) {
    const Index j = rows.indices[p];
    const double value = static_cast<double>(rows.values[p]);
    sum[j] += value;
    square[j] += value * value;
    largest[j] = std::max(largest[j], std::fabs(value));
  }
  const double count = static_cast<double>(rows.count);
  for (std::size_t j = 0; j < n; ++j) {
    sum[j] /= count;
    square[j] = std::sqrt(std::max(square[j] / count - sum[j] * sum[j], 0.0));
  }
  return {std::move(sum), std::move(square), std::move(largest)};
}

// The largest sizes alone, which cost a third of it.
template <class T, class Index>
std::vector<double> largest_of(const SparseRows<T, Index>& rows) {
  std::vector<double> largest(rows.features);
  for (Index p = rows.starts[0]; p < rows.starts[rows.count]; ++p) {
    double& most = largest[rows.indices[p]];
    most = std::max(most, std::fabs(static_cast<double>(rows.values[p])));
  }
  return largest;
}

template <class T>
std::vector<double> largest_of(const DenseRows<T>& rows) {
  return columns_of(rows).largest;
}

// ‖x‖² of every step-th row.
template <class Rows>
std::vector<double> squared_norms_of(const Rows& rows, std::int64_t step) {
  std::vector<double> norms;
  for (std::int64_t i = 0; i < rows.count; i += step) {
    rows.open(i);
    norms.push_back(static_cast<double>(rows.squared_norm(i)));
  }
  return norms;
}

}  // namespace rosenblatt
