// Pseudo-random numbers whose whole state is four integers, the same on every machine.
//
// xoshiro256++ (Blackman and Vigna 2019), seeded by splitmix64. Bounded integers by Lemire's multiply-and-reject
// (2019), shuffles by Fisher and Yates.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

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
    const auto rotate = [](std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); };
    auto& s = state;
    const std::uint64_t result = rotate(s[0] + s[3], 23) + s[0];
    const std::uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
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

// Where the items do not fit into the first cache, the partners of a few swaps are drawn at a time and fetched before
// they are needed: the same swaps in the same order.
inline void shuffle(std::uint32_t* items, std::int64_t count, Generator& generator) {
  constexpr std::int64_t near = 1 << 14, most = 32;
  Generator g = generator;  // what others may point to stays in memory
  if (count <= near) {
    for (std::int64_t i = 0; i + 1 < count; ++i)
      std::swap(items[i], items[i + g.below(static_cast<std::uint32_t>(count - i))]);
  } else {
    std::array<std::uint32_t*, most> partners;
    for (std::int64_t i = 0; i + 1 < count; i += most) {
      const std::int64_t swaps = std::min(most, count - 1 - i);
      for (std::int64_t k = 0; k < swaps; ++k) {
        partners[k] = items + i + k + g.below(static_cast<std::uint32_t>(count - i - k));
        __builtin_prefetch(partners[k], 1);
      }
      for (std::int64_t k = 0; k < swaps; ++k) std::swap(items[i + k], *partners[k]);
    }
  }
  generator = g;
}

}  // namespace rosenblatt
