// Dense rows that lie in another type or in columns, some at a time: brought side by side into a block that stays in
// the cache, with the targets of these rows beside them. The loops then see plain rows, and no loop is compiled for
// another type.
//
// Rows that lie in columns, in an order that jumps, come by whole strips of neighbours: all strips of a window
// (strips.hpp) are loaded one after another, and the order goes on among them. Row by row, every value would fetch
// eight from the memory.
//
// Invariant: rows come in the order given, and their sums are taken as those of plain rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "large.hpp"
#include "order.hpp"
#include "strips.hpp"
#include "task.hpp"

namespace rosenblatt {

template <class T>
class Block {
 public:
  explicit Block(const DenseRows<T>& rows)
      : rows_(rows), in_columns_(rows.stored->in_columns()),
        most_(std::clamp<std::int64_t>(
            rows.is_long() ? rows_at_once : bytes / std::max<std::int64_t>(1, rows.bytes_a_row()),
            in_columns_ ? strip : 1, 64)) {}

  // Loads the rows at the first places of a part of the order; returns where they end.
  std::int64_t load(Order order, Part part) {
    index_.clear();
    if (in_columns_ && order.index && part.begin >= jumping_until_) {
      const std::int64_t end = std::min(part.end, Strips(order.count).next_window(part.begin));
      if (load_strips(order, {part.begin, end})) return end;
      jumping_until_ = end;
    }
    const std::int64_t end = std::min(part.end, part.begin + most_);
    places_.clear();
    for (std::int64_t place = part.begin; place < end; ++place) places_.push_back(order[place]);
    make_room();
    rows_.stored->gather(places_.data(), end - part.begin, values_.data());
    for (std::int64_t ahead = end; ahead < std::min(part.end, end + most_); ++ahead)
      rows_.stored->prefetch(order[ahead]);
    return end;
  }

  // The rows that were loaded, side by side.
  DenseRows<T> rows() {
    if (rows_.squared_norms) gather(rows_.squared_norms, norms_);
    return {values_.data(), static_cast<std::int64_t>(places_.size()), rows_.features, rows_.features,
            rows_.squared_norms ? norms_.data() : nullptr};
  }

  // The order among them.
  Order order() const {
    return index_.empty() ? Order{nullptr, static_cast<std::int64_t>(places_.size())}
                          : Order{index_.data(), static_cast<std::int64_t>(index_.size())};
  }

  // Which row the i-th of them is.
  std::int64_t row_of(std::int64_t i) const { return places_[i]; }

  // What these rows ask for.
  AnyTask task(const AnyTask& task) {
    return std::visit(
        [&](auto asked) -> AnyTask {
          if (asked.sample_weight) asked.sample_weight = gather(asked.sample_weight, weights_);
          using Task = decltype(asked);
          if constexpr (std::is_same_v<Task, TwoClasses>)
            asked.signs = gather(asked.signs, signs_);
          else if constexpr (std::is_same_v<Task, Joint>)
            asked.classes = gather(asked.classes, classes_);
          else
            asked.targets = gather(asked.targets, numbers_);
          return asked;
        },
        task);
  }

 private:
  static constexpr std::int64_t bytes = 1 << 14;
  static constexpr std::int64_t strip = window_rows / window_strips;
  static constexpr std::int64_t most_bytes = 1 << 27;  // of the strips of a window

  // Loads whole strips, if the order has enough of their rows in this window and they are not too large.
  bool load_strips(Order order, Part window) {
    const std::int64_t places = window.end - window.begin;
    const std::int64_t room = most_bytes / (strip * rows_.features * static_cast<std::int64_t>(sizeof(T)));
    const std::size_t most = std::min(room, 1 + 4 * places / strip);
    slots_.assign(slots, {-1, 0});
    places_.clear();
    starts_.assign(1, 0);
    for (std::int64_t place = window.begin; place < window.end; ++place) {
      Slot& slot = slot_of(order.index[place] / strip);
      if (slot.strip < 0) {
        if (starts_.size() > most) return index_.clear(), false;
        slot = {order.index[place] / strip, static_cast<std::uint32_t>(places_.size())};
        for (std::int64_t i = slot.strip * strip; i < std::min(rows_.count, (slot.strip + 1) * strip); ++i)
          places_.push_back(i);
        starts_.push_back(places_.size());
      }
      index_.push_back(slot.first + order.index[place] % strip);
    }
    make_room();
    for (std::size_t k = 0; k + 1 < starts_.size(); ++k) {
      const std::size_t begin = starts_[k], end = starts_[k + 1];
      if (end < places_.size()) rows_.stored->prefetch_columns(places_[end], strip);
      rows_.stored->gather(places_.data() + begin, end - begin, values_.data() + begin * rows_.features);
    }
    return true;
  }

  // A strip of the table, and where its first row is loaded; strip -1: free.
  struct Slot {
    std::int64_t strip;
    std::uint32_t first;
  };
  static constexpr std::int64_t slots = 4096;
  static_assert(slots > 2 * 4 * window_strips);

  Slot& slot_of(std::int64_t number) {
    std::int64_t at = number % slots;
    while (slots_[at].strip >= 0 && slots_[at].strip != number) at = (at + 1) % slots;
    return slots_[at];
  }

  void make_room() {
    const std::size_t size = places_.size() * rows_.features;
    if (values_.size() < size) values_.resize(size);
  }

  template <class V>
  const V* gather(const V* from, std::vector<V>& to) {
    to.clear();
    for (const std::int64_t i : places_) to.push_back(from[i]);
    return to.data();
  }

  const DenseRows<T>& rows_;
  const bool in_columns_;
  const std::int64_t most_;
  std::int64_t jumping_until_ = 0;    // places before it are loaded row by row
  std::vector<std::int64_t> places_;  // the rows that are loaded
  std::vector<std::uint32_t> index_;  // the order among them, unless it is theirs
  std::vector<Slot> slots_;           // a hash table of the strips that are loaded
  std::vector<std::size_t> starts_;   // where each of them begins among the loaded rows, and their number
  Large<T> values_;
  std::vector<T> norms_;
  std::vector<std::int8_t> signs_;
  std::vector<std::int32_t> classes_;
  std::vector<double> numbers_, weights_;
};

// Calls work(block) for blocks of a part of the order, until the poll says stop.
template <class T, class Work>
void for_each_block(const DenseRows<T>& rows, Order order, Part part, Poll& poll, Work&& work) {
  Block<T> block(rows);
  const std::int64_t between = Poll::rows_per_block(rows.values_a_row(), 1);
  std::int64_t asked = part.begin;
  for (std::int64_t begin = part.begin; begin < part.end && !poll.stopped;) {
    if (begin >= asked) {
      if (poll()) return;
      asked = begin + between;
    }
    begin = block.load(order, {begin, part.end});
    work(block);
  }
}

}  // namespace rosenblatt
