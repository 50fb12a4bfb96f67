// Arrays that begin with a line of the cache, so that vectors lie within one. Large ones lie in huge pages, where the
// system has them, since a page at a time costs more than the first epoch over sparse rows.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <variant>
#include <vector>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include "state.hpp"

namespace rosenblatt {

template <class T>
struct LargeAllocator {
  using value_type = T;
  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(std::size_t count) {
    constexpr std::size_t line = 64, page = std::size_t{2} << 20;
    const std::size_t bytes = count * sizeof(T);
    const bool huge = bytes >= 2 * page;
    const std::size_t unit = huge ? page : line;
    void* piece = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
    if (!piece) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (huge) madvise(piece, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(piece);
  }
  void deallocate(T* piece, std::size_t) noexcept { std::free(piece); }

  template <class U>
  bool operator==(const LargeAllocator<U>&) const {
    return true;
  }
};

template <class T>
using Large = std::vector<T, LargeAllocator<T>>;

// Arrays made as they are asked for.
class OwnArrays final : public Arrays {
 public:
  using Values = std::variant<Large<float>, Large<double>, Large<std::int64_t>>;
  std::map<std::string, Values, std::less<>> all;

 protected:
  void* find(const char* name, Kind kind, std::int64_t size, double initial) override {
    auto [at, fresh] = all.try_emplace(name);
    if (fresh && kind == Kind::float32) at->second = Large<float>(size, static_cast<float>(initial));
    if (fresh && kind == Kind::float64) at->second = Large<double>(size, initial);
    if (fresh && kind == Kind::int64) at->second = Large<std::int64_t>(size, static_cast<std::int64_t>(initial));
    return std::visit([](auto& values) -> void* { return values.data(); }, at->second);
  }
};

}  // namespace rosenblatt
