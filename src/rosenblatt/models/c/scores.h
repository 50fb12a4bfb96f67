/* Sums of weight times value in the order of the engine; columns must rise. */
typedef struct {
  size_t at, count, low;
  NAME_scalar sums[MACRO_ROWS < 4 ? 4 : MACRO_ROWS], rest;
} NAME_sum;
static void NAME_begin(NAME_sum *sum, size_t count) {
  size_t k;
  for (k = 0; k < (MACRO_ROWS < 4 ? 4 : MACRO_ROWS); ++k) sum->sums[k] = 0;
  sum->rest = 0;
  sum->at = sum->low = 0;
  sum->count = count;
}
static void NAME_add(NAME_sum *sum, uint32_t column, NAME_scalar value) {
  const size_t p = sum->at++, end = MACRO_COLUMNS;
  const NAME_scalar *weights;
  size_t low = sum->low, high = end, k;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (NAME_columns[middle] < column) low = middle + 1; else high = middle;
  }
  sum->low = low;
  if (low == end || NAME_columns[low] != column) return;
  weights = NAME_weights + low * MACRO_ROWS;
  if (MACRO_ROWS > 1) {
    for (k = 0; k < MACRO_ROWS; ++k) sum->sums[k] += value * weights[k];
  } else if (p < sum->count - sum->count % 4) {
    sum->sums[p % 4] += value * weights[0];
  } else {
    sum->rest += value * weights[0];
  }
}
static void NAME_finish(const NAME_sum *sum, double *scores) {
  const NAME_scalar *s = sum->sums;
  size_t k;
  if (MACRO_ROWS == 1) {
    scores[0] = (double)(((s[0] + s[1]) + (s[2] + s[3])) + sum->rest) + NAME_intercept[0];
  } else {
    for (k = 0; k < MACRO_ROWS; ++k) scores[k] = (double)s[k] + NAME_intercept[k];
  }
}
