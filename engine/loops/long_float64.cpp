#include "linear.hpp"

template struct rosenblatt::Loops<rosenblatt::SparseRows<double, std::int64_t>>;
