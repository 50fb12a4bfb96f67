// Text to rows, CSV records and hashed names.
#include <nanobind/stl/pair.h>

#include "arrays.hpp"
#include "text/csv.hpp"
#include "text/svmlight.hpp"
#include "text/vw.hpp"
#include "text/words.hpp"

namespace rosenblatt {
namespace {

using Bytes = Input<std::uint8_t>;
using Offsets = Input<std::int64_t>;

const char* text_of(const Bytes& data) { return reinterpret_cast<const char*>(data.data()); }

// Calls visit(begin, end) for strings as Arrow holds them: one buffer, and the offsets where each begins.
template <class Visit>
void for_each_string(const Bytes& data, const Offsets& offsets, Visit&& visit) {
  const auto count = static_cast<std::int64_t>(offsets.size()) - 1;
  if (count < 0 || offsets(0) < 0 || offsets(count) > static_cast<std::int64_t>(data.size()))
    fail("offsets: they leave the buffer");
  for (std::int64_t i = 0; i < count; ++i)
    if (offsets(i + 1) < offsets(i)) fail("offsets: they fall");
  nb::gil_scoped_release release;
  for (std::int64_t i = 0; i < count; ++i) visit(text_of(data) + offsets(i), text_of(data) + offsets(i + 1));
}

// A chunk as rows: whole lines of a format, or strings, each of which is a text without a label.
nb::tuple parse(const Bytes& data, const std::string& format, bool require_label, int bits, const std::string& grams,
                std::uint32_t seed, const std::optional<Offsets>& offsets, const std::optional<Bytes>& named) {
  enum class Format { svmlight, vw, fasttext, tabbed, strings };
  const auto kind = to_enum<Format>("format", format, {"svmlight", "vw", "fasttext", "tabbed", "strings"});
  const std::uint32_t mask = to_mask(bits);
  Tokenizer tokenizer(to_enum<Grams>("grams", grams, {"words", "pairs", "characters"}));
  if (data.size() >= (std::size_t{1} << 31)) fail("data: a chunk must be smaller than 2 GB");
  if (offsets.has_value() != (kind == Format::strings)) fail("offsets: strings have them, and nothing else");
  Parsed out;
  if (named) {
    check_size(*named, std::int64_t{1} << bits, "named");
    out.names.want(named->data(), named->size());
  }
  out.indices.reserve(data.size() / 8);
  out.values.reserve(data.size() / 8);
  const auto read = [&](const char* at, const char* end) {
    if (kind == Format::svmlight) return svmlight::read_line(at, end, out, require_label);
    if (kind == Format::vw) return vw::read_line(at, end, out, require_label, mask);
    if (kind != Format::strings)
      return labeled::read_line(at, end, out, require_label, kind == Format::tabbed, mask, tokenizer);
    put_text(at, end, seed, mask, tokenizer, out);
    return out.end_row({});
  };
  if (offsets) {
    for_each_string(data, *offsets, read);
  } else {
    nb::gil_scoped_release release;
    for_each_line(text_of(data), data.size(), out, read);
  }
  nb::list labels;
  for (const std::string& label : out.labels) labels.append(nb::bytes(label.data(), label.size()));
  nb::object weights = nb::none();
  if (!out.weights.empty()) weights = nb::cast(to_vector(std::move(out.weights)));
  const auto names =
      nb::make_tuple(to_vector(std::move(out.names.columns)), nb::bytes(out.names.text.data(), out.names.text.size()));
  return nb::make_tuple(to_vector(std::move(out.starts)), to_vector(std::move(out.indices)),
                        to_vector(std::move(out.values)), to_vector(std::move(out.codes)), weights, labels, out.bad,
                        out.lines, to_vector(std::move(out.gaps)), names);
}

// Where the records of CSV text end.
nb::tuple split_records(const Bytes& data, const std::string& delimiter, const std::string& escape, bool last,
                        bool hopeless) {
  if (delimiter.size() != 1 || delimiter[0] == '"' || delimiter[0] == '\n' || delimiter[0] == '\r')
    fail("delimiter: must be one byte other than a quote or a line end");
  if (escape.size() > 1) fail("escape: must be one byte or none");
  Records records;
  {
    nb::gil_scoped_release release;
    const char escaped = escape.empty() ? '\0' : escape[0];
    records = RecordSplitter{text_of(data), data.size(), delimiter[0], escaped, last, hopeless}.split();
  }
  return nb::make_tuple(to_vector(std::move(records.ends)), to_vector(std::move(records.cells)),
                        to_vector(std::move(records.lines)), records.line, records.open);
}

Vector<std::int32_t> hash_strings(const Bytes& data, const Offsets& offsets, std::uint32_t seed, int bits) {
  const std::uint32_t mask = to_mask(bits);
  std::vector<std::int32_t> hashes;
  for_each_string(data, offsets, [&](const char* begin, const char* end) {
    hashes.push_back(static_cast<std::int32_t>(hash_bytes(begin, end - begin, seed) & mask));
  });
  return to_vector(std::move(hashes));
}

}  // namespace

void bind_text(nb::module_& m) {
  m.def(
      "parse", &parse, "data"_a.noconvert(), "format"_a, nb::kw_only(), "require_label"_a, "bits"_a, "grams"_a,
      "seed"_a = 0, "offsets"_a.noconvert().none() = nb::none(), "named"_a.noconvert().none() = nb::none(),
      "Rows of a chunk of whole lines, or of strings that begin at the offsets: starts, indices, values, label codes, "
      "weights or None, labels, bad lines, lines, the rows before each line that gave none, and the columns and names "
      "(a line for each) of the columns that are not marked in `named`.");
  m.def("split_records", &split_records, "data"_a.noconvert(), nb::kw_only(), "delimiter"_a, "escape"_a, "last"_a,
        "hopeless"_a,
        "Records of CSV text: their ends, numbers of cells (0: blank, -1: a quote that is never closed), first lines; "
        "the lines of all; and whether what is left begins with an open quote.");
  m.def("hash_strings", &hash_strings, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "seed"_a, "bits"_a,
        "A hash for each string.");
}

}  // namespace rosenblatt
