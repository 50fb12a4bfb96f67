// What crosses the border between Python and the engine: typed arrays without silent copies, rows, rules, targets,
// states. All are views of the caller's arrays, kept alive and checked once.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "predict.hpp"
#include "train.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rosenblatt {

template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using InputMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;
template <class T>
using Vector = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

// Arrays of any dtype without gaps: the caller says how they are read.
using AnyArray = nb::ndarray<nb::c_contig, nb::device::cpu>;
using AnyInput = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using OrderIndex = std::optional<Input<std::uint32_t>>;
using Cancel = std::optional<Array<std::uint8_t>>;

[[noreturn]] inline void fail(const std::string& sentence) { throw nb::value_error(sentence.c_str()); }

template <class A>
void check_size(const A& array, std::int64_t size, const char* name) {
  if (static_cast<std::int64_t>(array.size()) != size)
    fail(std::string(name) + ": has " + std::to_string(array.size()) + " values, must have " + std::to_string(size));
}

// a times b, as long as so many things could be in memory.
inline std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t found;
  if (__builtin_mul_overflow(a, b, &found) || found > (std::int64_t{1} << 48)) fail("sizes: the product is too large");
  return found;
}

template <class T, class A>
const T* floats(const A& array, std::int64_t size, const char* name) {
  if (array.dtype() != nb::dtype<T>())
    throw nb::type_error((std::string(name) + ": its dtype is not that of the rows").c_str());
  check_size(array, size, name);
  return static_cast<const T*>(array.data());
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
inline Order to_order(const OrderIndex& index, std::int64_t rows) {
  if (!index) return {nullptr, rows};
  const std::uint32_t* at = index->data();
  const std::int64_t count = static_cast<std::int64_t>(index->size());
  std::uint32_t most = 0;
  for (std::int64_t i = 0; i < count; ++i) most = at[i] > most ? at[i] : most;
  if (count > 0 && most >= static_cast<std::uint64_t>(rows)) fail("order: names a row that does not exist");
  return {at, count};
}

// Rows as Python holds them: a view, and what it points to.
class Rows {
 public:
  Rows(AnyRows view, std::vector<nb::object> owners)
      : view_(std::move(view)), owners_(std::move(owners)), structure_(Structure::sound) {}

  // Sparse rows; their arrays are checked when they are first used.
  Rows(AnyRows view, std::vector<nb::object> owners, std::shared_ptr<void> converted, std::int64_t stored)
      : view_(std::move(view)), owners_(std::move(owners)), converted_(std::move(converted)), stored_(stored) {}

  const AnyRows& view() const {
    if (!structure_) check();
    if (*structure_ == Structure::broken) fail("rows: their starts or columns point outside of the arrays");
    return view_;
  }
  Structure check() const;
  std::int64_t count() const {
    return std::visit([](const auto& r) { return r.count; }, view_);
  }
  std::int64_t features() const {
    return std::visit([](const auto& r) { return r.features; }, view_);
  }
  bool float32() const { return view_.index() % 2 == 0; }
  bool sparse() const { return view_.index() >= 2; }

 private:
  mutable AnyRows view_;
  std::vector<nb::object> owners_;
  std::shared_ptr<void> converted_;  // starts and columns, if they came in another type
  std::int64_t stored_ = 0;          // values of sparse rows
  mutable std::optional<Structure> structure_;
};

struct PyRule {
  AnyRule rule;
  std::shared_ptr<const Penalty> penalty;  // null: none

  PyRule(const std::string& name, double eta0, double beta, double C, double r, double epsilon, double shrink,
         double cut);

  // For learners whose weights cannot shrink.
  const AnyRule& without_penalty(const char* who) const {
    if (penalty) throw std::invalid_argument("rule: " + std::string(who) + " takes no penalty");
    return rule;
  }
};

// signs (int8), classes (int32) or numbers (float64).
class PyTargets {
 public:
  PyTargets(AnyVector y, std::int64_t weight_rows, std::optional<Input<double>> sample_weight, bool tie_positive,
            double epsilon);

  // The task, for so many rows.
  const AnyTask& of(std::int64_t rows) const {
    check_size(y_, rows, "targets");
    return task_;
  }

 private:
  AnyVector y_;
  std::optional<Input<double>> sample_weight_;
  AnyTask task_;
};

// The arrays of a dict, kept alive. Names that are not asked for are not checked.
class ArrayDict {
 public:
  explicit ArrayDict(const nb::dict& arrays);

  bool has(const char* name) const { return held_.find(name) != held_.end(); }
  const AnyArray& at(const char* name) const;
  std::int64_t size(const char* name) const { return static_cast<std::int64_t>(at(name).size()); }

  template <class V>
  V* get(const char* name, std::int64_t size) const {
    const auto& array = at(name);
    if (array.dtype() != nb::dtype<V>()) throw nb::type_error((std::string(name) + ": the dtype is wrong").c_str());
    check_size(array, size, name);
    return static_cast<V*>(array.data());
  }

 private:
  std::map<std::string, std::optional<AnyArray>, std::less<>> held_;  // none: nothing that could be learned in
};

class PyState {
 public:
  PyState(const PyState&) = delete;
  PyState(const std::string& keep, const nb::dict& arrays, bool fit_intercept, bool feature_major);

  const StateArrays& arrays() const { return arrays_; }
  bool feature_major() const { return feature_major_; }
  // The arrays, if they fit the rows and the targets.
  StateArrays arrays_for(const Rows& rows, const AnyTask& task, bool ratchet = false, Log* log = nullptr) const;

 private:
  ArrayDict held_;
  StateArrays arrays_;
  bool feature_major_;
};

// Updates of K weight rows: the rows that made them, their steps, the rows of weights that gained and lost, and how
// many examples the weights before each had survived.
using UpdateArrays =
    std::tuple<Input<std::int64_t>, Input<double>, Input<std::int32_t>, Input<std::int32_t>, Input<std::int64_t>>;

void check_updates(const UpdateArrays& updates, std::int64_t K, std::int64_t rows);
// The updates from first to end, after which the last weights survived so many examples.
Updates part_of(const UpdateArrays& updates, std::int64_t first, std::int64_t end, std::int64_t survived_last);
nb::tuple to_tuple(Log&& log);

// Held with the GIL by a call that changes something while the GIL is released, or while it runs Python code: a second
// call raises.
class ReentrancyGuard {
 public:
  ReentrancyGuard(bool& busy, const char* sentence) : busy_(busy) {
    if (busy) throw std::runtime_error(sentence);
    busy = true;
  }
  ReentrancyGuard(const ReentrancyGuard&) = delete;
  ~ReentrancyGuard() { busy_ = false; }

 private:
  bool& busy_;
};

// Lets Ctrl-C through, and another thread's request to stop, while the GIL is released.
class Interrupt {
 public:
  explicit Interrupt(const Cancel& cancel = std::nullopt) : stop_{&Interrupt::ask, this} {
    if (!cancel) return;
    check_size(*cancel, 1, "cancel");
    cancel_ = cancel->data();
  }

  // Calls f(stop) without the GIL, then raises what a signal handler raised.
  template <class F>
  void run(F&& f) {
    {
      nb::gil_scoped_release release;
      f(stop_);
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
  StopToken stop_;
};

void bind_contest(nb::module_& m);
void bind_kernel(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_stream(nb::module_& m);
void bind_text(nb::module_& m);
void bind_train(nb::module_& m);

}  // namespace rosenblatt
