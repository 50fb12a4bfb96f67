// Rows and what is computed from them alone: structure, statistics, products, a separating hyperplane.
#include "arrays.hpp"
#include "separate.hpp"
#include "stats.hpp"

namespace rosenblatt {

Structure Rows::check() const {
  return *(structure_ = std::visit(
               [&](auto& r) {
                 if constexpr (std::decay_t<decltype(r)>::sparse) {
                   const Structure found = structure_of(r, stored_);
                   if (found != Structure::broken)
                     r.all_ones = std::all_of(r.values + r.starts[0], r.values + r.starts[r.count],
                                              [](auto value) { return value == 1; });
                   return found;
                 }
                 return Structure::sound;
               },
               view_));
}

namespace {

using AnyTable = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

template <class F>
auto with_float_type(nb::dlpack::dtype dtype, F&& f) {
  if (dtype == nb::dtype<float>()) return f(float{});
  if (dtype == nb::dtype<double>()) return f(double{});
  throw nb::type_error("values: must be float32 or float64");
}

Rows dense_rows(const AnyTable& values) {
  if (values.size() > 0 && values.shape(1) > 1 && values.stride(1) != 1)
    fail("values: the values of a row must lie side by side (C order)");
  const auto count = static_cast<std::int64_t>(values.shape(0)), features = static_cast<std::int64_t>(values.shape(1));
  const std::int64_t stride = count > 1 ? values.stride(0) : features;
  return with_float_type(values.dtype(), [&]<class T>(T) -> Rows {
    return {DenseRows<T>{static_cast<const T*>(values.data()), count, features, stride}, {nb::cast(values)}};
  });
}

// An array of int32 or int64 as one of To, copied if it has the other type; what does not fit becomes -1.
template <class To>
const To* as_integers(const AnyVector& array, std::vector<To>& copy, const char* name) {
  if (array.dtype() == nb::dtype<To>()) return static_cast<const To*>(array.data());
  using From = std::conditional_t<sizeof(To) == 4, std::int64_t, std::int32_t>;
  if (array.dtype() != nb::dtype<From>())
    throw nb::type_error((std::string(name) + ": must be int32 or int64").c_str());
  const auto* from = static_cast<const From*>(array.data());
  copy.resize(array.size());
  for (std::size_t p = 0; p < copy.size(); ++p) {
    const To value = static_cast<To>(from[p]);
    copy[p] = static_cast<From>(value) == from[p] ? value : To(-1);
  }
  return copy.data();
}

Rows sparse_rows(const AnyVector& values, const AnyVector& indices, const AnyVector& starts, std::int64_t features) {
  if (starts.size() == 0) fail("starts: must hold one entry more than there are rows");
  if (values.size() != indices.size()) fail("indices: there must be one for each value");
  if (features < 0 || features > std::numeric_limits<std::int32_t>::max())
    fail("features: must be from 0 to 2147483647");
  auto converted = std::make_shared<std::pair<std::vector<std::int32_t>, std::vector<std::int64_t>>>();
  const std::int32_t* columns = as_integers(indices, converted->first, "indices");
  const std::int64_t* begins = as_integers(starts, converted->second, "starts");
  const auto count = static_cast<std::int64_t>(starts.size()) - 1;
  return with_float_type(values.dtype(), [&]<class T>(T) -> Rows {
    return {SparseRows<T>{static_cast<const T*>(values.data()), columns, begins, count, features},
            {nb::cast(values), nb::cast(indices), nb::cast(starts)},
            converted,
            static_cast<std::int64_t>(values.size())};
  });
}

// What f says of the rows, computed without the GIL.
template <class F>
auto ask(const Rows& rows, F&& f) {
  const AnyRows& view = rows.view();
  nb::gil_scoped_release release;
  return std::visit(f, view);
}

std::string structure(const Rows& rows) {
  nb::gil_scoped_release release;
  const Structure found = rows.check();
  return found == Structure::sound ? "sound" : found == Structure::unsorted ? "unsorted" : "broken";
}

nb::tuple sorted_columns(const Rows& rows) {
  return std::visit(
      [&]<class View>(const View& r) -> nb::tuple {
        if constexpr (View::sparse) {
          const std::size_t stored = static_cast<std::size_t>(r.starts[r.count] - r.starts[0]);
          std::vector<typename View::Value> values(stored);
          std::vector<std::int32_t> columns(stored);
          {
            nb::gil_scoped_release release;
            sort_columns(r, values.data(), columns.data());
          }
          return nb::make_tuple(to_vector(std::move(values)), to_vector(std::move(columns)));
        }
        throw nb::type_error("rows: must be sparse");
      },
      rows.view());
}

double largest_value_of(const Rows& rows) {
  return ask(rows, [](const auto& r) { return largest_size(r); });
}

std::tuple<std::int64_t, std::int64_t> find_unusable(const Rows& rows) {
  const Place place = ask(rows, [](const auto& r) {
    return largest_size(r) <= static_cast<double>(largest_value<typename std::decay_t<decltype(r)>::Value>)
               ? Place{}
               : first_unusable(r);
  });
  return {place.row, place.column};
}

// Dense rows that know ‖x‖² of each row; sparse rows, whose norms cost little, stay as they are.
Rows with_squared_norms(const Rows& rows) {
  AnyRows known = rows.view();
  std::vector<nb::object> owners = {nb::find(rows)};
  std::visit(
      [&](auto& view) {
        using View = std::decay_t<decltype(view)>;
        if constexpr (!View::sparse) {
          std::vector<typename View::Value> norms(view.count);
          for (std::int64_t i = 0; i < view.count; ++i) norms[i] = view.squared_norm(i);
          auto held = to_vector(std::move(norms));
          view.squared_norms = held.data();
          owners.push_back(nb::cast(held));
        }
      },
      known);
  return {known, std::move(owners)};
}

nb::tuple describe_columns(const Rows& rows) {
  if (rows.count() == 0) fail("rows: there must be at least one");
  Columns found = ask(rows, [](const auto& r) { return columns_of(r); });
  return nb::make_tuple(to_vector(std::move(found.mean)), to_vector(std::move(found.deviation)),
                        to_vector(std::move(found.largest)));
}

Vector<double> largest_sizes(const Rows& rows) {
  if (rows.count() == 0) return to_vector(std::vector<double>(rows.features()));
  return to_vector(ask(rows, [](const auto& r) { return largest_of(r); }));
}

Vector<double> squared_norms(const Rows& rows, std::int64_t step) {
  if (step < 1) fail("step: must be at least 1");
  return to_vector(ask(rows, [&](const auto& r) { return squared_norms_of(r, step); }));
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

std::tuple<bool, std::int64_t, std::int64_t, std::int64_t, std::int64_t> separate_rows(
    const Rows& rows, Input<std::int8_t> signs, const AnyArray& weights, Array<double> intercept, bool fit_intercept,
    std::int64_t max_updates) {
  check_size(signs, rows.count(), "signs");
  check_size(intercept, 1, "intercept");
  Separation found;
  std::visit(
      [&](const auto& view) {
        using T = typename std::decay_t<decltype(view)>::Value;
        floats<T>(weights, view.features, "weights");
        Interrupt().run([&](StopToken& stop) {
          found = separate(view, signs.data(), static_cast<T*>(weights.data()), *intercept.data(), fit_intercept,
                           max_updates, stop);
        });
      },
      rows.view());
  return {found.converged, found.updates, found.passes, found.visits, found.support};
}

}  // namespace

void bind_rows(nb::module_& m) {
  nb::class_<Rows>(m, "Rows", "Rows of features, dense or sparse: a view of the caller's arrays.")
      .def_prop_ro("count", &Rows::count)
      .def_prop_ro("features", &Rows::features)
      .def_prop_ro("sparse", &Rows::sparse)
      .def_prop_ro("float32", &Rows::float32, "Are they float32? Otherwise float64.");
  m.def("dense_rows", &dense_rows, "values"_a.noconvert());
  m.def("sparse_rows", &sparse_rows, "values"_a.noconvert(), "indices"_a.noconvert(), "starts"_a.noconvert(),
        "features"_a,
        "CSR rows. Columns are kept as int32 and starts as int64; the other type is converted. They are checked when "
        "they are first used.");
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
        "Write the given columns of the rows in index, or of all rows, standardized and clipped at ±limit, and share "
        "times the products of any two.");
  m.def("largest_size", &largest_value_of, "rows"_a, "The largest size of a value; NaN or infinite if one is.");
  m.def("find_unusable", &find_unusable, "rows"_a,
        "Row and column of the first NaN, infinity or value too large to learn from; -1, -1 if there is none.");
  m.def("separate", &separate_rows, "rows"_a, "signs"_a.noconvert(), nb::kw_only(), "weights"_a.noconvert(),
        "intercept"_a.noconvert(), "fit_intercept"_a, "max_updates"_a,
        "Move the weights until they separate the rows: (converged, updates, passes, visits, support).");
}

}  // namespace rosenblatt
