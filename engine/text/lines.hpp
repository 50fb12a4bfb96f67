// From bytes to rows: what all text formats share.
//
// Invariant: a line gives one whole row, or one entry in `bad`, or nothing (blank, or a comment). The columns of a row
// rise strictly and its values are finite, so the rows need no further check. Nothing is read outside of the chunk.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <unordered_map>

#include "text/hash.hpp"
#include "text/number.hpp"

namespace rosenblatt {

inline constexpr std::size_t most_labels = 65'536;          // more distinct labels in a chunk are measurements
inline constexpr std::uint64_t most_index = 2'147'483'646;  // the largest feature: columns are 32-bit
inline constexpr std::size_t longest_label = 256;           // bytes

// Names of hashed columns: of each column the first in the chunk, unless it is named already.
struct ColumnNames {
  const std::uint8_t* named = nullptr;  // of each column, has it a name? Null: no names are wanted
  std::unique_ptr<std::uint8_t, decltype(&std::free)> found{nullptr, &std::free};  // by this chunk
  std::vector<std::int32_t> columns;
  std::string text;  // a line for each of them

  void want(const std::uint8_t* known, std::size_t count) {
    named = known;
    found.reset(static_cast<std::uint8_t*>(std::calloc(count, 1)));  // of many columns few pages are touched
    if (!found) throw std::bad_alloc();
  }
  void offer(std::uint32_t column, std::string_view first, std::string_view between, std::string_view second) {
    if (!named || named[column] || found.get()[column]) return;
    found.get()[column] = 1;
    columns.push_back(static_cast<std::int32_t>(column));
    text.append(first).append(between).append(second).push_back('\n');
  }
};

struct Parsed {
  std::vector<std::int32_t> starts{0};
  std::vector<std::int32_t> indices;
  std::vector<double> values;
  std::vector<std::int32_t> codes;                        // of the label of each row; -1: it has none
  std::vector<std::string> labels;                        // in the order in which they came
  std::vector<double> weights;                            // empty: every row weighs 1
  std::vector<std::pair<std::int64_t, std::string>> bad;  // lines within the chunk, from 0, and what is wrong
  std::vector<std::int64_t> gaps;                         // for each line that gave no row: the rows before it
  std::int64_t lines = 0;
  ColumnNames names;

  void put(std::int64_t column, double value) {
    indices.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }

  // Ends the row, which has no label if that is empty. Says why it cannot, if so.
  std::string end_row(std::string_view label, double weight = 1.0) {
    std::int32_t code = -1;
    if (!label.empty()) {
      const auto [at, is_new] = known_.try_emplace(std::string(label), static_cast<std::int32_t>(labels.size()));
      if (is_new) labels.emplace_back(label);
      code = at->second;
    }
    if (labels.size() > most_labels) return "there are more than 65536 labels: they are measurements, not classes";
    if (weight != 1.0 && weights.empty()) weights.assign(codes.size(), 1.0);
    if (weight != 1.0 || !weights.empty()) weights.push_back(weight);
    codes.push_back(code);
    starts.push_back(static_cast<std::int32_t>(indices.size()));
    return {};
  }

  void drop_row() {
    indices.resize(starts.back());
    values.resize(starts.back());
  }

  // The columns of the row being read in rising order, equal ones added up. False if some were equal.
  bool sort_row() {
    const std::size_t count = indices.size();
    sort_columns(indices, values, starts.back(), sorting_);
    return indices.size() == count;
  }

 private:
  std::unordered_map<std::string, std::int32_t> known_;  // the codes of the labels
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
inline std::string shown(std::string_view piece) {
  std::string text;
  for (const char c : piece.substr(0, 40)) text += c >= 0x20 && c < 0x7f ? c : '?';
  return "'" + text + (piece.size() > 40 ? "…'" : "'");
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
    const std::size_t rows = out.codes.size();
    std::string why = read(at, stop);
    if (out.codes.size() == rows) out.gaps.push_back(static_cast<std::int64_t>(rows));
    if (!why.empty()) {
      out.drop_row();
      out.bad.emplace_back(out.lines, std::move(why));
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
    return "the label " + shown(label) + " is not a finite number";
  return {};
}

}  // namespace rosenblatt
