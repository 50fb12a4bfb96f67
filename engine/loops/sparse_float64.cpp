#include "linear.hpp"

template struct rosenblatt::Loops<rosenblatt::SparseRows<double, std::int32_t>>;
