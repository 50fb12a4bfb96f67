// Dense rows that lie in another type, a few at a time: widened into a block that stays in the first-level cache, with
// the targets of these rows beside them. The loops then see plain rows, and no loop is compiled for another type.
//
// Invariant: rows come in the order given, and their sums are taken as those of plain rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "order.hpp"
#include "task.hpp"

namespace rosenblatt {

template <class T>
class Block {
 public:
  explicit Block(const DenseRows<T>& rows)
      : rows_(rows),
        most_(std::clamp<std::int64_t>(bytes / (sizeof(T) * std::max<std::int64_t>(1, rows.features)), 1, 64)),
        values_(most_ * rows.features), norms_(rows.squared_norms ? most_ : 0) {}

  std::int64_t most() const { return most_; }

  // The rows at these places of the order, side by side; those that follow are asked for.
  DenseRows<T> load(Order order, Part at, std::int64_t end) {
    const std::int64_t count = at.end - at.begin;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t i = order[at.begin + k];
      rows_.stored->widen(i, rows_.features, values_.data() + k * rows_.features);
      if (rows_.squared_norms) norms_[k] = rows_.squared_norms[i];
    }
    for (std::int64_t ahead = at.end; ahead < std::min(end, at.end + most_); ++ahead)
      rows_.stored->prefetch(order[ahead]);
    return {values_.data(), count, rows_.features, rows_.features, rows_.squared_norms ? norms_.data() : nullptr};
  }

  // What these rows ask for.
  AnyTask task(const AnyTask& task, Order order, Part at) {
    return std::visit(
        [&](auto asked) -> AnyTask {
          if (asked.sample_weight) asked.sample_weight = gather(asked.sample_weight, weights_, order, at);
          using Task = decltype(asked);
          if constexpr (std::is_same_v<Task, TwoClasses>)
            asked.signs = gather(asked.signs, signs_, order, at);
          else if constexpr (std::is_same_v<Task, Joint>)
            asked.classes = gather(asked.classes, classes_, order, at);
          else
            asked.targets = gather(asked.targets, numbers_, order, at);
          return asked;
        },
        task);
  }

 private:
  static constexpr std::int64_t bytes = 1 << 14;

  template <class V>
  const V* gather(const V* from, std::vector<V>& to, Order order, Part at) {
    to.clear();
    for (std::int64_t place = at.begin; place < at.end; ++place) to.push_back(from[order[place]]);
    return to.data();
  }

  const DenseRows<T>& rows_;
  std::int64_t most_;
  std::vector<T> values_, norms_;
  std::vector<std::int8_t> signs_;
  std::vector<std::int32_t> classes_;
  std::vector<double> numbers_, weights_;
};

// Calls work(rows, task, places) for blocks of a part of the order, until the poll says stop; task: null where nobody
// asks.
template <class T, class Work>
void for_each_block(const DenseRows<T>& rows, const AnyTask* task, Order order, Part part, Poll& poll, Work&& work) {
  Block<T> block(rows);
  const std::int64_t between = Poll::rows_per_block(rows.values_a_row(), 1);
  std::int64_t asked = part.begin;
  for (std::int64_t begin = part.begin; begin < part.end && !poll.stopped; begin += block.most()) {
    if (begin >= asked) {
      if (poll()) return;
      asked = begin + between;
    }
    const Part at{begin, std::min(part.end, begin + block.most())};
    const DenseRows<T> few = block.load(order, at, part.end);
    work(few, task ? block.task(*task, order, at) : AnyTask{}, at);
  }
}

}  // namespace rosenblatt
