#include "views.hpp"

#include <cmath>

namespace rosenblatt {

PyRule::PyRule(const std::string& name, double eta0, double beta, double C, double r, double epsilon, double shrink,
               double cut)
    : rule(make_rule(name, {eta0, beta, C, r, epsilon})) {
  for (double number : {eta0, beta, C, r, epsilon})
    if (std::isnan(number)) throw nb::value_error("rule: a parameter is not a number");
  if (!(shrink >= 0 && shrink <= 1)) throw nb::value_error("shrink: must be from 0 to 1");
  if (!(cut >= 0)) throw nb::value_error("cut: must be at least 0");
  if (shrink != 1 || cut != 0) penalty = std::make_shared<Shrinking>(shrink, cut);
}

const AnyRule& PyRule::without_penalty(const char* who) const {
  if (penalty) throw std::invalid_argument("rule: " + std::string(who) + " takes no penalty");
  return rule;
}

PyTargets::PyTargets(AnyTargets y, std::int64_t weight_rows, std::optional<Input<double>> sample_weight,
                     bool tie_positive, double epsilon)
    : y_(std::move(y)), sample_weight_(std::move(sample_weight)) {
  const std::int64_t count = static_cast<std::int64_t>(y_.size());
  const double* s = sample_weight_ ? sample_weight_->data() : nullptr;
  if (s) check_size(*sample_weight_, count, "sample_weight");
  for (std::int64_t i = 0; s && i < count; ++i)
    if (!(s[i] >= 0 && std::isfinite(s[i]))) throw nb::value_error("sample_weight: must be finite and at least 0");
  if (!(epsilon >= 0)) throw nb::value_error("epsilon: must be at least 0");
  const bool is_joint = y_.dtype() == nb::dtype<std::int32_t>();
  if (is_joint ? weight_rows < 2 : weight_rows != 1)
    throw nb::value_error("rows: there must be 1 row of weights for signs or numbers, and 1 per class for classes");
  if (y_.dtype() == nb::dtype<std::int8_t>()) {
    const auto* signs = static_cast<const std::int8_t*>(y_.data());
    for (std::int64_t i = 0; i < count; ++i)
      if (signs[i] != 1 && signs[i] != -1) throw nb::value_error("y: signs must be -1 or 1");
    task_ = TwoClasses{{s}, signs, tie_positive};
  } else if (is_joint) {
    const auto* classes = static_cast<const std::int32_t*>(y_.data());
    for (std::int64_t i = 0; i < count; ++i)
      if (classes[i] < 0 || classes[i] >= weight_rows) throw nb::value_error("y: names a class that is not there");
    task_ = Joint{{s}, classes, weight_rows};
  } else if (y_.dtype() == nb::dtype<double>()) {
    const auto* numbers = static_cast<const double*>(y_.data());
    for (std::int64_t i = 0; i < count; ++i)
      if (!std::isfinite(numbers[i])) throw nb::value_error("y: numbers must be finite");
    task_ = Number{{s}, numbers, epsilon};
  } else {
    throw nb::type_error("y: must be int8 (signs), int32 (classes) or float64 (numbers)");
  }
}

NamedArrays::NamedArrays(const nb::dict& arrays, std::size_t ndim) {
  const auto copy = nb::steal<nb::dict>(PyDict_Copy(arrays.ptr()));  // an array of another kind may run code
  for (const auto& [key, value] : copy) {
    std::string name;
    if (!nb::try_cast(key, name)) throw nb::type_error("arrays: a name must be a string");
    Floats array;
    const bool usable = nb::try_cast(value, array, false) && (ndim == 0 || array.ndim() == ndim);
    held_.emplace(std::move(name), usable ? std::optional(array) : std::nullopt);
  }
}

const Floats& NamedArrays::at(const char* name) const {
  const auto found = held_.find(name);
  if (found == held_.end()) throw nb::value_error((std::string(name) + ": the array is missing").c_str());
  if (found->second) return *found->second;
  throw nb::type_error(
      (std::string(name) + ": must be an array of numbers without gaps that can be written to").c_str());
}

void* NamedArrays::find(const char* name, Kind kind, std::int64_t size, double) {
  const auto& array = at(name);
  const auto wanted = kind == Kind::float32   ? nb::dtype<float>()
                      : kind == Kind::float64 ? nb::dtype<double>()
                                              : nb::dtype<std::int64_t>();
  const char* word = kind == Kind::float32 ? "float32" : kind == Kind::float64 ? "float64" : "int64";
  if (array.dtype() != wanted) throw nb::type_error((std::string(name) + ": its dtype is not " + word).c_str());
  check_size(array, size, name);
  return array.data();
}

PyState::PyState(const std::string& keep, const nb::dict& arrays, bool fit_intercept, bool feature_major)
    : keep_(keep), arrays_(arrays, 1), K_(arrays_.size("intercept")), features_(0), fit_intercept_(fit_intercept),
      feature_major_(feature_major), is_float32_(arrays_.is_float32("weights")) {
  if (K_ < 1) throw nb::value_error("intercept: there must be one per row of weights");
  features_ = arrays_.size("weights") / K_;
  const auto check = [&]<class T>(T) {
    const State<T> state(view());
    visit_keep<T>(keep_, [&]<class Keep>(std::type_identity<Keep>) { Keep::of(state); });
  };
  is_float32_ ? check(float{}) : check(double{});
}

StateView PyState::view_for(const Rows& rows, const AnyTask& task, bool ratchet, Log* log) {
  rows.view();  // checked
  if (rows.float32() != is_float32_) throw nb::type_error("weights: their dtype is not that of the rows");
  if (K_ != weight_rows(task)) throw nb::value_error("intercept: the state has not the rows of weights of the targets");
  if (features_ != rows.features()) throw nb::value_error("weights: their size does not fit the rows");
  if (K_ > 1 && rows.sparse() != feature_major_)
    throw nb::value_error(
        "weights: must lie feature after feature for sparse rows, and class after class for dense ones");
  return view(ratchet, log);
}

namespace {

// Brings all weights, and sums, up to date.
void settle(PyState& state, const PyRule& rule) {
  if (!rule.penalty) return;
  const auto bring = [&]<class T>(T) {
    const State<T> s(state.view());
    Shrunk<T>::of(s, *rule.penalty).settle(s.counters->seen);
  };
  state.is_float32() ? bring(float{}) : bring(double{});
}

}  // namespace

void bind_views(nb::module_& m) {
  nb::class_<PyRule>(m, "Rule",
                     "How far to step, and how far all weights shrink after every row (1 and 0: not at all).")
      .def(nb::init<const std::string&, double, double, double, double, double, double, double>(), "name"_a,
           nb::kw_only(), "eta0"_a = 1.0, "beta"_a = 0.0, "C"_a = 1.0, "r"_a = 1.0, "epsilon"_a = 0.1, "shrink"_a = 1.0,
           "cut"_a = 0.0);
  nb::class_<PyTargets>(m, "Targets",
                        "What is to be learned: signs (int8), classes (int32, one row of weights each) or numbers "
                        "(float64, right within epsilon). The arrays are looked into, and must not change.")
      .def(nb::init<AnyTargets, std::int64_t, std::optional<Input<double>>, bool, double>(), "y"_a.noconvert(),
           nb::kw_only(), "rows"_a, "sample_weight"_a.noconvert().none() = nb::none(), "tie_positive"_a = false,
           "epsilon"_a = 0.0);
  nb::class_<PyState>(m, "State",
                      "The named arrays of a learner, changed in place; names it does not need are ignored.")
      .def(nb::init<const std::string&, const nb::dict&, bool, bool>(), "keep"_a, "arrays"_a, nb::kw_only(),
           "fit_intercept"_a, "feature_major"_a);
  nb::class_<PyTally>(m, "Tally", "The counters of a learner in kernel space, counted in place.")
      .def(nb::init<const nb::dict&>(), "arrays"_a);
  m.def("settle", &settle, "state"_a, "rule"_a, "Bring all weights up to date with the penalty, and the sums.");
}

}  // namespace rosenblatt
