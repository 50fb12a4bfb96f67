// Fuzzes the parsers of lines. Built with sanitizers by `make fuzz`: with clang, libFuzzer follows the branches that
// an input takes, and its first byte says which parser reads the rest; else `parse TARGET SECONDS [SEED]` changes lines
// at random.
//
// Held, for any bytes: nothing is read outside of them (they lie in memory of exactly their size), every row is sound, and a text
// read whole gives the rows and the bad lines of the same text read line by line.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <memory>

#include "generator.hpp"
#include "svmlight.hpp"
#include "vw.hpp"
#include "words.hpp"

using namespace rosenblatt;

using Parse = std::function<void(const char*, std::size_t, Parsed&)>;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

Parse lines_of(std::function<std::string(const char*, const char*, Parsed&)> read) {
  return [read](const char* data, std::size_t size, Parsed& out) {
    for_each_line(data, size, out, [&](const char* at, const char* end) { return read(at, end, out); });
  };
}

Parse text_of(bool tabbed, Grams grams) {
  return lines_of([=](const char* at, const char* end, Parsed& out) {
    Tokenizer tokenizer(grams);
    std::vector<std::uint32_t> found;
    return labelled::read_line(at, end, out, true, tabbed, 1023, tokenizer, found);
  });
}

const std::map<std::string, std::pair<Parse, std::string>> targets = {
    {"svmlight",
     {lines_of([](auto at, auto end, Parsed& out) { return svmlight::read_line(at, end, out, true); }),
      "+1 1:0.5 3:2e-3 # c\n-1 qid:3 2:1 9:-4.25e+10\r\n\n3 1:nan 2:1e400\n1 12345678901:1 7:.5 6:12345678.12345678\n"}},
    {"svmlight labels", {lines_of([](auto at, auto end, Parsed& out) { return svmlight::read_label(at, end, out); }), "1 1:1\n-1\n#\n"}},
    {"vw",
     {lines_of([](auto at, auto end, Parsed& out) { return vw::read_line(at, end, out, true, 1023); }),
      "1 2.5 'tag|a x y:2 |b:0.5 x 12:3\n-1 | :5 007 a:1e5\r\n|f a\n"}},
    {"vw labels", {lines_of([](auto at, auto end, Parsed& out) { return vw::read_label(at, end, out); }), "1 2 |a x\n"}},
    {"fasttext", {text_of(false, Grams::pairs), "__label__x The cat \xc3\xa9t\xc3\xa9\n__label__y\n__label__a __label__b\n"}},
    {"tabbed", {text_of(true, Grams::characters), "ham\tGo \xe2\x80\x9cnow\xe2\x80\x9d\nspam\t\n\tx\n"}},
};

struct Rows {
  std::vector<std::int32_t> starts, indices, codes;
  std::vector<double> values, weights;
  std::vector<std::string> labels, bad;
};

void check(const std::string& text, const Parse& parse, Rows& rows, std::int64_t line) {
  const std::unique_ptr<char[]> exact(new char[text.size()]);
  std::copy(text.begin(), text.end(), exact.get());
  Parsed out;
  parse(exact.get(), text.size(), out);
  require(out.starts.size() == out.codes.size() + 1, "a start a row");
  require(out.weights.empty() || out.weights.size() == out.codes.size(), "a weight a row");
  for (std::size_t i = 0; i + 1 < out.starts.size(); ++i)
    for (std::int32_t p = out.starts[i]; p < out.starts[i + 1]; ++p) {
      require(p == out.starts[i] || out.indices[p - 1] < out.indices[p], "columns rise");
      require(out.indices[p] >= 0 && std::isfinite(out.values[p]), "columns and values are usable");
    }
  for (std::size_t p = 0; p < out.values.size(); ++p) {
    rows.indices.push_back(out.indices[p]);
    rows.values.push_back(out.values[p]);
  }
  for (std::size_t i = 0; i < out.codes.size(); ++i) {
    rows.starts.push_back(out.starts[i + 1] - out.starts[i]);
    rows.labels.push_back(out.codes[i] < 0 ? "" : out.labels.labels()[out.codes[i]]);
    rows.weights.push_back(out.weights.empty() ? 1.0 : out.weights[i]);
  }
  for (const BadLine& bad : out.bad) rows.bad.push_back(std::to_string(line + bad.line) + bad.why);
}

// The whole text, and the same text line by line.
void try_text(const std::string& text, const Parse& parse) {
  Rows whole, apart;
  check(text, parse, whole, 0);
  std::int64_t line = 0;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    check(text.substr(at, end - at), parse, apart, line);
    at = end;
  }
  require(whole.starts == apart.starts && whole.indices == apart.indices && whole.values == apart.values, "same rows");
  require(whole.labels == apart.labels && whole.weights == apart.weights && whole.bad == apart.bad, "same labels");
}

#ifdef COVERAGE_GUIDED
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& [parse, start] = std::next(targets.begin(), data[0] % targets.size())->second;
  try_text(std::string(reinterpret_cast<const char*>(data + 1), size - 1), parse);
  return 0;
}
#else
int main(int count, char** words) {
  if (count < 3 || !targets.count(words[1])) {
    for (const auto& [name, _] : targets) std::puts(name.c_str());
    return 2;
  }
  const auto& [parse, start] = targets.at(words[1]);
  const std::string pieces[] = {" ", "\n", "\r\n", "\t", ":", "|", "#", "-", "+", ".", "e", "e-", "1e400", "nan", "inf", "99999999",
                                "2147483646", "0", "'", "__label__", "qid:", "\xef\xbb\xbf", std::string(1, '\0'), "\xe2\x80"};
  Generator generator = Generator::seeded(count > 3 ? std::strtoull(words[3], nullptr, 10) : 0, 1);
  const auto below = [&](std::size_t n) { return generator.below(static_cast<std::uint32_t>(n)); };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(words[2]));
  std::int64_t turns = 0;
  for (std::string text = start; std::chrono::steady_clock::now() < deadline; ++turns) {
    if (below(20) == 0 || text.size() > 4000) text = start;
    for (std::uint32_t change = below(4) + 1; change > 0; --change) {
      const std::size_t at = below(text.size() + 1), length = std::min<std::size_t>(below(6), text.size() - at);
      const std::uint32_t kind = below(4);
      if (kind == 0) text.erase(at, length);
      if (kind == 1) text.insert(at, pieces[below(std::size(pieces))]);
      if (kind == 2 && at < text.size()) text[at] = static_cast<char>(below(256));
      if (kind == 3) text.insert(at, text.substr(below(text.size() + 1), below(40)));
    }
    try_text(text, parse);
  }
  std::printf("%s: %lld texts\n", words[1], static_cast<long long>(turns));
}
#endif
