// All rows of a table, one after another, wherever they lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace rosenblatt {

// Calls visit(i, x) with the values of row after row, until it says no; those in columns come some at a time.
template <class T, class Visit>
void for_each_dense(const DenseRows<T>& rows, Visit&& visit) {
  if (!rows.stored) {
    for (std::int64_t i = 0; i < rows.count && visit(i, rows.row(i)); ++i) {}
    return;
  }
  constexpr std::int64_t together = 32;
  std::vector<T> values(together * rows.features);
  std::vector<std::int64_t> places(together);
  for (std::int64_t begin = 0; begin < rows.count; begin += together) {
    const std::int64_t count = std::min(together, rows.count - begin);
    for (std::int64_t k = 0; k < count; ++k) places[k] = begin + k;
    rows.stored->gather(places.data(), count, values.data());
    for (std::int64_t k = 0; k < count; ++k)
      if (!visit(begin + k, values.data() + k * rows.features)) return;
  }
}

// Where the first value lies that cannot be learned from; row -1 if there is none.
struct Place {
  std::int64_t row = -1;
  std::int64_t column = -1;
};

template <class T>
Place first_unusable(const DenseRows<T>& rows) {
  if (!rows.stored && rows.stride == rows.features && all_usable(rows.values, rows.count * rows.features)) return {};
  Place found;
  for_each_dense(rows, [&](std::int64_t i, const T* x) {
    if (all_usable(x, rows.features)) return true;
    for (std::int64_t j = 0; j < rows.features && found.row < 0; ++j)
      if (!all_usable(x + j, 1)) found = {i, j};
    return found.row < 0;
  });
  return found;
}

template <class T, class Index>
Place first_unusable(const SparseRows<T, Index>& rows) {
  if (rows.ones || all_usable(rows.values + rows.starts[0], rows.starts[rows.count] - rows.starts[0])) return {};
  for (std::int64_t i = 0; i < rows.count; ++i)
    for (Index p = rows.starts[i]; p < rows.starts[i + 1]; ++p)
      if (!all_usable(rows.values + p, 1)) return {i, static_cast<std::int64_t>(rows.indices[p])};
  return {};
}

}  // namespace rosenblatt
