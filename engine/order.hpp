// In which order rows are visited, and when to stop between them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rows.hpp"

namespace rosenblatt {

// Asked between blocks of rows whether to stop; a block takes some ten milliseconds.
struct Poll {
  bool (*ask)(void*) = [](void*) { return false; };
  void* context = nullptr;
  bool stopped = false;

  bool operator()() { return stopped = stopped || ask(context); }

  static std::int64_t rows_per_block(std::int64_t values_a_row, std::int64_t K) {
    return std::max<std::int64_t>(1, (std::int64_t{1} << 25) / (values_a_row * K + 8));
  }
};

// A stretch of an order: the places from begin to end.
struct Part {
  std::int64_t begin;
  std::int64_t end;
};

// The rows of a pass: index[0..count), or 0..count in order where index is null.
struct Order {
  const std::uint32_t* index;
  std::int64_t count;

  std::int64_t operator[](std::int64_t at) const { return index ? index[at] : at; }
};

// Rows of so many bytes come from the memory. Fetched ahead, short ones in order are read a fifth quicker: a mistake
// ends what the CPU has begun to read by itself.
inline constexpr std::int64_t cached_bytes = 1 << 24;

// Calls visit(i, next) for every row in a part of the order, fetching ahead; where the order does not jump, next is -1.
// Stops when the poll says so.
template <class Rows, class Visit>
ALWAYS_INLINE void for_each_row(const Rows& rows, Order order, Part part, std::int64_t K, Poll& poll, Visit&& visit) {
  const std::int64_t block = Poll::rows_per_block(rows.values_a_row(), K);
  const bool far =
      rows.count * rows.values_a_row() * static_cast<std::int64_t>(sizeof(typename Rows::Value)) > cached_bytes;
  for (std::int64_t begin = part.begin; begin < part.end && !poll(); begin += block) {
    const std::int64_t end = std::min(part.end, begin + block), last = order.count - 1;
    if (!order.index) {
      for (std::int64_t at = begin; at < end; ++at) {
        if (far) rows.prefetch(std::min(at + prefetch_distance, last));
        visit(at, -1);
      }
      continue;
    }
    for (std::int64_t at = begin; at < end; ++at) {
      rows.prefetch_bounds(order.index[std::min(at + 2 * prefetch_distance, last)]);
      rows.prefetch(order.index[std::min(at + prefetch_distance, last)]);
      visit(order.index[at], order.index[std::min(at + 1, last)]);
    }
  }
}

}  // namespace rosenblatt
