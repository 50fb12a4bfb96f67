// Vowpal Wabbit lines: `[label [importance [base]]] ['tag]|namespace[:scale] name[:value] … |namespace …`.
//
// Names are hashed by VW's own rules: a name of digits only is that number plus the hash of its namespace, any other
// name is hashed with the namespace's hash as the seed; a feature without a name takes the next free number. The base
// is ignored: a perceptron has no use for an initial prediction.
#pragma once

#include "text/lines.hpp"

namespace rosenblatt {

namespace vw {

inline std::uint32_t hash_name(std::string_view name, std::uint32_t seed) {
  std::uint64_t number = 0;
  for (const char c : name) {
    if (!is_digit(c)) return hash_bytes(name.data(), name.size(), seed);
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return static_cast<std::uint32_t>(number + seed);
}

struct Head {
  std::string_view label;
  double importance = 1.0;
};

// What stands before the first bar: label, importance, base, and a tag that is dropped.
inline std::string read_head(const char* at, const char* bar, Head& head) {
  std::string_view words[4];
  int count = 0;
  while ((at = skip_space(at, bar)) < bar) {
    const char* const stop = find_space(at, bar);
    if (*at == '\'' || stop == bar) {  // a tag: quoted, or the word that touches the bar
      if (skip_space(stop, bar) != bar) return "words stand behind the tag " + shown({at, stop});
      break;
    }
    if (count == 3) return "more than label, importance and base stand before the first '|'";
    words[count++] = {at, static_cast<std::size_t>(stop - at)};
    at = stop;
  }
  if (count > 0) {
    if (std::string why = check_numeric_label(words[0]); !why.empty()) return why;
    head.label = words[0];
  }
  for (int k = 1; k < count; ++k) {
    double value;
    const char* const stop = words[k].data() + words[k].size();
    if (parse_number(words[k].data(), stop, value) != stop || !std::isfinite(value) || (k == 1 && value < 0))
      return std::string(k == 1 ? "the importance " : "the base ") + shown(words[k]) + " is not a finite number" +
             (k == 1 ? " of at least 0" : "");
    if (k == 1) head.importance = value;
  }
  return {};
}

// Calls emit(column, value, namespace, name) for every feature behind the first bar, which `at` is on.
template <class Emit>
std::string for_each_feature(const char* at, const char* end, std::uint32_t mask, Emit&& emit) {
  // Reads `name` or `name:number`; false if what stands behind the colon is not a number.
  const auto take = [&at, end](std::string_view& name, double& number) {
    const char* const begin = at;
    while (at < end && !is_space(*at) && *at != ':' && *at != '|') ++at;
    name = {begin, static_cast<std::size_t>(at - begin)};
    number = 1.0;
    if (at == end || *at != ':') return true;
    const char* const stop = parse_number(at + 1, end, number);
    if (!stop || (stop < end && !is_space(*stop) && *stop != '|')) return false;
    at = stop;
    return true;
  };
  std::string_view space, name;
  double scale, value;
  while (at < end) {
    ++at;  // behind a bar
    if (!take(space, scale)) return "namespace " + shown(space) + ": its scale is not a number";
    if (!is_usable(scale)) return not_usable(scale, "the scale of a namespace");
    const std::uint32_t seed = hash_name(space, 0);
    std::uint32_t unnamed = 0;
    for (at = skip_space(at, end); at < end && *at != '|'; at = skip_space(at, end)) {
      const char* const begin = at;
      if (!take(name, value))
        return shown({begin, find_space(begin, end)}) + " is not a feature: it must be name or name:value";
      value *= scale;
      if (!is_usable(value)) return not_usable(value, "feature " + shown(name));
      const std::uint32_t hash = name.empty() ? seed + unnamed++ : hash_name(name, seed);
      if (value != 0) emit(hash & mask, value, space, name);
    }
  }
  return {};
}

inline std::string read_line(const char* at, const char* end, Parsed& out, bool require_label, std::uint32_t mask) {
  if (skip_space(at, end) == end) return {};
  const auto* bar = static_cast<const char*>(std::memchr(at, '|', end - at));
  if (!bar) return "there is no '|'";
  Head head;
  if (std::string why = read_head(at, bar, head); !why.empty()) return why;
  if (head.label.empty() && require_label) return "the line has no label (a word that touches the first '|' is a tag)";
  std::string why = for_each_feature(bar, end, mask, [&](std::uint32_t column, double value, auto space, auto name) {
    out.put(column, value);
    out.names.offer(column, space, space.empty() ? "" : "^", name);
  });
  if (!why.empty()) return why;
  out.sort_row();
  return out.end_row(head.label, head.importance);
}

}  // namespace vw
}  // namespace rosenblatt
