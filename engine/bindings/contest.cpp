#include "contest.hpp"

#include <nanobind/stl/vector.h>

#include "arrays.hpp"

namespace rosenblatt {
namespace {

using AnyContest = std::variant<Contest<DenseRows<float>>, Contest<DenseRows<double>>,
                                Contest<SparseRows<float, std::int32_t>>, Contest<SparseRows<float, std::int64_t>>,
                                Contest<SparseRows<double, std::int32_t>>, Contest<SparseRows<double, std::int64_t>>>;

class PyContest {
 public:
  PyContest(const Rows& rows, const AnyLabels& y, std::int64_t K, std::optional<Input<double>> sample_weight,
            bool fit_intercept) {
    if (K < 1) throw nb::value_error("K: there must be a weight row");
    const Labels labels = to_labels(y, rows.count(), K);
    if (sample_weight) check_size(*sample_weight, rows.count(), "sample_weight");
    const double* s = sample_weight ? sample_weight->data() : nullptr;
    contest_ = std::visit(
        [&](const auto& view) {
          using View = std::decay_t<decltype(view)>;
          return std::make_unique<AnyContest>(Contest<View>{view, labels.signs, labels.classes, s, K, fit_intercept, {}, {}});
        },
        rows.view);
    count_ = rows.count();
    for (const auto& owner : {nb::cast(rows), nb::cast(y), nb::cast(sample_weight)}) owners_.push_back(owner);
  }

  void add_fold(Input<std::uint32_t> training, Input<std::uint32_t> held, Input<std::uint64_t> generator) {
    const Order first = to_order(training, count_), second = to_order(held, count_);
    check_size(generator, 4, "generator");
    Fold fold{{first.index, first.index + first.count}, {second.index, second.index + second.count}, {}, {}};
    std::copy_n(generator.data(), 4, fold.generator.state.begin());
    std::visit([&](auto& contest) { contest.folds.push_back(std::make_unique<Fold>(std::move(fold))); }, *contest_);
  }

  void add(std::int64_t fold, const std::string& rule, double eta0, double beta, double C, double r, bool average) {
    std::visit(
        [&](auto& contest) {
          if (fold < 0 || fold >= static_cast<std::int64_t>(contest.folds.size()))
            throw nb::value_error("fold: there is no such fold");
          using Rule = typename std::decay_t<decltype(contest)>::Rule;
          const Rule chosen = rule == "AROW" ? Rule(ArowRule{r})
                                             : std::visit([](const auto& each) { return Rule(each); },
                                                          to_rule(rule, eta0, beta, C));
          contest.add(fold, chosen, average);
        },
        *contest_);
  }

  void shuffle() {
    std::visit([](auto& contest) { contest.shuffle(); }, *contest_);
  }

  Matrix<double> run(const std::vector<std::int64_t>& who, std::optional<Array<std::uint8_t>> cancel) {
    for (std::int64_t k : who) check(k);
    return epochs(cancel, [&](auto& contest, Poll& poll) { return contest.run(who, poll); });
  }

  Matrix<double> learn(std::int64_t who, std::int64_t most, std::optional<Array<std::uint8_t>> cancel) {
    check(who);
    return epochs(cancel, [&](auto& contest, Poll& poll) { return contest.learn(who, most, poll); });
  }

  Matrix<double> held_scores(std::int64_t who) {
    check(who);
    Interrupt interrupt(std::nullopt);
    return std::visit(
        [&](auto& contest) {
          auto& one = *contest.contestants[who];
          Matrix<double> out = new_matrix(static_cast<std::int64_t>(one.fold->held.size()), contest.K);
          {
            nb::gil_scoped_release release;
            contest.held_scores(one, out.data(), interrupt.poll());
          }
          interrupt.raise_if_stopped();
          return out;
        },
        *contest_);
  }

  // The arrays of a contestant's state, handed over, and the generator of its fold. It takes no further part.
  nb::dict take_state(std::int64_t who) {
    check(who);
    return std::visit(
        [&](auto& contest) {
          const auto taken = std::move(contest.contestants[who]);
          auto& one = *taken;
          nb::dict out;
          const auto put = [&](const char* name, auto&& values) {
            if (!values.empty()) out[name] = to_vector(std::move(values));
          };
          put("weights", one.weights);
          put("variances", one.variances);
          put("intercept", one.intercept);
          put("sums", one.sums);
          put("intercept_sums", one.intercept_sums);
          put("intercept_variances", one.intercept_variances);
          const auto* counters = reinterpret_cast<const std::int64_t*>(&one.counters);
          put("counters", std::vector<std::int64_t>(counters, counters + sizeof(Counters) / sizeof(std::int64_t)));
          put("mistake_weight", std::vector<double>{one.mistake_weight});
          put("generator", std::vector<std::uint64_t>(one.fold->generator.state.begin(), one.fold->generator.state.end()));
          return out;
        },
        *contest_);
  }

 private:
  template <class Run>
  Matrix<double> epochs(const std::optional<Array<std::uint8_t>>& cancel, Run&& run) {
    Interrupt interrupt(cancel);
    std::vector<Epoch> found;
    {
      nb::gil_scoped_release release;
      found = std::visit([&](auto& contest) { return run(contest, interrupt.poll()); }, *contest_);
    }
    interrupt.raise_if_stopped();
    Matrix<double> out = new_matrix(static_cast<std::int64_t>(found.size()), 4);
    if (!found.empty()) std::memcpy(out.data(), found.data(), found.size() * sizeof(Epoch));
    return out;
  }

  void check(std::int64_t who) const {
    const bool known = std::visit(
        [&](const auto& contest) {
          return who >= 0 && who < static_cast<std::int64_t>(contest.contestants.size()) && contest.contestants[who];
        },
        *contest_);
    if (!known) throw nb::value_error("who: there is no such contestant");
  }

  std::unique_ptr<AnyContest> contest_;
  std::int64_t count_ = 0;
  std::vector<nb::object> owners_;
};

}  // namespace

void bind_contest(nb::module_& m) {
  nb::class_<PyContest>(m, "Contest", "Learners over the same rows, epoch by epoch, judged by rows held out.")
      .def(nb::init<const Rows&, const AnyLabels&, std::int64_t, std::optional<Input<double>>, bool>(), "rows"_a,
           "y"_a.noconvert(), nb::kw_only(), "K"_a, "sample_weight"_a.noconvert().none(), "fit_intercept"_a)
      .def("add_fold", &PyContest::add_fold, "training"_a.noconvert(), "held"_a.noconvert(), "generator"_a.noconvert(),
           "Rows to learn from and rows to be judged by; all are copied.")
      .def("add", &PyContest::add, "fold"_a, nb::kw_only(), "rule"_a, "eta0"_a, "beta"_a, "C"_a, "r"_a, "average"_a,
           "One more contestant, from weights of 0.")
      .def("shuffle", &PyContest::shuffle, "Draw the order of the next epoch in every fold.")
      .def("run", &PyContest::run, "who"_a, "cancel"_a.noconvert().none() = nb::none(),
           "One epoch: a row of (held-out accuracy, mistakes, updates, separates) for each of them.")
      .def("learn", &PyContest::learn, "who"_a, "most"_a, "cancel"_a.noconvert().none() = nb::none(),
           "Epochs of one of them, each in an order of its own, until it separates the rows: a row as of run for each.")
      .def("held_scores", &PyContest::held_scores, "who"_a, "The scores of the rows held out, by the answer so far.")
      .def("take_state", &PyContest::take_state, "who"_a, "The arrays of a state, handed over: it takes no further part.");
}

}  // namespace rosenblatt
