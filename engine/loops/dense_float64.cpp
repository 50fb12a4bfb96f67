#include "linear.hpp"

template struct rosenblatt::Loops<rosenblatt::DenseRows<double>>;
