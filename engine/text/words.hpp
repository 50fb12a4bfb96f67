// Text to hashed features: words and word pairs, or the characters of words, L2-normalized; and labeled lines of text.
//
// A word is a run of letters, digits and underscores; letters beyond ASCII count by their bytes, but the punctuation of
// Latin-1 and U+2000 to U+206F separates. ASCII letters become lower case.
#pragma once

#include "text/lines.hpp"

namespace rosenblatt {

enum class Grams { words, pairs, characters };

inline constexpr std::size_t shortest_gram = 3, longest_gram = 5;  // characters, with a space at both ends of the word

// A feature of a text: its hash, and the one or two pieces that it is made of.
struct Gram {
  std::uint32_t hash;
  std::string_view first, second;
};

class Tokenizer {
 public:
  explicit Tokenizer(Grams grams) : grams_(grams) {}

  // Calls emit(Gram) for every feature of the text; the pieces stay until the next call.
  template <class Emit>
  void operator()(const char* begin, const char* end, std::uint32_t seed, Emit&& emit) {
    lower_.assign(begin, end);
    for (char& c : lower_)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    const char* at = lower_.data();
    const char* const stop = at + lower_.size();
    Gram last{};
    while (at < stop) {
      if (const std::size_t gap = separator(at, stop)) {
        at += gap;
        continue;
      }
      const char* const word = at;
      while (at < stop && !separator(at, stop)) ++at;
      const std::string_view piece(word, at - word);
      if (grams_ == Grams::characters) {
        characters(piece, seed, emit);
        continue;
      }
      const Gram gram{hash_bytes(word, piece.size(), seed), piece, {}};
      emit(gram);
      if (grams_ == Grams::pairs && !last.first.empty())
        emit(Gram{join_hashes(last.hash, gram.hash), last.first, piece});
      last = gram;
    }
  }

 private:
  // The length of the separator at `p`; 0 if a word continues there.
  static std::size_t separator(const char* p, const char* end) {
    const auto c = static_cast<unsigned char>(*p);
    if (c < 0x80) return !((c >= 'a' && c <= 'z') || is_digit(*p) || c == '_');
    if (c == 0xc2 && p + 1 < end) return 2;
    if (c == 0xe2 && p + 2 < end) {
      const auto d = static_cast<unsigned char>(p[1]), e = static_cast<unsigned char>(p[2]);
      if (d == 0x80 || (d == 0x81 && e <= 0xaf)) return 3;
    }
    return 0;
  }

  template <class Emit>
  void characters(std::string_view word, std::uint32_t seed, Emit&& emit) {
    padded_.assign(1, ' ').append(word).append(1, ' ');
    marks_.clear();
    for (std::size_t at = 0; at < padded_.size(); ++at)
      if ((static_cast<unsigned char>(padded_[at]) & 0xc0) != 0x80) marks_.push_back(at);
    marks_.push_back(padded_.size());
    const std::size_t count = marks_.size() - 1;
    for (std::size_t from = 0; from < count; ++from)
      for (std::size_t n = shortest_gram; n <= longest_gram && from + n <= count; ++n) {
        const std::string_view piece(padded_.data() + marks_[from], marks_[from + n] - marks_[from]);
        emit(Gram{hash_bytes(piece.data(), piece.size(), seed), piece, {}});
      }
  }

  Grams grams_;
  std::string lower_, padded_;
  std::vector<std::size_t> marks_;
};

// The features of a text as the row being read: the root of how often each occurs, scaled to length 1.
inline void put_text(const char* begin, const char* end, std::uint32_t seed, std::uint32_t mask, Tokenizer& tokenizer,
                     Parsed& out) {
  std::vector<std::uint32_t> found;
  tokenizer(begin, end, seed, [&](const Gram& gram) {
    found.push_back(gram.hash & mask);
    out.names.offer(gram.hash & mask, gram.first, gram.second.empty() ? "" : " ", gram.second);
  });
  std::sort(found.begin(), found.end());
  const double length = std::sqrt(static_cast<double>(found.size()));  // the squares of the roots add up to the size
  const std::uint32_t* const stop = found.data() + found.size();
  for (const std::uint32_t* p = found.data(); p < stop;) {
    const std::uint32_t* q = p;
    while (q < stop && *q == *p) ++q;
    out.put(*p, std::sqrt(static_cast<double>(q - p)) / length);
    p = q;
  }
}

namespace labeled {

inline constexpr std::string_view prefix = "__label__";

// Splits a line into its label (empty if it has none) and its text. Two labels are an error.
inline std::string split(const char*& at, const char* end, bool tabbed, std::string_view& label) {
  label = {};
  if (tabbed) {
    const auto* tab = static_cast<const char*>(std::memchr(at, '\t', end - at));
    if (!tab) return {};
    label = {at, static_cast<std::size_t>(tab - at)};
    at = tab + 1;
  } else {
    at = skip_space(at, end);
    const char* stop = find_space(at, end);
    if (!std::string_view(at, stop).starts_with(prefix)) return {};
    label = {at + prefix.size(), static_cast<std::size_t>(stop - at) - prefix.size()};
    at = skip_space(stop, end);
    stop = find_space(at, end);
    if (std::string_view(at, stop).starts_with(prefix)) return "the line has two labels";
  }
  if (label.size() > longest_label) return "the label is longer than 256 bytes";
  return {};
}

inline std::string read_line(const char* at, const char* end, Parsed& out, bool require_label, bool tabbed,
                             std::uint32_t mask, Tokenizer& tokenizer) {
  if (skip_space(at, end) == end) return {};
  std::string_view label;
  if (std::string why = split(at, end, tabbed, label); !why.empty()) return why;
  if (label.empty() && require_label) return "the line has no label";
  put_text(at, end, 0, mask, tokenizer, out);
  return out.end_row(label);
}

}  // namespace labeled
}  // namespace rosenblatt
