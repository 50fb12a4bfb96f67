// Kernel functions, products of many rows at once in one fixed order, and where kernel values come from.
//
// Invariant: K(x, z) depends on x and z alone, and is the same whether it is computed, computed again or cached. The
// sum of a product runs over the features from left to right, as on paper, and a feature that is 0 in either row adds
// nothing; so dense and CSR rows, any block and any CPU give the same bits. The speed comes from the other direction:
// 32 rows lie side by side in a panel, and every feature of z meets all of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "math.hpp"
#include "rows.hpp"

namespace rosenblatt {

inline constexpr int panel_rows = 32;

// linear x·z, poly (coef0 + gamma x·z)^degree, rbf exp(-gamma ‖x - z‖²), sigmoid tanh(coef0 + gamma x·z).
struct KernelFunction {
  enum class Kind { linear, poly, rbf, sigmoid };
  Kind kind;
  double gamma, coef0;
  int degree;

  // Products x·z, or for rbf the squared distances, become kernel values.
  void apply(double* values, int count) const {
    if (kind == Kind::poly) {
      raise(values, count);
    } else if (kind == Kind::rbf) {
      for (int r = 0; r < count; ++r) values[r] = fixed_exp(-gamma * values[r]);
    } else if (kind == Kind::sigmoid) {
      for (int r = 0; r < count; ++r) values[r] = fixed_tanh(coef0 + gamma * values[r]);
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

// Rows as lists of their values other than 0, from left to right.
class Terms {
 public:
  template <class T>
  void push(const DenseRows<T>& rows, std::int64_t i) {
    const T* row = rows.row(i);
    for (std::int64_t j = 0; j < rows.features; ++j)
      if (row[j] != 0) put(j, row[j]);
    end_row();
  }
  template <class T>
  void push(const SparseRows<T>& rows, std::int64_t i) {
    for (std::int64_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p)
      if (rows.values[p] != 0) put(rows.columns[p], rows.values[p]);
    end_row();
  }
  void clear() {
    starts_.resize(1);
    columns_.clear();
    values_.clear();
    norms_.clear();
  }

  std::int64_t count() const { return static_cast<std::int64_t>(norms_.size()); }
  std::int64_t size(std::int64_t t) const { return starts_[t + 1] - starts_[t]; }
  const std::uint32_t* columns(std::int64_t t) const { return columns_.data() + starts_[t]; }
  const double* values(std::int64_t t) const { return values_.data() + starts_[t]; }
  double squared_norm(std::int64_t t) const { return norms_[t]; }

 private:
  template <class T>
  void put(std::int64_t column, T value) {
    columns_.push_back(static_cast<std::uint32_t>(column));
    values_.push_back(static_cast<double>(value));
  }
  void end_row() {
    double norm = 0;
    for (std::size_t p = starts_.back(); p < values_.size(); ++p) norm += values_[p] * values_[p];
    starts_.push_back(static_cast<std::int64_t>(values_.size()));
    norms_.push_back(norm);
  }

  std::vector<std::int64_t> starts_{0};
  std::vector<std::uint32_t> columns_;
  std::vector<double> values_, norms_;
};

// ‖x - z‖² from the differences themselves, feature by feature.
inline double squared_distance(const Terms& a, std::int64_t s, const Terms& b, std::int64_t t) {
  const std::uint32_t *x = a.columns(s), *z = b.columns(t);
  const double *xs = a.values(s), *zs = b.values(t);
  const std::int64_t n = a.size(s), m = b.size(t);
  double sum = 0;
  for (std::int64_t p = 0, q = 0; p < n || q < m;) {
    double difference;
    if (q == m || (p < n && x[p] < z[q]))
      difference = xs[p++];
    else if (p == n || z[q] < x[p])
      difference = zs[q++];
    else
      difference = xs[p++] - zs[q++];
    sum += difference * difference;
  }
  return sum;
}

// Up to 32 rows side by side: a line of 32 doubles for every feature or, if there are many features, for every
// feature that one of the rows has.
class Panel {
 public:
  explicit Panel(std::int64_t features) : mapped_(features > most_unmapped), lines_of_(mapped_ ? features : 0, 0) {
    if (!mapped_) values_.resize(features * panel_rows);
  }

  Terms& start() {
    rows_.clear();
    return rows_;
  }
  // The rows that were pushed since `start`.
  void load() {
    if (mapped_) {
      for (std::int64_t column : columns_) lines_of_[column] = 0;
      columns_.clear();
      values_.clear();
    } else {
      std::fill(values_.begin(), values_.end(), 0.0);
    }
    for (std::int64_t r = 0; r < rows_.count(); ++r)
      for (std::int64_t p = 0; p < rows_.size(r); ++p)
        values_[line_of(rows_.columns(r)[p]) * panel_rows + r] = rows_.values(r)[p];
  }

  // out[r] = x_r · z for the row z that the terms list.
  void products(const Terms& terms, std::int64_t t, double* out) const {
    if (mapped_)
      accumulate<true>(terms.columns(t), terms.values(t), terms.size(t), out);
    else
      accumulate<false>(terms.columns(t), terms.values(t), terms.size(t), out);
  }

  // out[r] = ‖x_r - z‖² = ‖x_r‖² + ‖z‖² - 2 x_r·z, or from the differences if that would lose six digits or more.
  void squared_distances(const Terms& terms, std::int64_t t, double* out) const {
    constexpr double lossy = 1e-6;
    products(terms, t, out);
    for (std::int64_t r = 0; r < rows_.count(); ++r) {
      const double norms = rows_.squared_norm(r) + terms.squared_norm(t);
      out[r] = std::max(0.0, norms - 2.0 * out[r]);
      if (out[r] < lossy * norms) out[r] = squared_distance(rows_, r, terms, t);
    }
  }

 private:
  static constexpr std::int64_t most_unmapped = 4096;
  using Four = Pack<double, 32>;
  typedef Four::type Lane;

  std::size_t line_of(std::uint32_t column) {
    if (!mapped_) return column;
    if (lines_of_[column] == 0) {
      columns_.push_back(column);
      lines_of_[column] = static_cast<std::uint32_t>(columns_.size());
      values_.resize(columns_.size() * panel_rows, 0.0);
    }
    return lines_of_[column] - 1;
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
  Terms rows_;
  std::vector<double> values_;
  std::vector<std::uint32_t> lines_of_;  // 0: none of the rows has this feature
  std::vector<std::int64_t> columns_;
};

// Kernel values of up to 32 rows at a time (the panel) with any other row.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::int64_t count() const = 0;   // rows that scores are wanted for
  virtual std::int64_t others() const = 0;  // rows that they can be paired with
  virtual void load(const std::uint32_t* index, int count) {
    std::copy_n(index, count, index_);
    loaded_ = count;
  }
  virtual void values(std::int64_t other, double* out) = 0;
  virtual double diagonal(std::int64_t i) = 0;      // K(x_i, x_i), if both kinds of rows are the same
  virtual bool by_column() const { return false; }  // is a whole column the cheapest thing to ask for?

 protected:
  std::uint32_t index_[panel_rows];
  int loaded_ = 0;
};

// Columns of kernel values, first come, first kept, within a number of bytes.
class ColumnCache {
 public:
  ColumnCache(std::int64_t rows, std::int64_t bytes)
      : rows_(rows), capacity_(bytes / (8 * std::max<std::int64_t>(rows, 1))) {}

  // The column of this row, all NaN when it is new; null if there is no room.
  double* column(std::int64_t other) {
    const auto found = columns_.find(other);
    if (found != columns_.end()) return found->second.get();
    if (static_cast<std::int64_t>(columns_.size()) >= capacity_) return nullptr;
    auto fresh = std::make_unique<double[]>(rows_);
    std::fill_n(fresh.get(), rows_, std::numeric_limits<double>::quiet_NaN());
    return (columns_[other] = std::move(fresh)).get();
  }

 private:
  std::int64_t rows_, capacity_;
  std::unordered_map<std::int64_t, std::unique_ptr<double[]>> columns_;
};

// Values of one table with itself or, if `others` is another one, with that.
class RowSource final : public Source {
 public:
  RowSource(const AnyRows& rows, const AnyRows& others, KernelFunction function, std::int64_t cache_bytes)
      : rows_(rows), others_(others), count_(count_of(rows)), function_(function),
        panel_(std::visit([](const auto& r) { return r.features; }, rows)), cache_(count_, cache_bytes),
        places_(count_of(others), -1) {}

  std::int64_t count() const override { return count_; }
  std::int64_t others() const override { return static_cast<std::int64_t>(places_.size()); }

  void load(const std::uint32_t* index, int count) override {
    Source::load(index, count);
    packed_ = false;
  }

  void values(std::int64_t other, double* out) override {
    double* column = cache_.column(other);
    if (column) {
      bool known = true;
      for (int r = 0; r < loaded_; ++r) {
        out[r] = column[index_[r]];
        known &= out[r] == out[r];
      }
      if (known) return;
    }
    if (!packed_) {
      for (Terms& terms = panel_.start(); terms.count() < loaded_;) push(rows_, index_[terms.count()], terms);
      panel_.load();
      packed_ = true;
    }
    if (places_[other] < 0) {
      places_[other] = terms_.count();
      push(others_, other, terms_);
    }
    if (function_.kind == KernelFunction::Kind::rbf)
      panel_.squared_distances(terms_, places_[other], out);
    else
      panel_.products(terms_, places_[other], out);
    function_.apply(out, panel_rows);
    if (column)
      for (int r = 0; r < loaded_; ++r) column[index_[r]] = out[r];
  }

  double diagonal(std::int64_t i) override {
    one_.clear();
    push(rows_, i, one_);
    double value = function_.kind == KernelFunction::Kind::rbf ? 0.0 : one_.squared_norm(0);
    function_.apply(&value, 1);
    return value;
  }

 private:
  static std::int64_t count_of(const AnyRows& rows) {
    return std::visit([](const auto& r) { return r.count; }, rows);
  }
  static void push(const AnyRows& rows, std::int64_t i, Terms& to) {
    std::visit([&](const auto& r) { to.push(r, i); }, rows);
  }

  AnyRows rows_, others_;
  std::int64_t count_;
  KernelFunction function_;
  Panel panel_;
  ColumnCache cache_;
  Terms terms_, one_;
  std::vector<std::int64_t> places_;
  bool packed_ = false;
};

class MatrixSource final : public Source {
 public:
  MatrixSource(const double* matrix, std::int64_t rows, std::int64_t columns)
      : matrix_(matrix), rows_(rows), columns_(columns) {}

  std::int64_t count() const override { return rows_; }
  std::int64_t others() const override { return columns_; }
  void values(std::int64_t other, double* out) override {
    for (int r = 0; r < loaded_; ++r) out[r] = matrix_[index_[r] * columns_ + other];
  }
  double diagonal(std::int64_t i) override { return matrix_[i * columns_ + i]; }

 private:
  const double* matrix_;
  std::int64_t rows_, columns_;
};

// Values of a table with itself that only the caller can compute: fill(other, column) writes K(all rows, other).
class ColumnSource final : public Source {
 public:
  using Fill = std::function<void(std::int64_t, double*)>;

  ColumnSource(std::int64_t rows, Fill fill, std::int64_t cache_bytes)
      : rows_(rows), fill_(std::move(fill)), cache_(rows, cache_bytes), scratch_(rows) {}

  std::int64_t count() const override { return rows_; }
  std::int64_t others() const override { return rows_; }
  bool by_column() const override { return true; }
  void values(std::int64_t other, double* out) override {
    const double* column = column_of(other);
    for (int r = 0; r < loaded_; ++r) out[r] = column[index_[r]];
  }
  double diagonal(std::int64_t i) override { return column_of(i)[i]; }

 private:
  const double* column_of(std::int64_t other) {
    if (other == current_) return at_;
    double* column = cache_.column(other);
    at_ = column ? column : scratch_.data();
    current_ = -1;
    if (!column || !(column[other] == column[other])) fill_(other, at_);
    current_ = other;
    return at_;
  }

  std::int64_t rows_;
  Fill fill_;
  ColumnCache cache_;
  std::vector<double> scratch_;
  double* at_ = nullptr;
  std::int64_t current_ = -1;
};

}  // namespace rosenblatt
