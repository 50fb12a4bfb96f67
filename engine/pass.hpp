// A learner's pass over rows, ready to run part by part, and several of them side by side.
//
// Invariant: a block of rows is read from memory once and stays in the cache while every learner takes its turn; each
// does exactly what it would do alone. Weights too large for the cache come anew with every turn: then a turn is as
// long as they are large.
#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "order.hpp"
#include "penalty.hpp"
#include "rules.hpp"
#include "state.hpp"
#include "task.hpp"

namespace rosenblatt {

using AnyRows =
    std::variant<DenseRows<float>, DenseRows<double>, SparseRows<float, std::int32_t>, SparseRows<float, std::int64_t>,
                 SparseRows<double, std::int32_t>, SparseRows<double, std::int64_t>>;

struct Pass {
  Order order;
  std::int64_t bytes_per_row, weight_bytes;
  std::int64_t least_rows;  // of a turn
  std::function<void(Order, Part, Poll&)> run;
};

// The arrays that rows, task and state look into, and the penalty (null: none), must outlive the pass.
Pass make_pass(const AnyRows& rows, const AnyTask& task, Order order, const StateView& state, const AnyRule& rule,
               const Shrinking* penalty);

// Passes over the same order.
void run_together(const std::vector<const Pass*>& passes, Poll& poll);

// The mistakes of the raw weights of a state on the rows, each counted with its sample weight; it may stop once `limit`
// is reached.
double count_mistakes(const AnyRows& rows, const AnyTask& task, Order order, const StateView& state, double limit,
                      Poll& poll);

}  // namespace rosenblatt
