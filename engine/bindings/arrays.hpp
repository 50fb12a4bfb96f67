// What crosses the border between Python and the engine: typed arrays without silent copies, and rows.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "rows.hpp"
#include "train.hpp"

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

// An array of float32 or float64, of any shape, laid out without gaps: the caller says how it is read.
using Floats = nb::ndarray<nb::device::cpu>;
using FloatsIn = nb::ndarray<nb::ro, nb::device::cpu>;

using AnyRows = std::variant<DenseRows<float>, DenseRows<double>, SparseRows<float, std::int32_t>,
                             SparseRows<float, std::int64_t>, SparseRows<double, std::int32_t>,
                             SparseRows<double, std::int64_t>>;

// Rows as Python holds them: a view, and the arrays that it looks into, kept alive.
struct Rows {
  AnyRows view;
  std::vector<nb::object> owners;

  std::int64_t count() const {
    return std::visit([](const auto& r) { return r.count; }, view);
  }
  std::int64_t features() const {
    return std::visit([](const auto& r) { return r.features; }, view);
  }
};

template <class T, class A>
auto* floats(const A& array, std::int64_t size, const char* name) {
  using Value = std::conditional_t<A::ReadOnly, const T, T>;
  if (array.dtype() != nb::dtype<T>())
    throw nb::type_error((std::string(name) + ": its dtype is not that of the rows").c_str());
  if (static_cast<std::int64_t>(array.size()) != size)
    throw nb::value_error((std::string(name) + ": its size does not fit the rows").c_str());
  return static_cast<Value*>(array.data());
}

template <class A>
void check_size(const A& array, std::int64_t size, const char* name) {
  if (static_cast<std::int64_t>(array.size()) != size)
    throw nb::value_error((std::string(name) + ": its size does not fit").c_str());
}

template <class T, class Allocator>
Vector<T> to_vector(std::vector<T, Allocator>&& values) {
  using Held = std::vector<T, Allocator>;
  auto* held = new Held(std::move(values));
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Held*>(p); });
  return Vector<T>(held->data(), {held->size()}, owner);
}

inline Matrix<double> new_matrix(std::int64_t rows, std::int64_t columns) {
  auto* held = new double[rows * columns];
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
  if (count > 0 && most >= static_cast<std::uint64_t>(rows)) throw nb::value_error("order: names a row that is not there");
  return {at, count};
}

using AnyRule = std::variant<PerceptronRule, PassiveAggressiveRule>;

inline AnyRule to_rule(const std::string& name, double eta0, double beta, double C) {
  using Variant = PassiveAggressiveRule::Variant;
  if (name == "perceptron") return PerceptronRule(eta0, beta);
  if (name == "PA") return PassiveAggressiveRule{Variant::PA, C};
  if (name == "PA-I") return PassiveAggressiveRule{Variant::PA_I, C};
  if (name == "PA-II") return PassiveAggressiveRule{Variant::PA_II, C};
  throw nb::value_error("rule: must be perceptron, PA, PA-I or PA-II");
}

using AnyLabels = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Labels {
  const std::int8_t* signs;      // two classes
  const std::int32_t* classes;  // more
};

inline Labels to_labels(const AnyLabels& y, std::int64_t rows, std::int64_t K) {
  check_size(y, rows, "y");
  if (K == 1) {
    if (y.dtype() != nb::dtype<std::int8_t>()) throw nb::type_error("y: signs must be int8");
    return {static_cast<const std::int8_t*>(y.data()), nullptr};
  }
  if (y.dtype() != nb::dtype<std::int32_t>()) throw nb::type_error("y: classes must be int32");
  const auto* classes = static_cast<const std::int32_t*>(y.data());
  for (std::int64_t i = 0; i < rows; ++i)
    if (classes[i] < 0 || classes[i] >= K) throw nb::value_error("y: names a class that is not there");
  return {nullptr, classes};
}

// Lets Ctrl-C through, and another thread's request to stop, while the GIL is released.
class Interrupt {
 public:
  explicit Interrupt(const std::optional<Array<std::uint8_t>>& cancel)
      : cancel_(cancel ? cancel->data() : nullptr), poll_{&Interrupt::ask, this} {}

  Poll& poll() { return poll_; }

  // To be called with the GIL: raises what the signal handler raised.
  void raise_if_stopped() const {
    if (raised_) throw nb::python_error();
  }

 private:
  static bool ask(void* self_) {
    auto* self = static_cast<Interrupt*>(self_);
    if (self->cancel_ && *static_cast<volatile std::uint8_t*>(self->cancel_)) return true;
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) self->raised_ = true;
    return self->raised_;
  }

  std::uint8_t* cancel_;
  bool raised_ = false;
  Poll poll_;
};

void bind_contest(nb::module_& m);
void bind_generator(nb::module_& m);
void bind_kernel(nb::module_& m);
void bind_one(nb::module_& m);
void bind_parse(nb::module_& m);
void bind_penalty(nb::module_& m);
void bind_predict(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_separate(nb::module_& m);
void bind_train(nb::module_& m);

}  // namespace rosenblatt
