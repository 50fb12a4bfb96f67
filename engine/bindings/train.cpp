// Learning and predicting with weights: rules, targets, states, passes, scores, votes.
#include <cmath>
#include <deque>

#include "arrays.hpp"
#include "math.hpp"
#include "threads.hpp"

namespace rosenblatt {

PyRule::PyRule(const std::string& name, double eta0, double beta, double C, double r, double epsilon, double shrink,
               double cut)
    : rule(make_rule(name, {eta0, beta, C, r, epsilon})) {
  for (double number : {eta0, beta, C, r, epsilon})
    if (std::isnan(number)) fail("rule: a parameter is not a number");
  if (!(shrink >= 0 && shrink <= 1)) fail("shrink: must be from 0 to 1");
  if (!(cut >= 0)) fail("cut: must be at least 0");
  if (shrink != 1 || cut != 0) penalty = std::make_shared<Penalty>(shrink, cut);
}

PyTargets::PyTargets(AnyVector y, std::int64_t weight_rows, std::optional<Input<double>> sample_weight,
                     bool tie_positive, double epsilon)
    : y_(std::move(y)), sample_weight_(std::move(sample_weight)) {
  const std::int64_t count = static_cast<std::int64_t>(y_.size());
  const double* s = sample_weight_ ? sample_weight_->data() : nullptr;
  if (s) check_size(*sample_weight_, count, "sample_weight");
  const auto check = [&](const auto* values, auto&& is_right, const char* sentence) {
    if (!std::all_of(values, values + count, is_right)) fail(sentence);
    return values;
  };
  if (s) check(s, [](double w) { return w >= 0 && std::isfinite(w); }, "sample_weight: must be finite and at least 0");
  if (!(epsilon >= 0)) fail("epsilon: must be at least 0");
  const bool is_multiclass = y_.dtype() == nb::dtype<std::int32_t>();
  if (is_multiclass ? weight_rows < 2 : weight_rows != 1)
    fail("rows: must be 1 for signs or numbers, and the number of classes for classes");
  if (y_.dtype() == nb::dtype<std::int8_t>())
    task_ = Binary{{{s}},
                   check(
                       static_cast<const std::int8_t*>(y_.data()), [](int sign) { return sign == 1 || sign == -1; },
                       "y: signs must be -1 or 1"),
                   tie_positive};
  else if (is_multiclass)
    task_ = Multiclass{{s},
                       check(
                           static_cast<const std::int32_t*>(y_.data()),
                           [&](std::int32_t k) { return k >= 0 && k < weight_rows; }, "y: a class does not exist"),
                       weight_rows};
  else if (y_.dtype() == nb::dtype<double>())
    task_ = Regression{{{s}},
                       check(
                           static_cast<const double*>(y_.data()), [](double number) { return std::isfinite(number); },
                           "y: numbers must be finite"),
                       epsilon};
  else
    throw nb::type_error("y: must be int8 (signs), int32 (classes) or float64 (numbers)");
}

ArrayDict::ArrayDict(const nb::dict& arrays) {
  const auto copy = nb::steal<nb::dict>(PyDict_Copy(arrays.ptr()));  // an array of another kind may run code
  for (const auto& [key, value] : copy) {
    std::string name;
    if (!nb::try_cast(key, name)) throw nb::type_error("arrays: a name must be a string");
    AnyArray array;
    held_.emplace(std::move(name), nb::try_cast(value, array, false) ? std::optional(array) : std::nullopt);
  }
}

const AnyArray& ArrayDict::at(const char* name) const {
  const auto found = held_.find(name);
  if (found == held_.end()) fail(std::string(name) + ": the array is missing");
  if (found->second) return *found->second;
  throw nb::type_error((std::string(name) + ": must be a writable array of numbers without gaps").c_str());
}

PyState::PyState(const std::string& keep, const nb::dict& arrays, bool fit_intercept, bool feature_major)
    : held_(arrays), feature_major_(feature_major) {
  StateArrays& a = arrays_;
  a.keep = to_keep(keep);
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
               else if (a.is_float32)
                 pointer = held_.get<float>(name, size);
               else
                 pointer = held_.get<double>(name, size);
             });
}

StateArrays PyState::arrays_for(const Rows& rows, const AnyTask& task, bool ratchet, Log* log) const {
  rows.view();  // checked
  const std::int64_t needed = weight_rows(task);
  if (rows.float32() != arrays_.is_float32) throw nb::type_error("weights: their dtype is not that of the rows");
  if (arrays_.K != needed)
    fail("the state has " + std::to_string(arrays_.K) + " weight rows, the targets need " + std::to_string(needed));
  if (arrays_.features != rows.features()) fail("weights: their size does not fit the rows");
  if (needed > 1 && rows.sparse() != feature_major_)
    fail("weights: must lie feature after feature for sparse rows, and class after class for dense ones");
  StateArrays made = arrays_;
  made.ratchet = ratchet;
  made.log = log;
  return made;
}

void check_updates(const UpdateArrays& updates, std::int64_t K, std::int64_t rows) {
  const auto& [which, steps, targets, rivals, survived] = updates;
  const std::int64_t count = static_cast<std::int64_t>(which.size());
  for (std::size_t size : {steps.size(), targets.size(), rivals.size(), survived.size()})
    if (static_cast<std::int64_t>(size) != count) fail("updates: the arrays differ in length");
  for (std::int64_t u = 0; u < count; ++u) {
    const bool inside = which.data()[u] >= 0 && which.data()[u] < rows && targets.data()[u] >= 0 &&
                        targets.data()[u] < K && rivals.data()[u] >= -1 && rivals.data()[u] < K;
    if (!inside) fail("updates: one names a row or a class that does not exist");
  }
}

Updates part_of(const UpdateArrays& updates, std::int64_t first, std::int64_t end, std::int64_t survived_last) {
  const auto& [which, steps, targets, rivals, survived] = updates;
  return {which.data() + first,    steps.data() + first, targets.data() + first, rivals.data() + first,
          survived.data() + first, end - first,          survived_last};
}

nb::tuple to_tuple(Log&& log) {
  return nb::make_tuple(to_vector(std::move(log.rows)), to_vector(std::move(log.steps)),
                        to_vector(std::move(log.targets)), to_vector(std::move(log.rivals)),
                        to_vector(std::move(log.survived)));
}

namespace {

// Brings all weights, and sums, up to date with the penalty.
void materialize(PyState& state, const PyRule& rule) {
  if (!rule.penalty) return;
  const auto bring = [&]<class T>(T) {
    const State<T> s(state.arrays());
    if (!s.settled_at) fail("settled_at: the array is missing");
    LazyPenalty<T>::of(s, *rule.penalty).materialize(s.counters->seen);
  };
  state.arrays().is_float32 ? bring(float{}) : bring(double{});
}

// One learner's pass.
class PyPass {
 public:
  PyPass(const PyPass&) = delete;
  PyPass(const Rows& rows, const PyTargets& targets, PyState& state, const PyRule& rule, OrderIndex order, bool ratchet)
      : order_(std::move(order)), rows_(rows.count()), penalty_(rule.penalty) {
    const AnyTask& task = targets.of(rows.count());
    pass_ = make_pass(rows.view(), task, to_order(order_, rows.count()), state.arrays_for(rows, task, ratchet, &log_),
                      rule.rule, penalty_.get());
  }

  void set_order(OrderIndex order) {
    const ReentrancyGuard use(busy, "pass: it is running");
    pass_.order = to_order(order, rows_);
    order_ = std::move(order);
  }

  const Pass& pass() const { return pass_; }
  bool busy = false;

  nb::tuple updates() {
    const ReentrancyGuard use(busy, "pass: it is running");
    return to_tuple(std::exchange(log_, {}));
  }

 private:
  OrderIndex order_;
  std::int64_t rows_;
  std::shared_ptr<const Penalty> penalty_;
  Log log_;
  Pass pass_;
};

void run_pass_list(const std::vector<PyPass*>& passes, Cancel cancel) {
  std::vector<const Pass*> together;
  std::deque<ReentrancyGuard> in_use;
  for (PyPass* one : passes) {
    if (!one) throw nb::type_error("passes: None is not a pass");
    in_use.emplace_back(one->busy, "passes: one of them is running already");
    together.push_back(&one->pass());
    const Order &order = together.front()->order, &other = together.back()->order;
    if (other.index != order.index || other.count != order.count) fail("passes: the order of rows must be the same");
  }
  Interrupt(cancel).run([&](StopToken& stop) { run_passes(together, stop); });
}

double count_mistakes_of(const Rows& rows, const PyTargets& targets, PyState& state, const OrderIndex& index) {
  const AnyTask& task = targets.of(rows.count());
  const StateArrays arrays = state.arrays_for(rows, task);
  const Order order = to_order(index, rows.count());
  double found = 0;
  Interrupt().run([&](StopToken& stop) {
    found = count_mistakes(rows.view(), task, order, arrays, std::numeric_limits<double>::infinity(), stop);
  });
  return found;
}

// Scores of the rows (all, or those in index), one column per weight row.
Matrix<double> scores(const Rows& rows, const AnyInput& weights, Input<double> intercept, const OrderIndex& index,
                      std::optional<std::int64_t> threads) {
  const std::int64_t K = static_cast<std::int64_t>(intercept.size());
  if (K < 1) fail("intercept: there must be one per row of weights");
  if (threads && *threads < 1) fail("threads: must be at least 1");
  const Order order = to_order(index, rows.count());
  Matrix<double> out = new_matrix(order.count, K);
  std::visit(
      [&]<class View>(const View& view) {
        using T = typename View::Value;
        const Linear<T> model{floats<T>(weights, product(K, view.features), "weights"), intercept.data(), K};
        Interrupt().run([&](StopToken& stop) {
          Loops<View>::scores(view, order, model, out.data(), threads ? *threads : thread_limit(), stop);
        });
      },
      rows.view());
  return out;
}

Matrix<double> votes(const Rows& rows, const Rows& support, const UpdateArrays& updates, std::int64_t survived_last,
                     const std::tuple<AnyInput, Input<double>>& start, bool fit_intercept) {
  const auto& [weights, intercept] = start;
  const std::int64_t K = static_cast<std::int64_t>(intercept.size());
  if (K < 1) fail("start: there must be an intercept per row of weights");
  if (support.features() != rows.features()) fail("support: its features do not fit the rows");
  if (support.float32() != rows.float32()) throw nb::type_error("support: its dtype is not that of the rows");
  check_updates(updates, K, support.count());
  const Updates log = part_of(updates, 0, static_cast<std::int64_t>(std::get<0>(updates).size()), survived_last);
  Matrix<double> out = new_matrix(rows.count(), K);
  const AnyRows& view = rows.view();
  std::visit(
      [&]<class View>(const View& stored) {
        using T = typename View::Value;
        const Linear<T> model{floats<T>(weights, product(K, stored.features), "start"), intercept.data(), K};
        Interrupt().run([&](StopToken& stop) {
          votes_of_rows(view, rows.count(), stored, log, model, fit_intercept, out.data(), stop);
        });
      },
      support.view());
  return out;
}

template <double (*function)(double)>
Vector<double> of_each(const Input<double>& numbers) {
  std::vector<double> out(numbers.size());
  std::transform(numbers.data(), numbers.data() + numbers.size(), out.begin(), function);
  return to_vector(std::move(out));
}

}  // namespace

void bind_train(nb::module_& m) {
  m.attr("COUNTERS") =
      nb::make_tuple("seen", "mistakes", "updates", "survived", "run", "checked", "pocket_is_current", "pocket_run");
  nb::class_<PyRule>(m, "Rule",
                     "How far to step, and how far all weights shrink after every row (1 and 0: not at all).")
      .def(nb::init<const std::string&, double, double, double, double, double, double, double>(), "name"_a,
           nb::kw_only(), "eta0"_a = 1.0, "beta"_a = 0.0, "C"_a = 1.0, "r"_a = 1.0, "epsilon"_a = 0.1, "shrink"_a = 1.0,
           "cut"_a = 0.0);
  nb::class_<PyTargets>(m, "Targets",
                        "What is to be learned: signs (int8), classes (int32, one row of weights each) or numbers "
                        "(float64, right within epsilon). The arrays are views, and must not change.")
      .def(nb::init<AnyVector, std::int64_t, std::optional<Input<double>>, bool, double>(), "y"_a.noconvert(),
           nb::kw_only(), "rows"_a, "sample_weight"_a.noconvert().none() = nb::none(), "tie_positive"_a = false,
           "epsilon"_a = 0.0);
  nb::class_<PyState>(m, "State",
                      "The named arrays of a learner, changed in place; names it does not need are ignored.")
      .def(nb::init<const std::string&, const nb::dict&, bool, bool>(), "keep"_a, "arrays"_a, nb::kw_only(),
           "fit_intercept"_a, "feature_major"_a);
  m.def("settle", &materialize, "state"_a, "rule"_a, "Bring all weights up to date with the penalty, and the sums.");
  nb::class_<PyPass>(m, "Pass", "One learner's pass over rows, ready to run; the arrays of its state change in place.")
      .def(nb::init<const Rows&, const PyTargets&, PyState&, const PyRule&, OrderIndex, bool>(), "rows"_a, "targets"_a,
           "state"_a, "rule"_a, nb::kw_only(), "order"_a.noconvert().none() = nb::none(), "ratchet"_a = false,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
      .def("set_order", &PyPass::set_order, "order"_a.noconvert().none(),
           "From now on in this order of rows; None: as they are stored.")
      .def("updates", &PyPass::updates,
           "The updates (rows, steps, targets, rivals, survived) that a vote is made of, handed over; none for other "
           "keeps.");
  m.def("run_passes", &run_pass_list, "passes"_a, "cancel"_a.noconvert().none() = nb::none(),
        "Run passes over the same order side by side, every block of rows read once for all of them.");
  m.def("count_mistakes", &count_mistakes_of, "rows"_a, "targets"_a, "state"_a, nb::kw_only(),
        "order"_a.noconvert().none() = nb::none(),
        "How many rows the raw weights get wrong, each counted with its sample weight; a score of 0 is wrong.");
  m.def("thread_limit", &thread_limit,
        "Threads that this process may use: ROSENBLATT_THREADS, OMP_NUM_THREADS, or the cores and the quota it has.");
  m.def("scores", &scores, "rows"_a, "weights"_a.noconvert(), "intercept"_a.noconvert(),
        "order"_a.noconvert().none() = nb::none(), "threads"_a = nb::none(),
        "Scores, one column per weight row, on at most so many threads (None: thread_limit()).");
  m.def("votes", &votes, "rows"_a, "support"_a, "updates"_a.noconvert(), nb::kw_only(), "survived_last"_a,
        "start"_a.noconvert(), "fit_intercept"_a,
        "Votes of every weight vector that lived, one column per weight row; start: weights and intercept.");
  m.def("sigmoid", &of_each<fixed_sigmoid>, "numbers"_a.noconvert(),
        "1 / (1 + exp(-x)) of each, the same bits on every CPU.");
  m.def("log", &of_each<fixed_log>, "numbers"_a.noconvert(),
        "The logarithm of each, which is above 0, the same bits on every CPU.");
  m.def("softplus", &of_each<fixed_softplus>, "numbers"_a.noconvert(),
        "log(1 + exp(x)) of each, the same bits on every CPU.");
}

}  // namespace rosenblatt
