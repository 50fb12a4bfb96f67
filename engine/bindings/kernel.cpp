// Learning and predicting in kernel space: where kernel values come from, one table, or a budget of support rows.
#include "arrays.hpp"
#include "budget.hpp"

namespace rosenblatt {
namespace {

// With the objects that the source points to, kept alive.
struct KernelSource {
  std::unique_ptr<Source> source;
  std::vector<nb::object> owners;
  bool busy = false;

  // A source remembers what it was asked last.
  ReentrancyGuard use() { return {busy, "source: another call is using it"}; }
};

// What a learner in kernel space counts.
struct PyTally {
  ArrayDict held;
  Counters* counters;
  double *mistake_weight, *pocket_mistakes;  // pocket_mistakes: null if the keep is not a pocket

  PyTally(const PyTally&) = delete;
  explicit PyTally(const nb::dict& arrays)
      : held(arrays), counters(reinterpret_cast<Counters*>(held.get<std::int64_t>("counters", counter_count))),
        mistake_weight(held.get<double>("mistake_weight", 1)),
        pocket_mistakes(held.has("pocket_mistakes") ? held.get<double>("pocket_mistakes", 1) : nullptr) {}
};

KernelFunction to_function(const std::string& name, double gamma, double coef0, int degree) {
  using Kind = KernelFunction::Kind;
  if (name == "linear") return {Kind::linear, gamma, coef0, degree};
  if (name == "poly") return {Kind::poly, gamma, coef0, degree};
  if (name == "rbf") return {Kind::rbf, gamma, coef0, degree};
  if (name == "sigmoid") return {Kind::sigmoid, gamma, coef0, degree};
  fail("kernel: must be linear, poly, rbf or sigmoid");
}

KernelSource row_source(const Rows& rows, const Rows* paired, const std::string& name, double gamma, double coef0,
                        int degree, std::int64_t cache_bytes) {
  const Rows& others = paired ? *paired : rows;
  if (rows.features() != others.features()) fail("others: the features do not fit the rows");
  if (rows.count() > std::numeric_limits<std::uint32_t>::max() ||
      rows.features() > std::numeric_limits<std::uint32_t>::max())
    fail("rows: more than 2^32 rows or features");
  KernelSource made;
  made.owners = {nb::find(rows), nb::find(others)};
  made.source =
      std::make_unique<RowSource>(rows.view(), others.view(), to_function(name, gamma, coef0, degree), cache_bytes);
  return made;
}

KernelSource matrix_source(InputMatrix matrix) {
  KernelSource made;
  made.source = std::make_unique<MatrixSource>(matrix.data(), matrix.shape(0), matrix.shape(1));
  made.owners = {nb::cast(matrix)};
  return made;
}

// compute(i) gives K(all rows, row i) as an array; called with the GIL, from whatever thread learns.
KernelSource column_source(std::int64_t count, nb::callable compute, std::int64_t cache_bytes) {
  if (count < 0 || count > std::numeric_limits<std::uint32_t>::max())
    fail("count: must be at least 0 and at most 2^32");
  KernelSource made;
  const nb::handle function = compute;
  made.source = std::make_unique<ColumnSource>(
      count,
      [count, function](std::int64_t other, double* out) {
        nb::gil_scoped_acquire gil;
        const auto column = nb::cast<Input<double>>(function(other));
        check_size(column, count, "column");
        std::copy_n(column.data(), count, out);
      },
      cache_bytes);
  made.owners = {compute};
  return made;
}

Matrix<double> kernel_scores(KernelSource& held, InputMatrix coefficients, Input<double> intercept) {
  Source& source = *held.source;
  const std::int64_t C = static_cast<std::int64_t>(intercept.size());
  if (static_cast<std::int64_t>(coefficients.shape(0)) != source.others() ||
      static_cast<std::int64_t>(coefficients.shape(1)) != C)
    fail("coefficients: must be one per other row and intercept");
  Matrix<double> out = new_matrix(source.count(), C);
  const ReentrancyGuard use = held.use();
  Interrupt().run(
      [&](StopToken& stop) { dual_scores(source, coefficients.data(), intercept.data(), C, out.data(), stop); });
  return out;
}

Matrix<double> kernel_matrix(KernelSource& held) {
  Source& source = *held.source;
  const std::int64_t others = source.others();
  Matrix<double> out = new_matrix(source.count(), others);
  const ReentrancyGuard use = held.use();
  Interrupt().run([&](StopToken& stop) {
    double kernel[panel_rows] = {};
    for_each_loaded(source, stop, [&](std::int64_t begin, int count) {
      for (std::int64_t s = 0; s < others; ++s) {
        source.values(s, kernel);
        for (int r = 0; r < count; ++r) out.data()[(begin + r) * others + s] = kernel[r];
      }
    });
  });
  return out;
}

// For each log a tuple of (rows, K) matrices: the last scores, the sums of the scores of all vectors that lived, and
// their votes. Problem p's updates go from starts[p] to starts[p + 1].
nb::list predict_of(KernelSource& held, const UpdateArrays& updates, const Input<std::int64_t>& starts,
                    const Input<std::int64_t>& survived_last, std::int64_t K, double bias, bool with_sums,
                    bool with_votes) {
  Source& source = *held.source;
  if (K < 1) fail("K: there must be a row of weights");
  check_updates(updates, K, source.others());
  check_size(starts, static_cast<std::int64_t>(survived_last.size()) + 1, "starts");
  nb::list all;
  std::vector<Updates> logs;
  std::vector<Answers> answers;
  const auto matrix = [&](bool wanted, double*& to) -> nb::object {
    if (!wanted) return nb::none();
    Matrix<double> made = new_matrix(source.count(), K);
    to = made.data();
    return nb::cast(made);
  };
  for (std::size_t p = 0; p < survived_last.size(); ++p) {
    const std::int64_t first = starts.data()[p], end = starts.data()[p + 1];
    if (first < 0 || end < first || end > static_cast<std::int64_t>(std::get<0>(updates).size()))
      fail("starts: must rise within the updates");
    logs.push_back(part_of(updates, first, end, survived_last.data()[p]));
    Answers to{};
    const nb::object last = matrix(true, to.last), sums = matrix(with_sums, to.sum),
                     votes = matrix(with_votes, to.votes);
    all.append(nb::make_tuple(last, sums, votes));
    answers.push_back(to);
  }
  const ReentrancyGuard use = held.use();
  Interrupt().run([&](StopToken& stop) { dual_predict(source, logs, K, bias, answers, stop); });
  return all;
}

Source& paired_with_itself(KernelSource& held) {
  if (held.source->count() != held.source->others()) fail("source: must pair the rows with themselves");
  return *held.source;
}

class PyDualRun {
 public:
  PyDualRun(const PyDualRun&) = delete;
  PyDualRun(KernelSource& source, const PyTargets& targets, double bias, const InputMatrix& start)
      : held_(source), source_(paired_with_itself(source)),
        run_(source_, targets.of(source_.count()), bias,
             scores_of(start, source_.count(), weight_rows(targets.of(source_.count())))) {}

  void learn(PyTally& tally, const PyRule& rule, const OrderIndex& order_index, bool ratchet, Cancel cancel) {
    const Order order = to_order(order_index, source_.count());
    const Ratchet held{tally.pocket_mistakes, ratchet};
    const AnyRule& chosen = rule.without_penalty("a kernel");
    const ReentrancyGuard use = held_.use();
    Interrupt(cancel).run([&](StopToken& stop) {
      run_.learn(order, chosen, tally.pocket_mistakes ? &held : nullptr, *tally.counters, *tally.mistake_weight, stop);
    });
  }

  double count_mistakes(const OrderIndex& order_index) {
    const Order order = to_order(order_index, source_.count());
    double found = 0;
    const ReentrancyGuard use = held_.use();
    Interrupt().run([&](StopToken& stop) { found = run_.count_mistakes(order, stop); });
    return found;
  }

  // The updates from the given one on, with the rows of the table that made them.
  nb::tuple updates(std::int64_t first) const {
    const ReentrancyGuard use = held_.use();
    const Log& log = run_.log();
    if (first < 0 || first > static_cast<std::int64_t>(log.rows.size())) fail("first: not in the log");
    const auto tail = [&](const auto& values) {
      return std::decay_t<decltype(values)>(values.begin() + first, values.end());
    };
    return to_tuple({tail(log.rows), tail(log.steps), tail(log.targets), tail(log.rivals), tail(log.survived)});
  }

  std::int64_t pocket() const { return run_.pocket(); }
  bool is_finite() const {
    const ReentrancyGuard use = held_.use();
    return run_.is_finite();
  }

 private:
  static std::vector<double> scores_of(const InputMatrix& start, std::int64_t rows, std::int64_t K) {
    if (static_cast<std::int64_t>(start.shape(0)) != rows || static_cast<std::int64_t>(start.shape(1)) != K)
      fail("start: must be one score per row and row of weights");
    return {start.data(), start.data() + start.size()};
  }

  KernelSource& held_;
  Source& source_;
  DualRun run_;
};

Policy to_policy(const std::string& name) {
  if (name == "forget-oldest") return Policy::forget_oldest;
  if (name == "forgetron") return Policy::forgetron;
  if (name == "projectron") return Policy::projectron;
  fail("policy: must be forget-oldest, forgetron or projectron");
}

// ring: how many slots are taken, and the oldest of them.
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

void learn_on_budget(KernelSource& held, KernelSource* kept, const PyTargets& targets, PyTally& tally,
                     const PyRule& rule, const OrderIndex& order_index, double bias, const std::string& policy,
                     const nb::dict& pool_arrays, Cancel cancel) {
  Source& rows = paired_with_itself(held);
  Source* before = kept ? kept->source.get() : nullptr;
  const AnyTask& task = targets.of(rows.count());
  const Policy how = to_policy(policy);
  const ArrayDict arrays(pool_arrays);
  const BudgetArrays pool = to_pool(arrays, how, weight_rows(task));
  for (std::int64_t s = 0; s < *pool.size; ++s) {
    const std::int64_t row = pool.members[s];
    if (row >= rows.count() || (row < 0 && (!before || s >= before->others() || before->count() != rows.count())))
      fail("members: one names a row that is not there");
  }
  const Order order = to_order(order_index, rows.count());
  const AnyRule& chosen = rule.without_penalty("a budget");
  BudgetRun run(rows, before, task, bias, how, pool);
  const ReentrancyGuard use = held.use();
  std::optional<ReentrancyGuard> use_before;
  if (kept) use_before.emplace(kept->busy, "before: another call is using it");
  Interrupt(cancel).run(
      [&](StopToken& stop) { run.learn(order, chosen, *tally.counters, *tally.mistake_weight, stop); });
}

}  // namespace

void bind_kernel(nb::module_& m) {
  nb::class_<KernelSource>(m, "KernelSource", "Where the kernel values of rows with other rows come from.")
      .def_prop_ro("count", [](const KernelSource& s) { return s.source->count(); })
      .def_prop_ro("others", [](const KernelSource& s) { return s.source->others(); });
  m.def("row_source", &row_source, "rows"_a, "others"_a.none(), "name"_a, nb::kw_only(), "gamma"_a, "coef0"_a,
        "degree"_a, "cache_bytes"_a = 0, "Kernel values computed from rows; `others` None pairs them with themselves.");
  m.def("matrix_source", &matrix_source, "matrix"_a.noconvert(), "Kernel values read from a matrix.");
  m.def("column_source", &column_source, "count"_a, "compute"_a, "cache_bytes"_a,
        "Kernel values of rows with themselves, a column at a time, by a function of the caller.");
  m.def("kernel_matrix", &kernel_matrix, "source"_a, "All values of a source, as a matrix.");
  m.def("kernel_scores", &kernel_scores, "source"_a, "coefficients"_a.noconvert(), "intercept"_a.noconvert(),
        "Scores by a coefficient for each of the other rows, one column per class.");
  m.def("kernel_walk", &predict_of, "source"_a, "updates"_a.noconvert(), "starts"_a.noconvert(),
        "survived_last"_a.noconvert(), nb::kw_only(), "K"_a, "bias"_a, "with_sums"_a = false, "with_votes"_a = false,
        "For each log of updates: the last scores, the sums of all scores, and the votes, from one running sum.");
  nb::class_<PyTally>(m, "Tally", "The counters of a learner in kernel space, counted in place.")
      .def(nb::init<const nb::dict&>(), "arrays"_a);
  nb::class_<PyDualRun>(m, "DualRun", "Learning in kernel space on one table.")
      .def(nb::init<KernelSource&, const PyTargets&, double, const InputMatrix&>(), "source"_a, "targets"_a,
           nb::kw_only(), "bias"_a, "start"_a.noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("learn", &PyDualRun::learn, "state"_a, "rule"_a, nb::kw_only(), "order"_a.noconvert().none() = nb::none(),
           "ratchet"_a = false, "cancel"_a.noconvert().none() = nb::none(),
           "One pass over the rows in the given order; the keep is a pocket if the tally has pocket_mistakes.")
      .def("count_mistakes", &PyDualRun::count_mistakes, "order"_a.noconvert().none() = nb::none(),
           "How many rows the current weights get wrong, each counted with its sample weight.")
      .def("updates", &PyDualRun::updates, "first"_a, "The updates from the given one on.")
      .def("is_finite", &PyDualRun::is_finite, "Are all scores finite?")
      .def_prop_ro("pocket", &PyDualRun::pocket,
                   "How many of the updates made the weights in the pocket; -1: none was put there.");
  m.def("learn_on_budget", &learn_on_budget, "source"_a, "before"_a.none(), "targets"_a, "tally"_a, "rule"_a,
        nb::kw_only(), "order"_a.noconvert().none() = nb::none(), "bias"_a, "policy"_a, "pool"_a,
        "cancel"_a.noconvert().none() = nb::none(),
        "One pass over the rows with at most as many support rows as there are members, in place.");
}

}  // namespace rosenblatt
