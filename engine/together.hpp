// Several learners over the same rows, a block of rows at a time.
//
// Invariant: a block is read from memory once and stays in the cache while every learner takes its turn; each does
// exactly what it would do alone. Weights too large for the cache come anew with every turn: then a turn is as long as
// they are large.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "train.hpp"

namespace rosenblatt {

// A pass has an order(), the same for all, bytes_a_row(), weight_bytes() and run(part, poll).
template <class Pass>
void run_together(const std::vector<Pass*>& passes, Poll& poll) {
  if (passes.empty()) return;
  const std::int64_t count = passes[0]->order().count;
  if (passes.size() == 1) return passes[0]->run({0, count}, poll);
  constexpr std::int64_t cached = 1 << 17;  // half of a small second-level cache
  const std::int64_t block_bytes = std::max(cached, passes[0]->weight_bytes());
  const std::int64_t block = std::max<std::int64_t>(8, block_bytes / passes[0]->bytes_a_row());
  Poll inner{[](void*) { return false; }, nullptr};
  std::int64_t turns = 0;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    if (turns++ % 64 == 0 && poll()) return;
    const Part part{begin, std::min(count, begin + block)};
    for (Pass* pass : passes) pass->run(part, inner);
  }
}

}  // namespace rosenblatt
