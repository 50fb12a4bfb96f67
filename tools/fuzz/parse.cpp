// Fuzzes the parsers of lines. The first byte of an input says which of them reads the rest.
//
// Held, for any bytes: nothing is read outside of them, every row is sound, and a text read whole gives the rows and
// the bad lines of the same text read line by line.
#include "guarded.hpp"
#include "text/svmlight.hpp"
#include "text/vw.hpp"
#include "text/words.hpp"

using namespace rosenblatt;

using Parse = void (*)(const char*, std::size_t, Parsed&);

template <class Read>
void read_lines(const char* data, std::size_t size, Parsed& out, Read&& read) {
  for_each_line(data, size, out, [&](const char* at, const char* end) { return read(at, end, out); });
}

template <bool tabbed, Grams grams>
void read_text(const char* data, std::size_t size, Parsed& out) {
  Tokenizer tokenizer(grams);
  read_lines(data, size, out, [&](const char* at, const char* end, Parsed& rows) {
    return labeled::read_line(at, end, rows, true, tabbed, 1023, tokenizer);
  });
}

template <bool with_label>
void read_svmlight(const char* data, std::size_t size, Parsed& out) {
  read_lines(data, size, out,
             [](auto at, auto end, Parsed& rows) { return svmlight::read_line(at, end, rows, with_label); });
}

template <bool with_label>
void read_vw(const char* data, std::size_t size, Parsed& out) {
  read_lines(data, size, out,
             [](auto at, auto end, Parsed& rows) { return vw::read_line(at, end, rows, with_label, 1023); });
}

constexpr Parse parsers[] = {
    read_text<false, Grams::pairs>,
    read_text<true, Grams::characters>,
    read_text<false, Grams::words>,
    read_svmlight<true>,
    read_svmlight<false>,
    read_vw<true>,
    read_vw<false>,
};

void check(Parsed& out) {
  const std::size_t rows = out.codes.size();
  require(out.starts.size() == rows + 1 && out.starts.back() == static_cast<std::int32_t>(out.indices.size()),
          "a start for each row");
  require(out.indices.size() == out.values.size(), "a column for each value");
  require(out.weights.empty() || out.weights.size() == rows, "a weight for each row");
  require(static_cast<std::int64_t>(rows + out.gaps.size()) == out.lines, "a line gives a row or none");
  const auto labels = static_cast<std::int32_t>(out.labels.size());
  for (std::size_t i = 0; i < rows; ++i) {
    require(out.codes[i] >= -1 && out.codes[i] < labels, "a label for each code");
    for (std::int32_t p = out.starts[i]; p < out.starts[i + 1]; ++p) {
      require(p == out.starts[i] || out.indices[p - 1] < out.indices[p], "columns rise");
      require(out.indices[p] >= 0 && std::isfinite(out.values[p]), "columns and values are usable");
    }
  }
  for (const auto& [_, why] : out.bad)
    for (const char c : why) require(static_cast<unsigned char>(c) >= 0x20, "a sentence is printable");
}

std::string_view label_of(Parsed& rows, std::size_t i) {
  return rows.codes[i] < 0 ? std::string_view() : std::string_view(rows.labels[rows.codes[i]]);
}

// The whole text, and the same text line by line.
void try_text(std::string_view text, Parse parse) {
  static Guarded guarded;
  Parsed whole;
  parse(guarded.hold(text), text.size(), whole);
  check(whole);
  std::size_t row = 0, bad = 0;
  std::int64_t line = 0;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view piece = text.substr(at, end - at);
    Parsed part;
    parse(guarded.hold(piece), piece.size(), part);
    check(part);
    for (std::size_t i = 0; i < part.codes.size(); ++i, ++row) {
      require(row < whole.codes.size() && label_of(part, i) == label_of(whole, row), "the same labels");
      const double weight = part.weights.empty() ? 1.0 : part.weights[i];
      require(weight == (whole.weights.empty() ? 1.0 : whole.weights[row]), "the same weights");
      const std::int32_t begin = part.starts[i], count = part.starts[i + 1] - begin, there = whole.starts[row];
      require(count == whole.starts[row + 1] - there, "the same number of features");
      for (std::int32_t p = 0; p < count; ++p)
        require(
            part.indices[begin + p] == whole.indices[there + p] && part.values[begin + p] == whole.values[there + p],
            "the same rows");
    }
    for (const auto& [_, why] : part.bad) {
      require(bad < whole.bad.size() && whole.bad[bad] == std::pair{line, why}, "the same bad lines");
      ++bad;
    }
    at = end;
  }
  require(row == whole.codes.size() && bad == whole.bad.size(), "no more rows and bad lines");
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) try_text({reinterpret_cast<const char*>(data + 1), size - 1}, parsers[data[0] % std::size(parsers)]);
  return 0;
}
