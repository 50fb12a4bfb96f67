// Text to rows, CSV records, hashed names, and packed blocks of rows.
#include "arrays.hpp"
#include "text/csv.hpp"
#include "text/packed.hpp"
#include "text/svmlight.hpp"
#include "text/vw.hpp"
#include "text/words.hpp"

namespace rosenblatt {
namespace {

using Bytes = Input<std::uint8_t>;

enum class Format { svmlight, vw, fasttext, tabbed };

Format to_format(const std::string& name) {
  if (name == "svmlight") return Format::svmlight;
  if (name == "vw") return Format::vw;
  if (name == "fasttext") return Format::fasttext;
  if (name == "tabbed") return Format::tabbed;
  fail("format: must be svmlight, vw, fasttext or tabbed");
}

Grams to_grams(const std::string& name) {
  if (name == "words") return Grams::words;
  if (name == "pairs") return Grams::pairs;
  if (name == "characters") return Grams::characters;
  fail("grams: must be words, pairs or characters");
}

std::uint32_t to_mask(int bits) {
  if (bits < 1 || bits > 30) fail("bits: must be 1 to 30");
  return (std::uint32_t{1} << bits) - 1;
}

const char* text_of(const Bytes& data) { return reinterpret_cast<const char*>(data.data()); }

void check_chunk(const Bytes& data) {
  if (data.size() >= (std::size_t{1} << 31)) fail("data: a chunk must be smaller than 2 GB");
}

nb::list to_bytes(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(nb::bytes(text.data(), text.size()));
  return list;
}

template <class T>
Vector<T> to_array(Growing<T>& values) {
  const std::size_t size = values.size();
  values.make_room(1);  // an empty array needs an address too
  T* held = values.release();
  nb::capsule owner(held, [](void* p) noexcept { std::free(p); });
  return Vector<T>(held, {size}, owner);
}

nb::tuple to_tuple(Parsed& parsed) {
  nb::list bad;
  for (const BadLine& line : parsed.bad) bad.append(nb::make_tuple(line.line, line.why));
  nb::object weights = nb::none();
  if (!parsed.weights.empty()) weights = nb::cast(to_vector(std::move(parsed.weights)));
  return nb::make_tuple(to_vector(std::move(parsed.starts)), to_array(parsed.indices), to_array(parsed.values),
                        to_vector(std::move(parsed.codes)), weights, to_bytes(parsed.labels.labels()), bad,
                        parsed.lines, parsed.largest, to_vector(std::move(parsed.gaps)));
}

// A chunk of whole lines as rows.
nb::tuple parse(const Bytes& data, const std::string& format_name, bool require_label, int bits,
                const std::string& grams_name) {
  const Format format = to_format(format_name);
  const std::uint32_t mask = to_mask(bits);
  Tokenizer tokenizer(to_grams(grams_name));
  check_chunk(data);
  Parsed out;
  {
    nb::gil_scoped_release release;
    const char* const text = text_of(data);
    const std::size_t size = data.size();
    std::vector<std::uint32_t> found;
    out.make_room(size / 8);
    if (format == Format::svmlight)
      for_each_line(text, size, out,
                    [&](const char* at, const char* end) { return svmlight::read_line(at, end, out, require_label); });
    else if (format == Format::vw)
      for_each_line(text, size, out,
                    [&](const char* at, const char* end) { return vw::read_line(at, end, out, require_label, mask); });
    else
      for_each_line(text, size, out, [&](const char* at, const char* end) {
        return labelled::read_line(at, end, out, require_label, format == Format::tabbed, mask, tokenizer, found);
      });
  }
  return to_tuple(out);
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
    RecordSplitter splitter(text_of(data), data.size(), delimiter[0], escape.empty() ? 0 : escape[0], last, hopeless);
    records = splitter.split();
  }
  return nb::make_tuple(to_vector(std::move(records.ends)), to_vector(std::move(records.cells)),
                        to_vector(std::move(records.lines)), records.line, records.open);
}

// The distinct labels of a chunk; bad lines are left for `parse` to report.
nb::list scan_labels(const Bytes& data, const std::string& format_name) {
  const Format format = to_format(format_name);
  check_chunk(data);
  Parsed out;
  {
    nb::gil_scoped_release release;
    for_each_line(text_of(data), data.size(), out, [&](const char* at, const char* end) {
      if (format == Format::svmlight) return svmlight::read_label(at, end, out);
      if (format == Format::vw) return vw::read_label(at, end, out);
      return labelled::read_label(at, end, out, format == Format::tabbed);
    });
  }
  return to_bytes(out.labels.labels());
}

using Named = std::vector<std::pair<std::int64_t, std::string>>;

// Takes the name of a wanted column, once.
struct Wanted {
  std::uint8_t* marks;
  std::uint32_t mask;
  Named found;

  void offer(std::uint32_t hash, std::string_view first, std::string_view second) {
    const std::uint32_t column = hash & mask;
    if (!marks[column]) return;
    marks[column] = 0;
    std::string name(first);
    if (!second.empty()) name.append(" ").append(second);
    found.emplace_back(column, std::move(name));
  }
};

nb::list to_names(const Named& found) {
  nb::list list;
  for (const auto& [column, name] : found) list.append(nb::make_tuple(column, nb::bytes(name.data(), name.size())));
  return list;
}

nb::list find_names(const Bytes& data, const std::string& format_name, Array<std::uint8_t> wanted, int bits,
                    const std::string& grams_name) {
  const Format format = to_format(format_name);
  Wanted names{wanted.data(), to_mask(bits), {}};
  check_size(wanted, std::int64_t{1} << bits, "wanted");
  Tokenizer tokenizer(to_grams(grams_name));
  check_chunk(data);
  {
    nb::gil_scoped_release release;
    Parsed unused;
    for_each_line(text_of(data), data.size(), unused, [&](const char* at, const char* end) -> std::string {
      std::string_view label;
      if (format == Format::vw) {
        if (const auto* bar = static_cast<const char*>(std::memchr(at, '|', end - at)))
          vw::for_each_feature(bar, end, names.mask, [&](std::uint32_t column, double, auto space, auto name) {
            std::string text(space.empty() ? "" : std::string(space) + "^");
            names.offer(column, text.append(name), {});
          });
      } else if (format != Format::svmlight && labelled::split(at, end, format == Format::tabbed, label).empty()) {
        tokenizer(at, end, 0, [&](const Gram& gram) { names.offer(gram.hash, gram.first, gram.second); });
      }
      return {};
    });
  }
  return to_names(names.found);
}

// Strings as Arrow holds them: one buffer and the offsets where each begins.
struct Strings {
  const char* text;
  const std::int64_t* offsets;
  std::int64_t count;

  Strings(const Bytes& data, const Input<std::int64_t>& starts)
      : text(text_of(data)), offsets(starts.data()), count(static_cast<std::int64_t>(starts.size()) - 1) {
    if (count < 0 || offsets[0] < 0 || offsets[count] > static_cast<std::int64_t>(data.size()))
      fail("offsets: they leave the buffer");
    for (std::int64_t i = 0; i < count; ++i)
      if (offsets[i + 1] < offsets[i]) fail("offsets: they fall");
  }
  const char* begin(std::int64_t i) const { return text + offsets[i]; }
  const char* end(std::int64_t i) const { return text + offsets[i + 1]; }
};

nb::tuple hash_texts(const Bytes& data, const Input<std::int64_t>& offsets, std::uint32_t seed, int bits,
                     const std::string& grams_name) {
  const Strings strings(data, offsets);
  const std::uint32_t mask = to_mask(bits);
  Tokenizer tokenizer(to_grams(grams_name));
  Parsed out;
  {
    nb::gil_scoped_release release;
    std::vector<std::uint32_t> found;
    for (std::int64_t i = 0; i < strings.count; ++i) {
      put_text(strings.begin(i), strings.end(i), seed, mask, 0, tokenizer, out, found);
      out.starts.push_back(static_cast<std::int32_t>(out.indices.size()));
    }
  }
  return nb::make_tuple(to_vector(std::move(out.starts)), to_array(out.indices), to_array(out.values));
}

Vector<std::int32_t> hash_strings(const Bytes& data, const Input<std::int64_t>& offsets, std::uint32_t seed, int bits) {
  const Strings strings(data, offsets);
  const std::uint32_t mask = to_mask(bits);
  std::vector<std::int32_t> hashes(strings.count);
  for (std::int64_t i = 0; i < strings.count; ++i)
    hashes[i] = static_cast<std::int32_t>(hash_bytes(strings.begin(i), strings.end(i) - strings.begin(i), seed) & mask);
  return to_vector(std::move(hashes));
}

nb::list find_text_names(const Bytes& data, const Input<std::int64_t>& offsets, std::uint32_t seed,
                         Array<std::uint8_t> wanted, int bits, const std::string& grams_name) {
  const Strings strings(data, offsets);
  Wanted names{wanted.data(), to_mask(bits), {}};
  check_size(wanted, std::int64_t{1} << bits, "wanted");
  Tokenizer tokenizer(to_grams(grams_name));
  {
    nb::gil_scoped_release release;
    for (std::int64_t i = 0; i < strings.count; ++i)
      tokenizer(strings.begin(i), strings.end(i), seed,
                [&](const Gram& gram) { names.offer(gram.hash, gram.first, gram.second); });
  }
  return to_names(names.found);
}

PackedSize size_of(std::int64_t rows, std::int64_t values, bool weighted) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (rows < 0 || values < 0 || rows > most || values > most) fail("rows, values: a block cannot have so many");
  return {rows, values, weighted};
}

Vector<std::int64_t> packed_bytes(Input<std::int64_t> rows, Input<std::int64_t> values, Input<std::uint8_t> weighted) {
  check_size(values, static_cast<std::int64_t>(rows.size()), "values");
  check_size(weighted, static_cast<std::int64_t>(rows.size()), "weighted");
  std::vector<std::int64_t> bytes(rows.size());
  for (std::size_t k = 0; k < bytes.size(); ++k)
    bytes[k] = size_of(rows.data()[k], values.data()[k], weighted.data()[k] != 0).bytes();
  return to_vector(std::move(bytes));
}

void pack_rows(Input<std::int32_t> starts, Input<std::int32_t> indices, Input<double> values, Input<std::int32_t> codes,
               std::optional<Input<double>> weights, std::int64_t rows, Array<std::uint8_t> out) {
  const auto count = static_cast<std::int64_t>(codes.size());
  check_size(starts, count + 1, "starts");
  check_size(indices, static_cast<std::int64_t>(values.size()), "indices");
  if (weights) check_size(*weights, count, "weights");
  if (rows < 1) fail("rows: must be at least 1");
  const RowsIn all{starts.data(), indices.data(), values.data(), codes.data(), weights ? weights->data() : nullptr};
  if (all.starts[0] != 0 || all.starts[count] != static_cast<std::int64_t>(values.size()))
    fail("starts: they are not those of the values");
  for (std::int64_t i = 0; i < count; ++i)
    if (all.starts[i + 1] < all.starts[i]) fail("starts: they do not rise");
  const auto end_of = [&](std::int64_t begin) { return rows < count - begin ? begin + rows : count; };
  std::int64_t bytes = 0;
  for (std::int64_t begin = 0; begin < count; begin = end_of(begin)) {
    const std::int64_t end = end_of(begin);
    bytes += size_of(end - begin, all.starts[end] - all.starts[begin], weights.has_value()).bytes();
  }
  check_size(out, bytes, "out");
  nb::gil_scoped_release release;
  auto* to = reinterpret_cast<std::byte*>(out.data());
  for (std::int64_t begin = 0; begin < count; begin = end_of(begin)) to = pack(all, begin, end_of(begin), to);
}

bool unpack_rows(Input<std::uint8_t> data, Input<std::int64_t> rows, Input<std::int64_t> values,
                 Input<std::uint8_t> weighted, Array<std::int32_t> starts, Array<std::int32_t> indices,
                 Array<double> out, Array<std::int32_t> codes, std::optional<Array<double>> weights) {
  const auto blocks = static_cast<std::int64_t>(rows.size());
  check_size(values, blocks, "values");
  check_size(weighted, blocks, "weighted");
  std::int64_t row = 0, value = 0, bytes = 0;
  for (std::int64_t k = 0; k < blocks; ++k) {
    const PackedSize size = size_of(rows.data()[k], values.data()[k], weighted.data()[k] != 0);
    if (size.weighted && !weights) fail("weights: a block has some, and there is no room for them");
    row += size.rows;
    value += size.values;
    bytes += size.bytes();
    size_of(row, value, true);  // starts count them all
  }
  check_size(data, bytes, "data");
  check_size(starts, row + 1, "starts");
  check_size(indices, value, "indices");
  check_size(out, value, "values");
  check_size(codes, row, "codes");
  if (weights) check_size(*weights, row, "weights");
  const RowsOut all{starts.data(), indices.data(), out.data(), codes.data(), weights ? weights->data() : nullptr};
  nb::gil_scoped_release release;
  all.starts[0] = 0;
  const auto* from = reinterpret_cast<const std::byte*>(data.data());
  bool sound = true;
  row = value = 0;
  for (std::int64_t k = 0; k < blocks; ++k) {
    const PackedSize size{rows.data()[k], values.data()[k], weighted.data()[k] != 0};
    sound &= unpack(from, size, all, row, value);
    from += size.bytes();
    row += size.rows;
    value += size.values;
  }
  return sound;
}

}  // namespace

void bind_text(nb::module_& m) {
  m.def("parse", &parse, "data"_a.noconvert(), "format"_a, nb::kw_only(), "require_label"_a, "bits"_a, "grams"_a,
        "Rows of a chunk of whole lines: starts, indices, values, label codes, weights or None, labels, bad lines, "
        "lines, largest column, and the rows before each line that gave none.");
  m.def("split_records", &split_records, "data"_a.noconvert(), nb::kw_only(), "delimiter"_a, "escape"_a, "last"_a,
        "hopeless"_a,
        "Records of CSV text: their ends, numbers of cells (0: blank, -1: a quote that is never closed), first lines; "
        "the "
        "lines of all; and whether what is left begins with an open quote.");
  m.def("scan_labels", &scan_labels, "data"_a.noconvert(), "format"_a,
        "The distinct labels of a chunk of whole lines.");
  m.def("find_names", &find_names, "data"_a.noconvert(), "format"_a, nb::kw_only(), "wanted"_a.noconvert(), "bits"_a,
        "grams"_a, "Names of the hashed columns marked in `wanted`, whose marks are taken away.");
  m.def("hash_texts", &hash_texts, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "seed"_a, "bits"_a,
        "grams"_a, "Texts as hashed features of length 1: starts, indices, values.");
  m.def("hash_strings", &hash_strings, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "seed"_a, "bits"_a,
        "A hash for each string.");
  m.def("find_text_names", &find_text_names, "data"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "seed"_a,
        "wanted"_a.noconvert(), "bits"_a, "grams"_a, "As find_names, for texts.");
  m.def("packed_bytes", &packed_bytes, "rows"_a.noconvert(), "values"_a.noconvert(), "weighted"_a.noconvert(),
        "The bytes of packed blocks of so many rows and values.");
  m.def("pack_rows", &pack_rows, "starts"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
        "codes"_a.noconvert(), "weights"_a.noconvert().none(), nb::kw_only(), "rows"_a, "out"_a.noconvert(),
        "Write rows as bytes, in blocks of so many rows behind one another; the last may be shorter.");
  m.def("unpack_rows", &unpack_rows, "data"_a.noconvert(), "rows"_a.noconvert(), "values"_a.noconvert(),
        "weighted"_a.noconvert(), "starts"_a.noconvert(), "indices"_a.noconvert(), "out"_a.noconvert(),
        "codes"_a.noconvert(), "weights"_a.noconvert().none(),
        "Write packed blocks, one behind the other, into these arrays; false if the starts of one are not its own.");
}

}  // namespace rosenblatt
