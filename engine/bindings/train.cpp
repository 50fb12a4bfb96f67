// Learning and predicting with weights: rules, targets, states, passes, scores, votes.
#include <deque>

#include "arrays.hpp"
#include "math.hpp"
#include "threads.hpp"

namespace rosenblatt {

namespace {

// Brings all weights, and sums, up to date with the penalty.
void materialize(const PyState& state, const PyRule& rule) {
  if (!rule.penalty) return;
  const auto bring = [&]<class T>(T) {
    StateArrays arrays = state.arrays();
    arrays.penalty = rule.penalty.get();
    check_state(arrays, Rule{});
    const State<T> s(arrays);
    LazyPenalty<T>(s).materialize(s.counters->seen);
  };
  state.arrays().is_float32 ? bring(float{}) : bring(double{});
}

// One learner's pass, with what it points to.
struct PyPass : Pass {
  Log log;
  std::shared_ptr<const Penalty> penalty;
  OrderIndex index;
  bool busy = false;

  PyPass(const PyPass&) = delete;
  PyPass(const Rows& given, const PyTargets& targets, const PyState& arrays, const PyRule& how, bool ratchet)
      : Pass{given.view, targets.of(given.count()), {nullptr, given.count()}, {}, how.rule}, penalty(how.penalty) {
    state = arrays.arrays_for(given, task);
    state.ratchet = ratchet;
    state.log = &log;
    state.penalty = penalty.get();
    check_state(state, rule);
  }

  void set_order(OrderIndex other) {
    const ReentrancyGuard use(busy, "pass: it is running");
    order = to_order(other, count_of(rows));
    index = std::move(other);
  }

  nb::tuple updates() {
    const ReentrancyGuard use(busy, "pass: it is running");
    return to_tuple(std::exchange(log, {}));
  }
};

// The passes must be over the same order, and no other call may use them meanwhile.
void run_pass_list(const std::vector<PyPass*>& passes, const Cancel& cancel) {
  std::vector<const Pass*> together;
  std::deque<ReentrancyGuard> in_use;
  for (PyPass* one : passes) {
    if (!one) throw nb::type_error("passes: None is not a pass");
    in_use.emplace_back(one->busy, "passes: one of them is running already");
    together.push_back(one);
    const Order& order = passes[0]->order;
    if (one->order.index != order.index || one->order.count != order.count)
      fail("passes: the order of rows must be the same");
  }
  run_interruptibly(cancel, [&](StopToken& stop) { run_passes(together, stop); });
}

// Scores of the rows (all, or those in index), one column per weight row.
Matrix scores(const Rows& rows, const AnyInput& weights, Input<double> intercept, const OrderIndex& index) {
  const std::int64_t K = static_cast<std::int64_t>(intercept.size());
  if (K < 1) fail("intercept: there must be one per row of weights");
  const Order order = to_order(index, rows.count());
  Matrix out = new_matrix(order.count, K);
  std::visit(
      [&]<class View>(const View& view) {
        using T = typename View::Value;
        const Linear<T> model{values_of<const T>(weights, product(K, view.features), "weights"), intercept.data(), K};
        run_interruptibly({}, [&](StopToken& stop) { Loops<View>::scores(view, order, model, out.data(), stop); });
      },
      rows.view);
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
      .def(nb::init<const std::string&, double, double, double, double, double, double>(), "name"_a, nb::kw_only(),
           "eta0"_a = 1.0, "beta"_a = 0.0, "C"_a = 1.0, "r"_a = 1.0, "shrink"_a = 1.0, "cut"_a = 0.0);
  nb::class_<PyTargets>(m, "Targets",
                        "What is to be learned: signs (int8), classes (int32, one row of weights each) or numbers "
                        "(float64, right within epsilon). The arrays are views, and must not change.")
      .def(nb::init<AnyVector, std::int64_t, std::optional<Input<double>>, bool, double>(), "y"_a.noconvert(),
           nb::kw_only(), "rows"_a, "sample_weight"_a.noconvert().none() = nb::none(), "tie_positive"_a = false,
           "epsilon"_a = 0.0);
  nb::class_<PyState>(
      m, "State",
      "The named arrays of a learner, changed in place; names it does not need are ignored. Weights lie "
      "feature after feature for sparse rows, and class after class for dense ones.")
      .def(nb::init<const std::string&, const nb::dict&, bool>(), "keep"_a, "arrays"_a, nb::kw_only(),
           "fit_intercept"_a);
  m.def("settle", &materialize, "state"_a, "rule"_a, "Bring all weights up to date with the penalty, and the sums.");
  nb::class_<PyPass>(m, "Pass", "One learner's pass over rows, ready to run; the arrays of its state change in place.")
      .def(nb::init<const Rows&, const PyTargets&, const PyState&, const PyRule&, bool>(), "rows"_a, "targets"_a,
           "state"_a, "rule"_a, nb::kw_only(), "ratchet"_a = false, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
           nb::keep_alive<1, 4>())
      .def("set_order", &PyPass::set_order, "order"_a.noconvert().none(),
           "From now on in this order of rows; None: as they are stored.")
      .def("updates", &PyPass::updates,
           "The updates (rows, steps, targets, rivals, survived) that a vote is made of, handed over; none for other "
           "keeps.");
  m.def("run_passes", &run_pass_list, "passes"_a, "cancel"_a.noconvert().none() = nb::none(),
        "Run passes over the same order side by side, every block of rows read once for all of them.");
  m.def("thread_limit", &thread_limit,
        "Threads that this process may use: ROSENBLATT_THREADS, OMP_NUM_THREADS, or the cores and the quota it has.");
  m.def("scores", &scores, "rows"_a, "weights"_a.noconvert(), "intercept"_a.noconvert(),
        "order"_a.noconvert().none() = nb::none(),
        "Scores, one column per weight row, on at most thread_limit() threads.");
  m.def("sigmoid", &of_each<fixed_sigmoid>, "numbers"_a.noconvert(),
        "1 / (1 + exp(-x)) of each, the same bits on every CPU.");
  m.def("log", &of_each<fixed_log>, "numbers"_a.noconvert(),
        "The logarithm of each, which is above 0, the same bits on every CPU.");
  m.def("softplus", &of_each<fixed_softplus>, "numbers"_a.noconvert(),
        "log(1 + exp(x)) of each, the same bits on every CPU.");
}

}  // namespace rosenblatt
