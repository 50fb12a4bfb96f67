#include "pass.hpp"

#include <algorithm>

#include "loops.hpp"
#include "strips.hpp"

namespace rosenblatt {

namespace {

// Rows in columns are loaded window by window, and a turn that is shorter would load them row by row.
template <class Rows>
std::int64_t least_turn(const Rows& rows) {
  if constexpr (!Rows::sparse)
    if (rows.stored && rows.stored->in_columns()) return window_rows;
  return 8;
}

}  // namespace

Pass make_pass(const AnyRows& any_rows, const AnyTask& task, Order order, const StateView& view, const AnyRule& rule,
               const Shrinking* penalty) {
  Pass made;
  std::visit(
      [&](const auto& rows) {
        using T = typename std::decay_t<decltype(rows)>::Value;
        const State<T> state(view);
        made = {order,
                rows.values_a_row() * static_cast<std::int64_t>(sizeof(T)),
                state.K * state.features * static_cast<std::int64_t>(sizeof(T)),
                least_turn(rows),
                {}};
        made.run = [=, chosen = bind_rule(rule, state, penalty), kept = bind_keep(state, penalty)](
                       Order whole, Part part, Poll& poll) mutable {
          Loops<std::decay_t<decltype(rows)>>::learn(rows, task, whole, part, state, chosen, kept, poll);
        };
      },
      any_rows);
  return made;
}

void run_together(const std::vector<const Pass*>& passes, Poll& poll) {
  if (passes.empty()) return;
  const Pass& first = *passes[0];
  const Order order = first.order;
  if (passes.size() == 1) return first.run(order, {0, order.count}, poll);
  constexpr std::int64_t cached = 1 << 17;  // half of a small second-level cache
  const std::int64_t block_bytes = std::max(cached, first.weight_bytes);
  const std::int64_t block = std::max(first.least_rows, block_bytes / std::max<std::int64_t>(1, first.bytes_per_row));
  Poll inner;
  std::int64_t turns = 0;
  for (std::int64_t begin = 0; begin < order.count; begin += block) {
    if (turns++ % 64 == 0 && poll()) return;
    for (const Pass* pass : passes) pass->run(order, {begin, std::min(order.count, begin + block)}, inner);
  }
}

double count_mistakes(const AnyRows& any_rows, const AnyTask& task, Order order, const StateView& view, double limit,
                      Poll& poll) {
  return std::visit(
      [&](const auto& rows) {
        using Rows = std::decay_t<decltype(rows)>;
        const Linear<Rows> model(State<typename Rows::Value>{view});
        return Loops<Rows>::count_mistakes(rows, task, order, model, limit, poll);
      },
      any_rows);
}

}  // namespace rosenblatt
