// A contest: learners that go over the same rows, epoch by epoch, judged by rows that were held out.
//
// Everything between two epochs happens here, for all of them in one call, so that on small data the choice of a
// learner costs little more than learning. Who goes on is for the caller
// to say.
//
// Invariant: a contestant does exactly what its learner would do alone on the same order of the same rows.
#include <cmath>
#include <set>

#include "arrays.hpp"
#include "shuffle.hpp"
#include "threads.hpp"

namespace rosenblatt {
namespace {

using Indices = std::vector<std::uint32_t>;

Order all_of(const Indices& rows) { return {rows.data(), static_cast<std::int64_t>(rows.size())}; }

// Rows to learn from, in another order every epoch, and rows to be judged by.
struct Fold {
  Indices training, held_out, order;
  Generator generator;
};

struct Contestant {
  std::size_t fold;
  StateArrays state;
  OwnedArrays owned;
  Pass pass;
};

class Contest {
 public:
  Contest(const Contest&) = delete;
  Contest(const Rows& rows, const PyTargets& targets, bool fit_intercept)
      : rows_(rows.view()), task_(targets.of(rows.count())), count_(rows.count()) {
    start_.K = weight_rows(task_);
    start_.features = rows.features();
    start_.is_float32 = rows.float32();
    start_.fit_intercept = fit_intercept;
    start_.ratchet = true;
    product(start_.K, start_.features);
  }

  void add_fold(const Input<std::uint32_t>& training, const Input<std::uint32_t>& held_out,
                const Input<std::uint64_t>& generator) {
    require_idle();
    const Order first = to_order(training, count_), second = to_order(held_out, count_);
    check_size(generator, 4, "generator");
    Fold fold{{first.index, first.index + first.count}, {second.index, second.index + second.count}, {}, {}};
    std::copy_n(generator.data(), 4, fold.generator.state.begin());
    folds_.push_back(std::move(fold));
  }

  // One more contestant, from weights of 0.
  void add(std::size_t fold, const PyRule& rule, const std::string& keep) {
    require_idle();
    if (fold >= folds_.size()) fail("fold: does not exist");
    auto one = std::make_unique<Contestant>(Contestant{fold, start_, {}, {}});
    one->state.keep = to_keep(keep);
    if (one->state.keep == Keep::vote) fail("keep: in a contest the answer must be a weight vector");
    const AnyRule& chosen = rule.without_penalty("a contest");
    one->owned.make(one->state, std::holds_alternative<Arow>(chosen));
    one->pass = make_pass(rows_, task_, {}, one->state, chosen, nullptr);
    contestants_.push_back(std::move(one));
  }

  // The order of the next epoch, the same for all contestants of a fold.
  void shuffle() {
    require_idle();
    for (Fold& fold : folds_) {
      fold.order.resize(fold.training.size());
      Strips(static_cast<std::int64_t>(fold.order.size()))
          .draw_order(fold.training.data(), fold.order.data(), fold.generator);
    }
  }

  // One epoch for some of them: a row of (held-out accuracy, mistakes, updates, separates, mistake weight, finite)
  // each.
  Matrix<double> run(const std::vector<std::int64_t>& who, const Cancel& cancel) {
    const Running these(*this, who);
    Matrix<double> out = new_matrix(static_cast<std::int64_t>(who.size()), 6);
    Interrupt(cancel).run([&](StopToken& stop) { run_epoch(who, out.data(), stop); });
    return out;
  }

  Matrix<double> held_out_scores(std::int64_t who) {
    const Running this_one(*this, {who});
    const Contestant& one = *contestants_[who];
    Matrix<double> out = new_matrix(static_cast<std::int64_t>(folds_[one.fold].held_out.size()), start_.K);
    Interrupt().run([&](StopToken& stop) { score(one, out.data(), stop); });
    return out;
  }

  // The arrays of a contestant's state, handed over, and the generator of its fold. It takes no further part.
  nb::dict take_state(std::int64_t who) {
    require_idle();
    Contestant& one = check(who);
    nb::dict out;
    for (auto& [name, values] : one.owned.all)
      out[name.c_str()] = std::visit([](auto& each) { return nb::cast(to_vector(std::move(each))); }, values);
    const auto& state = folds_[one.fold].generator.state;
    out["generator"] = to_vector(std::vector<std::uint64_t>(state.begin(), state.end()));
    contestants_[who].reset();
    return out;
  }

 private:
  void run_epoch(const std::vector<std::int64_t>& who, double* out, StopToken& stop) {
    std::vector<std::pair<Counters, double>> before;
    for (std::int64_t k : who)
      before.emplace_back(*contestants_[k]->state.counters, *contestants_[k]->state.mistake_weight);
    for (std::size_t fold = 0; fold < folds_.size(); ++fold) {
      std::vector<const Pass*> together;
      for (std::int64_t k : who) {
        if (contestants_[k]->fold != fold) continue;
        contestants_[k]->pass.order = all_of(folds_[fold].order);
        together.push_back(&contestants_[k]->pass);
      }
      run_passes(together, stop);
    }
    for (std::size_t k = 0; k < who.size(); ++k, out += 6) {
      const Contestant& one = *contestants_[who[k]];
      const auto& [counters, mistake_weight] = before[k];
      const std::int64_t mistakes = one.state.counters->mistakes - counters.mistakes;
      const std::int64_t updates = one.state.counters->updates - counters.updates;
      constexpr double any = std::numeric_limits<double>::min();
      const bool separates =
          mistakes == 0 &&
          (updates == 0 || count_mistakes(rows_, task_, all_of(folds_[one.fold].order), one.state, any, stop) == 0);
      out[0] = accuracy(one, stop);
      out[1] = static_cast<double>(mistakes);
      out[2] = static_cast<double>(updates);
      out[3] = separates;
      out[4] = *one.state.mistake_weight - mistake_weight;
      out[5] = is_finite(one);
    }
  }

  // The scores of the held-out rows by the weights that the keep says are the answer, K per row.
  void score(const Contestant& one, double* out, StopToken& stop) const {
    std::visit(
        [&]<class View>(const View& view) {
          using T = typename View::Value;
          const State<T> state(one.state);
          AlignedVector<T> weights(state.K * state.features);
          std::vector<double> intercept(state.K);
          std::visit(
              [&](const auto& keep) {
                for (std::size_t at = 0; at < weights.size(); ++at)
                  weights[at] = static_cast<T>(keep.kept(state.weights, at, *state.counters));
                for (std::int64_t k = 0; k < state.K; ++k)
                  intercept[k] = keep.kept_intercept(state.intercept, k, *state.counters);
              },
              bind_keep(state, nullptr));
          Loops<View>::scores(view, all_of(folds_[one.fold].held_out), {weights.data(), intercept.data(), state.K}, out,
                              thread_limit(), stop);
        },
        rows_);
  }

  // Of the held-out rows, each counted with its sample weight; 0 without any.
  double accuracy(const Contestant& one, StopToken& stop) const {
    const Indices& rows = folds_[one.fold].held_out;
    std::vector<double> scores(rows.size() * start_.K);
    score(one, scores.data(), stop);
    double right = 0, all = 0;
    const double* at = scores.data();
    for (std::size_t r = 0; r < rows.size(); ++r, at += start_.K) {
      const double weight = std::visit([&](const auto& task) { return task.weight(rows[r]); }, task_);
      all += weight;
      if (is_right(at, rows[r])) right += weight;
    }
    return rows.empty() ? 0.0 : right / all;
  }

  bool is_right(const double* scores, std::int64_t i) const {
    if (const auto* binary = std::get_if<Binary>(&task_)) return (scores[0] >= 0) == (binary->signs[i] > 0);
    if (const auto* multiclass = std::get_if<Multiclass>(&task_))
      return std::max_element(scores, scores + start_.K) - scores == multiclass->classes[i];
    return !std::get<Regression>(task_).of(scores, i).mistake;
  }

  static bool is_finite(const Contestant& one) {
    const auto all_finite = [](const auto& values) {
      return std::all_of(values.begin(), values.end(),
                         [](auto value) { return std::isfinite(static_cast<double>(value)); });
    };
    return std::visit(all_finite, one.owned.all.at("weights")) && std::visit(all_finite, one.owned.all.at("intercept"));
  }

  Contestant& check(std::int64_t who) {
    if (who < 0 || who >= static_cast<std::int64_t>(contestants_.size()) || !contestants_[who])
      fail("who: does not exist");
    return *contestants_[who];
  }

  // Contestants that a call has while the GIL is released: others may run beside them, and nothing else may change.
  class Running {
   public:
    Running(Contest& contest, const std::vector<std::int64_t>& who) : running_(contest.running_), who_(who) {
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
  AnyRows rows_;
  AnyTask task_;
  std::int64_t count_;
  StateArrays start_;
  std::vector<Fold> folds_;
  std::vector<std::unique_ptr<Contestant>> contestants_;
  std::set<std::int64_t> running_;
};

}  // namespace

void bind_contest(nb::module_& m) {
  nb::class_<Contest>(m, "Contest", "Learners over the same rows, epoch by epoch, judged by rows held out.")
      .def(nb::init<const Rows&, const PyTargets&, bool>(), "rows"_a, "targets"_a, nb::kw_only(), "fit_intercept"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("add_fold", &Contest::add_fold, "training"_a.noconvert(), "held"_a.noconvert(), "generator"_a.noconvert(),
           "Rows to learn from and rows to be judged by; all are copied.")
      .def("add", &Contest::add, "fold"_a, "rule"_a, "keep"_a, "One more contestant, from weights of 0.")
      .def("shuffle", &Contest::shuffle, "Draw the order of the next epoch in every fold.")
      .def("run", &Contest::run, "who"_a, "cancel"_a.noconvert().none() = nb::none(),
           "One epoch: a row of (held-out accuracy, mistakes, updates, separates, weight of the mistakes, all weights "
           "are finite) for each of them.")
      .def("held_scores", &Contest::held_out_scores, "who"_a, "The scores of the rows held out, by the answer so far.")
      .def("take_state", &Contest::take_state, "who"_a,
           "The arrays of a state, handed over: it takes no further part.");
}

}  // namespace rosenblatt
