// From bytes to rows: what all text formats share.
//
// Invariant: a line gives one whole row, or one entry in `bad`, or nothing (blank, or a comment). The columns of a row
// rise strictly and its values are finite, so the rows need no further check. Nothing is read outside of the chunk.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simd.hpp"
#include "text/number.hpp"

namespace rosenblatt {

inline constexpr std::size_t most_labels = 65'536;          // more distinct labels in a chunk are measurements
inline constexpr std::uint64_t most_index = 2'147'483'646;  // the largest feature: columns are 32-bit
inline constexpr std::size_t longest_label = 256;           // bytes

struct BadLine {
  std::int64_t line;  // within the chunk, from 0
  std::string why;
};

// Distinct labels in the order in which they came; code -1 is no label.
class Interned {
 public:
  std::int32_t code_of(std::string_view label) {
    for (std::size_t k = 0; k < labels_.size() && k < quick; ++k)
      if (labels_[k] == label) return static_cast<std::int32_t>(k);
    if (labels_.size() > quick)
      if (const auto found = codes_.find(std::string(label)); found != codes_.end()) return found->second;
    const auto code = static_cast<std::int32_t>(labels_.size());
    labels_.emplace_back(label);
    if (labels_.size() > quick) codes_.emplace(label, code);
    return code;
  }
  std::vector<std::string>& labels() { return labels_; }

 private:
  static constexpr std::size_t quick = 8;
  std::vector<std::string> labels_;
  std::unordered_map<std::string, std::int32_t> codes_;  // those beyond the first few
};

// A growing array without the zeros that std::vector writes first; capacity is reserved a line at a time.
template <class T>
class Growing {
 public:
  void make_room(std::size_t more) {
    if (size_ + more <= capacity_) return;
    capacity_ = std::max(size_ + more, capacity_ + capacity_ / 2);
    auto* const grown = static_cast<T*>(std::realloc(data_.get(), capacity_ * sizeof(T)));
    if (!grown) throw std::bad_alloc();
    data_.release();
    data_.reset(grown);
  }
  void push_back(T value) { data_.get()[size_++] = value; }  // room has been made
  void resize(std::size_t size) { size_ = size; }            // only downwards
  std::size_t size() const { return size_; }
  T& operator[](std::size_t at) { return data_.get()[at]; }
  T& back() { return data_.get()[size_ - 1]; }
  T* release() { return data_.release(); }  // to be freed by std::free

 private:
  struct Free {
    void operator()(T* piece) const noexcept { std::free(piece); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

struct Parsed {
  std::vector<std::int32_t> starts{0};
  Growing<std::int32_t> indices;
  Growing<double> values;
  std::vector<std::int32_t> codes;
  std::vector<double> weights;  // empty: every row weighs 1
  Interned labels;
  std::vector<BadLine> bad;
  std::vector<std::int64_t> gaps;  // for each line that gave no row: the rows before it
  std::int64_t lines = 0;
  std::int32_t largest = -1;  // column

  void make_room(std::size_t more) {
    indices.make_room(more);
    values.make_room(more);
  }

  void put(std::int64_t column, double value) {
    indices.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }

  void end_row(std::int32_t code, double weight = 1.0) {
    if (weight != 1.0 && weights.empty()) weights.assign(codes.size(), 1.0);
    if (weight != 1.0 || !weights.empty()) weights.push_back(weight);
    codes.push_back(code);
    if (static_cast<std::int32_t>(indices.size()) > starts.back()) largest = std::max(largest, indices.back());
    starts.push_back(static_cast<std::int32_t>(indices.size()));
  }

  void drop_row() {
    indices.resize(starts.back());
    values.resize(starts.back());
  }

  // The columns of the row being read in rising order, equal ones added up. False if some were equal.
  bool sort_row() {
    const std::size_t begin = starts.back(), count = indices.size() - begin;
    sorting_.clear();
    for (std::size_t p = begin; p < indices.size(); ++p) sorting_.emplace_back(indices[p], values[p]);
    std::stable_sort(sorting_.begin(), sorting_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t at = begin;
    for (const auto& [column, value] : sorting_) {
      if (at > begin && indices[at - 1] == column) {
        values[at - 1] += value;
      } else {
        indices[at] = column;
        values[at++] = value;
      }
    }
    indices.resize(at);
    values.resize(at);
    return at - begin == count;
  }

 private:
  std::vector<std::pair<std::int32_t, double>> sorting_;
};

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

inline const char* skip_space(const char* at, const char* end) {
  while (at < end && is_space(*at)) ++at;
  return at;
}

inline const char* find_space(const char* at, const char* end) {
  while (at < end && !is_space(*at)) ++at;
  return at;
}

// A piece of a bad line to show, short and printable.
inline std::string shown(const char* begin, const char* end) {
  std::string text;
  for (; begin < end && text.size() < 40; ++begin) text += *begin >= 0x20 && *begin < 0x7f ? *begin : '?';
  return "'" + text + (begin < end ? "…'" : "'");
}

inline std::string not_usable(double value, std::string_view what) {
  return std::string(what) +
         (std::isnan(value)   ? " is nan"
          : std::isinf(value) ? " is infinite"
                              : " is too large") +
         ": a value must be a finite number of at most 1e100";
}

inline constexpr std::ptrdiff_t readable = 24;  // bytes behind a line that a reader may look at

// Calls read(begin, end) for every line without its ending; it returns an empty string or why the line is bad. Behind
// *end some bytes can be read, and a line always has an end: the last lines are read from a copy.
template <class ReadLine>
void for_each_line(const char* data, std::size_t size, Parsed& out, ReadLine&& read) {
  const auto take = [&](const char* at, const char* stop) {
    if (stop > at && stop[-1] == '\r') --stop;
    out.make_room(static_cast<std::size_t>(stop - at) / 2 + 1);  // no feature is shorter than a character and a space
    const std::size_t rows = out.codes.size();
    std::string why = read(at, stop);
    if (out.codes.size() == rows) out.gaps.push_back(static_cast<std::int64_t>(rows));
    if (!why.empty()) {
      out.drop_row();
      out.bad.push_back({out.lines, std::move(why)});
    }
    ++out.lines;
  };
  const char* const end = data + size;
  for (const char* at = data; at < end;) {
    const auto* stop = static_cast<const char*>(std::memchr(at, '\n', end - at));
    if (stop && end - stop > readable) {
      take(at, stop);
    } else {
      if (!stop) stop = end;
      const std::string copy = std::string(at, stop).append(readable, '\n');
      take(copy.data(), copy.data() + (stop - at));
    }
    at = stop + 1;
  }
}

// A label that must be a number.
inline std::string check_numeric_label(std::string_view label) {
  double value;
  const char* const end = label.data() + label.size();
  if (label.size() > longest_label || parse_number(label.data(), end, value) != end || !std::isfinite(value))
    return "the label " + shown(label.data(), end) + " is not a finite number";
  return {};
}

}  // namespace rosenblatt
