// One example at a time, as a dict of feature names and numbers.
//
// Everything is bound once: the vocabulary (name -> column), the arrays of the states and the rule. A call then costs one look-up a
// feature and one step of the loop in train.hpp.
#include <cmath>
#include <memory>
#include <stdexcept>

#include "arrays.hpp"
#include "names.hpp"
#include "second_order.hpp"
#include "train.hpp"

namespace rosenblatt {
namespace {

using OneSparseRow = SparseRows<double, std::int64_t>;

bool never(void*) { return false; }

struct Problem {
  Array<double> weights, intercept;
  std::optional<Array<double>> sums, intercept_sums, pocket, pocket_intercept, pocket_mistakes;
  std::optional<Array<double>> variances, intercept_variances;
  Array<std::int64_t> counters;
  Array<double> mistake_weight;
};

class OneRow {
 public:
  // `codes` holds the place of each label among the sorted classes, and the labels are its keys in that order.
  OneRow(nb::dict vocabulary, nb::dict codes, std::int64_t capacity, bool one_vs_rest, bool fit_intercept, const std::string& rule,
         double eta0, double beta, double C, double r, bool tie_positive)
      : vocabulary_(std::move(vocabulary)), codes_(std::move(codes)), labels_(codes_.keys()), capacity_(capacity), one_vs_rest_(one_vs_rest),
        fit_intercept_(fit_intercept), tie_positive_(tie_positive), perceptron_(eta0, beta), r_(r) {
    using Variant = PassiveAggressiveRule::Variant;
    is_perceptron_ = rule == "perceptron";
    passive_aggressive_ = {rule == "PA" ? Variant::PA : rule == "PA-I" ? Variant::PA_I : Variant::PA_II, C};
  }

  void add(Array<double> weights, Array<double> intercept, std::optional<Array<double>> sums,
           std::optional<Array<double>> intercept_sums, std::optional<Array<double>> pocket,
           std::optional<Array<double>> pocket_intercept, std::optional<Array<double>> pocket_mistakes,
           std::optional<Array<double>> variances, std::optional<Array<double>> intercept_variances,
           Array<std::int64_t> counters, Array<double> mistake_weight) {
    const std::int64_t K = static_cast<std::int64_t>(intercept.size()), size = capacity_ * K;
    check_size(weights, size, "weights");
    check_size(counters, sizeof(Counters) / sizeof(std::int64_t), "counters");
    check_size(mistake_weight, 1, "mistake_weight");
    if (sums) check_size(*sums, size, "sums");
    if (intercept_sums) check_size(*intercept_sums, K, "intercept_sums");
    if (pocket) check_size(*pocket, size, "pocket");
    if (pocket_intercept) check_size(*pocket_intercept, K, "pocket_intercept");
    if (variances) check_size(*variances, size, "variances");
    if (intercept_variances) check_size(*intercept_variances, K, "intercept_variances");
    problems_.push_back({weights, intercept, sums, intercept_sums, pocket, pocket_intercept, pocket_mistakes, variances,
                         intercept_variances, counters, mistake_weight});
    raw_.resize(K);
    scores_.resize(std::max<std::size_t>(K, problems_.size()));
  }

  // Learns one example; false, and nothing done, if the label is new or the new features do not fit into the capacity.
  bool learn(nb::handle features, nb::handle label) {
    PyObject* place = PyDict_GetItemWithError(codes_.ptr(), label.ptr());
    if (!place) {
      if (PyErr_Occurred()) throw nb::python_error();
      return false;
    }
    const std::int64_t code = PyLong_AsSsize_t(place);
    if (!read(features, true)) return false;
    for (std::size_t p = 0; p < problems_.size(); ++p) {
      const bool positive = one_vs_rest_ ? code == static_cast<std::int64_t>(p) : code == 1;
      if (problems_[p].variances)
        second_order_step(problems_[p], positive, code);
      else if (is_perceptron_)
        step(problems_[p], perceptron_, positive, code);
      else
        step(problems_[p], passive_aggressive_, positive, code);
    }
    return true;
  }

  // The predicted label.
  nb::object predict(nb::handle features) {
    const std::size_t K = score(features);
    std::size_t best = K == 1 && scores_[0] >= 0;
    for (std::size_t k = 1; k < K; ++k)
      if (scores_[k] > scores_[best]) best = k;
    return labels_[best];
  }

  static void check(nb::handle features) {
    require_dict(features);
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(features.ptr(), &at, &key, &value);) to_number(key, value);
  }

 private:
  static void require_dict(nb::handle features) {
    if (!PyDict_Check(features.ptr())) throw nb::type_error("features must be a dict of name: number");
  }

  static bool usable(double number) { return std::fabs(number) <= largest_value<double>; }

  static double to_number(PyObject* key, PyObject* value) {
    double number;
    if (PyFloat_Check(value)) {
      number = PyFloat_AS_DOUBLE(value);
    } else {
      number = PyUnicode_Check(value) ? -1.0 : PyFloat_AsDouble(value);
      if (number == -1.0 && (PyUnicode_Check(value) || PyErr_Occurred())) {
        PyErr_Clear();
        throw nb::type_error(("feature " + show(key) + " has the value " + show(value) + ", which is not a number").c_str());
      }
    }
    if (!usable(number))
      throw nb::value_error(("feature " + show(key) + " has the value " + show(value) +
                             (std::isfinite(number) ? ", too large to learn from" : ", which is not finite")).c_str());
    return number;
  }

  static std::string show(PyObject* object) { return nb::repr(nb::handle(object)).c_str(); }

  // Looks up the columns. With `grow`, new features get the next columns, unless they do not fit; without, they are
  // left out, since their weights are 0. Nothing is added before every value has been read.
  bool read(nb::handle features, bool grow) {
    require_dict(features);
    if (reading_) throw std::runtime_error("a feature of this example has called the learner that is reading it");
    const Reading reading(*this);
    items_.read(features.ptr());
    values_.resize(items_.size());
    columns_.resize(items_.size());
    double* number = values_.data();
    for (Items::Item& item : items_) {
      if (PyUnicode_CheckExact(item.key) && PyFloat_CheckExact(item.value) && usable(PyFloat_AS_DOUBLE(item.value))) {
        *number++ = PyFloat_AS_DOUBLE(item.value);
      } else {
        if (!PyUnicode_CheckExact(item.key) || !PyLong_CheckExact(item.value)) items_.hold();
        *number++ = to_number(item.key, item.value);
      }
      if (item.known()) continue;
      item.hash = Names::hash_of(item.key);
      names_.prefetch(item.hash);
    }
    const std::int64_t before = PyDict_GET_SIZE(vocabulary_.ptr());
    std::int64_t next = before, *column = columns_.data();
    double* kept = values_.data();
    number = values_.data();
    news_.clear();
    for (Items::Item& item : items_) {
      if (!item.known()) items_.remember(item, names_.find(item.key, item.hash, items_));
      *column = item.column;
      *kept = *number++;
      if (*column < 0) {
        if (!grow) continue;
        *column = next++;
        news_.push_back(&item);
      }
      ++column;
      ++kept;
    }
    if (next > capacity_) return false;
    for (std::size_t at = 0; at < news_.size(); ++at) {
      nb::object place = nb::steal(PyLong_FromSsize_t(before + at));
      if (PyDict_SetItem(vocabulary_.ptr(), news_[at]->key, place.ptr()) != 0) throw nb::python_error();
      names_.add(news_[at]->key, news_[at]->hash, before + at);
    }
    starts_[1] = column - columns_.data();
    return true;
  }

  struct Reading {
    OneRow& one;
    explicit Reading(OneRow& one_) : one(one_) { one.reading_ = true; }
    ~Reading() {
      one.items_.release();
      one.reading_ = false;
    }
  };

  OneSparseRow row() const { return {values_.data(), columns_.data(), starts_, 1, capacity_}; }

  template <class Rule>
  void step(Problem& p, const Rule& rule, bool positive, std::int64_t code) {
    const std::int64_t K = static_cast<std::int64_t>(p.intercept.size());
    if (p.sums) {
      Average keep{p.sums->data(), fit_intercept_ ? p.intercept_sums->data() : nullptr, K};
      step(p, rule, positive, code, keep);
    } else if (p.pocket) {
      Pocket<double> keep{p.pocket->data(), p.pocket_intercept->data(), {p.pocket_mistakes->data(), false}, p.weights.data(),
                          p.intercept.data(), capacity_ * K, K};
      step(p, rule, positive, code, keep);
    } else {
      Last keep;
      step(p, rule, positive, code, keep);
    }
  }

  template <class Rule, class Keep>
  void step(Problem& p, const Rule& rule, bool positive, std::int64_t code, Keep& keep) {
    Poll poll{&never, nullptr};
    auto& counters = *reinterpret_cast<Counters*>(p.counters.data());
    const Linear<OneSparseRow, true> model{p.weights.data(), p.intercept.data(), static_cast<std::int64_t>(p.intercept.size()),
                                     fit_intercept_};
    if (model.K == 1) {
      const std::int8_t sign = positive ? 1 : -1;
      learn_binary(row(), &sign, nullptr, {nullptr, 1}, {0, 1}, model, rule, keep, tie_positive_, counters,
                   *p.mistake_weight.data(), poll);
    } else {
      const auto label = static_cast<std::int32_t>(code);
      learn_joint(row(), &label, nullptr, {nullptr, 1}, {0, 1}, model, rule, keep, counters, *p.mistake_weight.data(), poll);
    }
  }

  void second_order_step(Problem& p, bool positive, std::int64_t code) {
    Poll poll{&never, nullptr};
    auto& counters = *reinterpret_cast<Counters*>(p.counters.data());
    const Linear<OneSparseRow, true> model{p.weights.data(), p.intercept.data(), static_cast<std::int64_t>(p.intercept.size()),
                                     fit_intercept_};
    const SecondOrder<OneSparseRow> second{p.variances->data(), p.intercept_variances->data(),
                                           p.sums ? p.sums->data() : nullptr,
                                           p.sums ? p.intercept_sums->data() : nullptr, r_};
    if (model.K == 1) {
      const std::int8_t sign = positive ? 1 : -1;
      learn_binary(row(), &sign, nullptr, {nullptr, 1}, {0, 1}, model, second, tie_positive_, counters,
                   *p.mistake_weight.data(), poll);
    } else {
      const auto label = static_cast<std::int32_t>(code);
      learn_joint(row(), &label, nullptr, {nullptr, 1}, {0, 1}, model, second, counters, *p.mistake_weight.data(), poll);
    }
  }

  // Scores by the kept weights into scores_; returns how many.
  std::size_t score(nb::handle features) {
    read(features, false);
    std::size_t at = 0;
    for (const Problem& p : problems_) {
      const std::int64_t K = static_cast<std::int64_t>(p.intercept.size());
      const auto& counters = *reinterpret_cast<const Counters*>(p.counters.data());
      const double share = p.sums ? 1.0 / std::max<double>(1.0, static_cast<double>(counters.seen)) : 0.0;
      const double* w = p.pocket ? p.pocket->data() : p.weights.data();
      const double* b = p.pocket ? p.pocket_intercept->data() : p.intercept.data();
      for (std::int64_t k = 0; k < K; ++k) {
        double total = 0;
        for (std::int64_t j = 0; j < starts_[1]; ++j) {
          const std::int64_t place = columns_[j] * K + k;
          total += values_[j] * (p.sums ? w[place] - p.sums->data()[place] * share : w[place]);
        }
        scores_[at++] = total + (p.sums ? b[k] - p.intercept_sums->data()[k] * share : b[k]);
      }
    }
    return at;
  }

  nb::dict vocabulary_, codes_;
  nb::list labels_;
  Names names_{vocabulary_.ptr()};
  std::int64_t capacity_;
  bool one_vs_rest_, fit_intercept_, tie_positive_, is_perceptron_ = true;
  PerceptronRule perceptron_;
  PassiveAggressiveRule passive_aggressive_{};
  double r_;
  std::vector<Problem> problems_;
  std::vector<double> values_, raw_, scores_;
  std::vector<std::int64_t> columns_;
  std::vector<const Items::Item*> news_;  // those without a column
  Items items_;
  bool reading_ = false;
  std::int64_t starts_[2] = {0, 0};
};

}  // namespace

void bind_one(nb::module_& m) {
  nb::class_<OneRow>(m, "OneRow", "A stream of examples, each a dict of feature names and numbers.")
      .def(nb::init<nb::dict, nb::dict, std::int64_t, bool, bool, const std::string&, double, double, double, double, bool>(),
           "vocabulary"_a, "codes"_a, "capacity"_a, "one_vs_rest"_a, "fit_intercept"_a, "rule"_a, "eta0"_a, "beta"_a, "C"_a,
           "r"_a, "tie_positive"_a)
      .def("add", &OneRow::add, nb::kw_only(), "weights"_a.noconvert(), "intercept"_a.noconvert(),
           "sums"_a.noconvert().none(), "intercept_sums"_a.noconvert().none(), "pocket"_a.noconvert().none(),
           "pocket_intercept"_a.noconvert().none(), "pocket_mistakes"_a.noconvert().none(),
           "variances"_a.noconvert().none(), "intercept_variances"_a.noconvert().none(), "counters"_a.noconvert(),
           "mistake_weight"_a.noconvert(), "Bind the arrays of a state, feature after feature.")
      .def("learn", &OneRow::learn, "features"_a, "label"_a,
           "Learn one example; False, and nothing done, if the label is new or the new features exceed the capacity.")
      .def("predict", &OneRow::predict, "features"_a, "The predicted label.")
      .def_static("check", &OneRow::check, "features"_a, "Raise if a value is not a finite number.");
}

}  // namespace rosenblatt
