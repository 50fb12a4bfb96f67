// One example at a time, as a dict of feature names and numbers.
//
// Everything is bound once: the vocabulary (name -> column), the states and the rule. A call then costs one look-up per
// feature and one step of the loop in linear.hpp.
//
// A number or a name of a type of its own may run any code, even this learner's or another thread's. So each call reads
// into a place of its own, and only `learn`, of which there is one at a time, changes anything.
#include <functional>
#include <stdexcept>

#include "lock.hpp"
#include "vocabulary.hpp"

namespace rosenblatt {
namespace {

// What an example asks for: the place of its class, or its number.
struct Asked {
  std::int64_t code = -1;
  double number = 0, weight = 1;
};

struct Problem {
  std::int64_t K;
  std::function<void(const OneRow&, const Asked&, std::int64_t positive)>
      learn;                                              // the class that is +1, if there are two
  std::function<void(const OneRow&, double* out)> score;  // by the kept weights
};

class Stream {
 public:
  // `codes` holds the place of each label among the sorted classes, and the labels are its keys in that order. With
  // `epsilon` labels are numbers, and codes two places that nobody asks for.
  Stream(nb::dict vocabulary, nb::dict codes, const std::vector<PyState*>& states, const PyRule& rule,
         std::int64_t capacity, bool one_vs_rest, bool tie_positive, std::optional<double> epsilon, int hash_bits,
         Lock* lock)
      : lock_(lock), vocabulary_(std::move(vocabulary), capacity, hash_bits), codes_(std::move(codes)),
        labels_(codes_.keys()), epsilon_(epsilon), one_vs_rest_(one_vs_rest), tie_positive_(tie_positive),
        rule_(rule.without_penalty("a stream")) {
    if (epsilon_ && (!(*epsilon_ >= 0) || one_vs_rest || states.size() != 1))
      throw nb::value_error("epsilon: must be at least 0, for one state");
    for (PyState* state : states) {
      if (!state) throw nb::type_error("states: None is not a state");
      problems_.push_back(problem_of(*state));
      count_ += problems_.back().K;
      owners_.push_back(nb::find(*state));
    }
    std::int64_t next = 0;
    for (const auto& [label, code] : codes_)
      if (!nb::isinstance<nb::int_>(code) || nb::cast<std::int64_t>(code) != next++)
        throw nb::value_error("codes: must count the labels from 0");
    if ((!one_vs_rest && problems_.size() != 1) || next != (count_ == 1 ? 2 : count_))
      throw nb::value_error("states: there must be one per class in one-vs-rest, else one, with the classes of codes");
  }

  // Learns one example; false, and nothing done, if the label is new, the new features do not fit into the capacity, or
  // another stream has taken over.
  bool learn(nb::handle features, nb::handle label, double weight) {
    const Turn turn(lock_);
    return !closed_ && learn_now(features, label, weight);
  }

  // From now on another stream learns.
  void close() { closed_ = true; }

  // How many examples it has learned.
  std::int64_t learned() const { return learned_; }

  // Learns one example of a new class in one-vs-rest, whose problem comes in at `place`; `codes` are those of all
  // labels. False, and nothing done, if the new features do not fit into the capacity. A reader finds all of it or
  // nothing.
  bool learn_new(nb::dict codes, PyState& state, nb::handle features, std::int64_t place, double weight) {
    if (!(weight > 0 && std::isfinite(weight))) throw nb::value_error("weight: must be finite and above 0");
    if (!one_vs_rest_ || place < 0 || place > count_ || PyDict_GET_SIZE(codes.ptr()) != count_ + 1)
      throw nb::value_error("place, codes: must be those of one more class in one-vs-rest");
    Problem problem = problem_of(state);
    nb::object owner = nb::find(state);
    nb::list labels = codes.keys();
    problems_.reserve(problems_.size() + 1);
    owners_.reserve(owners_.size() + 1);
    const ReentrancyGuard one(learning_, "a feature of this example has called the learner that is reading it");
    const Borrowed example(spare_);
    if (!vocabulary_.read(*example, features, true)) return false;
    problems_.insert(problems_.begin() + place, std::move(problem));
    owners_.insert(owners_.begin() + place, std::move(owner));
    std::swap(codes_, codes);
    std::swap(labels_, labels);
    ++count_;
    take(*example, {.code = place, .weight = weight});
    return true;
  }

  // How many scores there are.
  std::int64_t count() const { return count_; }

  // Learns examples one after another, from the first of these; returns where it ended: at an example that `learn`
  // would not have taken, or behind the last.
  std::size_t learn_many(const nb::list& features, const nb::list& labels, std::size_t first,
                         const std::optional<nb::list>& weights) {
    const Turn turn(lock_);
    std::size_t at = first;
    for (; !closed_ && at < std::min(features.size(), labels.size()); ++at) {
      const nb::object example = features[at], label = labels[at];
      if (weights && at >= weights->size()) break;
      if (!learn_now(example, label, weights ? nb::cast<double>((*weights)[at]) : 1.0)) break;
      if (at % 4096 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    return at;
  }

  // The predicted label of each.
  nb::list predict_many(const nb::list& features) {
    nb::list found;
    for (std::size_t at = 0; at < features.size(); ++at) {
      found.append(predict(nb::object(features[at])));
      if (at % 4096 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    return found;
  }

  // The predicted label.
  nb::object predict(nb::handle features) {
    const Borrowed example(spare_);
    const std::vector<double>& found = score(*example, features);
    if (count_ == 1) return labels_[found[0] >= 0 ? 1 : 0];
    return labels_[std::max_element(found.begin(), found.end()) - found.begin()];
  }

  Vector<double> scores(nb::handle features) {
    const Borrowed example(spare_);
    return to_vector(std::vector<double>(score(*example, features)));
  }

 private:
  // In its turn.
  bool learn_now(nb::handle features, nb::handle label, double weight) {
    if (!(weight >= 0 && std::isfinite(weight))) throw nb::value_error("weight: must be finite and at least 0");
    Asked asked = epsilon_ ? Asked{0, to_target(label.ptr())} : Asked{place_of(label)};
    if (asked.code < 0) return false;
    asked.weight = weight;
    const ReentrancyGuard one(learning_, "a feature of this example has called the learner that is reading it");
    const Borrowed example(spare_);
    if (!vocabulary_.read(*example, features, weight > 0)) return false;
    if (closed_) throw std::runtime_error("a feature of this example has changed the learner that is reading it");
    if (weight > 0) take(*example, asked);
    return true;
  }

  void take(Example& example, const Asked& asked) {
    ++learned_;
    for (std::size_t at = 0; at < problems_.size(); ++at)
      problems_[at].learn(example.row(vocabulary_.capacity()), asked, one_vs_rest_ ? static_cast<std::int64_t>(at) : 1);
  }

  Problem problem_of(PyState& held) const {
    if (held.arrays().is_float32) throw nb::type_error("weights: a stream's must be float64");
    if (held.arrays().features != vocabulary_.capacity())
      throw nb::value_error("weights: their size does not fit the capacity");
    if (held.arrays().K > 1 && (!held.feature_major() || one_vs_rest_))
      throw nb::value_error("weights: must lie feature after feature, a single row of weights in one-vs-rest");
    const State<double> state(held.arrays());
    const RuleOf<double> rule = bind_rule(rule_, state, nullptr);
    const KeepOf<double> bound = bind_keep(state, nullptr);
    const auto learn = [=, kept = bound, epsilon = epsilon_, tie_positive = tie_positive_](
                           const OneRow& row, const Asked& asked, std::int64_t positive) mutable {
      const std::int8_t sign = asked.code == positive ? 1 : -1;
      const auto label = static_cast<std::int32_t>(asked.code);
      const AnyTask task = epsilon        ? AnyTask(Regression{{{&asked.weight}}, &asked.number, *epsilon})
                           : state.K == 1 ? AnyTask(Binary{{{&asked.weight}}, &sign, tie_positive})
                                          : AnyTask(Multiclass{{&asked.weight}, &label, state.K});
      StopToken stop;
      Loops<OneRow>::learn(row, task, {nullptr, 1}, {0, 1}, state, rule, kept, stop);
    };
    Problem made{state.K, learn, nullptr};
    if (state.keep == Keep::vote) throw std::invalid_argument("keep='vote': a stream's answer must be a weight vector");
    made.score = [=, keep = bound](const OneRow& row, double* out) {
      std::visit(
          [&](const auto& kept) {
            for (std::int64_t k = 0; k < state.K; ++k) {
              double total = 0;
              for (std::int64_t p = 0; p < row.starts[1]; ++p)
                total += row.values[p] * kept.kept(state.weights, row.columns[p] * state.K + k, *state.counters);
              out[k] = total + kept.kept_intercept(state.intercept, k, *state.counters);
            }
          },
          keep);
    };
    return made;
  }

  // The place of a label among the classes, -1 for a new one.
  std::int64_t place_of(nb::handle label) const {
    PyObject* place = PyDict_GetItemWithError(codes_.ptr(), label.ptr());
    if (!place && PyErr_Occurred()) throw nb::python_error();
    const std::int64_t code = place ? PyLong_AsSsize_t(place) : -1;
    if (PyErr_Occurred()) throw nb::python_error();
    return code < static_cast<std::int64_t>(labels_.size()) ? code : -1;
  }

  // One score per weight row, by the kept weights.
  const std::vector<double>& score(Example& example, nb::handle features) {
    vocabulary_.read(example, features, false);
    example.scores.resize(count_);
    double* out = example.scores.data();
    for (const Problem& problem : problems_) {
      problem.score(example.row(vocabulary_.capacity()), out);
      out += problem.K;
    }
    return example.scores;
  }

  Lock* lock_;  // null: nobody else learns
  Vocabulary vocabulary_;
  nb::dict codes_;
  nb::list labels_;
  std::int64_t count_ = 0;  // scores
  std::optional<double> epsilon_;
  bool one_vs_rest_, tie_positive_;
  AnyRule rule_;
  std::vector<Problem> problems_;
  std::vector<nb::object> owners_;
  std::unique_ptr<Example> spare_;
  std::int64_t learned_ = 0;
  bool learning_ = false, closed_ = false;
};

}  // namespace

void bind_stream(nb::module_& m) {
  nb::class_<Lock>(m, "Lock", "A lock for `with`, which the thread that holds it may take again.")
      .def(nb::init<>())
      .def("__enter__", &Lock::take)
      .def("__exit__", [](Lock& lock, const nb::args&) { lock.give_back(); });
  nb::class_<Stream>(m, "Stream", "A stream of examples, each a dict of feature names and numbers.")
      .def(nb::init<nb::dict, nb::dict, const std::vector<PyState*>&, const PyRule&, std::int64_t, bool, bool,
                    std::optional<double>, int, Lock*>(),
           "vocabulary"_a, "codes"_a, "states"_a, "rule"_a, nb::kw_only(), "capacity"_a, "one_vs_rest"_a,
           "tie_positive"_a, "epsilon"_a = nb::none(), "hash_bits"_a = 0, "lock"_a.none() = nb::none(),
           nb::keep_alive<1, 11>())
      .def("learn", &Stream::learn, "features"_a.none(), "label"_a, "weight"_a = 1.0,
           "Learn one example, once the lock is free; False, and nothing done, if the label is new, the new features "
           "exceed the capacity, or the stream is closed.")
      .def("close", &Stream::close, "From now on another stream learns, and this one only answers.")
      .def_prop_ro("learned", &Stream::learned, "How many examples it has learned.")
      .def("learn_new", &Stream::learn_new, "codes"_a, "state"_a, "features"_a, "place"_a, "weight"_a = 1.0,
           "Learn one example of a new class in one-vs-rest, whose state comes in at this place; False, and nothing "
           "done, if the new features exceed the capacity.")
      .def_prop_ro("count", &Stream::count, "How many scores there are.")
      .def("learn_many", &Stream::learn_many, "features"_a, "labels"_a, "first"_a, "weights"_a.none(),
           "Learn examples one after another, from the first of these; where it ended: at one that `learn` would not "
           "take, or behind the last.")
      .def("predict_many", &Stream::predict_many, "features"_a, "The predicted label of each.")
      .def("predict", &Stream::predict, "features"_a.none(), "The predicted label.")
      .def("scores", &Stream::scores, "features"_a.none(), "The scores, one per weight row, by the kept weights.")
      .def_static("hashed", &hashed, "features"_a.none(), "hash_bits"_a,
                  "The columns of an example by the hash of each name, rising, and their values; equal columns add up.")
      .def_static("check", &check, "features"_a.none(), "Raise if a value is not a finite number.")
      .def_static("check_many", &check_many, "examples"_a, "The same for each of these.");
}

}  // namespace rosenblatt
