// CSR arrays come from outside: do they lie as the loops need them? One reading of the columns answers it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "rows.hpp"

namespace rosenblatt {

enum class Structure {
  sound,     // the columns of every row rise strictly
  unsorted,  // they do not: some may stand twice, and ‖x‖² would be wrong
  broken,    // starts fall or lie outside of the values, or there is a column that does not exist
};

// Where columns do not rise is counted over all values at once, and between rows, where they need not: short rows have
// no loop of their own.
template <class T, class Index>
Structure structure_of(const SparseRows<T, Index>& rows, std::int64_t stored) {
  using Unsigned = std::make_unsigned_t<Index>;
  const std::int64_t begin = rows.starts[0], end = rows.starts[rows.count];
  if (begin < 0 || end > stored) return Structure::broken;
  bool falls = false;
  for (std::int64_t i = 0; i < rows.count; ++i) falls |= rows.starts[i + 1] < rows.starts[i];
  if (falls) return Structure::broken;
  Unsigned largest = 0;  // a column below 0 is a very large one
  std::int64_t fallen = 0, between = 0;
  all_stretches(rows.indices + begin, end - begin, [&](std::int64_t first, std::int64_t count) {
    const Index* const at = rows.indices + begin + first;
    for (std::int64_t p = 0; p < count; ++p) largest = std::max(largest, static_cast<Unsigned>(at[p]));
    const std::int64_t pairs = std::min(count, end - begin - first - 1);
    Index here = 0;
    for (std::int64_t p = 0; p < pairs; ++p) here += at[p] >= at[p + 1];
    fallen += here;
    return true;
  });
  if (begin < end && largest >= static_cast<std::uint64_t>(rows.features)) return Structure::broken;
  for (std::int64_t i = 1; i < rows.count; ++i) {
    const std::int64_t first = rows.starts[i];
    if (begin < first && first < rows.starts[i + 1]) between += rows.indices[first - 1] >= rows.indices[first];
  }
  return fallen == between ? Structure::sound : Structure::unsorted;
}

// Is every value 1? Most tables are left after the first stretch.
template <class T>
bool all_ones(const T* values, std::int64_t count) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return all_stretches(values, count, [&](std::int64_t first, std::int64_t some) {
    Bits others = 0;
    for (std::int64_t p = first; p < first + some; ++p) others += values[p] != 1;
    return others == 0;
  });
}

}  // namespace rosenblatt
