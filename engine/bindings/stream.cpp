// A stream of examples, each a dict of feature names and numbers. The stream owns the names, the labels and the
// weights, which grow with the examples.
//
// Everything happens under the GIL. A number or a name of a type of its own may run any code, even this stream's or
// another thread's. So an example is read first, into memory of its own, and then learned or scored without running
// Python code: threads take turns by the GIL alone, and an example that raises changes nothing.
#include <cmath>
#include <cstring>

#include "arrays.hpp"
#include "text/hash.hpp"

#ifdef Py_LIMITED_API  // one module for all versions of Python: private fields are asked for by a call
#define PyFloat_AS_DOUBLE PyFloat_AsDouble
#define PyDict_GET_SIZE PyDict_Size
#endif

namespace rosenblatt {
namespace {

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

// The items of a dict, owned: reading a name or a number may take them away.
class Items {
 public:
  explicit Items(nb::handle dict) {
    PyObject *key, *value;
    items_.reserve(PyDict_GET_SIZE(dict.ptr()));
    for (Py_ssize_t at = 0; PyDict_Next(dict.ptr(), &at, &key, &value);)
      items_.emplace_back(Py_NewRef(key), Py_NewRef(value));
  }
  Items(const Items&) = delete;
  ~Items() {
    for (const auto& [key, value] : items_) Py_DECREF(key), Py_DECREF(value);
  }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::size_t size() const { return items_.size(); }

 private:
  std::vector<std::pair<PyObject*, PyObject*>> items_;
};

void require_dict(nb::handle features) {
  if (!PyDict_Check(features.ptr())) throw nb::type_error("features must be a dict of name: number");
}

// Raises if a value is not a number that can be learned from.
void check_example(nb::handle features) {
  require_dict(features);
  for (const auto& [key, value] : Items(features)) to_number(key, value);
}

void check_examples(const nb::list& examples) {
  for (std::size_t at = 0; at < examples.size(); ++at) check_example(nb::object(examples[at]));
}

// What one call reads: the columns and values of an example.
struct Example {
  std::vector<double> values;
  std::vector<std::int32_t> columns;
  std::int64_t starts[2] = {0, 0};
  // The last name at each place, and its column: an example that is predicted and then learned comes twice.
  std::vector<std::pair<nb::object, std::int32_t>> places;

  void resize(std::size_t size) {
    values.resize(size);
    columns.resize(size);
    starts[1] = static_cast<std::int64_t>(size);
  }
  SparseRows<double> row(std::int64_t features) const { return {values.data(), columns.data(), starts, 1, features}; }
};

void require_bits(int bits) {
  if (bits < 1 || bits > 30) fail("hash_bits: must be from 1 to 30");
}

// An example whose columns are hashes of the names: they rise, and the values of equal ones add up. A name that is not
// text is hashed as it is written.
void read_hashed(Example& example, nb::handle features, int bits) {
  const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
  std::vector<std::pair<std::int32_t, double>> found;
  for (const auto& [key, value] : Items(features)) {
    const double number = to_number(key, value);
    const nb::object text = PyUnicode_Check(key) ? nb::borrow(key) : nb::steal(PyObject_Str(key));
    Py_ssize_t length = 0;
    const char* bytes = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), &length) : nullptr;
    if (!bytes) throw nb::python_error();
    found.emplace_back(hash_bytes(bytes, static_cast<std::size_t>(length), 0) & mask, number);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t size = 0;
  example.resize(found.size());
  for (const auto& [column, number] : found) {
    if (size > 0 && example.columns[size - 1] == column) {
      example.values[size - 1] += number;
    } else {
      example.columns[size] = column;
      example.values[size++] = number;
    }
  }
  example.resize(size);
}

std::tuple<Vector<std::int32_t>, Vector<double>> hashed(nb::handle features, int bits) {
  require_dict(features);
  require_bits(bits);
  Example example;
  read_hashed(example, features, bits);
  return {to_vector(std::move(example.columns)), to_vector(std::move(example.values))};
}

// The columns of names, in a dict, and of the strings among them by address: most examples name their features by the
// same objects, of which nothing has to be read then.
class Vocabulary {
 public:
  // So many columns have weights already.
  Vocabulary(const nb::dict& columns, std::int64_t count)
      : columns_(nb::steal<nb::dict>(PyDict_Copy(columns.ptr()))), count_(static_cast<std::int32_t>(count)) {
    for (const auto& [name, column] : columns_) {
      const std::int64_t at = nb::cast<std::int64_t>(column);
      if (at < 0 || at >= count) fail("names: a column must be below the number of features");
      know(name.ptr(), static_cast<std::int32_t>(at));
    }
  }

  std::int32_t count() const { return count_; }
  nb::dict columns() const { return nb::steal<nb::dict>(PyDict_Copy(columns_.ptr())); }

  // Looks up the columns. With `grow`, new names get the next ones, after every value has been read; without, they are
  // left out, since their weights are 0. Returns false if Python code may have run.
  bool read(Example& example, nb::handle features, bool grow) {
    if (read_plain(example, features, grow)) return true;
    const Items items(features);
    example.resize(items.size());
    double* value = example.values.data();
    for (const auto& [key, number] : items) *value++ = to_number(key, number);
    std::int32_t* column = example.columns.data();
    for (const auto& item : items) *column++ = find(item.first);
    std::size_t size = 0, at = 0;
    for (const auto& item : items) {
      std::int32_t found = example.columns[at];
      if (found < 0 && grow) found = add(item.first);
      example.columns[size] = found;
      example.values[size] = example.values[at++];
      size += found >= 0;
    }
    example.resize(size);
    return false;
  }

 private:
  struct Known {
    PyObject* name = nullptr;
    std::int32_t column = -1;
  };

  // An example of strings and floats, which run no code; false if it is another one, or has names to add.
  bool read_plain(Example& example, nb::handle features, bool grow) const {
    example.resize(PyDict_GET_SIZE(features.ptr()));
    std::size_t size = 0;
    PyObject *name, *value;
    for (Py_ssize_t at = 0; PyDict_Next(features.ptr(), &at, &name, &value);) {
      if (!PyFloat_CheckExact(value)) return false;
      const double number = PyFloat_AS_DOUBLE(value);
      std::int32_t column = known_[place_of(name)].column;
      if (column < 0) {
        if (!only_strings_ || !PyUnicode_CheckExact(name)) return false;
        if (example.places.size() <= size) example.places.resize(size + 1);
        auto& [last, its_column] = example.places[size];
        if (last.ptr() == name) {
          column = its_column;
        } else if ((column = find(name)) >= 0) {
          last = nb::borrow(name);
          its_column = column;
        }
      }
      if (!is_usable(number) || (column < 0 && grow)) return false;
      example.columns[size] = column;
      example.values[size] = number;
      size += column >= 0;
    }
    example.resize(size);
    return true;
  }

  std::int32_t find(PyObject* name) const {
    if (const Known& known = known_[place_of(name)]; known.name) return known.column;
    PyObject* column = PyDict_GetItemWithError(columns_.ptr(), name);
    if (!column && PyErr_Occurred()) throw nb::python_error();
    return column ? static_cast<std::int32_t>(PyLong_AsLong(column)) : -1;
  }

  // Code that a comparison ran may have added it meanwhile.
  std::int32_t add(PyObject* name) {
    if (const std::int32_t column = find(name); column >= 0) return column;
    const std::int32_t column = count_++;
    if (PyDict_SetItem(columns_.ptr(), name, nb::int_(column).ptr()) != 0) throw nb::python_error();
    know(name, column);
    return column;
  }

  std::size_t place_of(PyObject* name) const {
    const std::size_t mask = known_.size() - 1;
    std::size_t at = reinterpret_cast<std::uintptr_t>(name) * 0x9e3779b97f4a7c15ull >> 32 & mask;
    while (known_[at].name && known_[at].name != name) at = (at + 1) & mask;
    return at;
  }
  void know(PyObject* name, std::int32_t column) {
    if (!PyUnicode_CheckExact(name)) {
      only_strings_ = false;
      return;
    }
    if (2 * ++strings_ > known_.size()) {
      std::vector<Known> old(2 * known_.size());
      old.swap(known_);
      for (const Known& known : old)
        if (known.name) known_[place_of(known.name)] = known;
    }
    known_[place_of(name)] = {name, column};
  }

  nb::dict columns_;
  std::int32_t count_;
  std::vector<Known> known_{64};  // a power of two
  std::size_t strings_ = 0;
  bool only_strings_ = true;
};

// One state of the stream, of weights that lie feature after feature.
struct Problem {
  StateArrays state;
  OwnedArrays owned;
  RuleOf<double> rule = Normalized{};
  KeepOf<double> keep;

  void bind(const AnyRule& chosen) {
    const State<double> view(state);
    rule = bind_rule(chosen, view, nullptr);
    keep = bind_keep(view, nullptr);
  }
};

class Stream {
 public:
  // `arrays`: those of each state, all over as many features. With `epsilon` labels are numbers; with `hash_bits` a
  // name's column is its hash, and there are no names.
  Stream(const nb::list& arrays, const nb::dict& names, const nb::list& labels, const PyRule& rule,
         const std::string& keep, bool fit_intercept, bool one_vs_rest, bool tie_positive,
         std::optional<double> epsilon, int hash_bits)
      : vocabulary_(names, features_of(arrays)), epsilon_(epsilon), one_vs_rest_(one_vs_rest),
        tie_positive_(tie_positive), hash_bits_(hash_bits), rule_(rule.without_penalty("a stream")) {
    if (hash_bits_) {
      require_bits(hash_bits_);
      if (features() != vocabulary_.count()) fail("hash_bits: the weights must have so many columns");
    }
    set_labels(labels);
    for (const nb::handle each : arrays) {
      const ArrayDict given(nb::cast<nb::dict>(each));
      auto one = std::make_unique<Problem>();
      StateArrays& state = one->state;
      state.keep = to_keep(keep);
      state.fit_intercept = fit_intercept;
      state.K = given.size("intercept");
      state.features = features();
      if (state.K < 1 || state.keep == Keep::vote) fail("arrays: the answer must be at least one weight vector");
      one->owned.make(state, std::holds_alternative<Arow>(rule_));
      for (auto& [name, values] : one->owned.all)
        std::visit(
            [&]<class V>(AlignedVector<V>& to) {
              const auto size = static_cast<std::int64_t>(to.size());
              std::copy_n(given.get<V>(name.c_str(), size), size, to.data());
            },
            values);
      one->bind(rule_);
      scores_ += state.K;
      problems_.push_back(std::move(one));
    }
    const std::size_t classes = labels_.size();
    if (problems_.empty() || (!one_vs_rest && problems_.size() != 1) ||
        (!epsilon_ && scores_ != (classes > 2 ? static_cast<std::int64_t>(classes) : 1)))
      fail("arrays: there must be one state, or one per class in one-vs-rest, with a row of weights per class");
  }

  // Learns one example; false, and nothing done, if the label is new or the stream is closed or paused.
  bool learn(nb::handle features, nb::handle label, double weight) {
    if (!(weight >= 0 && std::isfinite(weight))) fail("weight: must be finite and at least 0");
    const double number = epsilon_ ? to_target(label.ptr()) : 0.0;
    const Borrowed example(spare_);
    require_dict(features);
    std::int32_t code = epsilon_ ? 0 : code_of(label);
    if (closed_ || paused_ || code < 0) return false;
    if (!read(*example, features, weight > 0) && !epsilon_) code = code_of(label);
    if (closed_ || paused_ || code < 0) return false;
    if (weight > 0) learn_now(*example, code, number, weight);
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

  // One more class in one-vs-rest, which has seen nothing; `labels` are all of them in order, the new one at `place`.
  void add_class(const nb::list& labels, std::size_t place) {
    if (!one_vs_rest_ || problems_.size() < 3 || labels.size() != labels_.size() + 1 || place > problems_.size())
      fail("labels: must be those of one more class in one-vs-rest");
    auto one = std::make_unique<Problem>();
    one->state = problems_[0]->state;
    one->owned.make(one->state, std::holds_alternative<Arow>(rule_));
    one->bind(rule_);
    problems_.insert(problems_.begin() + place, std::move(one));
    ++scores_;
    set_labels(labels);
  }

  // From now on it only predicts; or until it is no longer paused.
  void close() { closed_ = true; }
  void pause(bool paused) { paused_ = paused; }
  std::int64_t learned() const { return learned_; }
  std::tuple<std::int64_t, std::int64_t> counts() const {
    std::int64_t mistakes = 0, updates = 0;
    for (const auto& one : problems_) {
      mistakes += one->state.counters->mistakes;
      updates += one->state.counters->updates;
    }
    return {mistakes, updates};
  }
  std::int64_t features() const { return hash_bits_ ? std::int64_t{1} << hash_bits_ : vocabulary_.count(); }
  nb::dict names() const { return vocabulary_.columns(); }
  nb::list labels() const { return nb::list(labels_); }

  // Copies of the arrays of each state, over the features that there are.
  nb::list snapshot() const {
    nb::list all;
    for (const auto& one : problems_) {
      StateArrays state = one->state;
      state.features = features();
      nb::dict arrays;
      state.for_each(state.variances, false,
                     [&]<class P>(const char* name, P& pointer, StateArrays::Extent extent, double, bool used) {
                       if (!used) return;
                       if constexpr (std::is_same_v<P, Counters*>) {
                         const auto* from = reinterpret_cast<const std::int64_t*>(pointer);
                         arrays[name] = to_vector(std::vector<std::int64_t>(from, from + counter_count));
                       } else {
                         const auto* from = reinterpret_cast<const double*>(pointer);
                         arrays[name] = to_vector(AlignedVector<double>(from, from + state.size(extent)));
                       }
                     });
      all.append(arrays);
    }
    return all;
  }

  nb::object predict(nb::handle features) {
    const Borrowed example(spare_);
    const std::vector<double>& found = score(*example, features);
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

  Vector<double> scores(nb::handle features) {
    const Borrowed example(spare_);
    return to_vector(std::vector<double>(score(*example, features)));
  }

 private:
  struct Reading : Example {
    std::vector<double> scores;
  };

  // The last example's memory, or a new one if it is in use.
  class Borrowed {
   public:
    explicit Borrowed(std::unique_ptr<Reading>& spare)
        : spare_(spare), held_(spare ? std::move(spare) : std::make_unique<Reading>()) {}
    ~Borrowed() { spare_ = std::move(held_); }
    Reading& operator*() const { return *held_; }

   private:
    std::unique_ptr<Reading>& spare_;
    std::unique_ptr<Reading> held_;
  };

  static std::int64_t features_of(const nb::list& arrays) {
    if (arrays.size() == 0) fail("arrays: there must be at least one state");
    const ArrayDict first(nb::cast<nb::dict>(arrays[0]));
    const std::int64_t rows = std::max<std::int64_t>(1, first.size("intercept"));
    if (first.size("weights") / rows > std::numeric_limits<std::int32_t>::max() / 2) fail("weights: too many features");
    return first.size("weights") / rows;
  }

  bool read(Reading& example, nb::handle features, bool grow) {
    if (!hash_bits_) return vocabulary_.read(example, features, grow);
    read_hashed(example, features, hash_bits_);
    return false;
  }

  static double to_target(PyObject* label) {
    const double number = PyUnicode_Check(label) ? NAN : PyFloat_AsDouble(label);
    if (PyErr_Occurred()) throw nb::python_error();
    if (!is_usable(number)) fail("the target " + show(label) + " is not a finite number");
    return number;
  }

  void set_labels(const nb::list& labels) {
    nb::dict codes;
    for (std::size_t code = 0; code < labels.size(); ++code) codes[labels[code]] = code;
    if (codes.size() != labels.size()) fail("labels: two are equal");
    codes_ = codes;
    labels_ = nb::list(labels);
  }

  // The place of a label among the classes, -1 for a new one.
  std::int32_t code_of(nb::handle label) const {
    PyObject* place = PyDict_GetItemWithError(codes_.ptr(), label.ptr());
    if (!place && PyErr_Occurred()) throw nb::python_error();
    return place ? static_cast<std::int32_t>(PyLong_AsLong(place)) : -1;
  }

  // No Python code runs from here on.
  void learn_now(const Example& example, std::int32_t code, double number, double weight) {
    ++learned_;
    grow();
    for (std::size_t at = 0; at < problems_.size(); ++at) {
      Problem& one = *problems_[at];
      const State<double> state(one.state);
      if (labels_.size() == 1 && !epsilon_) {  // nothing to be mistaken for
        ++state.counters->seen;
        ++state.counters->survived;
        continue;
      }
      const std::int8_t sign = code == (one_vs_rest_ ? static_cast<std::int32_t>(at) : 1) ? 1 : -1;
      const AnyTask task = epsilon_       ? AnyTask(Regression{{{&weight}}, &number, *epsilon_})
                           : state.K == 1 ? AnyTask(Binary{{{&weight}}, &sign, tie_positive_})
                                          : AnyTask(Multiclass{{&weight}, &code, state.K});
      StopToken stop;
      Loops<SparseRows<double>>::learn(example.row(state.features), task, {nullptr, 1}, {0, 1}, state, one.rule,
                                       one.keep, stop);
    }
  }

  // Room for all features that have a name.
  void grow() {
    if (problems_[0]->state.features >= features()) return;
    const std::int64_t capacity = std::max<std::int64_t>(64, 2 * features());
    for (auto& one : problems_) {
      one->state.features = capacity;
      one->owned.grow(one->state);
      one->bind(rule_);
    }
  }

  // One score per weight row, by the kept weights.
  const std::vector<double>& score(Reading& example, nb::handle features) {
    require_dict(features);
    read(example, features, false);
    example.scores.clear();
    for (const auto& one : problems_) {
      const State<double> state(one->state);
      std::visit(
          [&](const auto& keep) {
            for (std::int64_t k = 0; k < state.K; ++k) {
              double total = 0;
              for (std::int64_t p = 0; p < example.starts[1]; ++p)
                if (example.columns[p] < state.features)
                  total +=
                      example.values[p] * keep.kept(state.weights, example.columns[p] * state.K + k, *state.counters);
              example.scores.push_back(total + keep.kept_intercept(state.intercept, k, *state.counters));
            }
          },
          one->keep);
    }
    return example.scores;
  }

  Vocabulary vocabulary_;
  nb::dict codes_;
  nb::list labels_;
  std::optional<double> epsilon_;
  bool one_vs_rest_, tie_positive_, closed_ = false, paused_ = false;
  int hash_bits_;
  AnyRule rule_;
  std::vector<std::unique_ptr<Problem>> problems_;
  std::int64_t scores_ = 0, learned_ = 0;
  std::unique_ptr<Reading> spare_;
};

}  // namespace

void bind_stream(nb::module_& m) {
  nb::class_<Stream>(m, "Stream", "A stream of examples, each a dict of feature names and numbers, with its weights.")
      .def(nb::init<const nb::list&, const nb::dict&, const nb::list&, const PyRule&, const std::string&, bool, bool,
                    bool, std::optional<double>, int>(),
           "arrays"_a, "names"_a, "labels"_a, "rule"_a, nb::kw_only(), "keep"_a, "fit_intercept"_a, "one_vs_rest"_a,
           "tie_positive"_a, "epsilon"_a = nb::none(), "hash_bits"_a = 0)
      .def("learn", &Stream::learn, "features"_a.none(), "label"_a.none(), "weight"_a = 1.0,
           "Learn one example; False, and nothing done, if the label is new or the stream is closed or paused.")
      .def("learn_many", &Stream::learn_many, "features"_a, "labels"_a, "first"_a, "weights"_a.none(),
           "Learn examples one after another, from the first of these; returns where it ended: at one that `learn` "
           "would not take, or behind the last.")
      .def("add_class", &Stream::add_class, "labels"_a, "place"_a,
           "Add a class in one-vs-rest; labels: all of them in order.")
      .def("close", &Stream::close, "From now on it only predicts.")
      .def("pause", &Stream::pause, "paused"_a, "While it is paused it only predicts.")
      .def("snapshot", &Stream::snapshot, "Copies of the arrays of each state.")
      .def_prop_ro("learned", &Stream::learned, "How many examples it has learned.")
      .def_prop_ro("counts", &Stream::counts, "Mistakes and updates, over all states.")
      .def_prop_ro("features", &Stream::features, "How many features there are.")
      .def_prop_ro("names", &Stream::names, "The column of each name, as a new dict.")
      .def_prop_ro("labels", &Stream::labels, "The labels in order, as a new list.")
      .def("predict_many", &Stream::predict_many, "features"_a, "The predicted label of each.")
      .def("predict", &Stream::predict, "features"_a.none(), "The predicted label.")
      .def("scores", &Stream::scores, "features"_a.none(), "The scores, one per weight row, by the kept weights.")
      .def_static("hashed", &hashed, "features"_a.none(), "hash_bits"_a,
                  "The columns of an example by the hash of each name, rising, and their values; equal columns add up.")
      .def_static("check", &check_example, "features"_a.none(), "Raise if a value is not a finite number.")
      .def_static("check_many", &check_examples, "examples"_a, "The same for each of these.");
}

}  // namespace rosenblatt
