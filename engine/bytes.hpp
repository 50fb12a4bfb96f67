// Words read from bytes of text: the first byte is the lowest, whatever the order of bytes of the CPU.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>

namespace rosenblatt {

template <class Word>
inline Word load_little(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    Word turned = 0;
    for (std::size_t byte = 0; byte < sizeof word; ++byte) turned = turned << 8 | (word >> 8 * byte & 0xff);
    return turned;
  }
  return word;
}

}  // namespace rosenblatt
