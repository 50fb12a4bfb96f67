// One example of a stream, a dict of feature names and numbers, as columns and values.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "names.hpp"
#include "text/hash.hpp"

namespace rosenblatt {

using OneRow = SparseRows<double>;

// As Python writes it, or the beginning of that.
inline std::string show(PyObject* object) {
  const nb::str whole = nb::repr(nb::handle(object));
  if (PyUnicode_GetLength(whole.ptr()) <= 80) return whole.c_str();
  const auto beginning = nb::steal<nb::str>(PyUnicode_Substring(whole.ptr(), 0, 77));
  return std::string(beginning.c_str()) + "...";
}

inline double to_number(PyObject* key, PyObject* value) {
  double number;
  if (PyFloat_Check(value)) {
    number = PyFloat_AS_DOUBLE(value);
  } else {
    number = PyUnicode_Check(value) ? -1.0 : PyFloat_AsDouble(value);
    if (number == -1.0 && (PyUnicode_Check(value) || PyErr_Occurred())) {
      const bool is_too_large = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError);
      const bool is_no_number = !PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError) ||
                                PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_OverflowError);
      if (!is_no_number) throw nb::python_error();
      PyErr_Clear();
      const std::string told = "feature " + show(key) + " has the value " + show(value);
      if (is_too_large) throw nb::value_error((told + ", too large to learn from").c_str());
      throw nb::type_error((told + ", which is not a number").c_str());
    }
  }
  if (!is_usable(number))
    throw nb::value_error(("feature " + show(key) + " has the value " + show(value) +
                           (std::isfinite(number) ? ", too large to learn from" : ", which is not finite"))
                              .c_str());
  return number;
}

inline void require_dict(nb::handle features) {
  if (!PyDict_Check(features.ptr())) throw nb::type_error("features must be a dict of name: number");
}

// Raises if a value is not a number that can be learned from.
inline void check(nb::handle features) {
  require_dict(features);
  PyObject *name, *value;
  Py_ssize_t at = 0;
  bool more = PyDict_Next(features.ptr(), &at, &name, &value);
  while (more && PyFloat_CheckExact(value) && is_usable(PyFloat_AS_DOUBLE(value)))
    more = PyDict_Next(features.ptr(), &at, &name, &value);
  if (!more) return;
  Items items;
  items.read(features.ptr());
  items.hold();
  for (const Items::Item& item : items) to_number(item.key, item.value);
}

inline void check_many(const nb::list& examples) {
  for (std::size_t at = 0; at < examples.size(); ++at) check(nb::object(examples[at]));
}

// What one call reads: the columns and values of an example.
struct Example {
  Items items;
  std::vector<double> values, scores;
  std::vector<std::int32_t> columns;
  std::vector<const Items::Item*> news;  // those without a column
  std::int64_t starts[2] = {0, 0};

  OneRow row(std::int64_t features) const { return {values.data(), columns.data(), starts, 1, features}; }
};

// The number that an example should come close to.
inline double to_target(PyObject* label) {
  const double number = PyUnicode_Check(label) ? NAN : PyFloat_AsDouble(label);
  if (PyErr_Occurred()) throw nb::python_error();
  if (!is_usable(number)) throw nb::value_error(("the target " + show(label) + " is not a finite number").c_str());
  return number;
}

inline void require_bits(int bits) {
  if (bits < 1 || bits > 30) throw nb::value_error("hash_bits: must be from 1 to 30");
}

// The column of a name by its hash; one that is no text is hashed as it is written.
inline std::int32_t hashed_column(PyObject* name, int bits) {
  const nb::object text = PyUnicode_Check(name) ? nb::borrow(name) : nb::steal(PyObject_Str(name));
  Py_ssize_t length = 0;
  const char* bytes = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), &length) : nullptr;
  if (!bytes) throw nb::python_error();
  return static_cast<std::int32_t>(hash_bytes(bytes, static_cast<std::size_t>(length), 0) &
                                   ((std::uint32_t{1} << bits) - 1));
}

// Reads an example whose columns are hashes: they rise, and the values of equal ones add up.
inline void read_hashed(Example& example, PyObject* features, int bits) {
  Items& items = example.items;
  items.read(features);
  std::vector<std::pair<std::int32_t, double>> found;
  found.reserve(items.size());
  for (Items::Item& item : items) {
    if (!Items::is_plain(item)) items.hold();
    const double number = to_number(item.key, item.value);
    if (!item.known()) items.remember(item, hashed_column(item.key, bits));
    found.emplace_back(item.column, number);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  example.columns.clear();
  example.values.clear();
  for (const auto& [column, number] : found)
    if (!example.columns.empty() && example.columns.back() == column) {
      example.values.back() += number;
    } else {
      example.columns.push_back(column);
      example.values.push_back(number);
    }
  example.starts[1] = static_cast<std::int64_t>(example.columns.size());
}

inline std::tuple<Vector<std::int32_t>, Vector<double>> hashed(nb::handle features, int bits) {
  require_dict(features);
  require_bits(bits);
  Example example;
  read_hashed(example, features.ptr(), bits);
  return {to_vector(std::move(example.columns)), to_vector(std::move(example.values))};
}

// The last example's place, or a new one if it is in use.
class Borrowed {
 public:
  explicit Borrowed(std::unique_ptr<Example>& spare)
      : spare_(spare), held_(spare ? std::move(spare) : std::make_unique<Example>()) {}
  ~Borrowed() {
    held_->items.release();
    spare_ = std::move(held_);
  }
  Example& operator*() const { return *held_; }
  Example* operator->() const { return held_.get(); }

 private:
  std::unique_ptr<Example>& spare_;
  std::unique_ptr<Example> held_;
};

}  // namespace rosenblatt
