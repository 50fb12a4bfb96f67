// A stream of examples, each a dict of feature names and numbers. The stream owns the names, the labels and the
// weights, which grow with the examples.
//
// Everything happens under the GIL. A number or a name of a type of its own may run any code, even this stream's or
// another thread's. So an example is read first, and then learned or scored without running Python code: threads take
// turns by the GIL alone, and an example that raises changes nothing.
#include <numeric>

#include "arrays.hpp"
#include "text/hash.hpp"

#ifdef Py_LIMITED_API  // one module for all versions of Python: private fields need a call
#define PyFloat_AS_DOUBLE PyFloat_AsDouble
#define PyDict_GET_SIZE PyDict_Size
#endif

// A number that changes whenever a dict does, and that no two dicts have in common; 0 if Python has none.
#if PY_VERSION_HEX < 0x030C0000
#define VERSION_OF(dict) reinterpret_cast<PyDictObject*>(dict)->ma_version_tag
#else
#define VERSION_OF(dict) std::uint64_t{0}
#endif

namespace rosenblatt {
namespace {

// Of strings that are keys of a dict: they know their hash.
Py_hash_t hash_of(PyObject* name) {
#ifndef Py_LIMITED_API
  if (const Py_hash_t hash = reinterpret_cast<PyASCIIObject*>(name)->hash; hash != -1) return hash;
#endif
  return PyObject_Hash(name);
}

bool are_equal(PyObject* a, PyObject* b) {
#ifdef Py_LIMITED_API
  return PyUnicode_Compare(a, b) == 0;
#else
  const Py_ssize_t length = PyUnicode_GET_LENGTH(a);
  const int kind = PyUnicode_KIND(a);
  return length == PyUnicode_GET_LENGTH(b) && kind == static_cast<int>(PyUnicode_KIND(b)) &&
         std::memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), length * kind) == 0;
#endif
}

// As Python writes it, or the beginning of that.
std::string show(PyObject* object) {
  const nb::str whole = nb::repr(nb::handle(object));
  if (PyUnicode_GetLength(whole.ptr()) <= 80) return whole.c_str();
  const auto beginning = nb::steal<nb::str>(PyUnicode_Substring(whole.ptr(), 0, 77));
  return std::string(beginning.c_str()) + "...";
}

double to_number(PyObject* key, PyObject* value) {
  const bool is_text = PyUnicode_Check(value);
  const double number = is_text ? NAN : PyFloat_AsDouble(value);
  const auto sentence = [&](const char* why) { return "feature " + show(key) + " has the value " + show(value) + why; };
  const bool is_too_large = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError);
  if (is_text || (PyErr_Occurred() && !is_too_large)) {
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
      throw nb::python_error();
    PyErr_Clear();
    throw nb::type_error(sentence(", which is not a number").c_str());
  }
  PyErr_Clear();
  if (is_too_large || (std::isfinite(number) && !is_usable(number))) fail(sentence(", too large to learn from"));
  if (!is_usable(number)) fail(sentence(", which is not finite"));
  return number;
}

// The same of a whole number or a boolean, without running Python code; NaN if it is another one, or cannot be learned
// from. Not inlined: most numbers are floats.
[[gnu::noinline]] double to_plain_number(PyObject* value) {
  if (!PyLong_CheckExact(value) && !PyBool_Check(value)) return NAN;
  const double number = PyLong_AsDouble(value);
  const bool is_too_large = number == -1.0 && PyErr_Occurred();
  if (is_too_large) PyErr_Clear();
  return is_too_large ? NAN : number;
}

// The same of floats as well.
double plain_number_of(PyObject* value) {
  return PyFloat_CheckExact(value) ? PyFloat_AS_DOUBLE(value) : to_plain_number(value);
}

// The stored items of a dict, whatever its class overrides. They are held: reading one may change the dict.
std::vector<std::pair<nb::object, nb::object>> items_of(nb::handle dict) {
  std::vector<std::pair<nb::object, nb::object>> items;
  items.reserve(PyDict_GET_SIZE(dict.ptr()));
  PyObject *name, *value;
  for (Py_ssize_t place = 0; PyDict_Next(dict.ptr(), &place, &name, &value);)
    items.emplace_back(nb::borrow(name), nb::borrow(value));
  return items;
}

nb::dict copy_of(nb::handle dict) {
  auto made = nb::steal<nb::dict>(PyDict_Copy(dict.ptr()));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

// The number that a dict has for a key; -1: none.
std::int32_t number_of(const nb::dict& dict, nb::handle key) {
  PyObject* const number = PyDict_GetItemWithError(dict.ptr(), key.ptr());
  if (!number && PyErr_Occurred()) throw nb::python_error();
  return number ? static_cast<std::int32_t>(PyLong_AsLong(number)) : -1;
}

void require_dict(nb::handle features) {
  if (!PyDict_Check(features.ptr())) throw nb::type_error("features must be a dict of name: number");
}

// Raises if a value is not a number that can be learned from.
void check_example(nb::handle features) {
  require_dict(features);
  bool is_plain = true;
  PyObject *name, *number;
  for (Py_ssize_t place = 0; is_plain && PyDict_Next(features.ptr(), &place, &name, &number);)
    is_plain = is_usable(plain_number_of(number));
  if (is_plain) return;
  for (const auto& [key, value] : items_of(features)) to_number(key.ptr(), value.ptr());
}

// The columns and values of an example.
struct Example {
  std::vector<double> values;
  std::vector<std::int32_t> columns;
  std::int64_t starts[2] = {0, 0};
  std::uint64_t version = 0;  // of the dict: one that is predicted and then learned is read once

  void resize(std::size_t size) {
    values.resize(size);
    columns.resize(size);
    starts[1] = static_cast<std::int64_t>(size);
  }
};

// An example whose columns are hashes of the names: they rise, and the values of equal ones add up. A name that is not
// text is hashed as it is written.
Example read_hashed(nb::handle features, int bits) {
  const std::uint32_t mask = to_mask(bits);
  std::vector<std::pair<std::int32_t, double>> sorting;
  Example found;
  for (const auto& [key, value] : items_of(features)) {
    found.values.push_back(to_number(key.ptr(), value.ptr()));
    const nb::object text = PyUnicode_Check(key.ptr()) ? nb::borrow(key) : nb::steal(PyObject_Str(key.ptr()));
    Py_ssize_t length = 0;
    const char* bytes = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), &length) : nullptr;
    if (!bytes) throw nb::python_error();
    found.columns.push_back(hash_bytes(bytes, static_cast<std::size_t>(length), 0) & mask);
  }
  sort_columns(found.columns, found.values, 0, sorting);
  found.resize(found.columns.size());
  return found;
}

std::tuple<Vector<std::int32_t>, Vector<double>> hashed(nb::handle features, int bits) {
  require_dict(features);
  Example example = read_hashed(features, bits);
  return {to_vector(std::move(example.columns)), to_vector(std::move(example.values))};
}

// The columns of strings: open addressing, with at most half of the places in use.
class NameTable {
 public:
  struct Place {
    PyObject* name = nullptr;
    std::uint32_t hash = 0;
    std::int32_t column = -1;
  };

  static std::uint32_t mix(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash * 0x9e3779b97f4a7c15ull >> 32);
  }

  void prefetch(std::uint32_t hash) const { __builtin_prefetch(places_.data() + (hash & mask_)); }

  // The place of the first name that is the same, or the free place for it.
  template <class Same>
  Place& find(std::uint32_t hash, Same&& same) {
    Place* const places = places_.data();
    std::size_t at = hash & mask_;
    while (places[at].name && !same(places[at])) at = (at + 1) & mask_;
    return places[at];
  }

  void add(const Place& made) {
    const auto put = [&](const Place& place) { find(place.hash, [](const Place&) { return false; }) = place; };
    if (2 * ++count_ > mask_) {
      const std::vector<Place> old = std::exchange(places_, std::vector<Place>(2 * places_.size()));
      mask_ = places_.size() - 1;
      for (const Place& place : old)
        if (place.name) put(place);
    }
    put(made);
  }

 private:
  std::vector<Place> places_{64};
  std::size_t mask_ = 63, count_ = 0;
};

// The columns of names, in a dict, and of the strings among them in tables: an example of strings and plain
// numbers, as most are, is read without running Python code, and without waiting for one object after the other.
class Vocabulary {
 public:
  // So many columns have weights already.
  Vocabulary(const nb::dict& columns, std::int64_t count)
      : columns_(copy_of(columns)), count_(static_cast<std::int32_t>(count)) {
    for (const auto& [name, column] : columns_) {
      const std::int64_t at = nb::cast<std::int64_t>(column);
      if (at < 0 || at >= count) fail("names: a column must be below the number of features");
      remember(name.ptr(), static_cast<std::int32_t>(at));
    }
  }

  std::int32_t count() const { return count_; }
  nb::dict columns() const { return copy_of(columns_); }

  // Reads an example of strings and plain numbers; false if it is another one. Without `grow`, names that are not known
  // are left out, since their weights are 0.
  bool read_plain(Example& example, nb::handle features, bool grow) {
    const std::uint64_t version = VERSION_OF(features.ptr());
    if (version != 0 && version == example.version) return true;
    example.version = 0;
    const std::size_t count = PyDict_GET_SIZE(features.ptr());
    items_.resize(count);
    example.resize(count);
    Item* const items = items_.data();
    double* const values = example.values.data();
    std::int32_t* const columns = example.columns.data();
    std::size_t at = 0, known = 0;
    PyObject *name, *value;
    for (Py_ssize_t place = 0; PyDict_Next(features.ptr(), &place, &name, &value); ++at) {
      __builtin_prefetch(value);
      items[at].name = name;
      items[at].value = value;
      if (known < at) {
        __builtin_prefetch(name);
      } else {
        columns[at] = column_of_object(name);
        known += columns[at] >= 0;
      }
    }
    for (at = 0; at < count; ++at) {
      values[at] = plain_number_of(items[at].value);
      if (!is_usable(values[at])) return false;
    }
    if (known < count && !read_strings(example, known, grow)) return false;
    if (example.columns.size() == count) example.version = version;
    return true;
  }

  // Reads any example. With `grow`, new names get the next columns, after every value has been read.
  Example read(nb::handle features, bool grow) {
    const auto items = items_of(features);
    Example example;
    for (const auto& [name, number] : items) {
      example.values.push_back(to_number(name.ptr(), number.ptr()));
      example.columns.push_back(number_of(columns_, name));
    }
    take_new(example, grow, [&](std::size_t at) { return items[at].first.ptr(); });
    return example;
  }

 private:
  struct Item {
    PyObject *name, *value;
    std::uint32_t hash;
  };

  // The columns of names from this one on, which is another object than that of the table.
  bool read_strings(Example& example, std::size_t first, bool grow) {
    if (!only_strings_) return false;
    for (std::size_t at = first; at < items_.size(); ++at) {
      Item& item = items_[at];
      if (!PyUnicode_CheckExact(item.name)) return false;
      item.hash = NameTable::mix(hash_of(item.name));
      by_hash_.prefetch(item.hash);
    }
    bool all_known = true;
    for (std::size_t at = first; at < items_.size(); ++at) {
      example.columns[at] = column_of_string(items_[at].name, items_[at].hash);
      all_known &= example.columns[at] >= 0;
    }
    if (!all_known) take_new(example, grow, [&](std::size_t at) { return items_[at].name; });
    return true;
  }

  // Gives new names, which have no column yet, the next ones, or leaves them out.
  template <class NameAt>
  void take_new(Example& example, bool grow, NameAt&& name_at) {
    std::size_t size = 0;
    for (std::size_t at = 0; at < example.columns.size(); ++at) {
      std::int32_t column = example.columns[at];
      if (column < 0 && grow) column = add(name_at(at));
      example.columns[size] = column;
      example.values[size] = example.values[at];
      size += column >= 0;
    }
    example.resize(size);
  }

  static std::uint32_t hash_of_address(PyObject* name) {
    return NameTable::mix(reinterpret_cast<std::uintptr_t>(name));
  }

  std::int32_t column_of_object(PyObject* name) {
    return by_address_.find(hash_of_address(name), [&](const auto& place) { return place.name == name; }).column;
  }
  std::int32_t column_of_string(PyObject* name, std::uint32_t hash) {
    const auto is_equal = [&](const auto& place) { return place.hash == hash && are_equal(place.name, name); };
    return by_hash_.find(hash, is_equal).column;
  }

  // Code that a comparison ran may have added it meanwhile.
  std::int32_t add(PyObject* name) {
    if (const std::int32_t column = number_of(columns_, name); column >= 0) return column;
    const std::int32_t column = count_++;
    if (PyDict_SetItem(columns_.ptr(), name, nb::int_(column).ptr()) != 0) throw nb::python_error();
    remember(name, column);
    return column;
  }

  void remember(PyObject* name, std::int32_t column) {
    only_strings_ = only_strings_ && PyUnicode_CheckExact(name);
    if (!only_strings_) return;
    by_address_.add({name, hash_of_address(name), column});
    by_hash_.add({name, NameTable::mix(hash_of(name)), column});
  }

  nb::dict columns_;
  std::int32_t count_;
  NameTable by_address_, by_hash_;  // of a name's object, and of its hash
  std::vector<Item> items_;
  bool only_strings_ = true;  // are all names strings?
};

// One state of the stream: arrays of its own, of weights that lie feature after feature.
struct OwnState {
  std::vector<std::pair<const char*, std::vector<double>>> arrays;
  std::unique_ptr<Counters> counters;
  State<double> state;

  // A copy over so many features and weight rows: first these rows, in this order, then new ones. Without old rows it
  // is a state that has seen nothing.
  OwnState(const StateArrays& from, std::int64_t features, std::int64_t K, const std::vector<std::int32_t>& rows)
      : counters(std::make_unique<Counters>(rows.empty() ? Counters{} : *from.counters)), state(from) {
    StateArrays made = from;
    made.features = features;
    made.K = K;
    made.counters = counters.get();
    made.for_each(made.variances, false,
                  [&]<class P>(const char* name, P& pointer, StateArrays::Extent extent, double initial, bool used) {
                    if constexpr (!std::is_same_v<P, Counters*>) {
                      if (!used) return;
                      const auto* const old = static_cast<const double*>(pointer);
                      std::vector<double> values(made.size(extent), initial);
                      values.reserve(1);  // null would be an array that is not used
                      const bool is_matrix = extent == StateArrays::Extent::weights;
                      const std::int64_t columns = is_matrix ? std::min(from.features, features) : 1;
                      if (extent == StateArrays::Extent::one)
                        values[0] = rows.empty() ? initial : *old;
                      else
                        for (std::int64_t column = 0; column < columns; ++column)
                          for (std::size_t k = 0; k < rows.size(); ++k)
                            values[column * K + k] = old[column * from.K + rows[k]];
                      pointer = values.data();
                      arrays.emplace_back(name, std::move(values));
                    }
                  });
    state = State<double>(made);
  }

  // Its arrays, handed over.
  nb::dict to_dict() && {
    nb::dict made;
    for (auto& [name, values] : arrays) made[name] = to_vector(std::move(values));
    const auto counts = std::bit_cast<std::array<std::int64_t, counter_count>>(*counters);
    made["counters"] = to_vector(std::vector<std::int64_t>(counts.begin(), counts.end()));
    return made;
  }
};

class Stream {
 public:
  Stream(const Stream&) = delete;
  // `arrays`: those of each state, all over as many features; several are learned one against the rest. With `epsilon`
  // labels are numbers; with `hash_bits` a name's column is its hash, and there are no names.
  Stream(const nb::list& arrays, const nb::dict& names, const nb::list& labels, const PyRule& rule,
         const std::string& keep, bool fit_intercept, bool tie_positive, std::optional<double> epsilon, int hash_bits)
      : rule_(rule.without_penalty("a stream")), states_(own_states(arrays, keep, fit_intercept, rule_)),
        vocabulary_(names, states_[0].state.features), labels_(labels), epsilon_(epsilon),
        one_vs_rest_(states_.size() > 1), tie_positive_(tie_positive), hash_bits_(hash_bits) {
    if (hash_bits_ && static_cast<std::int64_t>(to_mask(hash_bits_)) + 1 != vocabulary_.count())
      fail("hash_bits: the weights must have so many columns");
    for (std::size_t code = 0; code < labels.size(); ++code) codes_[labels[code]] = code;
    if (codes_.size() != labels.size()) fail("labels: two are equal");
    std::int64_t scores = 0;
    for (const OwnState& one : states_) {
      if (one.state.keep == Keep::vote) fail("keep: the answer must be a weight vector");
      if (one.state.features != states_[0].state.features) fail("arrays: all must be over as many features");
      if (one_vs_rest_ && one.state.K != 1) fail("arrays: in one-vs-rest, each must have one row of weights");
      scores += one.state.K;
    }
    const auto classes = static_cast<std::int64_t>(labels_.size());
    if (scores != (classes > 2 && !epsilon_ ? classes : 1))
      fail("arrays: there must be one state, or one per class in one-vs-rest, with a row of weights per class");
    order_ = first_rows(scores);
  }

  // Learns one example; false, and nothing done, if the label is new or the stream is closed.
  bool learn(nb::handle features, nb::handle label, double weight) {
    const double number = epsilon_ ? to_target(label.ptr()) : 0.0;
    require_dict(features);
    const std::int32_t code = epsilon_ ? 0 : number_of(codes_, label);
    if (code < 0) return false;
    read(features, weight > 0);
    if (closed_) return false;
    if (weight > 0) learn_now(code, number, weight);
    return true;
  }

  // Learns one example of a new label, which comes to this place among the labels: a row of weights for it, or in
  // one-vs-rest a state, stands behind all others. False, and nothing done, if the stream is closed.
  bool learn_new(nb::handle features, const nb::object& label, double weight, std::size_t place) {
    require_dict(features);
    const auto code = static_cast<std::int32_t>(order_.size());
    if (code < 3 || place > order_.size() || codes_.contains(label)) fail("label: it needs a new stream");
    read(features, true);
    if (closed_) return false;
    if (static_cast<std::size_t>(code) != order_.size()) fail("label: reading the example brought another one");
    const Example example = example_;  // comparing labels may run Python code
    const std::int64_t columns = states_[0].state.features, K = states_[0].state.K;
    if (one_vs_rest_)
      states_.emplace_back(states_[0].state, columns, 1, std::vector<std::int32_t>());
    else if (code == K)
      resize(columns, (K * 5 / 4 + 4) & ~3);
    codes_[label] = code;
    labels_.insert(place, label);
    order_.insert(order_.begin() + place, code);
    example_ = example;
    learn_now(code, 0.0, weight);
    return true;
  }

  // Learns examples one after another, from the first of these; returns where it ended: at an example that `learn`
  // would not take, or behind the last.
  std::size_t learn_many(const nb::list& features, const nb::list& labels, std::size_t first,
                         const std::optional<nb::list>& weights) {
    std::size_t at = first;
    for (; at < std::min(features.size(), labels.size()); ++at) {
      const nb::object example = features[at], label = labels[at];
      if (!learn(example, label, weights ? nb::cast<double>((*weights)[at]) : 1.0)) break;
      if (at % 4096 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    return at;
  }

  // From now on it only predicts.
  void close() { closed_ = true; }
  std::int64_t seen() const { return states_[0].counters->seen; }
  std::tuple<std::int64_t, std::int64_t> counts() const {
    std::int64_t mistakes = 0, updates = 0;
    for (const OwnState& one : states_) {
      mistakes += one.counters->mistakes;
      updates += one.counters->updates;
    }
    return {mistakes, updates};
  }
  std::int64_t features() const { return vocabulary_.count(); }
  nb::dict names() const { return vocabulary_.columns(); }

  nb::list snapshot() const {
    std::vector<OwnState> copies;  // before Python makes objects: its collection of garbage may run any code
    if (!one_vs_rest_)
      copies.emplace_back(states_[0].state, features(), std::ssize(order_), order_);
    else
      for (const std::int32_t at : order_) copies.emplace_back(states_[at].state, features(), 1, first_rows(1));
    nb::list all;
    for (OwnState& one : copies) all.append(std::move(one).to_dict());
    return all;
  }

  nb::object predict(nb::handle features) {
    const std::vector<double>& found = score(features);
    if (found.size() == 1) return labels_[labels_.size() == 1 ? 0 : found[0] >= 0 ? 1 : 0];
    return labels_[std::max_element(found.begin(), found.end()) - found.begin()];
  }

  nb::list predict_many(const nb::list& features) {
    nb::list found;
    for (std::size_t at = 0; at < features.size(); ++at) {
      found.append(predict(nb::object(features[at])));
      if (at % 4096 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    return found;
  }

  Vector<double> scores(nb::handle features) { return to_vector(std::vector<double>(score(features))); }

 private:
  static std::vector<OwnState> own_states(const nb::list& arrays, const std::string& keep, bool fit_intercept,
                                          const Rule& rule) {
    if (arrays.size() == 0) fail("arrays: there must be at least one state");
    std::vector<OwnState> made;
    for (const nb::handle each : arrays) {
      const PyState given(keep, nb::cast<nb::dict>(each), fit_intercept);
      const StateArrays& state = given.arrays();
      check_state(state, rule);
      if (state.is_float32) throw nb::type_error("weights: must be float64");
      if (state.features > std::numeric_limits<std::int32_t>::max() / 2) fail("weights: too many features");
      made.emplace_back(state, state.features, state.K, first_rows(state.K));
    }
    return made;
  }

  static std::vector<std::int32_t> first_rows(std::int64_t count) {
    std::vector<std::int32_t> rows(count);
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }

  // The same states over so many features and weight rows each, in arrays of their own.
  void resize(std::int64_t features, std::int64_t K) {
    const std::vector<std::int32_t> rows = first_rows(states_[0].state.K);
    std::vector<OwnState> wider;
    for (const OwnState& one : states_) wider.emplace_back(one.state, features, K, rows);
    states_.swap(wider);
  }

  // Reads an example into `example_`; the weights grow with the names. What is not plain may run Python code.
  void read(nb::handle features, bool grow) {
    const bool is_plain = !hash_bits_ && vocabulary_.read_plain(example_, features, grow);
    if (!is_plain) example_ = hash_bits_ ? read_hashed(features, hash_bits_) : vocabulary_.read(features, grow);
    if (states_[0].state.features < this->features())
      resize(std::max<std::int64_t>(64, 2 * this->features()), states_[0].state.K);
  }

  static double to_target(PyObject* label) {
    const double number = PyUnicode_Check(label) ? NAN : PyFloat_AsDouble(label);
    if (PyErr_Occurred()) throw nb::python_error();
    if (!is_usable(number)) fail("the target " + show(label) + " is not a finite number");
    return number;
  }

  // No Python code runs from here on.
  void learn_now(std::int32_t code, double number, double weight) {
    for (std::size_t at = 0; at < states_.size(); ++at) {
      OwnState& one = states_[at];
      if (labels_.size() == 1 && !epsilon_) {  // nothing to be mistaken for
        ++one.counters->seen;
        ++one.counters->survived;
        continue;
      }
      const std::int8_t sign = code == (one_vs_rest_ ? static_cast<std::int32_t>(at) : 1) ? 1 : -1;
      const AnyTask task = epsilon_ ? AnyTask(Regression{{{&weight}}, &number, *epsilon_})
                           : one.state.K == 1
                               ? AnyTask(Binary{{{&weight}}, &sign, tie_positive_})
                               : AnyTask(Multiclass{{&weight}, &code, std::ssize(order_), order_.data()});
      const SparseRows<double> row{example_.values.data(), example_.columns.data(), example_.starts, 1,
                                   one.state.features};
      StopToken stop;
      Loops<SparseRows<double>>::learn(row, task, {nullptr, 1}, {0, 1}, one.state, rule_, stop);
    }
  }

  // One score per label, or one for two, by the answer so far.
  const std::vector<double>& score(nb::handle features) {
    require_dict(features);
    read(features, false);
    scores_.clear();
    const std::int32_t* const columns = example_.columns.data();
    const double* const values = example_.values.data();
    for (const std::int32_t at : order_) {
      const State<double>& state = states_[one_vs_rest_ ? at : 0].state;
      const auto answer = Answer::of(state);
      const std::int64_t K = state.K, k = one_vs_rest_ ? 0 : at;
      double total = 0;
      for (std::int64_t p = 0; p < example_.starts[1]; ++p) total += values[p] * answer.weight(columns[p] * K + k);
      scores_.push_back(total + answer.intercept_of(k));
    }
    return scores_;
  }

  Rule rule_;
  std::vector<OwnState> states_;
  Vocabulary vocabulary_;
  nb::list labels_;
  nb::dict codes_;                   // the weight row of each, or its state
  std::vector<std::int32_t> order_;  // the same, in the order of the labels; spare rows are not in it
  std::optional<double> epsilon_;
  bool one_vs_rest_, tie_positive_, closed_ = false;
  int hash_bits_;
  Example example_;  // the last one that was read
  std::vector<double> scores_;
};

}  // namespace

void bind_stream(nb::module_& m) {
  nb::class_<Stream>(m, "Stream", "A stream of examples, each a dict of feature names and numbers, with its weights.")
      .def(nb::init<const nb::list&, const nb::dict&, const nb::list&, const PyRule&, const std::string&, bool, bool,
                    std::optional<double>, int>(),
           "arrays"_a, "names"_a, "labels"_a, "rule"_a, nb::kw_only(), "keep"_a, "fit_intercept"_a, "tie_positive"_a,
           "epsilon"_a = nb::none(), "hash_bits"_a = 0)
      .def("learn", &Stream::learn, "features"_a.none(), "label"_a.none(), "weight"_a = 1.0,
           "Learn one example; False, and nothing done, if the label is new or the stream is closed.")
      .def("learn_new", &Stream::learn_new, "features"_a.none(), "label"_a.none(), "weight"_a, "place"_a,
           "Learn an example of a new label, which comes to this place among three or more. False, and "
           "nothing done, if the stream is closed.")
      .def("learn_many", &Stream::learn_many, "features"_a, "labels"_a, "first"_a, "weights"_a.none(),
           "Learn examples one after another, from the first of these; returns where it ended: at one that `learn` "
           "would not take, or behind the last.")
      .def("close", &Stream::close, "From now on it only predicts.")
      .def("snapshot", &Stream::snapshot, "Copies of the arrays of each state.")
      .def_prop_ro("seen", &Stream::seen, "How many examples its states have seen.")
      .def_prop_ro("counts", &Stream::counts, "Mistakes and updates, over all states.")
      .def_prop_ro("features", &Stream::features, "How many features there are.")
      .def_prop_ro("names", &Stream::names, "The column of each name, as a new dict.")
      .def("predict_many", &Stream::predict_many, "features"_a, "The predicted label of each.")
      .def("predict", &Stream::predict, "features"_a.none(), "The predicted label.")
      .def("scores", &Stream::scores, "features"_a.none(), "The scores, one per weight row, by the kept weights.")
      .def_static("hashed", &hashed, "features"_a.none(), "hash_bits"_a,
                  "The columns of an example by the hash of each name, rising, and their values; equal columns add up.")
      .def_static("check", &check_example, "features"_a.none(), "Raise if a value is not a finite number.");
}

}  // namespace rosenblatt
