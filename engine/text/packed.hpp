// Blocks of sparse rows as bytes, as they lie in a file: the values of a block, its weights if it has some, then the
// columns, the codes of the labels and the starts. The long numbers come first and a block is a multiple of 8 bytes, so
// that every number lies where a CPU likes to read it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rosenblatt {

struct PackedSize {
  std::int64_t rows, values;
  bool weighted;

  std::int64_t bytes() const {
    return (8 * values + (weighted ? 8 * rows : 0) + 4 * (values + rows + rows + 1) + 7) / 8 * 8;
  }
};

// The arrays of rows, to read or to write; starts: one more than there are rows; weights: null if every row weighs 1.
template <class Whole, class Real>
struct RowArrays {
  Whole *starts, *indices;
  Real* values;
  Whole* codes;
  Real* weights;
};

using RowsIn = RowArrays<const std::int32_t, const double>;
using RowsOut = RowArrays<std::int32_t, double>;

template <class T>
std::byte* put(std::byte* to, const T* from, std::int64_t count) {
  if (count) std::memcpy(to, from, count * sizeof(T));
  return to + count * sizeof(T);
}
template <class T>
const std::byte* get(const std::byte* from, T* to, std::int64_t count) {
  if (count) std::memcpy(to, from, count * sizeof(T));
  return from + count * sizeof(T);
}

// Writes the rows from begin to end as one block; returns its end.
inline std::byte* pack(const RowsIn& rows, std::int64_t begin, std::int64_t end, std::byte* to) {
  const std::int32_t low = rows.starts[begin];
  const PackedSize size{end - begin, rows.starts[end] - low, rows.weights != nullptr};
  std::byte* const after = to + size.bytes();
  to = put(to, rows.values + low, size.values);
  if (size.weighted) to = put(to, rows.weights + begin, size.rows);
  to = put(to, rows.indices + low, size.values);
  to = put(to, rows.codes + begin, size.rows);
  for (std::int64_t i = begin; i <= end; ++i) {
    const std::int32_t start = rows.starts[i] - low;
    to = put(to, &start, 1);
  }
  std::fill(to, after, std::byte{0});
  return after;
}

// Reads a block behind `row` rows with `value` values. False if its starts are not those of so many values: nothing
// outside of the arrays is written then.
inline bool unpack(const std::byte* from, const PackedSize& size, const RowsOut& rows, std::int64_t row,
                   std::int64_t value) {
  from = get(from, rows.values + value, size.values);
  if (size.weighted)
    from = get(from, rows.weights + row, size.rows);
  else if (rows.weights)
    std::fill_n(rows.weights + row, size.rows, 1.0);
  from = get(from, rows.indices + value, size.values);
  from = get(from, rows.codes + row, size.rows);
  get(from, rows.starts + row, size.rows + 1);
  const bool sound = rows.starts[row] == 0 && rows.starts[row + size.rows] == size.values;
  for (std::int64_t i = row; i <= row + size.rows; ++i)  // they come from outside, and may be anything
    rows.starts[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(rows.starts[i] + value));
  return sound;
}

}  // namespace rosenblatt
