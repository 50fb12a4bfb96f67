// MurmurHash3 (x86, 32 bits; Appleby, public domain algorithm): the hash that Vowpal Wabbit uses for names, so that a
// file in its format gets the same indices here.
#pragma once

#include <utility>
#include <vector>

#include "simd.hpp"

namespace rosenblatt {

inline std::uint32_t finish_hash(std::uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  h *= 0xc2b2ae35;
  return h ^ (h >> 16);
}

inline std::uint32_t hash_bytes(const char* data, std::size_t length, std::uint32_t seed) {
  constexpr std::uint32_t c1 = 0xcc9e2d51, c2 = 0x1b873593;
  std::uint32_t h = seed;
  std::size_t at = 0;
  for (; at + 4 <= length; at += 4) {
    h ^= std::rotl(load_word<std::uint32_t>(data + at) * c1, 15) * c2;
    h = std::rotl(h, 13) * 5 + 0xe6546b64;
  }
  std::uint32_t k = 0;
  for (std::size_t left = length - at; left > 0; --left) k = (k << 8) | static_cast<unsigned char>(data[at + left - 1]);
  if (at < length) h ^= std::rotl(k * c1, 15) * c2;
  return finish_hash(h ^ static_cast<std::uint32_t>(length));
}

// Two hashes as one, where the order matters.
inline std::uint32_t join_hashes(std::uint32_t first, std::uint32_t second) {
  return finish_hash(first * 0x9e3779b1u + second);
}

// Brings the columns from the given one on into rising order, and adds up the values of equal ones. `sorting` is memory
// to be used again.
inline void sort_columns(std::vector<std::int32_t>& columns, std::vector<double>& values, std::size_t first,
                         std::vector<std::pair<std::int32_t, double>>& sorting) {
  sorting.clear();
  for (std::size_t p = first; p < columns.size(); ++p) sorting.emplace_back(columns[p], values[p]);
  std::stable_sort(sorting.begin(), sorting.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t at = first;
  for (const auto& [column, value] : sorting) {
    if (at > first && columns[at - 1] == column) {
      values[at - 1] += value;
    } else {
      columns[at] = column;
      values[at++] = value;
    }
  }
  columns.resize(at);
  values.resize(at);
}

}  // namespace rosenblatt
