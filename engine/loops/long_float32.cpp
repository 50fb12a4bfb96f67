#include "linear.hpp"

template struct rosenblatt::Loops<rosenblatt::SparseRows<float, std::int64_t>>;
