// Dense rows that lie in memory otherwise than they are learned from: as another type (small integers, half precision),
// or column after column, each of a type of its own. Rows are brought side by side when they are looked at, and so the
// memory is read in the few bytes that it has, and never copied.
//
// Invariant: widening is exact or is what NumPy's `astype` does, so the bits are those of rows that were converted
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rosenblatt {

enum class Kind : std::uint8_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  uint64,
  int64,
  float16,
  bfloat16,
  float32,
  float64
};

std::size_t size_of(Kind kind);

// Where the values of rows lie.
class Stored {
 public:
  struct Column {
    const std::byte* first;
    std::int64_t stride;  // from one row to the next, in values
    Kind kind;
  };

  // Rows whose values lie side by side; stride: from one to the next, in bytes.
  Stored(const std::byte* first, std::int64_t stride, Kind kind, std::int64_t features)
      : first_(first), stride_(stride), features_(features), kind_(kind) {}

  // Rows in columns, piece after piece; begins: the first row of each piece, and the number of rows; columns: those of
  // the first piece, then those of the next.
  Stored(std::vector<std::int64_t> begins, std::vector<Column> columns);

  bool in_columns() const { return !columns_.empty(); }

  // All values of row i.
  void widen(std::int64_t i, float* to) const;
  void widen(std::int64_t i, double* to) const;

  // All values of these rows, row after row.
  void gather(const std::int64_t* rows, std::int64_t count, float* to) const;
  void gather(const std::int64_t* rows, std::int64_t count, double* to) const;

  // Asks for row i where its values lie side by side.
  void prefetch(std::int64_t i) const;
  // Asks for so many rows from `first` on, where the values of a column lie side by side.
  void prefetch_columns(std::int64_t first, std::int64_t count) const;

 private:
  template <class T>
  void widen_row(std::int64_t i, T* to) const;
  template <class T>
  void gather_rows(const std::int64_t* rows, std::int64_t count, T* to) const;
  // The piece that holds row i.
  std::size_t piece_of(std::int64_t i) const;

  const std::byte* first_ = nullptr;
  std::int64_t stride_ = 0;
  std::int64_t features_;
  Kind kind_ = Kind::float64;
  std::vector<std::int64_t> begins_;
  std::vector<Column> columns_;
  bool alike_ = false;  // do all columns hold kind_?
};

}  // namespace rosenblatt
