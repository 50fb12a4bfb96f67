// Fuzzes the splitter of CSV records. The first two bytes of an input say where the rest is cut.
//
// Held, for any bytes: nothing is read outside of them, the records are the whole text, and where the text is cut into
// pieces does not change a record that a piece holds whole.
#include "text/csv.hpp"

#include "guarded.hpp"

using namespace rosenblatt;

Records split(std::string_view text, char escape, bool last) {
  static Guarded guarded;
  return RecordSplitter{guarded.hold(text), text.size(), ',', escape, last, false}.split();
}

void try_text(std::string_view text, std::size_t cut, char escape) {
  const Records whole = split(text, escape, true);
  require(whole.ends.size() == whole.cells.size() && whole.ends.size() == whole.lines.size(),
          "one of each for a record");
  require(text.empty() ? whole.ends.empty() : whole.ends.back() == static_cast<std::int64_t>(text.size()), "all of it");
  for (std::size_t k = 1; k < whole.ends.size(); ++k)
    require(whole.ends[k - 1] < whole.ends[k] && whole.lines[k - 1] < whole.lines[k], "records follow one another");
  const Records part = split(text.substr(0, cut), escape, false);
  require(part.ends.size() <= whole.ends.size(), "no more records in a part");
  for (std::size_t k = 0; k < part.ends.size(); ++k)
    require(part.ends[k] == whole.ends[k] && part.cells[k] == whole.cells[k] && part.lines[k] == whole.lines[k],
            "the same records wherever the text is cut");
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
  try_text(text, (data[0] * 256u + data[1]) % (text.size() + 1), data[0] % 2 ? '\\' : '\0');
  return 0;
}
