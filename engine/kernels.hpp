// Kernel functions, and products of many rows at once in one fixed order.
//
// Invariant: K(x, z) depends on x and z alone. The sum of a product runs over the features from left to right, as on
// paper, and a feature that is 0 in either row adds nothing; so dense and CSR rows, any block and any CPU give the same
// bits. The speed comes from the other direction: 32 rows lie side by side in a panel, and every feature of z meets all
// of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fixed.hpp"
#include "rows.hpp"

namespace rosenblatt {

inline constexpr int panel_rows = 32;

// linear x·z, poly (coef0 + gamma x·z)^degree, rbf exp(-gamma ‖x - z‖²), sigmoid tanh(coef0 + gamma x·z).
struct KernelFunction {
  enum class Kind { linear, poly, rbf, sigmoid };
  Kind kind;
  double gamma, coef0;
  int degree;

  bool needs_norms() const { return kind == Kind::rbf; }

  // products x·z become kernel values; norms[r] = ‖x_r‖², norm = ‖z‖².
  void apply(double* products, const double* norms, double norm, int count) const {
    if (kind == Kind::poly) {
      raise(products, count);
    } else if (kind == Kind::rbf) {
      for (int r = 0; r < count; ++r)
        products[r] = fixed_exp(-gamma * std::max(0.0, (norms[r] + norm) - 2.0 * products[r]));
    } else if (kind == Kind::sigmoid) {
      for (int r = 0; r < count; ++r) products[r] = fixed_tanh(coef0 + gamma * products[r]);
    }
  }

 private:
  // By squaring, all rows side by side.
  void raise(double* products, int count) const {
    double base[panel_rows];
    for (int r = 0; r < count; ++r) {
      base[r] = coef0 + gamma * products[r];
      products[r] = 1.0;
    }
    for (int left = degree; left > 0; left >>= 1) {
      if (left & 1)
        for (int r = 0; r < count; ++r) products[r] *= base[r];
      for (int r = 0; r < count; ++r) base[r] *= base[r];
    }
  }
};

// Calls visit(column, value) for the values of row i other than 0, from left to right.
template <class T, class Visit>
void for_each_term(const DenseRows<T>& rows, std::int64_t i, Visit&& visit) {
  rows.open(i);
  const T* row = rows.row(i);
  for (std::int64_t j = 0; j < rows.features; ++j)
    if (row[j] != 0) visit(j, static_cast<double>(row[j]));
}
template <class T, class Index, class Visit>
void for_each_term(const SparseRows<T, Index>& rows, std::int64_t i, Visit&& visit) {
  for (Index p = rows.starts[i]; p < rows.starts[i + 1]; ++p)
    if (rows.values[p] != 0) visit(static_cast<std::int64_t>(rows.indices[p]), static_cast<double>(rows.values[p]));
}

template <class Rows>
double squared_norm_in_order(const Rows& rows, std::int64_t i) {
  double sum = 0;
  for_each_term(rows, i, [&](std::int64_t, double value) { sum += value * value; });
  return sum;
}

// Rows as lists of their values other than 0.
class Terms {
 public:
  template <class Rows>
  void push(const Rows& rows, std::int64_t i) {
    double norm = 0;
    for_each_term(rows, i, [&](std::int64_t column, double value) {
      columns_.push_back(static_cast<std::uint32_t>(column));
      values_.push_back(value);
      norm += value * value;
    });
    starts_.push_back(static_cast<std::int64_t>(values_.size()));
    norms_.push_back(norm);
  }

  std::int64_t count() const { return static_cast<std::int64_t>(norms_.size()); }
  std::int64_t size(std::int64_t t) const { return starts_[t + 1] - starts_[t]; }
  const std::uint32_t* columns(std::int64_t t) const { return columns_.data() + starts_[t]; }
  const double* values(std::int64_t t) const { return values_.data() + starts_[t]; }
  double squared_norm(std::int64_t t) const { return norms_[t]; }

 private:
  std::vector<std::int64_t> starts_{0};
  std::vector<std::uint32_t> columns_;
  std::vector<double> values_, norms_;
};

// Up to 32 rows side by side: a line of 32 doubles for every feature or, where there are many features, for every
// feature that one of the rows has.
class Panel {
 public:
  explicit Panel(std::int64_t features) : mapped_(features > most_unmapped), lines_of_(mapped_ ? features : 0, 0) {
    if (!mapped_) values_.resize(features * panel_rows);
  }

  template <class Rows>
  void load(const Rows& rows, const std::uint32_t* index, int count, bool with_norms) {
    clear();
    place(rows, index, count);
    if (!with_norms) return;
    std::fill_n(norms_, panel_rows, 0.0);
    for (int r = 0; r < count; ++r) norms_[r] = squared_norm_in_order(rows, index[r]);
  }

  // out[r] = x_r · z for the row z that the terms list.
  void products(const Terms& terms, std::int64_t t, double* out) const {
    if (mapped_)
      accumulate<true>(terms.columns(t), terms.values(t), terms.size(t), out);
    else
      accumulate<false>(terms.columns(t), terms.values(t), terms.size(t), out);
  }

  const double* norms() const { return norms_; }

 private:
  static constexpr std::int64_t most_unmapped = 4096;
  using Four = Pack<double, 32>;
  typedef Four::type Lane;

  void clear() {
    if (!mapped_) {
      std::fill(values_.begin(), values_.end(), 0.0);
      return;
    }
    for (std::int64_t column : columns_) lines_of_[column] = 0;
    columns_.clear();
    values_.clear();
  }

  template <class T>
  void place(const DenseRows<T>& rows, const std::uint32_t* index, int count) {
    if (mapped_ || rows.stored) return place_terms(rows, index, count);  // each row is opened once
    constexpr std::int64_t tile = 16;
    for (std::int64_t begin = 0; begin < rows.features; begin += tile) {
      const std::int64_t end = std::min(rows.features, begin + tile);
      for (int r = 0; r < count; ++r) {
        const T* row = rows.row(index[r]);
        for (std::int64_t j = begin; j < end; ++j) values_[j * panel_rows + r] = static_cast<double>(row[j]);
      }
    }
  }
  template <class T, class Index>
  void place(const SparseRows<T, Index>& rows, const std::uint32_t* index, int count) {
    place_terms(rows, index, count);
  }

  template <class Rows>
  void place_terms(const Rows& rows, const std::uint32_t* index, int count) {
    for (int r = 0; r < count; ++r)
      for_each_term(rows, index[r], [&](std::int64_t column, double value) {
        std::int64_t line = column;
        if (mapped_) {
          if (lines_of_[column] == 0) {
            columns_.push_back(column);
            lines_of_[column] = static_cast<std::uint32_t>(columns_.size());
            values_.resize(columns_.size() * panel_rows, 0.0);
          }
          line = lines_of_[column] - 1;
        }
        values_[line * panel_rows + r] = value;
      });
  }

  template <bool mapped>
  void accumulate(const std::uint32_t* columns, const double* values, std::int64_t count, double* out) const {
    Lane s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{};
    for (std::int64_t p = 0; p < count; ++p) {
      std::size_t line = columns[p];
      if constexpr (mapped) {
        if (lines_of_[line] == 0) continue;
        line = lines_of_[line] - 1;
      }
      const double* at = values_.data() + line * panel_rows;
      const Lane value = {values[p], values[p], values[p], values[p]};
      s0 += value * Four::load(at + 0);
      s1 += value * Four::load(at + 4);
      s2 += value * Four::load(at + 8);
      s3 += value * Four::load(at + 12);
      s4 += value * Four::load(at + 16);
      s5 += value * Four::load(at + 20);
      s6 += value * Four::load(at + 24);
      s7 += value * Four::load(at + 28);
    }
    Four::store(out, s0), Four::store(out + 4, s1), Four::store(out + 8, s2), Four::store(out + 12, s3);
    Four::store(out + 16, s4), Four::store(out + 20, s5), Four::store(out + 24, s6), Four::store(out + 28, s7);
  }

  bool mapped_;
  std::vector<double> values_;
  std::vector<std::uint32_t> lines_of_;  // 0: none of the rows has this feature
  std::vector<std::int64_t> columns_;
  double norms_[panel_rows] = {};
};

}  // namespace rosenblatt
