// The order of a shuffled epoch: strips of consecutive rows in random order, and the rows of a window of strips
// shuffled again. A window fits the cache and is read strip by strip, from memory or from a file, so that a shuffled
// epoch costs little more than one in order.
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
  std::int64_t count;     // rows
  std::int64_t length;    // rows of a strip, but for the last one
  std::int64_t together;  // strips of a window

  explicit Strips(std::int64_t rows, std::int64_t window = window_rows)
      : count(rows),
        length(rows <= window ? std::max<std::int64_t>(1, rows) : std::max<std::int64_t>(1, window / window_strips)),
        together(std::max<std::int64_t>(1, window / length)) {}

  std::int64_t strips() const { return (count + length - 1) / length; }
  std::int64_t windows() const { return (strips() + together - 1) / together; }

  // The strips in random order: the first thing to draw.
  std::vector<std::uint32_t> draw(Generator& generator) const {
    std::vector<std::uint32_t> turns(strips());
    std::iota(turns.begin(), turns.end(), 0u);
    shuffle(turns.data(), strips(), generator);
    return turns;
  }

  // The rows of some windows, which are drawn one after another; items: what the rows are called, null for numbers.
  // Returns the end of what it wrote.
  std::uint32_t* draw_windows(const std::uint32_t* turns, std::int64_t first, std::int64_t end,
                              const std::uint32_t* items, std::uint32_t* out, Generator& generator) const {
    for (std::int64_t w = first; w < end; ++w) {
      std::uint32_t* const begin = out;
      for (std::int64_t s = w * together; s < std::min((w + 1) * together, strips()); ++s) {
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
