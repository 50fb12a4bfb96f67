// svmlight and LIBSVM lines: `label [qid:n] index:value … [# comment]`.
#pragma once

#include "text/lines.hpp"

namespace rosenblatt {

namespace svmlight {

// The label of a line, or an empty view if it begins with a feature. On exit `at` is behind it.
inline std::string_view take_label(const char*& at, const char* end) {
  const char* const begin = at;
  const char* p = begin;
  while (p < end && !is_space(*p) && *p != ':' && *p != '#') ++p;
  if (p < end && *p == ':') return {};
  at = p;
  return {begin, static_cast<std::size_t>(p - begin)};
}

inline std::string bad_feature(const char* at, const char* end) {
  return shown({at, find_space(at, end)}) + " is not a feature: it must be index:value";
}

inline bool is_query(const char* at, const char* end) { return end - at > 4 && std::memcmp(at, "qid:", 4) == 0; }

// A whole word as a feature of the plain form: up to 7 digits, a colon, a number that may be used.
inline bool read_plain(const char* at, const char* stop, std::int64_t& column, double& value) {
  std::uint64_t index;
  const int digits = parse_digits(at, index);
  column = static_cast<std::int64_t>(index);
  if (digits == 0 || digits == 8 || at[digits] != ':') return false;
  at += digits + 1;
  const bool negative = *at == '-';
  if (parse_short(at + negative, stop, value)) {
    value = with_sign(value, negative);
    return true;
  }
  return parse_number(at, stop, value) == stop && is_usable(value);
}

// The features up to the end of the line or a comment.
inline std::string read_features(const char* at, const char* end, Parsed& out) {
  std::int64_t previous = -1;
  bool sorted = true;
  for (;;) {
    at += *at == ' ';
    // The common case, one space and a short plain word. Where the next word begins does not wait for what this one
    // says, so the processor reads several of them at a time.
    for (;;) {
      const int length = word_length(at);
      std::int64_t column;
      double value;
      if (length == 24 || !read_plain(at, at + length, column, value)) break;
      sorted &= column > previous;
      previous = column;
      out.put(column, value);
      at += length;
      if (*at != ' ') break;
      ++at;
    }
    at = skip_space(at, end);
    if (at == end || *at == '#') break;
    if (previous < 0 && is_query(at, end)) {
      at = find_space(at, end);
      continue;
    }
    std::uint64_t index = 0;
    const auto [colon, error] = std::from_chars(at, end, index);
    if (error == std::errc::result_out_of_range || index > most_index)
      return "feature " + shown({at, find_space(at, end)}) + ": an index is at most 2147483646";
    if (colon == at || colon == end || *colon != ':') return bad_feature(at, end);
    double value;
    const char* const stop = parse_number(colon + 1, end, value);
    if (!stop || !(stop == end || is_space(*stop) || *stop == '#')) return bad_feature(at, end);
    if (!is_usable(value)) return not_usable(value, "feature " + std::to_string(index));
    at = stop;
    const auto column = static_cast<std::int64_t>(index);
    sorted &= column > previous;
    previous = column;
    out.put(column, value);
  }
  if (!sorted && !out.sort_row()) return "a feature stands twice";
  return {};
}

inline std::string read_line(const char* at, const char* end, Parsed& out, bool require_label) {
  at = skip_space(at, end);
  if (at == end || *at == '#') return {};
  const std::string_view label = take_label(at, end);
  if (label.empty() && require_label) return "the line has no label";
  if (!label.empty())
    if (std::string why = check_numeric_label(label); !why.empty()) return why;
  if (std::string why = read_features(at, end, out); !why.empty()) return why;
  return out.end_row(label);
}

}  // namespace svmlight
}  // namespace rosenblatt
