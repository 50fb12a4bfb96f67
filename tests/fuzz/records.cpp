// Fuzzes the splitter of CSV records. Built with sanitizers by `make fuzz`: with clang, libFuzzer follows the branches
// that an input takes, and its first two bytes say where the rest is cut; else `records SECONDS [SEED]` changes a text
// at random.
//
// Held, for any bytes: nothing is read outside of them, the records are the whole text, and where the text is cut into pieces does
// not change a record that a piece holds whole.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>

#include "generator.hpp"
#include "records.hpp"

using namespace rosenblatt;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

Records split(const std::string& text, char escape, bool last) {
  const std::unique_ptr<char[]> exact(new char[text.size()]);
  std::copy(text.begin(), text.end(), exact.get());
  return RecordSplitter(exact.get(), text.size(), ',', escape, last, false).split();
}

void try_text(const std::string& text, std::size_t cut, char escape) {
  const Records whole = split(text, escape, true);
  require(whole.ends.size() == whole.cells.size() && whole.ends.size() == whole.lines.size(), "one of each for a record");
  require(text.empty() ? whole.ends.empty() : whole.ends.back() == static_cast<std::int64_t>(text.size()), "all of it");
  for (std::size_t k = 1; k < whole.ends.size(); ++k)
    require(whole.ends[k - 1] < whole.ends[k] && whole.lines[k - 1] < whole.lines[k], "records follow one another");
  const Records part = split(text.substr(0, cut), escape, false);
  require(part.ends.size() <= whole.ends.size(), "no more records in a part");
  for (std::size_t k = 0; k < part.ends.size(); ++k)
    require(part.ends[k] == whole.ends[k] && part.cells[k] == whole.cells[k] && part.lines[k] == whole.lines[k],
            "the same records wherever the text is cut");
}

#ifdef COVERAGE_GUIDED
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 2), size - 2);
  try_text(text, (data[0] * 256 + data[1]) % (text.size() + 1), data[0] % 2 ? '\\' : '\0');
  return 0;
}
#else
int main(int count, char** words) {
  if (count < 2) return 2;
  const std::string start = "a,b,y\n1,\"x, \"\"y\"\"\n\",p\r\n2,\"open,q\n\n3,\\\"4\\\",p\r,,\n";
  const std::string pieces[] = {"\"", "\"\"", ",", "\n", "\r", "\r\n", "\\", " ", "\"\n", ",\"", "\",", std::string(1, '\0')};
  Generator generator = Generator::seeded(count > 2 ? std::strtoull(words[2], nullptr, 10) : 0, 1);
  const auto below = [&](std::size_t n) { return generator.below(static_cast<std::uint32_t>(n)); };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(words[1]));
  long long turns = 0;
  for (std::string text = start; std::chrono::steady_clock::now() < deadline; ++turns) {
    if (below(20) == 0 || text.size() > 1000) text = start;
    for (std::uint32_t change = below(4) + 1; change > 0; --change) {
      const std::size_t at = below(text.size() + 1), length = std::min<std::size_t>(below(6), text.size() - at);
      const std::uint32_t kind = below(4);
      if (kind == 0) text.erase(at, length);
      if (kind == 1) text.insert(at, pieces[below(std::size(pieces))]);
      if (kind == 2 && at < text.size()) text[at] = static_cast<char>(below(256));
      if (kind == 3) text.insert(at, text.substr(below(text.size() + 1), below(40)));
    }
    const char escape = below(2) ? '\\' : '\0';
    try_text(text, below(text.size() + 1), escape);
  }
  std::printf("records: %lld texts\n", turns);
}
#endif
