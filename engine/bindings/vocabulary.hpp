// The columns of a stream's features, by their names or by the hash of each name.
#pragma once

#include <utility>

#include "examples.hpp"

namespace rosenblatt {

class Vocabulary {
 public:
  // `columns` (name -> column) grows up to the capacity; with `hash_bits` a name's column is its hash, and it stays
  // empty.
  Vocabulary(nb::dict columns, std::int64_t capacity, int hash_bits)
      : columns_(std::move(columns)), capacity_(capacity), hash_bits_(hash_bits), names_(columns_.ptr(), capacity) {
    if (hash_bits_ == 0) return;
    require_bits(hash_bits_);
    if (capacity_ != std::int64_t{1} << hash_bits_ || PyDict_GET_SIZE(columns_.ptr()) != 0)
      throw nb::value_error("hash_bits: the capacity must be so many bits, and the vocabulary empty");
  }

  std::int64_t capacity() const { return capacity_; }

  // Looks up the columns. With `grow`, new features get the next columns; false, and nothing done, if they do not fit.
  // Without, they are left out, since their weights are 0. Nothing is added before every value has been read.
  bool read(Example& example, nb::handle features, bool grow) {
    require_dict(features);
    if (hash_bits_ == 0) return read_known(example, features.ptr()) || read_any(example, features, grow);
    read_hashed(example, features.ptr(), hash_bits_);
    return true;
  }

 private:
  // As `read`, whatever the names and numbers are.
  bool read_any(Example& example, nb::handle features, bool grow) {
    Items& items = example.items;
    items.read(features.ptr());
    example.values.resize(items.size());
    example.columns.resize(items.size());
    double* number = example.values.data();
    for (Items::Item& item : items) {
      if (PyUnicode_CheckExact(item.key) && PyFloat_CheckExact(item.value) &&
          is_usable(PyFloat_AS_DOUBLE(item.value))) {
        *number++ = PyFloat_AS_DOUBLE(item.value);
      } else {
        if (!Items::is_plain(item)) items.hold();
        *number++ = to_number(item.key, item.value);
      }
      if (item.known()) continue;
      item.hash = Names::hash_of(item.key);
      names_.prefetch(item.hash);
    }
    const std::int64_t before = PyDict_GET_SIZE(columns_.ptr());
    std::int64_t next = before;
    std::int32_t* column = example.columns.data();
    double* kept = example.values.data();
    number = example.values.data();
    example.news.clear();
    for (Items::Item& item : items) {
      if (!item.known())  // an example that is predicted and then learned comes twice
        items.remember(item, names_.find(item, items));
      *column = static_cast<std::int32_t>(item.column);
      *kept = *number++;
      if (*column < 0) {
        if (!grow) continue;
        *column = static_cast<std::int32_t>(next++);
        example.news.push_back(&item);
      }
      ++column;
      ++kept;
    }
    if (grow && next > capacity_) return false;
    for (std::size_t at = 0; at < example.news.size(); ++at) {
      const Items::Item& item = *example.news[at];
      nb::object place = nb::steal(PyLong_FromSsize_t(before + at));
      if (PyDict_SetItem(columns_.ptr(), item.key, place.ptr()) != 0) throw nb::python_error();
      names_.add(item.key, item.hash, before + at);
    }
    example.starts[1] = column - example.columns.data();
    return true;
  }

  // Reads an example of floats whose names are the very strings of the table, as most are; false if it is another one.
  bool read_known(Example& example, PyObject* features) const {
    const std::size_t count = PyDict_GET_SIZE(features);
    example.values.resize(count);
    example.columns.resize(count);
    double* number = example.values.data();
    std::int32_t* column = example.columns.data();
    PyObject *name, *value;
    for (Py_ssize_t at = 0; PyDict_Next(features, &at, &name, &value); ++number, ++column) {
      *column = static_cast<std::int32_t>(names_.recognise(name));
      if (*column < 0 || !PyFloat_CheckExact(value)) return false;
      *number = PyFloat_AS_DOUBLE(value);
      if (!is_usable(*number)) return false;
    }
    example.starts[1] = static_cast<std::int64_t>(count);
    return true;
  }

  nb::dict columns_;
  std::int64_t capacity_;
  int hash_bits_;
  Names names_;
};

}  // namespace rosenblatt
