// Learning and predicting in kernel space: where kernel values come from, one table, or a budget of support rows.
#include <nanobind/stl/unique_ptr.h>

#include "arrays.hpp"
#include "budget.hpp"

namespace rosenblatt {
namespace {

ReentrancyGuard use(Source& source) { return {source.busy, "source: another call is using it"}; }

// What a learner in kernel space counts, in the arrays of its state.
struct Tally {
  ArrayDict held;
  Counters* counters;
  double *mistake_weight, *pocket_mistakes;  // pocket_mistakes: null if the keep is not a pocket

  explicit Tally(const nb::dict& arrays)
      : held(arrays), counters(reinterpret_cast<Counters*>(held.get<std::int64_t>("counters", counter_count))),
        mistake_weight(held.get<double>("mistake_weight", 1)),
        pocket_mistakes(held.has("pocket_mistakes") ? held.get<double>("pocket_mistakes", 1) : nullptr) {}
};

std::unique_ptr<Source> row_source(const Rows& rows, const Rows& others, const std::string& name, double gamma,
                                   double coef0, int degree) {
  if (rows.features() != others.features()) fail("others: the features do not fit the rows");
  if (rows.count() > std::numeric_limits<std::uint32_t>::max() ||
      rows.features() > std::numeric_limits<std::uint32_t>::max())
    fail("rows: more than 2^32 rows or features");
  const auto kind = to_enum<KernelFunction::Kind>("kernel", name, {"linear", "poly", "rbf", "sigmoid"});
  return std::make_unique<RowSource>(rows.view, others.view, KernelFunction{kind, gamma, coef0, degree});
}

// compute(i) gives K(all rows, row i) as an array; called with the GIL, from whatever thread learns.
std::unique_ptr<Source> column_source(std::int64_t count, const nb::callable& compute, std::int64_t cache_bytes) {
  if (count < 0 || count > std::numeric_limits<std::uint32_t>::max())
    fail("count: must be at least 0 and at most 2^32");
  const nb::handle function = compute;
  return std::make_unique<ColumnSource>(
      count,
      [count, function](std::int64_t other, double* out) {
        nb::gil_scoped_acquire gil;
        const auto column = nb::cast<Input<double>>(function(other));
        check_size(column, count, "column");
        std::copy_n(column.data(), count, out);
      },
      cache_bytes);
}

using UpdateArrays =
    std::tuple<Input<std::int64_t>, Input<double>, Input<std::int32_t>, Input<std::int32_t>, Input<std::int64_t>>;

// The updates of K weight rows, made with these rows.
Log to_log(const UpdateArrays& arrays, std::int64_t K, std::int64_t rows) {
  const auto copy = [](const auto&... each) { return Log{{each.data(), each.data() + each.size()}...}; };
  Log log = std::apply(copy, arrays);
  const std::size_t count = log.rows.size();
  for (std::size_t size : {log.steps.size(), log.targets.size(), log.rivals.size(), log.survived.size()})
    if (size != count) fail("updates: the arrays differ in length");
  const auto is_in = [](std::int64_t value, std::int64_t least, std::int64_t end) {
    return value >= least && value < end;
  };
  for (std::size_t u = 0; u < count; ++u)
    if (!is_in(log.rows[u], 0, rows) || !is_in(log.targets[u], 0, K) || !is_in(log.rivals[u], -1, K))
      fail("updates: one names a row or a class that is not there");
  return log;
}

// For each problem a (rows, K) matrix: the last scores, or the votes of all vectors that lived. Problem p's updates go
// from starts[p] to starts[p + 1].
std::vector<Matrix> predict_of(Source& source, const UpdateArrays& updates, const Input<std::int64_t>& starts,
                               const Input<std::int64_t>& survived_last, std::int64_t K, double bias, bool votes,
                               const std::optional<InputMatrix>& start) {
  if (K < 1) fail("K: there must be a row of weights");
  if (start) check_size(*start, product(source.count, K), "start");
  const Log log = to_log(updates, K, source.others);
  check_size(starts, static_cast<std::int64_t>(survived_last.size()) + 1, "starts");
  std::vector<Problem> problems;
  std::vector<Matrix> found;
  for (std::size_t p = 0; p < survived_last.size(); ++p) {
    const Range part{starts.data()[p], starts.data()[p + 1]};
    if (part.begin < 0 || part.end < part.begin || part.end > std::ssize(log.rows))
      fail("starts: must rise within the updates");
    problems.push_back({part, survived_last(p), found.emplace_back(new_matrix(source.count, K)).data()});
  }
  const ReentrancyGuard guard = use(source);
  run_interruptibly({}, [&](StopToken& stop) {
    dual_predict(source, log, problems, K, bias, start ? start->data() : nullptr, votes, stop);
  });
  return found;
}

Source& paired_with_itself(Source& source) {
  if (source.count != source.others) fail("source: must pair the rows with themselves");
  return source;
}

class PyDualRun {
 public:
  PyDualRun(const PyDualRun&) = delete;
  PyDualRun(Source& source, const PyTargets& targets, double bias, const InputMatrix& start)
      : source_(paired_with_itself(source)),
        run_(source, targets.of(source.count), bias, {start.data(), start.data() + start.size()}) {
    check_size(start, product(source.count, weight_rows(targets.of(source.count))), "start");
  }

  void learn(const nb::dict& arrays, const PyRule& rule, const OrderIndex& order_index, bool ratchet, Cancel cancel) {
    const Order order = to_order(order_index, source_.count);
    const Tally tally(arrays);
    const Ratchet held{tally.pocket_mistakes, ratchet};
    const Rule& chosen = rule.first_order("a kernel");
    const ReentrancyGuard guard = use(source_);
    run_interruptibly(cancel, [&](StopToken& stop) {
      run_.learn(order, chosen, tally.pocket_mistakes ? &held : nullptr, *tally.counters, *tally.mistake_weight, stop);
    });
  }

  // All updates, with the rows of the table that made them.
  nb::tuple updates() const {
    const ReentrancyGuard guard = use(source_);
    return to_tuple(Log(run_.log));
  }

  std::int64_t pocket() const { return run_.pocket; }
  bool is_finite() const {
    const ReentrancyGuard guard = use(source_);
    return run_.is_finite();
  }

 private:
  Source& source_;
  DualRun run_;
};

// ring: the number of used slots, and the oldest of them.
BudgetArrays to_pool(const ArrayDict& arrays, Policy policy, std::int64_t K) {
  const std::int64_t budget = arrays.size("members");
  auto* ring = arrays.get<std::int64_t>("ring", 2);
  if (ring[0] < 0 || ring[0] > budget || ring[1] < 0 || ring[1] >= budget) fail("ring: names a slot that is not there");
  return {budget,
          arrays.get<std::int64_t>("members", budget),
          arrays.get<double>("coefficients", product(budget, K)),
          arrays.get<double>("matrix", policy == Policy::forget_oldest ? 0 : product(budget, budget)),
          ring,
          ring + 1,
          arrays.get<double>("numbers", 4)};
}

void learn_on_budget(Source& source, const PyTargets& targets, const nb::dict& arrays, const PyRule& rule,
                     const OrderIndex& order_index, double bias, const std::string& policy, Cancel cancel) {
  paired_with_itself(source);
  const AnyTask& task = targets.of(source.count);
  const auto how = to_enum<Policy>("policy", policy, {"forget-oldest", "forgetron", "projectron"});
  const Tally tally(arrays);
  const BudgetArrays pool = to_pool(tally.held, how, weight_rows(task));
  for (std::int64_t s = 0; s < *pool.size; ++s)
    if (pool.members[s] < 0 || pool.members[s] >= source.count) fail("members: one names a row that is not there");
  const Order order = to_order(order_index, source.count);
  const Rule& chosen = rule.first_order("a budget");
  BudgetRun run(source, task, bias, how, pool);
  const ReentrancyGuard guard = use(source);
  run_interruptibly(cancel,
                    [&](StopToken& stop) { run.learn(order, chosen, *tally.counters, *tally.mistake_weight, stop); });
}

}  // namespace

void bind_kernel(nb::module_& m) {
  nb::class_<Source>(m, "KernelSource", "Where the kernel values of rows with other rows come from.");
  m.def("row_source", &row_source, "rows"_a, "others"_a, "name"_a, nb::kw_only(), "gamma"_a, "coef0"_a, "degree"_a,
        nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), "Kernel values computed from rows.");
  m.def(
      "matrix_source",
      [](const InputMatrix& matrix) -> std::unique_ptr<Source> {
        return std::make_unique<MatrixSource>(matrix.data(), matrix.shape(0), matrix.shape(1));
      },
      "matrix"_a.noconvert(), nb::keep_alive<0, 1>(), "Kernel values read from a matrix.");
  m.def("column_source", &column_source, "count"_a, "compute"_a, "cache_bytes"_a, nb::keep_alive<0, 2>(),
        "Kernel values of rows with themselves, a column at a time, by a function of the caller.");
  m.def("kernel_walk", &predict_of, "source"_a, "updates"_a.noconvert(), "starts"_a.noconvert(),
        "survived_last"_a.noconvert(), nb::kw_only(), "K"_a, "bias"_a, "votes"_a = false,
        "start"_a.noconvert().none() = nb::none(),
        "For each log of updates the last scores, or the votes of all weight vectors, from one running sum.");
  nb::class_<PyDualRun>(m, "DualRun", "Learning in kernel space on one table.")
      .def(nb::init<Source&, const PyTargets&, double, const InputMatrix&>(), "source"_a, "targets"_a, nb::kw_only(),
           "bias"_a, "start"_a.noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("learn", &PyDualRun::learn, "arrays"_a, "rule"_a, nb::kw_only(), "order"_a.noconvert().none() = nb::none(),
           "ratchet"_a = false, "cancel"_a.noconvert().none() = nb::none(),
           "One pass over the rows in the given order; the keep is a pocket if the arrays have pocket_mistakes.")
      .def("updates", &PyDualRun::updates, "All updates: rows, steps, targets, rivals, survived.")
      .def("is_finite", &PyDualRun::is_finite, "Are all scores finite?")
      .def_prop_ro("pocket", &PyDualRun::pocket,
                   "How many of the updates made the weights in the pocket; -1: none was put there.");
  m.def("learn_on_budget", &learn_on_budget, "source"_a, "targets"_a, "arrays"_a, "rule"_a, nb::kw_only(),
        "order"_a.noconvert().none() = nb::none(), "bias"_a, "policy"_a, "cancel"_a.noconvert().none() = nb::none(),
        "One pass over the rows with at most as many support rows as there are members, in place.");
}

}  // namespace rosenblatt
