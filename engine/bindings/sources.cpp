// Where kernel values come from, and the answers that are made of them.
#include "sources.hpp"

#include "updates.hpp"
#include "walk.hpp"

namespace rosenblatt {
namespace {

KernelFunction to_function(const std::string& name, double gamma, double coef0, int degree) {
  using Kind = KernelFunction::Kind;
  if (name == "linear") return {Kind::linear, gamma, coef0, degree};
  if (name == "poly") return {Kind::poly, gamma, coef0, degree};
  if (name == "rbf") return {Kind::rbf, gamma, coef0, degree};
  if (name == "sigmoid") return {Kind::sigmoid, gamma, coef0, degree};
  throw nb::value_error("kernel: must be linear, poly, rbf or sigmoid");
}

KernelSource row_source(const Rows& rows, const Rows* paired, const std::string& name, double gamma, double coef0,
                        int degree, std::int64_t cache_bytes) {
  const Rows& others = paired ? *paired : rows;
  if (rows.features() != others.features()) throw nb::value_error("others: the features do not fit the rows");
  if (rows.count() > std::numeric_limits<std::uint32_t>::max() ||
      rows.features() > std::numeric_limits<std::uint32_t>::max())
    throw nb::value_error("rows: more than 2^32 rows or features");
  const KernelFunction function = to_function(name, gamma, coef0, degree);
  KernelSource made;
  made.owners = rows.owners();
  made.owners.insert(made.owners.end(), others.owners().begin(), others.owners().end());
  std::visit(
      [&](const auto& r, const auto& o) {
        made.source = std::make_unique<RowSource<std::decay_t<decltype(r)>, std::decay_t<decltype(o)>>>(r, o, function,
                                                                                                        cache_bytes);
      },
      rows.view(), others.view());
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
  if (count < 0 || count > std::numeric_limits<std::uint32_t>::max())
    throw nb::value_error("count: must be at least 0 and at most 2^32");
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

Matrix<double> scores_of(KernelSource& held, InputMatrix coefficients, Input<double> intercept) {
  Source& source = *held.source;
  const std::int64_t C = static_cast<std::int64_t>(intercept.size());
  if (static_cast<std::int64_t>(coefficients.shape(0)) != source.others() ||
      static_cast<std::int64_t>(coefficients.shape(1)) != C)
    throw nb::value_error("coefficients: must be one per other row and intercept");
  Matrix<double> out = new_matrix(source.count(), C);
  const OneAtATime use = held.use();
  Interrupt().run([&](Poll& poll) { dual_scores(source, coefficients.data(), intercept.data(), C, out.data(), poll); });
  return out;
}

Matrix<double> kernel_matrix(KernelSource& held) {
  Source& source = *held.source;
  const std::int64_t others = source.others();
  Matrix<double> out = new_matrix(source.count(), others);
  const OneAtATime use = held.use();
  Interrupt().run([&](Poll& poll) {
    double kernel[panel_rows] = {};
    for_each_loaded(source, poll, [&](std::int64_t begin, int count) {
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
nb::list walk_of(KernelSource& held, const UpdateArrays& updates, const Input<std::int64_t>& starts,
                 const Input<std::int64_t>& survived_last, std::int64_t K, double bias, bool with_sums,
                 bool with_votes) {
  Source& source = *held.source;
  if (K < 1) throw nb::value_error("K: there must be a row of weights");
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
      throw nb::value_error("starts: must rise within the updates");
    logs.push_back(part_of(updates, first, end, survived_last.data()[p]));
    Answers to{};
    const nb::object last = matrix(true, to.last), sums = matrix(with_sums, to.sum),
                     votes = matrix(with_votes, to.votes);
    all.append(nb::make_tuple(last, sums, votes));
    answers.push_back(to);
  }
  const OneAtATime use = held.use();
  Interrupt().run([&](Poll& poll) { walk(source, logs, K, bias, answers, poll); });
  return all;
}

}  // namespace

void bind_sources(nb::module_& m) {
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
        "Scores by a coefficient for each of the other rows, one column per class.");
  m.def("kernel_walk", &walk_of, "source"_a, "updates"_a.noconvert(), "starts"_a.noconvert(),
        "survived_last"_a.noconvert(), nb::kw_only(), "K"_a, "bias"_a, "with_sums"_a = false, "with_votes"_a = false,
        "For each log of updates: the last scores, the sums of all scores, and the votes, from one running sum.");
}

}  // namespace rosenblatt
