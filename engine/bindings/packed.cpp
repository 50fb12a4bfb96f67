#include "packed.hpp"

#include <limits>

#include "arrays.hpp"

namespace rosenblatt {
namespace {

template <class T>
using Maybe = std::optional<T>;

PackedSize size_of(std::int64_t rows, std::int64_t values, bool weighted) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (rows < 0 || values < 0 || rows > most || values > most)
    throw nb::value_error("rows, values: a block cannot have so many");
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
               Maybe<Input<double>> weights, std::int64_t rows, Array<std::uint8_t> out) {
  const auto count = static_cast<std::int64_t>(codes.size());
  check_size(starts, count + 1, "starts");
  check_size(indices, static_cast<std::int64_t>(values.size()), "indices");
  if (weights) check_size(*weights, count, "weights");
  if (rows < 1) throw nb::value_error("rows: must be at least 1");
  const RowsIn all{starts.data(), indices.data(), values.data(), codes.data(), weights ? weights->data() : nullptr};
  if (all.starts[0] != 0 || all.starts[count] != static_cast<std::int64_t>(values.size()))
    throw nb::value_error("starts: they are not those of the values");
  for (std::int64_t i = 0; i < count; ++i)
    if (all.starts[i + 1] < all.starts[i]) throw nb::value_error("starts: they do not rise");
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
                 Array<double> out, Array<std::int32_t> codes, Maybe<Array<double>> weights) {
  const auto blocks = static_cast<std::int64_t>(rows.size());
  check_size(values, blocks, "values");
  check_size(weighted, blocks, "weighted");
  std::int64_t row = 0, value = 0, bytes = 0;
  for (std::int64_t k = 0; k < blocks; ++k) {
    const PackedSize size = size_of(rows.data()[k], values.data()[k], weighted.data()[k] != 0);
    if (size.weighted && !weights) throw nb::value_error("weights: a block has some, and there is no room for them");
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

void bind_packed(nb::module_& m) {
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
