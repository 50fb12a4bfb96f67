#include "loops.hpp"

template struct rosenblatt::Loops<rosenblatt::DenseRows<double>>;
