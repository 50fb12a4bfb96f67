// Pseudo-random numbers whose whole state is four integers, the same on every machine.
//
// xoshiro256++ (Blackman and Vigna 2019), seeded by splitmix64. Bounded integers by Lemire's multiply-and-reject
// (2019), shuffles by Fisher and Yates.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace rosenblatt {

struct Generator {
  std::array<std::uint64_t, 4> state;

  static Generator seeded(std::uint64_t seed, std::uint64_t stream) {
    std::uint64_t z = seed ^ (stream * 0x9e3779b97f4a7c15ull);
    Generator g;
    for (auto& word : g.state) {
      z += 0x9e3779b97f4a7c15ull;
      std::uint64_t x = z;
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
      x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
      word = x ^ (x >> 31);
    }
    return g;
  }

  std::uint64_t next() {
    auto& s = state;
    const std::uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
    const std::uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = std::rotl(s[3], 45);
    return result;
  }

  // An integer in [0, bound), 0 < bound < 2^32.
  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = (next() >> 32) * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t threshold = -bound % bound;
      while (static_cast<std::uint32_t>(product) < threshold) product = (next() >> 32) * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  // A multiple of 2^-52 in [-1, 1).
  double symmetric_uniform() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1.0; }
};

inline void shuffle(std::uint32_t* items, std::int64_t count, Generator& generator) {
  Generator g = generator;  // a local copy stays in registers
  for (std::int64_t i = 0; i + 1 < count; ++i)
    std::swap(items[i], items[i + g.below(static_cast<std::uint32_t>(count - i))]);
  generator = g;
}

// The order of a shuffled epoch: strips of consecutive rows in random order, and the rows of a window of strips
// shuffled again. A window fits the cache and is read strip by strip, from memory or from a file, so that a shuffled
// epoch costs little more than one in order.
//
// The strips are dealt out: of as many neighbours as there are windows, each window gets one. So every window has rows
// from all over the table, and rows that were sorted by label meet every window with their shares.
//
// Invariant: the order depends on the number of rows, the window and the generator alone. Rows that fit into one window
// are one strip: then every order is as likely as any other.
inline constexpr std::int64_t window_rows = 8192, window_strips = 256;

// items: what the rows are called, null for numbers.
inline void draw_order(std::int64_t count, std::int64_t window, const std::uint32_t* items, std::uint32_t* out,
                       Generator& generator) {
  const std::int64_t length = std::max<std::int64_t>(1, count <= window ? count : window / window_strips);
  const std::int64_t strips = (count + length - 1) / length, most = std::max<std::int64_t>(1, window / length);
  const std::int64_t windows = (strips + most - 1) / most;
  // Where a window begins among the strips in their order. Windows are as large as one another, but for one strip.
  const auto begin_of = [&](std::int64_t w) { return w * (strips / windows) + std::min(w, strips % windows); };
  std::vector<std::uint32_t> turns(strips), neighbours;
  for (std::int64_t first = 0; first < strips; first += windows) {
    neighbours.resize(std::min(windows, strips - first));
    std::iota(neighbours.begin(), neighbours.end(), static_cast<std::uint32_t>(first));
    shuffle(neighbours.data(), static_cast<std::int64_t>(neighbours.size()), generator);
    for (std::size_t w = 0; w < neighbours.size(); ++w) turns[begin_of(w) + first / windows] = neighbours[w];
  }
  for (std::int64_t w = 0; w < windows; ++w) {
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
}

}  // namespace rosenblatt
