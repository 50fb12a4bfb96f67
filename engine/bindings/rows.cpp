#include "arrays.hpp"
#include "columns.hpp"
#include "products.hpp"
#include "sorted.hpp"

namespace rosenblatt {
namespace {

template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

template <class T>
Rows dense_rows(const Table<T>& values) {
  if (values.size() > 0 && values.shape(1) > 1 && values.stride(1) != 1)
    throw nb::value_error("values: the values of a row must lie side by side (C order)");
  const std::int64_t stride = values.shape(0) > 1 ? values.stride(0) : static_cast<std::int64_t>(values.shape(1));
  return {DenseRows<T>{values.data(), static_cast<std::int64_t>(values.shape(0)),
                       static_cast<std::int64_t>(values.shape(1)), stride},
          {nb::cast(values)}};
}

using AnyTable = nb::ndarray<nb::ro, nb::device::cpu>;

// The kind of an array's values, or of 16 bits that are to be read as bfloat16.
Kind kind_of(const AnyTable& values, bool bfloat16) {
  const nb::dlpack::dtype found = values.dtype();
  if (bfloat16) {
    if (found != nb::dtype<std::uint16_t>()) throw nb::type_error("values: bfloat16 must come as uint16");
    return Kind::bfloat16;
  }
  if (found == nb::dtype<bool>() || found == nb::dtype<std::uint8_t>()) return Kind::uint8;
  if (found == nb::dtype<std::int8_t>()) return Kind::int8;
  if (found == nb::dtype<std::uint16_t>()) return Kind::uint16;
  if (found == nb::dtype<std::int16_t>()) return Kind::int16;
  if (found == nb::dtype<std::uint32_t>()) return Kind::uint32;
  if (found == nb::dtype<std::int32_t>()) return Kind::int32;
  if (found == nb::dtype<std::uint64_t>()) return Kind::uint64;
  if (found == nb::dtype<std::int64_t>()) return Kind::int64;
  if (found == nb::dlpack::dtype{static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1}) return Kind::float16;
  if (found == nb::dtype<float>()) return Kind::float32;
  if (found == nb::dtype<double>()) return Kind::float64;
  throw nb::type_error("values: their type cannot be read where it lies");
}

Rows rows_of(Stored&& stored, std::int64_t count, std::int64_t features, bool float32, std::vector<nb::object> owners) {
  auto* held = new Stored(std::move(stored));
  owners.push_back(nb::capsule(held, [](void* p) noexcept { delete static_cast<Stored*>(p); }));
  const auto made = [&]<class T>(T) -> AnyRows { return DenseRows<T>{nullptr, count, features, 0, nullptr, held}; };
  return {float32 ? made(float{}) : made(double{}), std::move(owners)};
}

// Dense rows, learned otherwise than they lie.
Rows stored_rows(const AnyTable& values, bool float32, bool bfloat16) {
  if (values.ndim() != 2) throw nb::value_error("values: must have two dimensions");
  const Kind kind = kind_of(values, bfloat16);
  const std::int64_t count = static_cast<std::int64_t>(values.shape(0)),
                     size = static_cast<std::int64_t>(size_of(kind));
  const std::int64_t features = static_cast<std::int64_t>(values.shape(1));
  const std::byte* const first = static_cast<const std::byte*>(values.data());
  const std::int64_t stride = count > 1 ? values.stride(0) : 0;
  if (values.size() == 0 || features == 1 || values.stride(1) == 1)
    return rows_of(Stored(first, stride * size, kind, features), count, features, float32, {nb::cast(values)});
  std::vector<Stored::Column> columns;
  for (std::int64_t j = 0; j < features; ++j) columns.push_back({first + j * values.stride(1) * size, stride, kind});
  return rows_of(Stored({0, count}, std::move(columns)), count, features, float32, {nb::cast(values)});
}

// Dense rows whose columns lie apart, in pieces of some rows, each a list of arrays.
Rows column_rows(const nb::list& pieces, bool float32) {
  std::vector<std::int64_t> begins{0};
  std::vector<Stored::Column> columns;
  std::vector<nb::object> owners;
  std::size_t features = 0;
  for (const nb::handle piece : pieces) {
    const nb::list arrays = nb::cast<nb::list>(piece);
    if (begins.size() == 1) features = arrays.size();
    if (arrays.size() == 0 || arrays.size() != features)
      throw nb::value_error("pieces: each must have as many columns as the first, and at least one");
    std::size_t count = 0;
    for (std::size_t j = 0; j < features; ++j) {
      const AnyTable values = nb::cast<AnyTable>(arrays[j], false);
      if (values.ndim() != 1) throw nb::value_error("pieces: a column must have one dimension");
      if (j == 0) count = values.shape(0);
      if (values.shape(0) != count || count == 0)
        throw nb::value_error("pieces: columns must have as many rows as their neighbours, and at least one");
      columns.push_back(
          {static_cast<const std::byte*>(values.data()), count > 1 ? values.stride(0) : 0, kind_of(values, false)});
      owners.push_back(nb::cast(values));
    }
    begins.push_back(begins.back() + static_cast<std::int64_t>(count));
  }
  if (columns.empty()) throw nb::value_error("pieces: there must be at least one");
  const std::int64_t count = begins.back();
  return rows_of(Stored(std::move(begins), std::move(columns)), count, static_cast<std::int64_t>(features), float32,
                 std::move(owners));
}

// Some rows, or all, side by side in the precision in which they are learned from.
nb::object gathered_rows(const Rows& rows, const std::optional<Input<std::uint32_t>>& index) {
  const Order order = to_order(index, rows.count());
  return std::visit(
      [&]<class View>(const View& r) -> nb::object {
        if constexpr (View::sparse) throw nb::type_error("rows: must be dense");
        if constexpr (!View::sparse) {
          using T = typename View::Value;
          auto held = std::make_unique_for_overwrite<T[]>(product(order.count, r.features));
          {
            nb::gil_scoped_release release;
            constexpr std::int64_t together = 32;
            std::vector<std::int64_t> places(together);
            for (std::int64_t begin = 0; begin < order.count; begin += together) {
              const std::int64_t count = std::min(together, order.count - begin);
              T* const to = held.get() + begin * r.features;
              for (std::int64_t k = 0; k < count; ++k) places[k] = order[begin + k];
              if (r.stored)
                r.stored->gather(places.data(), count, to);
              else
                for (std::int64_t k = 0; k < count; ++k) std::copy_n(r.row(places[k]), r.features, to + k * r.features);
            }
          }
          nb::capsule owner(held.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
          return nb::cast(Matrix<T>(
              held.release(), {static_cast<std::size_t>(order.count), static_cast<std::size_t>(r.features)}, owner));
        }
      },
      rows.view());
}

template <class T, class Index>
Rows sparse_rows(const Input<T>& values, const Input<Index>& indices, const Input<Index>& starts,
                 std::int64_t features) {
  if (starts.size() == 0) throw nb::value_error("starts: must hold one entry more than there are rows");
  if (values.size() != indices.size()) throw nb::value_error("indices: there must be one for each value");
  if (features < 0) throw nb::value_error("features: must be at least 0");
  const std::int64_t count = static_cast<std::int64_t>(starts.size()) - 1;
  return {SparseRows<T, Index>{values.data(), indices.data(), starts.data(), count, features},
          {nb::cast(values), nb::cast(indices), nb::cast(starts)},
          static_cast<std::int64_t>(values.size()),
          Rows::Bounds::unknown};
}

template <class T, class Index>
void bind_sparse(nb::module_& m) {
  m.def("sparse_rows", &sparse_rows<T, Index>, "values"_a.noconvert(), "indices"_a.noconvert(), "starts"_a.noconvert(),
        "features"_a, "CSR rows. Their starts and columns are looked at when they are first used.");
}

// What f says of the rows, found without the GIL.
template <class F>
auto ask(const Rows& rows, F&& f) {
  const AnyRows& view = rows.view();
  nb::gil_scoped_release release;
  return std::visit(
      [&]<class View>(const View& r) {
        const Opened<View> opened(r);
        return f(*opened);
      },
      view);
}

std::string structure(const Rows& rows) {
  nb::gil_scoped_release release;
  const Structure found = rows.look();
  return found == Structure::sound ? "sound" : found == Structure::unsorted ? "unsorted" : "broken";
}

nb::tuple sorted_columns(const Rows& rows) {
  return std::visit(
      [&]<class View>(const View& r) -> nb::tuple {
        if constexpr (View::sparse) {
          const std::size_t stored = static_cast<std::size_t>(r.starts[r.count] - r.starts[0]);
          std::vector<typename View::Value> values(stored);
          std::vector<std::decay_t<decltype(r.starts[0])>> indices(stored);
          {
            nb::gil_scoped_release release;
            sort_columns(r, values.data(), indices.data());
          }
          return nb::make_tuple(to_vector(std::move(values)), to_vector(std::move(indices)));
        }
        throw nb::type_error("rows: must be sparse");
      },
      rows.view());
}

std::tuple<std::int64_t, std::int64_t> find_unusable(const Rows& rows) {
  const Place place = ask(rows, [](const auto& r) { return first_unusable(r); });
  return {place.row, place.column};
}

// Dense rows that know ‖x‖² of each row; sparse rows, whose norms cost little, stay as they are.
Rows with_squared_norms(const Rows& rows) {
  AnyRows known = rows.view();
  std::vector<nb::object> owners = rows.owners();
  std::visit(
      [&](auto& view) {
        using View = std::decay_t<decltype(view)>;
        if constexpr (!View::sparse) {
          std::vector<typename View::Value> norms(view.count);
          {
            nb::gil_scoped_release release;
            const Opened<View> opened(view);
            for (std::int64_t i = 0; i < view.count; ++i) {
              (*opened).open(i);
              norms[i] = (*opened).squared_norm(i);
            }
          }
          auto held = to_vector(std::move(norms));
          view.squared_norms = held.data();
          owners.push_back(nb::cast(held));
        }
      },
      known);
  return {known, owners};
}

nb::tuple describe_columns(const Rows& rows) {
  if (rows.count() == 0) throw nb::value_error("rows: there must be at least one");
  Columns found = ask(rows, [](const auto& r) { return columns_of(r); });
  return nb::make_tuple(to_vector(std::move(found.mean)), to_vector(std::move(found.deviation)),
                        to_vector(std::move(found.largest)));
}

Vector<double> largest_sizes(const Rows& rows) {
  if (rows.count() == 0) return to_vector(std::vector<double>(rows.features()));
  return to_vector(ask(rows, [](const auto& r) { return largest_of(r); }));
}

Vector<double> squared_norms(const Rows& rows, std::int64_t step) {
  if (step < 1) throw nb::value_error("step: must be at least 1");
  return to_vector(ask(rows, [&](const auto& r) { return squared_norms_of(r, step); }));
}

void multiply_columns(const Rows& rows, const std::optional<Input<std::uint32_t>>& index,
                      const Input<std::int64_t>& columns, const Input<double>& center, const Input<double>& scale,
                      double limit, double share,
                      const nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>& terms) {
  const std::int64_t n = static_cast<std::int64_t>(columns.size());
  check_size(center, n, "center");
  check_size(scale, n, "scale");
  if (!(limit >= 0)) throw nb::value_error("limit: must be at least 0");
  for (std::int64_t j = 0; j < n; ++j)
    if (columns(j) < (j ? columns(j - 1) + 1 : 0) || columns(j) >= rows.features())
      throw nb::value_error("columns: must rise, and be columns of the rows");
  const Order order = to_order(index, rows.count());
  check_size(terms, order.count * count_terms(n), "terms");
  const Multiplication multiplication{n, columns.data(), center.data(), scale.data(), limit, static_cast<float>(share)};
  ask(rows, [&](const auto& r) { multiplication.apply(r, order, terms.data()); });
}

}  // namespace

void bind_rows(nb::module_& m) {
  nb::class_<Rows>(m, "Rows", "Rows of features, dense or sparse: a view of the caller's arrays.")
      .def_prop_ro("count", &Rows::count)
      .def_prop_ro("features", &Rows::features)
      .def_prop_ro("sparse", &Rows::sparse)
      .def_prop_ro("float32", &Rows::float32, "Are they learned in float32? Otherwise in float64.");
  m.def("dense_rows", &dense_rows<float>, "values"_a.noconvert());
  m.def("dense_rows", &dense_rows<double>, "values"_a.noconvert());
  m.def("stored_rows", &stored_rows, "values"_a.noconvert(), nb::kw_only(), "float32"_a, "bfloat16"_a = false,
        "Dense rows that lie in another type than they are learned in, or not in C order: each is brought side by side "
        "and widened when it is looked at.");
  m.def("column_rows", &column_rows, "pieces"_a, nb::kw_only(), "float32"_a,
        "Dense rows whose columns lie apart: pieces of some rows each, every one a list with an array per column.");
  m.def("gathered_rows", &gathered_rows, "rows"_a, "index"_a.none() = nb::none(),
        "The values of the dense rows in index, or of all rows, in the precision in which they are learned from.");
  bind_sparse<float, std::int32_t>(m);
  bind_sparse<float, std::int64_t>(m);
  bind_sparse<double, std::int32_t>(m);
  bind_sparse<double, std::int64_t>(m);
  m.def("structure", &structure, "rows"_a,
        "Are the CSR arrays 'sound', 'unsorted' (columns that do not rise within a row) or 'broken'?");
  m.def("sorted_columns", &sorted_columns, "rows"_a,
        "The values and the columns of sparse rows, each row sorted by column.");
  m.def("with_squared_norms", &with_squared_norms, "rows"_a,
        "The same rows, with the squared norm of each kept if they are dense.");
  m.def("describe_columns", &describe_columns, "rows"_a,
        "The means, the deviations and the largest sizes of the columns of at least one row.");
  m.def("largest_sizes", &largest_sizes, "rows"_a, "The largest size of a value in each column.");
  m.def("squared_norms", &squared_norms, "rows"_a, "step"_a, "The squared norm of every step-th row.");
  m.def("multiply_columns", &multiply_columns, "rows"_a, "index"_a.none(), "columns"_a, "center"_a, "scale"_a,
        "limit"_a, "share"_a, "terms"_a.noconvert(),
        "Write the named columns of the rows in index, or of all rows, standardised and cut off at ±limit, and share "
        "times "
        "the products of any two.");
  m.def("find_unusable", &find_unusable, "rows"_a,
        "Row and column of the first NaN, infinity or value too large to learn from; -1, -1 if there is none.");
}

}  // namespace rosenblatt
