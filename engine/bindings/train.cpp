#include <nanobind/stl/vector.h>

#include <deque>
#include <limits>

#include "updates.hpp"
#include "views.hpp"

namespace rosenblatt {
namespace {

// One learner's pass, with what it looks into kept alive by its owner.
class PyPass {
 public:
  PyPass(const PyPass&) = delete;
  PyPass(const Rows& rows, const PyTargets& targets, PyState& state, const PyRule& rule,
         std::optional<Input<std::uint32_t>> order, bool ratchet)
      : order_(std::move(order)), rows_(rows.count()), penalty_(rule.penalty) {
    const AnyTask& task = targets.of(rows.count());
    const StateView view = state.view_for(rows, task, ratchet, &log_);
    pass_ = make_pass(rows.view(), task, to_order(order_, rows.count()), view, rule.rule, penalty_.get());
  }

  // From now on in this order.
  void set_order(std::optional<Input<std::uint32_t>> order) {
    const OneAtATime use(busy, "pass: it is running");
    pass_.order = to_order(order, rows_);
    order_ = std::move(order);
  }

  const Pass& pass() const { return pass_; }
  bool busy = false;

  // The list of updates so far, handed over.
  nb::tuple updates() {
    const OneAtATime use(busy, "pass: it is running");
    return to_tuple(std::exchange(log_, {}));
  }

 private:
  std::optional<Input<std::uint32_t>> order_;
  std::int64_t rows_;
  std::shared_ptr<const Shrinking> penalty_;
  Log log_;
  Pass pass_;
};

void run_passes(const std::vector<PyPass*>& passes, Cancel cancel) {
  std::vector<const Pass*> together;
  std::deque<OneAtATime> in_use;
  for (PyPass* one : passes) {
    if (!one) throw nb::type_error("passes: None is not a pass");
    in_use.emplace_back(one->busy, "passes: one of them is running already");
    together.push_back(&one->pass());
    const Order &order = together.front()->order, &other = together.back()->order;
    if (other.index != order.index || other.count != order.count)
      throw nb::value_error("passes: they must go over the same order of rows");
  }
  Interrupt(cancel).run([&](Poll& poll) { run_together(together, poll); });
}

double count_mistakes_of(const Rows& rows, const PyTargets& targets, PyState& state,
                         std::optional<Input<std::uint32_t>> order_index) {
  const AnyTask& task = targets.of(rows.count());
  const StateView view = state.view_for(rows, task);
  const Order order = to_order(order_index, rows.count());
  double found = 0;
  Interrupt().run([&](Poll& poll) {
    found = count_mistakes(rows.view(), task, order, view, std::numeric_limits<double>::infinity(), poll);
  });
  return found;
}

}  // namespace

void bind_train(nb::module_& m) {
  m.attr("COUNTERS") =
      nb::make_tuple("seen", "mistakes", "updates", "survived", "run", "checked", "pocket_is_current", "pocket_run");
  nb::class_<PyPass>(m, "Pass", "One learner's pass over rows, ready to run; the arrays of its state change in place.")
      .def(
          nb::init<const Rows&, const PyTargets&, PyState&, const PyRule&, std::optional<Input<std::uint32_t>>, bool>(),
          "rows"_a, "targets"_a, "state"_a, "rule"_a, nb::kw_only(), "order"_a.noconvert().none() = nb::none(),
          "ratchet"_a = false, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
      .def("set_order", &PyPass::set_order, "order"_a.noconvert().none(),
           "From now on in this order of rows; None: as they lie.")
      .def("updates", &PyPass::updates,
           "The updates (rows, steps, gains, loses, survived) that a vote is made of, handed over; none for other "
           "keeps.");
  m.def("run_passes", &run_passes, "passes"_a, "cancel"_a.noconvert().none() = nb::none(),
        "Run passes over the same order side by side, every block of rows read once for all of them.");
  m.def("count_mistakes", &count_mistakes_of, "rows"_a, "targets"_a, "state"_a, nb::kw_only(),
        "order"_a.noconvert().none() = nb::none(),
        "How many rows the raw weights get wrong, each counted with its sample weight; a score of 0 is wrong.");
}

}  // namespace rosenblatt
