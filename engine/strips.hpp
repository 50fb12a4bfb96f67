// The order of a shuffled epoch: strips of consecutive rows in random order, and the rows of a window of strips
// shuffled again. A window fits the cache and is read strip by strip, from memory or from a file, so that a shuffled
// epoch costs little more than one in order.
//
// The strips are dealt out: of as many neighbours as there are windows, each window gets one. So every window has rows
// from all over the table, and rows that were sorted by label meet every window with their shares.
//
// Invariant: the order depends on the number of rows, the window and the generator alone. Rows that fit into one window
// are one strip: then every order is as likely as any other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "generator.hpp"

namespace rosenblatt {

inline constexpr std::int64_t window_rows = 8192, window_strips = 256;

struct Strips {
  std::int64_t count;   // rows
  std::int64_t length;  // rows of a strip, but for the last one
  std::int64_t most;    // strips of a window

  explicit Strips(std::int64_t rows, std::int64_t window = window_rows)
      : count(rows),
        length(rows <= window ? std::max<std::int64_t>(1, rows) : std::max<std::int64_t>(1, window / window_strips)),
        most(std::max<std::int64_t>(1, window / length)) {}

  std::int64_t strips() const { return (count + length - 1) / length; }
  std::int64_t windows() const { return (strips() + most - 1) / most; }

  // Where a window begins among the strips in their order. Windows are as large as one another, but for one strip.
  std::int64_t begin_of(std::int64_t window) const {
    const std::int64_t dealt = std::max<std::int64_t>(1, windows());
    return window * (strips() / dealt) + std::min(window, strips() % dealt);
  }

  // The place in the order, or a few rows from it, where the window after this place begins.
  std::int64_t next_window(std::int64_t place) const {
    std::int64_t window = place / (most * length);
    while (window < windows() && begin_of(window) * length <= place) ++window;
    return std::min(count, begin_of(window) * length);
  }

  // The strips in random order: the first thing to draw.
  std::vector<std::uint32_t> draw(Generator& generator) const {
    const std::int64_t dealt = windows();
    std::vector<std::uint32_t> turns(strips()), neighbours;
    for (std::int64_t first = 0; first < strips(); first += dealt) {
      neighbours.resize(std::min(dealt, strips() - first));
      std::iota(neighbours.begin(), neighbours.end(), static_cast<std::uint32_t>(first));
      shuffle(neighbours.data(), static_cast<std::int64_t>(neighbours.size()), generator);
      for (std::size_t w = 0; w < neighbours.size(); ++w) turns[begin_of(w) + first / dealt] = neighbours[w];
    }
    return turns;
  }

  // The rows of some windows, which are drawn one after another; items: what the rows are called, null for numbers.
  // Returns the end of what it wrote.
  std::uint32_t* draw_windows(const std::uint32_t* turns, std::int64_t first, std::int64_t end,
                              const std::uint32_t* items, std::uint32_t* out, Generator& generator) const {
    for (std::int64_t w = first; w < end; ++w) {
      std::uint32_t* const begin = out;
      for (std::int64_t s = begin_of(w); s < begin_of(w + 1); ++s) {
        const std::int64_t from = turns[s] * length, size = std::min(length, count - from);
        if (items)
          std::copy_n(items + from, size, out);
        else
          std::iota(out, out + size, static_cast<std::uint32_t>(from));
        out += size;
      }
      shuffle(begin, out - begin, generator);
    }
    return out;
  }

  void draw_order(const std::uint32_t* items, std::uint32_t* out, Generator& generator) const {
    const std::vector<std::uint32_t> turns = draw(generator);
    draw_windows(turns.data(), 0, windows(), items, out, generator);
  }
};

}  // namespace rosenblatt
