// A few values that are worked on together, and what else compilers call by different names. Nothing outside this file
// uses a compiler's own extensions for vectors.
//
// Invariant: both versions do the same operations on each element, and so give the same bits. The plain one is for
// compilers without vector extensions; -DROSENBLATT_PLAIN chooses it anywhere, to test it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if !defined(__GNUC__)
#define __builtin_prefetch(...) static_cast<void>(0)
#endif

namespace rosenblatt {

#if defined(__GNUC__) && !defined(ROSENBLATT_PLAIN)

template <class T, std::size_t bytes>
struct Pack {
  // To be named wherever it is used: `auto` and a template's argument would forget that it need not be aligned.
  typedef T type __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));

  static type load(const T* from) { return *reinterpret_cast<const type*>(from); }
  static void store(T* to, type values) { *reinterpret_cast<type*>(to) = values; }
  static type larger(type a, type b) { return a > b ? a : b; }
  static type smaller(type a, type b) { return a < b ? a : b; }
};

#else

template <class T, std::size_t bytes>
struct Elements {
  static constexpr std::size_t count = bytes / sizeof(T);
  T elements[count];

  T operator[](std::size_t l) const { return elements[l]; }

  friend Elements operator+(Elements a, const Elements& b) { return a += b; }
  friend Elements operator-(Elements a, const Elements& b) { return a -= b; }
  friend Elements operator+(Elements a, T b) {
    for (T& element : a.elements) element += b;
    return a;
  }
  friend Elements operator*(Elements a, const Elements& b) {
    for (std::size_t l = 0; l < count; ++l) a.elements[l] *= b.elements[l];
    return a;
  }
  friend Elements operator*(Elements a, T b) {
    for (T& element : a.elements) element *= b;
    return a;
  }
  // -1 where it is true and 0 where not, as vector extensions have it.
  friend Elements operator<(Elements a, const Elements& b) {
    for (std::size_t l = 0; l < count; ++l) a.elements[l] = a.elements[l] < b.elements[l] ? T(-1) : T(0);
    return a;
  }
  Elements& operator+=(const Elements& b) {
    for (std::size_t l = 0; l < count; ++l) elements[l] += b.elements[l];
    return *this;
  }
  Elements& operator-=(const Elements& b) {
    for (std::size_t l = 0; l < count; ++l) elements[l] -= b.elements[l];
    return *this;
  }
};

template <class T, std::size_t bytes>
struct Pack {
  using type = Elements<T, bytes>;

  static type load(const T* from) {
    type values;
    std::memcpy(&values, from, sizeof values);
    return values;
  }
  static void store(T* to, const type& values) { std::memcpy(to, &values, sizeof values); }
  static type larger(type a, const type& b) {
    for (std::size_t l = 0; l < type::count; ++l) a.elements[l] = a[l] > b[l] ? a[l] : b[l];
    return a;
  }
  static type smaller(type a, const type& b) {
    for (std::size_t l = 0; l < type::count; ++l) a.elements[l] = a[l] < b[l] ? a[l] : b[l];
    return a;
  }
};

#endif

}  // namespace rosenblatt
