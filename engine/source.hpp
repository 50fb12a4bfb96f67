// Where kernel values come from: computed from rows, read from a matrix, or asked for column by column.
//
// Invariant: a value is the same whether it is computed, computed again or remembered.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "kernels.hpp"

namespace rosenblatt {

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
  virtual double diagonal(std::int64_t i) = 0;      // K(x_i, x_i), where both kinds of rows are the same
  virtual bool by_column() const { return false; }  // is a whole column the cheapest thing to ask for?

 protected:
  std::uint32_t index_[panel_rows];
  int loaded_ = 0;
};

// Remembered columns of kernel values, first come, first kept, within a number of bytes.
class Cache {
 public:
  Cache(std::int64_t rows, std::int64_t bytes) : rows_(rows), room_(bytes / (8 * std::max<std::int64_t>(rows, 1))) {}

  // The column of this row, all NaN when it is new; null if there is no room.
  double* column(std::int64_t other) {
    const auto found = columns_.find(other);
    if (found != columns_.end()) return found->second.get();
    if (static_cast<std::int64_t>(columns_.size()) >= room_) return nullptr;
    auto fresh = std::make_unique<double[]>(rows_);
    std::fill_n(fresh.get(), rows_, std::numeric_limits<double>::quiet_NaN());
    return (columns_[other] = std::move(fresh)).get();
  }

 private:
  std::int64_t rows_, room_;
  std::unordered_map<std::int64_t, std::unique_ptr<double[]>> columns_;
};

// Values of one table with itself or, where `others` is another one, with that.
template <class Rows, class Others>
class RowSource final : public Source {
 public:
  RowSource(const Rows& rows, const Others& others, KernelFunction function, std::int64_t cache_bytes)
      : opened_(rows), opened_others_(others), rows_(*opened_), others_(*opened_others_), function_(function),
        panel_(rows.features), cache_(rows.count, cache_bytes), places_(others.count, -1) {}

  std::int64_t count() const override { return rows_.count; }
  std::int64_t others() const override { return others_.count; }

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
      panel_.load(rows_, index_, loaded_, function_.needs_norms());
      packed_ = true;
    }
    if (places_[other] < 0) {
      places_[other] = terms_.count();
      terms_.push(others_, other);
    }
    panel_.products(terms_, places_[other], out);
    function_.apply(out, panel_.norms(), terms_.squared_norm(places_[other]), panel_rows);
    if (column)
      for (int r = 0; r < loaded_; ++r) column[index_[r]] = out[r];
  }

  double diagonal(std::int64_t i) override {
    const double norm = squared_norm_in_order(rows_, i);
    double value = norm;
    function_.apply(&value, &norm, norm, 1);
    return value;
  }

 private:
  const Opened<Rows> opened_;
  const Opened<Others> opened_others_;
  const Rows& rows_;
  const Others& others_;
  KernelFunction function_;
  Panel panel_;
  Cache cache_;
  Terms terms_;
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
    if (other == held_) return at_;
    double* column = cache_.column(other);
    at_ = column ? column : scratch_.data();
    held_ = -1;
    if (!column || !(column[other] == column[other])) fill_(other, at_);
    held_ = other;
    return at_;
  }

  std::int64_t rows_;
  Fill fill_;
  Cache cache_;
  std::vector<double> scratch_;
  double* at_ = nullptr;
  std::int64_t held_ = -1;
};

}  // namespace rosenblatt
