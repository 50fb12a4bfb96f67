// Memory that was given back, kept for the next chunk: fresh pages cost a fifth of the time it takes to parse into
// them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace rosenblatt {

class Spare {
 public:
  // Bytes kept; beyond, memory goes back to the system. Nothing is kept where a sanitizer watches every allocation.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr std::size_t most = 0;
#else
  static constexpr std::size_t most = std::size_t{48} << 20;
#endif

  // At least so many bytes, on a cache line of their own: the smallest piece that is kept and large enough, so that a
  // larger one is still there for who needs it.
  static void* take(std::size_t bytes) {
    {
      const std::lock_guard guard(lock());
      auto& kept = pieces();
      std::size_t best = kept.size();
      for (std::size_t at = kept.size(); at-- > 0;)
        if (kept[at]->bytes >= bytes && kept[at]->bytes <= 4 * bytes &&
            (best == kept.size() || kept[at]->bytes < kept[best]->bytes))
          best = at;
      if (best < kept.size()) {
        Head* const head = kept[best];
        kept[best] = kept.back();
        kept.pop_back();
        total() -= head->bytes;
        return head + 1;
      }
    }
    Head* const head = allocate(size_of(bytes));
    head->bytes = bytes;
    return head + 1;
  }

  static void give(void* piece) noexcept {
    if (!piece) return;
    Head* const head = static_cast<Head*>(piece) - 1;
    const std::lock_guard guard(lock());
    if (total() + head->bytes > most || pieces().size() == pieces().capacity()) return free(head);
    total() += head->bytes;
    pieces().push_back(head);
  }

 private:
  struct alignas(64) Head {
    std::size_t bytes;
  };
  static std::size_t size_of(std::size_t bytes) { return (bytes / sizeof(Head) + 2) * sizeof(Head); }

  // Large pieces come from the system and go back to it: in the heaps of several threads they would leave holes that
  // grow with the data.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr std::size_t large = std::numeric_limits<std::size_t>::max();
#else
  static constexpr std::size_t large = std::size_t{256} << 10;
#endif
  static Head* allocate(std::size_t size) {
    void* piece = nullptr;
    if (size >= large) {
      piece = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (piece == MAP_FAILED) piece = nullptr;
    } else {
      piece = std::aligned_alloc(sizeof(Head), size);
    }
    if (!piece) throw std::bad_alloc();
    return static_cast<Head*>(piece);
  }
  static void free(Head* head) noexcept {
    const std::size_t size = size_of(head->bytes);
    if (size >= large)
      munmap(head, size);
    else
      std::free(head);
  }
  static std::mutex& lock() {
    static std::mutex held;
    return held;
  }
  static std::vector<Head*>& pieces() {
    static auto* const held = [] {  // never destroyed: arrays may be given back while the process ends
      auto* const empty = new std::vector<Head*>;
      empty->reserve(256);
      return empty;
    }();
    return *held;
  }
  static std::size_t& total() {
    static std::size_t held = 0;
    return held;
  }
};

}  // namespace rosenblatt
