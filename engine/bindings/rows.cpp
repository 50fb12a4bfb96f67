// Rows and what is computed from them alone: structure, statistics, products.
#include "arrays.hpp"
#include "stats.hpp"

namespace rosenblatt {

namespace {

template <class T>
using InputTable = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

template <class T>
Rows dense_rows(const InputTable<T>& values) {
  if (values.size() > 0 && values.shape(1) > 1 && values.stride(1) != 1)
    fail("values: the values of a row must lie side by side (C order)");
  const auto count = static_cast<std::int64_t>(values.shape(0)), features = static_cast<std::int64_t>(values.shape(1));
  const std::int64_t stride = count > 1 ? values.stride(0) : features;
  return {DenseRows<T>{values.data(), count, features, stride}};
}

template <class T>
Rows sparse_rows(const Input<T>& values, const Input<std::int32_t>& indices, const Input<std::int64_t>& starts,
                 std::int64_t features) {
  if (starts.size() == 0) fail("starts: must hold one entry more than there are rows");
  if (values.size() != indices.size()) fail("indices: there must be one for each value");
  if (features < 0 || features > std::numeric_limits<std::int32_t>::max())
    fail("features: must be from 0 to 2147483647");
  SparseRows<T> rows{values.data(), indices.data(), starts.data(), static_cast<std::int64_t>(starts.size()) - 1,
                     features};
  nb::gil_scoped_release release;
  const bool sorted = check_structure(rows, static_cast<std::int64_t>(values.size()));
  rows.all_ones = std::all_of(rows.values + rows.starts[0], rows.values + rows.starts[rows.count],
                              [](T value) { return value == 1; });
  return {rows, sorted};
}

// What f says of the rows, computed without the GIL.
template <class F>
auto ask(const Rows& rows, F&& f) {
  nb::gil_scoped_release release;
  return std::visit(f, rows.view);
}

nb::tuple describe_columns(const Rows& rows) {
  if (rows.count() == 0) fail("rows: there must be at least one");
  Columns found = ask(rows, [](const auto& r) { return columns_of(r); });
  return nb::make_tuple(to_vector(std::move(found.mean)), to_vector(std::move(found.deviation)),
                        to_vector(std::move(found.largest)));
}

void multiply_columns(const Rows& rows, const OrderIndex& index, const Input<std::int64_t>& columns,
                      const Input<double>& center, const Input<double>& scale, double limit, double share,
                      const nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>& terms) {
  const std::int64_t n = static_cast<std::int64_t>(columns.size());
  check_size(center, n, "center");
  check_size(scale, n, "scale");
  if (!(limit >= 0)) fail("limit: must be at least 0");
  for (std::int64_t j = 0; j < n; ++j)
    if (columns(j) < (j ? columns(j - 1) + 1 : 0) || columns(j) >= rows.features())
      fail("columns: must rise, and be columns of the rows");
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
      .def_prop_ro("float32", &Rows::float32, "Are they float32? Otherwise float64.")
      .def_ro("sorted", &Rows::sorted, "Do the columns of every row rise? Dense ones do.");
  const auto bind_type = [&]<class T>(T) {
    m.def("dense_rows", &dense_rows<T>, "values"_a.noconvert(), nb::keep_alive<0, 1>(),
          "Rows of a matrix of float32 or float64, row after row.");
    m.def("sparse_rows", &sparse_rows<T>, "values"_a.noconvert(), "indices"_a.noconvert(), "starts"_a.noconvert(),
          "features"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
          "CSR rows of float32 or float64, with int32 columns and int64 starts, which are checked.");
  };
  bind_type(float{});
  bind_type(double{});
  m.def("describe_columns", &describe_columns, "rows"_a,
        "The means, the deviations and the largest sizes of the columns of at least one row.");
  m.def("multiply_columns", &multiply_columns, "rows"_a, "index"_a.none(), "columns"_a, "center"_a, "scale"_a,
        "limit"_a, "share"_a, "terms"_a.noconvert(),
        "Write the given columns of the rows in index, or of all rows, standardized and clipped at ±limit, and share "
        "times the products of any two.");
  m.def(
      "largest_size", [](const Rows& rows) { return ask(rows, [](const auto& r) { return largest_size(r); }); },
      "rows"_a, "The largest size of a value; NaN or infinite if one is.");
}

}  // namespace rosenblatt
