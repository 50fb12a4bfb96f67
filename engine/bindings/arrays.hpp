// What crosses the border between Python and the engine: typed arrays without silent copies, rows, rules, targets,
// states. All are views of the caller's arrays, kept alive and checked once.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <optional>

#include "train.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rosenblatt {

template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using InputMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig>;
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
auto* values_of(const A& array, std::int64_t size, const char* name) {
  const char* const kind = std::is_floating_point_v<T> ? ": must be float" : ": must be int";
  if (array.dtype() != nb::dtype<std::remove_const_t<T>>())
    throw nb::type_error((std::string(name) + kind + std::to_string(8 * sizeof(T))).c_str());
  check_size(array, size, name);
  return static_cast<T*>(array.data());
}

template <class T>
Vector<T> to_vector(std::vector<T>&& values) {
  using Held = std::vector<T>;
  auto* held = new Held(std::move(values));
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Held*>(p); });
  return Vector<T>(held->data(), {held->size()}, owner);
}

inline Matrix new_matrix(std::int64_t rows, std::int64_t columns) {
  auto* held = new double[product(rows, columns)];
  nb::capsule owner(held, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return Matrix(held, {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)}, owner);
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

// Of hashes: as many bits as this are a column.
inline std::uint32_t to_mask(int bits) {
  if (bits < 1 || bits > 30) fail("bits: must be from 1 to 30");
  return (std::uint32_t{1} << bits) - 1;
}

// Rows as Python holds them: a view of its arrays, which are kept alive.
struct Rows {
  AnyRows view;
  bool sorted = true;  // do the columns of every sparse row rise?

  std::int64_t count() const { return count_of(view); }
  std::int64_t features() const { return features_of(view); }
  bool float32() const { return view.index() % 2 == 0; }
  bool sparse() const { return view.index() >= 2; }
};

struct PyRule {
  Rule rule;
  std::shared_ptr<const Penalty> penalty;  // null: none

  PyRule(const std::string& name, double eta0, double beta, double C, double r, double shrink, double cut)
      : rule(make_rule(name, eta0, beta, C, r)) {
    if (!(shrink >= 0 && shrink <= 1)) fail("shrink: must be from 0 to 1");
    if (!(cut >= 0)) fail("cut: must be at least 0");
    if (shrink != 1 || cut != 0) penalty = std::make_shared<Penalty>(shrink, cut);
  }

  // For learners whose weights cannot shrink.
  const Rule& without_penalty(const char* who) const {
    if (penalty) throw std::invalid_argument("rule: " + std::string(who) + " takes no penalty");
    return rule;
  }
  // For learners without variances.
  const Rule& first_order(const char* who) const {
    if (rule.second_order()) throw std::invalid_argument("rule='AROW': " + std::string(who) + " has no variances");
    return without_penalty(who);
  }
};

// signs (int8), classes (int32) or numbers (float64).
class PyTargets {
 public:
  PyTargets(AnyVector y, std::int64_t weight_rows, std::optional<Input<double>> sample_weight, bool tie_positive,
            double epsilon)
      : y_(std::move(y)), sample_weight_(std::move(sample_weight)) {
    const std::int64_t count = static_cast<std::int64_t>(y_.size());
    const double* s = sample_weight_ ? sample_weight_->data() : nullptr;
    if (s) check_size(*sample_weight_, count, "sample_weight");
    const bool is_multiclass = y_.dtype() == nb::dtype<std::int32_t>();
    if (is_multiclass ? weight_rows < 2 : weight_rows != 1)
      fail("rows: must be 1 for signs or numbers, and the number of classes for classes");
    if (y_.dtype() == nb::dtype<std::int8_t>()) {
      task_ = Binary{{{s}}, static_cast<const std::int8_t*>(y_.data()), tie_positive};
    } else if (is_multiclass) {
      const auto* classes = static_cast<const std::int32_t*>(y_.data());
      if (!std::all_of(classes, classes + count, [&](std::int32_t k) { return k >= 0 && k < weight_rows; }))
        fail("y: a class does not exist");
      task_ = Multiclass{{s}, classes, weight_rows};
    } else if (y_.dtype() == nb::dtype<double>()) {
      task_ = Regression{{{s}}, static_cast<const double*>(y_.data()), epsilon};
    } else {
      throw nb::type_error("y: must be int8 (signs), int32 (classes) or float64 (numbers)");
    }
  }

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

// The arrays of a dict, kept alive. Other names are not checked.
class ArrayDict {
 public:
  explicit ArrayDict(const nb::dict& arrays) {
    const auto copy = nb::steal<nb::dict>(PyDict_Copy(arrays.ptr()));  // an array of another kind may run code
    for (const auto& [name, value] : copy)
      if (AnyArray array; nb::try_cast(value, array, false)) held_.emplace(nb::cast<std::string>(name), array);
  }

  bool has(const char* name) const { return held_.find(name) != held_.end(); }
  const AnyArray& at(const char* name) const {
    const auto found = held_.find(name);
    if (found == held_.end()) fail(std::string(name) + ": must be a writable array of numbers without gaps");
    return found->second;
  }
  std::int64_t size(const char* name) const { return static_cast<std::int64_t>(at(name).size()); }

  template <class V>
  V* get(const char* name, std::int64_t size) const {
    return values_of<V>(at(name), size, name);
  }

 private:
  std::map<std::string, AnyArray, std::less<>> held_;
};

class PyState {
 public:
  PyState(const std::string& keep, const nb::dict& arrays, bool fit_intercept) : held_(arrays) {
    StateArrays& a = arrays_;
    a.keep = to_enum<Keep>("keep", keep, keep_names);
    a.fit_intercept = fit_intercept;
    a.K = held_.size("intercept");
    if (a.K < 1) fail("intercept: there must be one per row of weights");
    a.features = held_.size("weights") / a.K;
    a.is_float32 = held_.at("weights").dtype() == nb::dtype<float>();
    a.for_each(held_.has("variances"), held_.has("settled_at"),
               [&]<class P>(const char* name, P& pointer, StateArrays::Extent extent, double, bool used) {
                 const std::int64_t size = a.size(extent);
                 if (!used) return;
                 if constexpr (std::is_same_v<P, Counters*>)
                   pointer = reinterpret_cast<Counters*>(held_.get<std::int64_t>(name, counter_count));
                 else if constexpr (std::is_same_v<P, double*>)
                   pointer = held_.get<double>(name, size);
                 else
                   pointer =
                       a.is_float32 ? static_cast<void*>(held_.get<float>(name, size)) : held_.get<double>(name, size);
               });
  }

  const StateArrays& arrays() const { return arrays_; }
  // The arrays, if they fit the rows and the targets.
  StateArrays arrays_for(const Rows& rows, const AnyTask& task) const {
    const std::int64_t needed = weight_rows(task);
    if (rows.float32() != arrays_.is_float32) throw nb::type_error("weights: their dtype is not that of the rows");
    if (arrays_.K != needed)
      fail("the state has " + std::to_string(arrays_.K) + " weight rows, the targets need " + std::to_string(needed));
    if (arrays_.features != rows.features()) fail("weights: their size does not fit the rows");
    return arrays_;
  }

 private:
  ArrayDict held_;
  StateArrays arrays_;
};

// The updates as arrays: the rows that made them, their steps, the rows of weights that gained and lost, and how many
// examples the weights before each had survived.
inline nb::tuple to_tuple(Log&& log) {
  return nb::make_tuple(to_vector(std::move(log.rows)), to_vector(std::move(log.steps)),
                        to_vector(std::move(log.targets)), to_vector(std::move(log.rivals)),
                        to_vector(std::move(log.survived)));
}

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

// Calls f(stop) without the GIL, then raises what a signal handler raised. It stops on Ctrl-C, or when another thread
// has set `cancel`.
template <class F>
void run_interruptibly(const Cancel& cancel, F&& f) {
  if (cancel) check_size(*cancel, 1, "cancel");
  const volatile std::uint8_t* const flag = cancel ? cancel->data() : nullptr;
  const auto is_cancelled = [&] { return flag && *flag; };
  bool raised = false;
  StopToken stop{[&] {
    if (is_cancelled()) return true;
    nb::gil_scoped_acquire gil;
    raised = PyErr_CheckSignals() != 0;
    return raised || is_cancelled();  // a handler may have set it
  }};
  {
    nb::gil_scoped_release release;
    f(stop);
  }
  if (raised) throw nb::python_error();
}

void bind_kernel(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_stream(nb::module_& m);
void bind_text(nb::module_& m);
void bind_train(nb::module_& m);

}  // namespace rosenblatt
