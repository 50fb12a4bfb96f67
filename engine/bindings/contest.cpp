#include "contest.hpp"

#include <nanobind/stl/vector.h>

#include <set>
#include <stdexcept>

#include "views.hpp"

namespace rosenblatt {
namespace {

class PyContest {
 public:
  PyContest(const PyContest&) = delete;
  PyContest(const Rows& rows, const PyTargets& targets, bool fit_intercept)
      : contest_{rows.view(), targets.of(rows.count()), rows.features(), fit_intercept, {}, {}}, count_(rows.count()) {
    product(weight_rows(contest_.task), rows.features());
  }

  void add_fold(Input<std::uint32_t> training, Input<std::uint32_t> held, Input<std::uint64_t> generator) {
    require_idle();
    const Order first = to_order(training, count_), second = to_order(held, count_);
    const Generator drawn = to_generator(generator);
    contest_.folds.push_back(std::make_unique<Fold>(
        Fold{{first.index, first.index + first.count}, {second.index, second.index + second.count}, {}, drawn}));
  }

  void add(std::int64_t fold, const PyRule& rule, const std::string& keep) {
    require_idle();
    if (fold < 0 || fold >= static_cast<std::int64_t>(contest_.folds.size()))
      throw nb::value_error("fold: there is no such fold");
    contest_.add(fold, rule.without_penalty("a contest"), keep);
  }

  void shuffle() {
    require_idle();
    contest_.shuffle();
  }

  Matrix<double> run(const std::vector<std::int64_t>& who, Cancel cancel) {
    const Running these(*this, who);
    std::vector<Epoch> found;
    Interrupt(cancel).run([&](Poll& poll) { found = contest_.run(who, poll); });
    Matrix<double> out = new_matrix(static_cast<std::int64_t>(found.size()), sizeof(Epoch) / sizeof(double));
    if (!found.empty()) std::memcpy(out.data(), found.data(), found.size() * sizeof(Epoch));
    return out;
  }

  Matrix<double> held_scores(std::int64_t who) {
    const Running this_one(*this, {who});
    auto& one = check(who);
    Matrix<double> out = new_matrix(static_cast<std::int64_t>(one.fold.held.size()), weight_rows(contest_.task));
    Interrupt().run([&](Poll& poll) { contest_.held_scores(one, out.data(), poll); });
    return out;
  }

  // The arrays of a contestant's state, handed over, and the generator of its fold. It takes no further part.
  nb::dict take_state(std::int64_t who) {
    require_idle();
    auto& one = check(who);
    nb::dict out;
    for (auto& [name, values] : one.arrays.all)
      out[name.c_str()] = std::visit([](auto& each) { return nb::cast(to_vector(std::move(each))); }, values);
    const auto& state = one.fold.generator.state;
    out["generator"] = to_vector(std::vector<std::uint64_t>(state.begin(), state.end()));
    contest_.contestants[who].reset();
    return out;
  }

 private:
  Contest::Contestant& check(std::int64_t who) {
    if (who < 0 || who >= static_cast<std::int64_t>(contest_.contestants.size()) || !contest_.contestants[who])
      throw nb::value_error("who: there is no such contestant");
    return *contest_.contestants[who];
  }

  // Contestants that a call has while the GIL is released: others may run beside them, and nothing else may change.
  class Running {
   public:
    Running(PyContest& contest, const std::vector<std::int64_t>& who) : running_(contest.running_), who_(who) {
      for (std::int64_t k : who) contest.check(k);
      std::set<std::int64_t> all = running_;
      for (std::int64_t k : who)
        if (!all.insert(k).second) throw std::runtime_error(in_use);
      running_.swap(all);
    }
    Running(const Running&) = delete;
    ~Running() {
      for (std::int64_t k : who_) running_.erase(k);
    }

   private:
    std::set<std::int64_t>& running_;
    const std::vector<std::int64_t> who_;
  };

  void require_idle() const {
    if (!running_.empty()) throw std::runtime_error(in_use);
  }

  static constexpr const char* in_use = "contest: another call is using it";
  Contest contest_;
  std::int64_t count_;
  std::set<std::int64_t> running_;
};

}  // namespace

void bind_contest(nb::module_& m) {
  nb::class_<PyContest>(m, "Contest", "Learners over the same rows, epoch by epoch, judged by rows held out.")
      .def(nb::init<const Rows&, const PyTargets&, bool>(), "rows"_a, "targets"_a, nb::kw_only(), "fit_intercept"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("add_fold", &PyContest::add_fold, "training"_a.noconvert(), "held"_a.noconvert(), "generator"_a.noconvert(),
           "Rows to learn from and rows to be judged by; all are copied.")
      .def("add", &PyContest::add, "fold"_a, "rule"_a, "keep"_a, "One more contestant, from weights of 0.")
      .def("shuffle", &PyContest::shuffle, "Draw the order of the next epoch in every fold.")
      .def("run", &PyContest::run, "who"_a, "cancel"_a.noconvert().none() = nb::none(),
           "One epoch: a row of (held-out accuracy, mistakes, updates, separates, weight of the mistakes, all weights "
           "are finite) for each of them.")
      .def("held_scores", &PyContest::held_scores, "who"_a, "The scores of the rows held out, by the answer so far.")
      .def("take_state", &PyContest::take_state, "who"_a,
           "The arrays of a state, handed over: it takes no further part.");
}

}  // namespace rosenblatt
