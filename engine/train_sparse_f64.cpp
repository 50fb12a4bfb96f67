#include "loops.hpp"

template struct rosenblatt::Loops<rosenblatt::SparseRows<double>>;
