// Learning in kernel space, on one table or within a budget of support rows.
#include "budget.hpp"
#include "sources.hpp"
#include "updates.hpp"
#include "views.hpp"

namespace rosenblatt {
namespace {

Source& paired_with_itself(KernelSource& held) {
  if (held.source->count() != held.source->others())
    throw nb::value_error("source: must pair the rows with themselves");
  return *held.source;
}

class PyDualRun {
 public:
  PyDualRun(const PyDualRun&) = delete;
  PyDualRun(KernelSource& source, const PyTargets& targets, double bias, const InputMatrix& start)
      : held_(source), source_(paired_with_itself(source)),
        run_(source_, targets.of(source_.count()), bias,
             scores_of(start, source_.count(), weight_rows(targets.of(source_.count())))) {}

  void learn(PyTally& tally, const PyRule& rule, std::optional<Input<std::uint32_t>> order_index, bool ratchet,
             Cancel cancel) {
    const Order order = to_order(order_index, source_.count());
    const Ratchet held{tally.pocket_mistakes, ratchet};
    const AnyRule& chosen = rule.without_penalty("a kernel");
    const OneAtATime use = held_.use();
    Interrupt(cancel).run([&](Poll& poll) {
      run_.learn(order, chosen, tally.pocket_mistakes ? &held : nullptr, *tally.counters, *tally.mistake_weight, poll);
    });
  }

  double count_mistakes(std::optional<Input<std::uint32_t>> order_index) {
    const Order order = to_order(order_index, source_.count());
    double found = 0;
    const OneAtATime use = held_.use();
    Interrupt().run([&](Poll& poll) { found = run_.count_mistakes(order, poll); });
    return found;
  }

  // The updates from the given one on, with the rows of the table that made them.
  nb::tuple updates(std::int64_t first) const {
    const OneAtATime use = held_.use();
    const Log& log = run_.log();
    if (first < 0 || first > static_cast<std::int64_t>(log.rows.size())) throw nb::value_error("first: not in the log");
    const auto tail = [&](const auto& values) {
      return std::decay_t<decltype(values)>(values.begin() + first, values.end());
    };
    return to_tuple({tail(log.rows), tail(log.steps), tail(log.gains), tail(log.loses), tail(log.survived)});
  }

  std::int64_t pocket() const { return run_.pocket(); }
  bool is_finite() const {
    const OneAtATime use = held_.use();
    return run_.is_finite();
  }

 private:
  static std::vector<double> scores_of(const InputMatrix& start, std::int64_t rows, std::int64_t K) {
    if (static_cast<std::int64_t>(start.shape(0)) != rows || static_cast<std::int64_t>(start.shape(1)) != K)
      throw nb::value_error("start: must be one score per row and row of weights");
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
  throw nb::value_error("policy: must be forget-oldest, forgetron or projectron");
}

// ring: how many slots are taken, and the oldest of them.
Pool to_pool(NamedArrays& arrays, Policy policy, std::int64_t K) {
  const std::int64_t budget = arrays.size("members");
  auto* ring = arrays.get<std::int64_t>("ring", 2);
  if (ring[0] < 0 || ring[0] > budget || ring[1] < 0 || ring[1] >= budget)
    throw nb::value_error("ring: names a slot that is not there");
  return {budget,
          arrays.get<std::int64_t>("members", budget),
          arrays.get<double>("coefficients", product(budget, K)),
          arrays.get<double>("matrix", policy == Policy::forget_oldest ? 0 : product(budget, budget)),
          ring,
          ring + 1,
          arrays.get<double>("numbers", 4)};
}

void learn_on_budget(KernelSource& held, KernelSource* kept, const PyTargets& targets, PyTally& tally,
                     const PyRule& rule, std::optional<Input<std::uint32_t>> order_index, double bias,
                     const std::string& policy, const nb::dict& pool_arrays, Cancel cancel) {
  Source& rows = paired_with_itself(held);
  Source* before = kept ? kept->source.get() : nullptr;
  const AnyTask& task = targets.of(rows.count());
  const Policy how = to_policy(policy);
  NamedArrays arrays(pool_arrays, 0);
  const Pool pool = to_pool(arrays, how, weight_rows(task));
  for (std::int64_t s = 0; s < *pool.size; ++s) {
    const std::int64_t row = pool.members[s];
    if (row >= rows.count() || (row < 0 && (!before || s >= before->others() || before->count() != rows.count())))
      throw nb::value_error("members: one names a row that is not there");
  }
  const Order order = to_order(order_index, rows.count());
  const AnyRule& chosen = rule.without_penalty("a budget");
  BudgetRun run(rows, before, task, bias, how, pool);
  const OneAtATime use = held.use();
  std::optional<OneAtATime> use_before;
  if (kept) use_before.emplace(kept->busy, "before: another call is using it");
  Interrupt(cancel).run([&](Poll& poll) { run.learn(order, chosen, *tally.counters, *tally.mistake_weight, poll); });
}

}  // namespace

void bind_kernel(nb::module_& m) {
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
