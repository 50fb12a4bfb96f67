// Kernels: where values come from, learning on a table, and answers.
#include "arrays.hpp"
#include "budget.hpp"
#include "walk.hpp"

namespace rosenblatt {
namespace {

// A source of kernel values as Python holds it, with the arrays that it looks into, kept alive.
struct KernelSource {
  std::unique_ptr<Source> source;
  std::vector<nb::object> owners;
};

KernelFunction to_function(const std::string& name, double gamma, double coef0, int degree) {
  using Kind = KernelFunction::Kind;
  if (name == "linear") return {Kind::linear, gamma, coef0, degree};
  if (name == "poly") return {Kind::poly, gamma, coef0, degree};
  if (name == "rbf") return {Kind::rbf, gamma, coef0, degree};
  if (name == "sigmoid") return {Kind::sigmoid, gamma, coef0, degree};
  throw nb::value_error("kernel: must be linear, poly, rbf or sigmoid");
}

KernelSource row_source(nb::object rows_, nb::object others_, const std::string& name, double gamma,
                                         double coef0, int degree, std::int64_t cache_bytes) {
  const Rows& rows = nb::cast<const Rows&>(rows_);
  const Rows& others = others_.is_none() ? rows : nb::cast<const Rows&>(others_);
  if (rows.features() != others.features()) throw nb::value_error("others: the features do not fit the rows");
  if (rows.count() > std::numeric_limits<std::uint32_t>::max() || rows.features() > std::numeric_limits<std::uint32_t>::max())
    throw nb::value_error("rows: more than 2^32 rows or features");
  const KernelFunction function = to_function(name, gamma, coef0, degree);
  KernelSource made;
  made.owners = {rows_, others_};
  std::visit(
      [&](const auto& r, const auto& o) {
        made.source = std::make_unique<RowSource<std::decay_t<decltype(r)>, std::decay_t<decltype(o)>>>(r, o, function,
                                                                                                         cache_bytes);
      },
      rows.view, others.view);
  return made;
}

using InputMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

KernelSource matrix_source(InputMatrix matrix) {
  KernelSource made;
  made.source = std::make_unique<MatrixSource>(matrix.data(), matrix.shape(0), matrix.shape(1));
  made.owners = {nb::cast(matrix)};
  return made;
}

// compute(i) gives K(all rows, row i) as an array; called with the GIL, from whatever thread learns.
KernelSource column_source(std::int64_t count, nb::callable compute, std::int64_t cache_bytes) {
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

// The log of one or more problems, problem p's updates from starts[p] to starts[p + 1].
std::vector<Updates> to_logs(const Source& source, std::int64_t K, const Input<std::int64_t>& starts,
                             const Input<std::int64_t>& which, const Input<double>& steps,
                             const Input<std::int32_t>& gains, const Input<std::int32_t>& loses,
                             const Input<std::int64_t>& survived, const Input<std::int64_t>& survived_last) {
  const std::int64_t count = static_cast<std::int64_t>(which.size());
  for (std::int64_t size : {steps.size(), gains.size(), loses.size(), survived.size()})
    if (size != count) throw nb::value_error("updates: the arrays differ in length");
  check_size(starts, static_cast<std::int64_t>(survived_last.size()) + 1, "starts");
  for (std::int64_t u = 0; u < count; ++u) {
    const bool inside = which.data()[u] >= 0 && which.data()[u] < source.others() && gains.data()[u] >= 0 &&
                        gains.data()[u] < K && loses.data()[u] >= -1 && loses.data()[u] < K;
    if (!inside) throw nb::value_error("updates: one names a row or a class that is not there");
  }
  std::vector<Updates> logs;
  for (std::size_t p = 0; p < survived_last.size(); ++p) {
    const std::int64_t first = starts.data()[p], end = starts.data()[p + 1];
    if (first < 0 || end < first || end > count) throw nb::value_error("starts: must rise within the updates");
    logs.push_back({which.data() + first, steps.data() + first, gains.data() + first, loses.data() + first,
                    survived.data() + first, end - first, survived_last.data()[p]});
  }
  return logs;
}

// Of shape (problems, 3, rows, K): the last scores, the sums of the scores of all vectors that lived, and their votes.
nb::list walk_of(KernelSource& held, std::int64_t K, double bias, Input<std::int64_t> starts,
                   Input<std::int64_t> which, Input<double> steps, Input<std::int32_t> gains,
                   Input<std::int32_t> loses, Input<std::int64_t> survived, Input<std::int64_t> survived_last,
                   bool with_sums, bool with_votes) {
  Source& source = *held.source;
  const auto logs = to_logs(source, K, starts, which, steps, gains, loses, survived, survived_last);
  nb::list all;
  std::vector<Answers> answers;
  for (std::size_t p = 0; p < logs.size(); ++p) {
    Matrix<double> last = new_matrix(source.count(), K);
    nb::object sums = nb::none(), votes = nb::none();
    Answers to{last.data(), nullptr, nullptr};
    if (with_sums) {
      Matrix<double> matrix = new_matrix(source.count(), K);
      to.sum = matrix.data();
      sums = nb::cast(matrix);
    }
    if (with_votes) {
      Matrix<double> matrix = new_matrix(source.count(), K);
      to.votes = matrix.data();
      votes = nb::cast(matrix);
    }
    all.append(nb::make_tuple(last, sums, votes));
    answers.push_back(to);
  }
  Interrupt interrupt(std::nullopt);
  {
    nb::gil_scoped_release release;
    walk(source, logs, K, bias, answers, interrupt.poll());
  }
  interrupt.raise_if_stopped();
  return all;
}

Matrix<double> scores_of(KernelSource& held, InputMatrix coefficients, Input<double> intercept) {
  Source& source = *held.source;
  const std::int64_t C = static_cast<std::int64_t>(intercept.size());
  check_size(coefficients, source.others() * C, "coefficients");
  Matrix<double> out = new_matrix(source.count(), C);
  Interrupt interrupt(std::nullopt);
  {
    nb::gil_scoped_release release;
    dual_scores(source, coefficients.data(), intercept.data(), C, out.data(), interrupt.poll());
  }
  interrupt.raise_if_stopped();
  return out;
}

Matrix<double> kernel_matrix(KernelSource& held) {
  Source& source = *held.source;
  const std::int64_t others = source.others();
  Matrix<double> out = new_matrix(source.count(), others);
  Interrupt interrupt(std::nullopt);
  {
    nb::gil_scoped_release release;
    double kernel[panel_rows] = {};
    for_each_panel(source, interrupt.poll(), [&](std::int64_t begin, int count) {
      for (std::int64_t s = 0; s < others; ++s) {
        source.values(s, kernel);
        for (int r = 0; r < count; ++r) out.data()[(begin + r) * others + s] = kernel[r];
      }
    });
  }
  interrupt.raise_if_stopped();
  return out;
}

// Learning on one table, with everything that lives as long as the table does.
class Run {
 public:
  Run(nb::object source, AnyLabels y, std::optional<Input<double>> sample_weight, std::int64_t K, double bias,
      InputMatrix start)
      : owner_(source), y_(y), sample_weight_(sample_weight), held_(nb::cast<KernelSource&>(source)) {
    const Source& rows = *held_.source;
    if (rows.count() != rows.others()) throw nb::value_error("source: must pair the rows with themselves");
    if (sample_weight) check_size(*sample_weight, rows.count(), "sample_weight");
    check_size(start, rows.count() * K, "start");
    const Labels labels = to_labels(y, rows.count(), K);
    const Targets targets{labels.signs, labels.classes, sample_weight ? sample_weight->data() : nullptr};
    run_ = std::make_unique<DualRun>(*held_.source, targets, K, bias,
                                     std::vector<double>(start.data(), start.data() + start.size()));
  }

  void learn(std::optional<Input<std::uint32_t>> order_index, const std::string& rule_name, double eta0, double beta,
             double C, bool tie_positive, std::optional<Array<double>> pocket_mistakes, bool ratchet,
             Array<std::int64_t> counters, Array<double> mistake_weight, std::optional<Array<std::uint8_t>> cancel) {
    check_size(mistake_weight, 1, "mistake_weight");
    const Order order = to_order(order_index, held_.source->count());
    const AnyRule rule = to_rule(rule_name, eta0, beta, C);
    check_size(counters, sizeof(Counters) / sizeof(std::int64_t), "counters");
    if (pocket_mistakes) check_size(*pocket_mistakes, 1, "pocket_mistakes");
    const Ratchet held{pocket_mistakes ? pocket_mistakes->data() : nullptr, ratchet};
    auto& counted = *reinterpret_cast<Counters*>(counters.data());
    Interrupt interrupt(cancel);
    {
      nb::gil_scoped_release release;
      std::visit(
          [&](const auto& r) {
            run_->learn(order, r, tie_positive, pocket_mistakes ? &held : nullptr, counted, *mistake_weight.data(),
                        interrupt.poll());
          },
          rule);
    }
    interrupt.raise_if_stopped();
  }

  double count_mistakes(std::optional<Input<std::uint32_t>> order_index, bool tie_positive) {
    const Order order = to_order(order_index, held_.source->count());
    Interrupt interrupt(std::nullopt);
    double found = 0;
    {
      nb::gil_scoped_release release;
      found = run_->count_mistakes(order, tie_positive, interrupt.poll());
    }
    interrupt.raise_if_stopped();
    return found;
  }

  // The updates from the given one on, with the rows of the table that made them.
  nb::tuple updates(std::int64_t first) const {
    const Vote& log = run_->log();
    if (first < 0 || first > static_cast<std::int64_t>(log.rows.size())) throw nb::value_error("first: not in the log");
    const auto tail = [&](const auto& values) {
      return to_vector(std::decay_t<decltype(values)>(values.begin() + first, values.end()));
    };
    return nb::make_tuple(tail(log.rows), tail(log.steps), tail(log.gains), tail(log.loses), tail(log.survived));
  }

  std::int64_t pocket() const { return run_->pocket(); }
  bool is_finite() const { return run_->is_finite(); }

 private:
  nb::object owner_;
  AnyLabels y_;
  std::optional<Input<double>> sample_weight_;
  KernelSource& held_;
  std::unique_ptr<DualRun> run_;
};

Policy to_policy(const std::string& name) {
  if (name == "forget-oldest") return Policy::forget_oldest;
  if (name == "forgetron") return Policy::forgetron;
  if (name == "projectron") return Policy::projectron;
  throw nb::value_error("policy: must be forget-oldest, forgetron or projectron");
}

// ring: how many slots are taken, and the oldest of them.
void learn_on_budget(KernelSource& held, nb::object before_, AnyLabels y, std::optional<Input<double>> sample_weight,
                     std::optional<Input<std::uint32_t>> order_index, std::int64_t K, double bias,
                     const std::string& rule_name, double C, bool tie_positive, const std::string& policy,
                     Array<std::int64_t> members, Array<double> coefficients, Array<double> matrix,
                     Array<std::int64_t> ring, Array<double> numbers, Array<std::int64_t> counters,
                     Array<double> mistake_weight, std::optional<Array<std::uint8_t>> cancel) {
  Source& rows = *held.source;
  Source* before = before_.is_none() ? nullptr : nb::cast<KernelSource&>(before_).source.get();
  const std::int64_t budget = static_cast<std::int64_t>(members.size());
  const Policy how = to_policy(policy);
  if (rows.count() != rows.others()) throw nb::value_error("source: must pair the rows with themselves");
  if (sample_weight) check_size(*sample_weight, rows.count(), "sample_weight");
  check_size(coefficients, budget * K, "coefficients");
  check_size(matrix, how == Policy::forget_oldest ? 0 : budget * budget, "matrix");
  check_size(ring, 2, "ring");
  check_size(numbers, 4, "numbers");
  check_size(mistake_weight, 1, "mistake_weight");
  check_size(counters, sizeof(Counters) / sizeof(std::int64_t), "counters");
  const std::int64_t size = ring.data()[0];
  if (size < 0 || size > budget || ring.data()[1] < 0 || ring.data()[1] >= budget)
    throw nb::value_error("ring: names a slot that is not there");
  for (std::int64_t s = 0; s < size; ++s) {
    const std::int64_t row = members.data()[s];
    if (row >= rows.count() || (row < 0 && (!before || s >= before->others() || before->count() != rows.count())))
      throw nb::value_error("members: one names a row that is not there");
  }
  const Labels labels = to_labels(y, rows.count(), K);
  const Order order = to_order(order_index, rows.count());
  const AnyRule rule = to_rule(rule_name, 1.0, 0.0, C);
  const Pool pool{budget,      members.data(),  coefficients.data(), matrix.data(),
                  ring.data(), ring.data() + 1, numbers.data()};
  const Targets targets{labels.signs, labels.classes, sample_weight ? sample_weight->data() : nullptr};
  BudgetRun run(rows, before, targets, K, bias, how, pool);
  Interrupt interrupt(cancel);
  auto& counted = *reinterpret_cast<Counters*>(counters.data());
  {
    nb::gil_scoped_release release;
    std::visit([&](const auto& r) { run.learn(order, r, tie_positive, counted, *mistake_weight.data(), interrupt.poll()); },
               rule);
  }
  interrupt.raise_if_stopped();
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
  m.def("kernel_scores", &scores_of, "source"_a, "coefficients"_a.noconvert(), "intercept"_a.noconvert(),
        "Scores by a coefficient for each of the other rows, one column a class.");
  m.def("kernel_walk", &walk_of, "source"_a, nb::kw_only(), "K"_a, "bias"_a, "starts"_a.noconvert(),
        "which"_a.noconvert(), "steps"_a.noconvert(), "gains"_a.noconvert(), "loses"_a.noconvert(),
        "survived"_a.noconvert(), "survived_last"_a.noconvert(), "with_sums"_a, "with_votes"_a,
        "For each log of updates: the last scores, the sums of all scores, and the votes, from one running sum.");
  nb::class_<Run>(m, "DualRun", "Learning in kernel space on one table.")
      .def(nb::init<nb::object, AnyLabels, std::optional<Input<double>>, std::int64_t, double, InputMatrix>(),
           "source"_a, "y"_a.noconvert(), "sample_weight"_a.noconvert().none(), "K"_a, "bias"_a, "start"_a.noconvert())
      .def("learn", &Run::learn, nb::kw_only(), "order"_a.noconvert().none(), "rule"_a, "eta0"_a, "beta"_a, "C"_a,
           "tie_positive"_a, "pocket_mistakes"_a.noconvert().none(), "ratchet"_a, "counters"_a.noconvert(),
           "mistake_weight"_a.noconvert(), "cancel"_a.noconvert().none() = nb::none(), "One pass over the rows in the given order.")
      .def("count_mistakes", &Run::count_mistakes, "order"_a.noconvert().none(), "tie_positive"_a,
           "How many rows the current weights get wrong, each counted with its sample weight.")
      .def("updates", &Run::updates, "first"_a, "The updates from the given one on.")
      .def("is_finite", &Run::is_finite, "Are all scores finite?")
      .def_prop_ro("pocket", &Run::pocket, "How many of the updates made the weights in the pocket; -1: none was put there.");
  m.def("learn_on_budget", &learn_on_budget, "source"_a, "before"_a.none(), "y"_a.noconvert(), nb::kw_only(),
        "sample_weight"_a.noconvert().none(), "order"_a.noconvert().none(), "K"_a, "bias"_a, "rule"_a, "C"_a,
        "tie_positive"_a, "policy"_a, "members"_a.noconvert(), "coefficients"_a.noconvert(), "matrix"_a.noconvert(),
        "ring"_a.noconvert(), "numbers"_a.noconvert(), "counters"_a.noconvert(), "mistake_weight"_a.noconvert(),
        "cancel"_a.noconvert().none() = nb::none(),
        "One pass over the rows with at most as many support rows as there are members, in place.");
}

}  // namespace rosenblatt
