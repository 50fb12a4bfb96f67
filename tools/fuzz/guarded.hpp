// What the fuzzers of the engine's parsers share: a text that lies against memory that may not be touched, a law that
// ends the process where it does not hold, and changes by chance where there is no libFuzzer.
#pragma once

#include <sys/mman.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "shuffle.hpp"

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// One byte read too far ends the process, without a sanitizer. One text at a time.
class Guarded {
 public:
  Guarded() {
    void* const held = mmap(nullptr, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(held != MAP_FAILED, "there is memory");
    begin_ = static_cast<char*>(held) + page;
    require(mprotect(begin_, room, PROT_READ | PROT_WRITE) == 0, "memory can be opened");
  }

  // Against the page behind it, or for every fourth size against the one before it.
  const char* hold(std::string_view text) {
    require(text.size() <= room, "a text has room");
    char* const at = text.size() % 4 == 3 ? begin_ : begin_ + room - text.size();
    std::memcpy(at, text.data(), text.size());
    return at;
  }

 private:
  static constexpr std::size_t page = 4096, room = std::size_t{64} << 10;
  char* begin_;
};

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

#ifndef COVERAGE_GUIDED
// Without libFuzzer: `PROGRAM SECONDS SEED FOLDER ...` changes the files of the folders by chance, again and again, and
// prints how many texts it tried. The text that ends the process, or takes a second of CPU, is written to the standard
// error by its last words.
namespace by_chance {

// clang-format off
inline const std::string pieces[] = {
    " ", "\n", "\r\n", "\t", ":", "|", "#", ",", ";", "\"", "\"\"", "\"\n", ",\"", "\",", "\\", "-", "+", ".", "e", "E-", "1e400",
    "nan", "inf", "99999999", "00000000", "308", "2147483646", "0", "'", "__label__", "qid:", "\xef\xbb\xbf",
    std::string(1, '\0'), "\xe2\x80", "\xc2", "\xff"};
// clang-format on

inline std::vector<std::string> read_files(int count, char** folders) {
  std::vector<std::string> texts;
  for (int k = 0; k < count; ++k)
    for (const auto& entry : std::filesystem::directory_iterator(folders[k])) {
      std::ifstream file(entry.path(), std::ios::binary);
      texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  require(!texts.empty(), "there are texts to begin with");
  return texts;
}

inline const std::string* trying = nullptr;
inline std::atomic<long long> turns = 0;

inline void show_last(int signal) {
  std::fprintf(stderr, "ended by signal %d on ", signal);
  for (const char c : *trying) std::fprintf(stderr, "\\x%02x", static_cast<unsigned char>(c));
  std::fprintf(stderr, "\n");
  std::_Exit(1);
}

// After each second of CPU: the same text as a second ago hangs.
inline void check_moving(int signal) {
  static long long before = -1;
  if (before == turns) show_last(signal);
  before = turns;
}

}  // namespace by_chance

int main(int count, char** words) {
  using namespace by_chance;
  if (count < 4) return 2;
  const std::vector<std::string> texts = read_files(count - 3, words + 3);
  rosenblatt::Generator generator = rosenblatt::Generator::seeded(std::strtoull(words[2], nullptr, 10), 1);
  const auto below = [&](std::size_t n) { return generator.below(static_cast<std::uint32_t>(n)); };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(words[1]));
  std::string text;
  trying = &text;
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) std::signal(signal, show_last);
  std::signal(SIGVTALRM, check_moving);
  const itimerval second{{1, 0}, {1, 0}};
  setitimer(ITIMER_VIRTUAL, &second, nullptr);
  for (; turns % 1024 || std::chrono::steady_clock::now() < deadline; ++turns) {
    if (turns % 8 == 0 || text.size() > 512) text = texts[below(texts.size())];
    for (std::uint32_t change = below(3) + 1; change > 0; --change) {
      const std::size_t at = below(text.size() + 1), length = std::min<std::size_t>(below(6), text.size() - at);
      const std::uint32_t kind = below(5);
      if (kind == 0) text.erase(at, length);
      if (kind == 1) text.insert(at, pieces[below(std::size(pieces))]);
      if (kind == 2 && at < text.size()) text[at] = static_cast<char>(below(256));
      if (kind == 3) text.insert(at, text.substr(below(text.size() + 1), below(40)));
      if (kind == 4) text.insert(at, texts[below(texts.size())], 0, below(24));
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  std::printf("%lld\n", turns.load());
}
#endif
