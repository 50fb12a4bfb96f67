// What crosses the border between Python and the engine: typed arrays without silent copies, and rows.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "generator.hpp"
#include "pass.hpp"
#include "structure.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rosenblatt {

template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;
template <class T>
using Vector = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

// An array of any dtype, laid out without gaps: the caller says how it is read.
using Floats = nb::ndarray<nb::c_contig, nb::device::cpu>;
using FloatsIn = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// How many there are of a times b, as long as that is a number of things that could be in memory.
inline std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t found;
  if (__builtin_mul_overflow(a, b, &found) || found > (std::int64_t{1} << 48))
    throw nb::value_error("sizes: they multiply to more than there can be");
  return found;
}

// Rows as Python holds them: a view, and the arrays that it looks into, kept alive.
class Rows {
 public:
  enum class Bounds { unknown, sound, broken };

  Rows(AnyRows view, std::vector<nb::object> owners, std::int64_t stored = 0, Bounds bounds = Bounds::sound)
      : view_(std::move(view)), owners_(std::move(owners)), stored_(stored), bounds_(bounds) {}

  // To be read, which starts that point outside of the values would not allow. They are looked at once.
  const AnyRows& view() const {
    if (bounds_ == Bounds::unknown) look();
    if (bounds_ == Bounds::broken)
      throw nb::value_error("rows: their starts point outside of the values, or their columns outside of the features");
    return view_;
  }
  const std::vector<nb::object>& owners() const { return owners_; }
  // How sparse rows lie; and if within bounds, are their values all 1?
  Structure look() const {
    const Structure found = std::visit(
        [&](auto& r) {
          if constexpr (std::decay_t<decltype(r)>::sparse) {
            const Structure lies = structure_of(r, stored_);
            if (lies != Structure::broken) r.ones = all_ones(r.values + r.starts[0], r.starts[r.count] - r.starts[0]);
            return lies;
          }
          return Structure::sound;
        },
        view_);
    bounds_ = found == Structure::broken ? Bounds::broken : Bounds::sound;
    return found;
  }

  std::int64_t count() const {
    return std::visit([](const auto& r) { return r.count; }, view_);
  }
  std::int64_t features() const {
    return std::visit([](const auto& r) { return r.features; }, view_);
  }
  bool float32() const {
    return std::visit([](const auto& r) { return std::is_same_v<typename std::decay_t<decltype(r)>::Value, float>; },
                      view_);
  }
  bool sparse() const {
    return std::visit([](const auto& r) { return std::decay_t<decltype(r)>::sparse; }, view_);
  }

 private:
  mutable AnyRows view_;
  std::vector<nb::object> owners_;
  std::int64_t stored_;  // values of sparse rows
  mutable Bounds bounds_;
};

template <class A>
void check_size(const A& array, std::int64_t size, const char* name) {
  if (static_cast<std::int64_t>(array.size()) != size)
    throw nb::value_error((std::string(name) + ": its size does not fit").c_str());
}

template <class T, class A>
auto* floats(const A& array, std::int64_t size, const char* name) {
  using Value = std::conditional_t<A::ReadOnly, const T, T>;
  if (array.dtype() != nb::dtype<T>())
    throw nb::type_error((std::string(name) + ": its dtype is not that of the rows").c_str());
  check_size(array, size, name);
  return static_cast<Value*>(array.data());
}

template <class T, class Allocator>
Vector<T> to_vector(std::vector<T, Allocator>&& values) {
  using Held = std::vector<T, Allocator>;
  auto* held = new Held(std::move(values));
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Held*>(p); });
  return Vector<T>(held->data(), {held->size()}, owner);
}

inline Matrix<double> new_matrix(std::int64_t rows, std::int64_t columns) {
  auto* held = new double[product(rows, columns)];
  nb::capsule owner(held, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return Matrix<double>(held, {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)}, owner);
}

// An order of rows from Python; every entry must name a row.
inline Order to_order(const std::optional<Input<std::uint32_t>>& index, std::int64_t rows) {
  if (!index) return {nullptr, rows};
  const std::uint32_t* at = index->data();
  const std::int64_t count = static_cast<std::int64_t>(index->size());
  std::uint32_t most = 0;
  for (std::int64_t i = 0; i < count; ++i) most = at[i] > most ? at[i] : most;
  if (count > 0 && most >= static_cast<std::uint64_t>(rows))
    throw nb::value_error("order: names a row that is not there");
  return {at, count};
}

// All zeros would stay zeros.
template <class A>
Generator to_generator(const A& state) {
  check_size(state, 4, "generator");
  Generator g;
  std::copy_n(state.data(), 4, g.state.begin());
  if (g.state == decltype(g.state){}) throw nb::value_error("generator: its state must not be all zeros");
  return g;
}

// Held with the GIL by a call that changes something while the GIL is released, or while it runs Python code: a second
// one is refused.
class OneAtATime {
 public:
  OneAtATime(bool& busy, const char* sentence) : busy_(busy) {
    if (busy) throw std::runtime_error(sentence);
    busy = true;
  }
  OneAtATime(const OneAtATime&) = delete;
  ~OneAtATime() { busy_ = false; }

 private:
  bool& busy_;
};

using Cancel = std::optional<Array<std::uint8_t>>;

// Lets Ctrl-C through, and another thread's request to stop, while the GIL is released.
class Interrupt {
 public:
  explicit Interrupt(const Cancel& cancel = std::nullopt) : poll_{&Interrupt::ask, this} {
    if (!cancel) return;
    check_size(*cancel, 1, "cancel");
    cancel_ = cancel->data();
  }

  // Calls f(poll) without the GIL, then raises what a signal handler raised.
  template <class F>
  void run(F&& f) {
    {
      nb::gil_scoped_release release;
      f(poll_);
    }
    if (raised_) throw nb::python_error();
  }

 private:
  static bool ask(void* self_) {
    auto* self = static_cast<Interrupt*>(self_);
    if (self->cancelled()) return true;
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) self->raised_ = true;
    return self->raised_ || self->cancelled();  // a handler may have asked for it
  }

  bool cancelled() const { return cancel_ && *static_cast<volatile std::uint8_t*>(cancel_); }

  std::uint8_t* cancel_ = nullptr;
  bool raised_ = false;
  Poll poll_;
};

void bind_contest(nb::module_& m);
void bind_generator(nb::module_& m);
void bind_kernel(nb::module_& m);
void bind_stream(nb::module_& m);
void bind_packed(nb::module_& m);
void bind_parse(nb::module_& m);
void bind_predict(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_separate(nb::module_& m);
void bind_sources(nb::module_& m);
void bind_train(nb::module_& m);
void bind_views(nb::module_& m);

}  // namespace rosenblatt
