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

// Is a long row in order read sooner if it is asked for? By Intel's CPUs; AMD's read it sooner by themselves
// (docs/decisions/memory.md).
inline bool asks_in_order() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

// How far ahead rows are fetched, by what they take in memory (docs/decisions/memory.md).
struct Fetch {
  static constexpr std::int64_t cached = 1 << 24, near = 100'000'000;

  Fetch(std::int64_t rows, std::int64_t bytes_a_row)
      : in_order(rows * bytes_a_row > cached), far(rows * bytes_a_row > near),
        jumping(
            std::clamp<std::int64_t>((far ? 4096 : 8192) / std::max<std::int64_t>(1, bytes_a_row), far ? 4 : 8, 16)) {}

  bool in_order;         // is it worth while even where the order does not jump? Then 8 KB ahead
  bool far;              // into the second cache alone: the first one has better things to hold
  std::int64_t jumping;  // so many rows ahead where it jumps
};

// Calls visit(i, next) for every row in a part of the order, fetching ahead; next is the row that comes after it where
// it may be fetched, else -1. Stops when the poll says so.
template <class Rows, class Visit>
ALWAYS_INLINE void for_each_row(const Rows& rows, Order order, Part part, std::int64_t K, Poll& poll, Visit&& visit) {
  const std::int64_t block = Poll::rows_per_block(rows.values_a_row(), K);
  const Fetch fetch(rows.count, rows.bytes_a_row());
  for (std::int64_t begin = part.begin; begin < part.end && !poll(); begin += block) {
    const std::int64_t end = std::min(part.end, begin + block), last = order.count - 1;
    if constexpr (!Rows::sparse) {
      if (!order.index && fetch.in_order) {
        const std::int64_t ahead = std::max<std::int64_t>(1, 8192 / rows.bytes_a_row());
        const bool asks = asks_in_order();
        for (std::int64_t at = begin; at < end; ++at) {
          rows.prefetch(std::min(at + ahead, last), false);
          visit(at, asks ? std::min(at + 1, last) : -1);
        }
        continue;
      }
    }
    if (!order.index) {
      for (std::int64_t at = begin; at < end; ++at) visit(at, -1);
      continue;
    }
    for (std::int64_t at = begin; at < end; ++at) {
      rows.prefetch_bounds(order.index[std::min(at + 2 * fetch.jumping, last)]);
      rows.prefetch(order.index[std::min(at + fetch.jumping, last)], fetch.far);
      visit(order.index[at], order.index[std::min(at + 1, last)]);
    }
  }
}

}  // namespace rosenblatt
