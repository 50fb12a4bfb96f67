// The columns of feature names, and the names and numbers of a dict, read without waiting for one object after the
// other.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "arrays.hpp"

#ifdef Py_LIMITED_API  // one module for all versions of Python: what they keep to themselves is asked for by a call
#define PyFloat_AS_DOUBLE PyFloat_AsDouble
#define PyDict_GET_SIZE PyDict_Size
#endif

namespace rosenblatt {

// The items of a dict, borrowed. `hold` makes them owned, before anything runs that could take them away: a key or a
// number of a type of its own may run code.
//
// Each place may remember its last name, a string, with its column: many streams name the same features in the same
// order, by the same objects.
class Items {
 public:
  struct Item {
    PyObject* key;
    PyObject* value;
    PyObject* name = nullptr;  // the one remembered, held, so that no other object can have its address
    Py_hash_t hash = 0;
    std::int64_t column = -1;  // of the name; -1: it had none

    bool known() const { return name == key && column >= 0; }
  };

  ~Items() {
    release();
    for (Item& item : items_) Py_XDECREF(item.name);
  }

  void read(PyObject* dict) {
    release();
    count_ = PyDict_GET_SIZE(dict);
    if (items_.size() < count_) items_.resize(count_);
    PyObject *key, *value;
    Item* item = items_.data();
    for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value); ++item) {
      __builtin_prefetch(key);
      __builtin_prefetch(value);
      item->key = key;
      item->value = value;
    }
  }

  void remember(Item& item, std::int64_t column) {
    item.column = column;
    if (item.name == item.key) return;
    Py_XDECREF(item.name);
    item.name = PyUnicode_CheckExact(item.key) ? Py_NewRef(item.key) : nullptr;
  }

  // Reading an item of another type than strings and Python's own numbers may run code.
  static bool is_plain(const Item& item) {
    return PyUnicode_CheckExact(item.key) && (PyFloat_CheckExact(item.value) || PyLong_CheckExact(item.value));
  }

  void hold() {
    if (held_) return;
    for (const Item& item : *this) {
      Py_INCREF(item.key);
      Py_INCREF(item.value);
    }
    held_ = true;
  }

  void release() {
    if (held_)
      for (const Item& item : *this) {
        Py_DECREF(item.key);
        Py_DECREF(item.value);
      }
    held_ = false;
    count_ = 0;
  }

  bool held() const { return held_; }
  std::size_t size() const { return count_; }
  Item* begin() { return items_.data(); }
  Item* end() { return items_.data() + count_; }

 private:
  std::vector<Item> items_;
  std::size_t count_ = 0;
  bool held_ = false;
};

// A hash table from names to columns, equal to the dict it was made of and added to beside it.
class Names {
 public:
  Names(PyObject* vocabulary, std::int64_t capacity) : places_(64), known_(64), mask_(63) {
    Items items;
    items.read(vocabulary);
    items.hold();
    for (const Items::Item& item : items) {
      const Py_ssize_t column = PyLong_Check(item.value) ? PyLong_AsSsize_t(item.value) : -1;
      if (column < 0 || column >= capacity) {
        PyErr_Clear();
        throw nb::value_error("vocabulary: a column must be a number below the capacity");
      }
      add(item.key, hash_of(item.key), column);
    }
  }

  Names(const Names&) = delete;

  ~Names() {
    for (const Place& place : places_) Py_XDECREF(place.name);
  }

  // A string knows its hash once it has been a key.
  static Py_hash_t hash_of(PyObject* name) {
#ifndef Py_LIMITED_API
    if (PyUnicode_CheckExact(name) && reinterpret_cast<PyASCIIObject*>(name)->hash != -1)
      return reinterpret_cast<PyASCIIObject*>(name)->hash;
#endif
    const Py_hash_t hash = PyObject_Hash(name);
    if (hash == -1) throw nb::python_error();
    return hash;
  }

  void prefetch(Py_hash_t hash) const { __builtin_prefetch(&places_[first(hash)]); }

  // The column of a string that is itself in the table, found by its address, so that nothing of it has to be read; -1
  // for any other object.
  std::int64_t recognise(PyObject* name) const {
    for (std::size_t at = near(name);; at = (at + 1) & mask_)
      if (known_[at].name == name || !known_[at].name) return known_[at].column;
  }

  // The column of an item's name, -1 if it has none.
  std::int64_t find(const Items::Item& item, Items& items) const {
    PyObject* const name = item.key;
    const Py_hash_t hash = item.hash;
    std::size_t count = count_;
    for (std::size_t at = first(hash);; at = (at + 1) & mask_) {
      const Place* const found = &places_[at];
      if (found->name == name || !found->name) return found->column;
      if (found->hash != hash) continue;
      const Place place = *found;  // a comparison may run code that moves it
      if (same(place.name, name, items)) return place.column;
      if (count_ == count) continue;  // else the comparison has run code that added names: begin again
      count = count_;
      at = first(hash) - 1;
    }
  }

  void add(PyObject* name, Py_hash_t hash, std::int64_t column) {
    if (2 * (count_ + 1) > mask_) grow();
    put({hash, Py_NewRef(name), column});
    know({hash, name, column});
    ++count_;
  }

 private:
  struct Place {
    Py_hash_t hash = 0;
    PyObject* name = nullptr;
    std::int64_t column = -1;
  };

  struct Known {
    PyObject* name = nullptr;
    std::int64_t column = -1;
  };

  std::size_t near(PyObject* name) const {
    return (reinterpret_cast<std::uintptr_t>(name) * 0x9e3779b97f4a7c15ull >> 32) & mask_;
  }
  void know(const Place& place) {
    if (!PyUnicode_CheckExact(place.name)) return;
    std::size_t at = near(place.name);
    while (known_[at].name) at = (at + 1) & mask_;
    known_[at] = {place.name, place.column};
  }

  std::size_t first(Py_hash_t hash) const {
    return (static_cast<std::uint64_t>(hash) * 0x9e3779b97f4a7c15ull >> 32) & mask_;
  }

  static bool same(PyObject* a, PyObject* b, Items& items) {
    if (a == b) return true;
    if (PyUnicode_CheckExact(a) && PyUnicode_CheckExact(b)) {
#ifdef Py_LIMITED_API
      return PyUnicode_Compare(a, b) == 0;
#else
      const Py_ssize_t length = PyUnicode_GET_LENGTH(a);
      return length == PyUnicode_GET_LENGTH(b) && PyUnicode_KIND(a) == PyUnicode_KIND(b) &&
             std::memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), length * PyUnicode_KIND(a)) == 0;
#endif
    }
    items.hold();
    const int equal = PyObject_RichCompareBool(a, b, Py_EQ);
    if (equal < 0) throw nb::python_error();
    return equal;
  }

  void put(const Place& place) {
    std::size_t at = first(place.hash);
    while (places_[at].name) at = (at + 1) & mask_;
    places_[at] = place;
  }

  void grow() {
    std::vector<Place> old(2 * places_.size());
    old.swap(places_);
    mask_ = places_.size() - 1;
    known_.assign(places_.size(), {});
    for (const Place& place : old)
      if (place.name) put(place), know(place);
  }

  std::vector<Place> places_;
  std::vector<Known> known_;  // as many: the strings among them, by address
  std::size_t mask_;          // their number, a power of two, less 1
  std::size_t count_ = 0;
};

}  // namespace rosenblatt
