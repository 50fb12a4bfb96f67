// Kernel functions, products of many rows at once in one fixed order, and where kernel values come from.
//
// Invariant: K(x, z) depends on x and z alone, and is the same whether it is computed, computed again or cached. The
// sum of a product runs over the features from left to right, as on paper, and a feature that is 0 in either row adds
// nothing; so dense and CSR rows, any block and any CPU give the same bits. The speed comes from the other direction:
// 32 rows lie side by side in a panel, and every feature of z meets all of them.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

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
      double base[panel_rows];
      for (int r = 0; r < count; ++r) {
        base[r] = coef0 + gamma * values[r];
        values[r] = 1.0;
      }
      for (int left = degree; left > 0; left >>= 1) {  // by squaring, all rows side by side
        if (left & 1)
          for (int r = 0; r < count; ++r) values[r] *= base[r];
        for (int r = 0; r < count; ++r) base[r] *= base[r];
      }
    } else if (kind == Kind::rbf) {
      for (int r = 0; r < count; ++r) values[r] = fixed_exp(-gamma * values[r]);
    } else if (kind == Kind::sigmoid) {
      for (int r = 0; r < count; ++r) values[r] = fixed_tanh(coef0 + gamma * values[r]);
    }
  }
};

// Rows as lists of their values other than 0, from left to right.
class Terms {
 public:
  template <class Rows>
  void push(const Rows& rows, std::int64_t i) {
    double norm = 0;
    rows.for_each_weight(i, 0, 1, [&](std::int64_t column, double value) {
      if (value == 0) return;
      columns_.push_back(static_cast<std::uint32_t>(column));
      values_.push_back(value);
      norm += value * value;
    });
    starts_.push_back(static_cast<std::int64_t>(values_.size()));
    norms_.push_back(norm);
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
    const bool in_a = q == m || (p < n && x[p] <= z[q]), in_b = p == n || (q < m && z[q] <= x[p]);
    const double difference = (in_a ? xs[p++] : 0.0) - (in_b ? zs[q++] : 0.0);
    sum += difference * difference;
  }
  return sum;
}

// Up to 32 rows side by side: a line of 32 doubles for every feature that one of the rows has.
class Panel {
 public:
  explicit Panel(std::int64_t features) : lines_of_(features, 0) {}

  Terms& start() {
    rows_.clear();
    return rows_;
  }
  // The rows that were pushed since `start`.
  void load() {
    for (std::uint32_t column : columns_) lines_of_[column] = 0;
    columns_.clear();
    values_.clear();
    for (std::int64_t r = 0; r < rows_.count(); ++r)
      for (std::int64_t p = 0; p < rows_.size(r); ++p) {
        const std::uint32_t column = rows_.columns(r)[p];
        if (lines_of_[column] == 0) {
          columns_.push_back(column);
          lines_of_[column] = static_cast<std::uint32_t>(columns_.size());
          values_.resize(columns_.size() * panel_rows, 0.0);
        }
        values_[(lines_of_[column] - 1) * std::size_t{panel_rows} + r] = rows_.values(r)[p];
      }
  }

  // out[r] = x_r · z for the row z that the terms list.
  void products(const Terms& terms, std::int64_t t, double* out) const {
    const std::uint32_t* columns = terms.columns(t);
    const double* values = terms.values(t);
    Lane sums[panel_rows / 4]{};
    for (std::int64_t p = 0; p < terms.size(t); ++p) {
      const std::size_t line = lines_of_[columns[p]];
      if (line == 0) continue;
      const double* at = values_.data() + (line - 1) * panel_rows;
      const Lane value = {values[p], values[p], values[p], values[p]};
#pragma GCC unroll 8
      for (int s = 0; s < panel_rows / 4; ++s) sums[s] += value * Four::load(at + 4 * s);
    }
#pragma GCC unroll 8
    for (int s = 0; s < panel_rows / 4; ++s) Four::store(out + 4 * s, sums[s]);
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
  using Four = Pack<double, 32>;
  typedef Four::type Lane;

  Terms rows_;
  std::vector<double> values_;
  std::vector<std::uint32_t> lines_of_;  // 0: none of the rows has this feature
  std::vector<std::uint32_t> columns_;   // that have a line
};

// Kernel values of up to 32 rows at a time (the panel) with any other row.
class Source {
 public:
  Source(std::int64_t count_, std::int64_t others_, bool by_column_ = false)
      : count(count_), others(others_), by_column(by_column_) {}
  Source(const Source&) = delete;
  virtual ~Source() = default;
  virtual void load(const std::uint32_t* index, int count_of_index) {
    std::copy_n(index, count_of_index, index_);
    loaded_ = count_of_index;
  }
  virtual void values(std::int64_t other, double* out) = 0;
  virtual double diagonal(std::int64_t i) = 0;  // K(x_i, x_i), if both kinds of rows are the same

  const std::int64_t count;   // rows that scores are wanted for
  const std::int64_t others;  // rows that they can be paired with
  const bool by_column;       // is a whole column the cheapest thing to ask for?
  bool busy = false;          // a source remembers its last request: one call at a time

 protected:
  std::uint32_t index_[panel_rows];
  int loaded_ = 0;
};

// Values of one table with itself or, if `others` is another one, with that.
class RowSource final : public Source {
 public:
  RowSource(const AnyRows& rows, const AnyRows& paired, KernelFunction function)
      : Source(count_of(rows), count_of(paired)), rows_(rows), paired_(paired), function_(function),
        panel_(features_of(rows)), places_(others, -1) {}

  void load(const std::uint32_t* index, int count_of_index) override {
    Terms& terms = panel_.start();
    for (int r = 0; r < count_of_index; ++r) push(rows_, index[r], terms);
    panel_.load();
  }

  void values(std::int64_t other, double* out) override {
    const std::int64_t place = place_of(other);
    if (function_.kind == KernelFunction::Kind::rbf)
      panel_.squared_distances(terms_, place, out);
    else
      panel_.products(terms_, place, out);
    function_.apply(out, panel_rows);
  }

  double diagonal(std::int64_t i) override {
    double value = function_.kind == KernelFunction::Kind::rbf ? 0.0 : terms_.squared_norm(place_of(i));
    function_.apply(&value, 1);
    return value;
  }

 private:
  static void push(const AnyRows& rows, std::int64_t i, Terms& to) {
    std::visit([&](const auto& r) { to.push(r, i); }, rows);
  }
  // Where the terms of another row are: they are listed when they are first asked for.
  std::int64_t place_of(std::int64_t other) {
    if (places_[other] < 0) {
      places_[other] = terms_.count();
      push(paired_, other, terms_);
    }
    return places_[other];
  }

  AnyRows rows_, paired_;
  KernelFunction function_;
  Panel panel_;
  Terms terms_;
  std::vector<std::int64_t> places_;
};

class MatrixSource final : public Source {
 public:
  MatrixSource(const double* matrix, std::int64_t rows, std::int64_t columns)
      : Source(rows, columns), matrix_(matrix) {}

  void values(std::int64_t other, double* out) override {
    for (int r = 0; r < loaded_; ++r) out[r] = matrix_[index_[r] * others + other];
  }
  double diagonal(std::int64_t i) override { return matrix_[i * others + i]; }

 private:
  const double* matrix_;
};

// Values of a table with itself that only the caller can compute: fill(other, column) writes K(all rows, other).
// Columns are remembered, first come, first kept, within a number of bytes.
class ColumnSource final : public Source {
 public:
  using Fill = std::function<void(std::int64_t, double*)>;

  ColumnSource(std::int64_t rows, Fill fill, std::int64_t cache_bytes)
      : Source(rows, rows, true), capacity_(cache_bytes / (8 * std::max<std::int64_t>(rows, 1))),
        fill_(std::move(fill)) {}

  void values(std::int64_t other, double* out) override {
    const double* column = column_of(other);
    for (int r = 0; r < loaded_; ++r) out[r] = column[index_[r]];
  }
  double diagonal(std::int64_t i) override { return column_of(i)[i]; }

 private:
  const double* column_of(std::int64_t other) {
    if (other == latest_) return column_.data();
    if (const auto known = columns_.find(other); known != columns_.end()) return known->second.data();
    std::vector<double> fresh(count);
    fill_(other, fresh.data());
    if (std::ssize(columns_) < capacity_) return (columns_[other] = std::move(fresh)).data();
    column_ = std::move(fresh);
    latest_ = other;
    return column_.data();
  }

  std::int64_t capacity_;
  Fill fill_;
  std::unordered_map<std::int64_t, std::vector<double>> columns_;
  std::vector<double> column_;  // the latest one that was not remembered
  std::int64_t latest_ = -1;
};

}  // namespace rosenblatt
