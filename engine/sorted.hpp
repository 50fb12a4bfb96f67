// Sparse rows with their columns in order, as the loops need them; vectorizers of text write them in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace rosenblatt {

inline constexpr std::int32_t counted_columns = 512;

// Where each of some columns goes, by the number of smaller ones; false if two are equal. Comparing all with all needs
// no branches, and so is quicker than a sort for rows that are not long. There must be room for 7 columns more.
inline bool count_places(std::int32_t* columns, std::int32_t count, std::int32_t* places) {
  using Eights = Pack<std::int32_t, 32>;
  typedef Eights::type Eight;
  for (std::int32_t p = count; p % 8; ++p) columns[p] = std::numeric_limits<std::int32_t>::max();
  std::int64_t all = 0;
  for (std::int32_t j = 0; j < count; ++j) {
    const Eight column = Eight{} + columns[j];
    Eight smaller{};
    for (std::int32_t p = 0; p < count; p += 8) smaller -= Eights::load(columns + p) < column;
    places[j] = ((smaller[0] + smaller[4]) + (smaller[1] + smaller[5])) +
                ((smaller[2] + smaller[6]) + (smaller[3] + smaller[7]));
    all += places[j];
  }
  return all == std::int64_t{count} * (count - 1) / 2;
}

// Writes the rows' values and columns, sorted by column, row by row from the start of the arrays. Columns that come
// twice stay side by side, in the order they came in.
template <class T, class Index>
void sort_columns(const SparseRows<T, Index>& rows, T* values, Index* indices) {
  std::int32_t columns[counted_columns + 7], places[counted_columns];
  std::vector<std::pair<Index, Index>> entries;
  const bool small = rows.features <= std::numeric_limits<std::int32_t>::max();
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const Index begin = rows.starts[i], count = rows.starts[i + 1] - begin;
    const Index* at = rows.indices + begin;
    const T* x = rows.values + begin;
    bool counted = small && count <= counted_columns;
    if (counted) {
      for (Index p = 0; p < count; ++p) columns[p] = static_cast<std::int32_t>(at[p]);
      counted = count_places(columns, static_cast<std::int32_t>(count), places);
    }
    if (counted) {
      for (Index p = 0; p < count; ++p) {
        indices[places[p]] = at[p];
        values[places[p]] = x[p];
      }
    } else {
      entries.resize(count);
      for (Index p = 0; p < count; ++p) entries[p] = {at[p], p};
      std::sort(entries.begin(), entries.end());
      for (Index p = 0; p < count; ++p) {
        indices[p] = entries[p].first;
        values[p] = x[entries[p].second];
      }
    }
    indices += count;
    values += count;
  }
}

}  // namespace rosenblatt
