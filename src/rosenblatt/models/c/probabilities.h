/* Curve k: a sigmoid of slope NAME_slopes[k], points from NAME_starts[k] to NAME_starts[k + 1], or the mean of both. */
static const int NAME_has_sigmoid[] = {HAS_SIGMOID};
static const double NAME_slopes[] = {SLOPES}, NAME_offsets[] = {OFFSETS};
static const size_t NAME_starts[] = {STARTS};
static const double NAME_points[] = {POINTS}, NAME_levels[] = {LEVELS};
static double NAME_curve(size_t k, double score) {
  const size_t begin = NAME_starts[k], end = NAME_starts[k + 1];
  const double *x = NAME_points, *y = NAME_levels;
  double total = 0;
  size_t at = begin;
  if (NAME_has_sigmoid[k]) total = 1 / (1 + exp(-(NAME_slopes[k] * score + NAME_offsets[k])));
  if (begin == end) return total;
  while (at + 1 < end && x[at + 1] <= score) ++at;
  if (score < x[begin] || at + 1 == end) {
    total += y[at];
  } else {
    total += y[at] + (score - x[at]) * ((y[at + 1] - y[at]) / (x[at + 1] - x[at]));
  }
  return NAME_has_sigmoid[k] ? total / 2 : total;
}
/* The probability of each class, from the scores. */
static void NAME_probabilities(const double *scores, double *probabilities) {
  double total = 0;
  int k, j;
  if (MACRO_ROWS == 1) {
    probabilities[MACRO_CLASSES - 1] = MACRO_CLASSES == 1 ? 1 : NAME_curve(0, scores[0]);
    if (MACRO_CLASSES > 1) probabilities[0] = 1 - probabilities[MACRO_CLASSES - 1];
    return;
  }
  for (k = 0; k < MACRO_ROWS; ++k) {
    double other = -HUGE_VAL;
    for (j = 0; j < MACRO_ROWS; ++j)
      if (j != k && scores[j] > other) other = scores[j];
    total += probabilities[k] = NAME_curve((size_t)k, scores[k] - other);
  }
  for (k = 0; k < MACRO_ROWS; ++k) probabilities[k] = total > 0 ? probabilities[k] / total : 1.0 / MACRO_ROWS;
}
