/* Standardized columns; their products are made one by one, so that they need no memory. Columns must rise. */
static const double NAME_center[] = {CENTERS}, NAME_scale[] = {SCALES};
typedef struct {
  size_t low;
  float z[MACRO_COLUMNS];
} NAME_sum;
static float NAME_standardize(size_t j, double x) {
  x = (x - NAME_center[j]) / NAME_scale[j];
  return (float)(x < -FARTHEST ? -FARTHEST : x > FARTHEST ? FARTHEST : x);
}
static void NAME_begin(NAME_sum *sum, size_t count) {
  size_t j;
  (void)count;
  for (j = 0; j < MACRO_COLUMNS; ++j) sum->z[j] = NAME_standardize(j, 0);
  sum->low = 0;
}
static void NAME_add(NAME_sum *sum, uint32_t column, NAME_scalar value) {
  while (sum->low < MACRO_COLUMNS && NAME_columns[sum->low] < column) ++sum->low;
  if (sum->low < MACRO_COLUMNS && NAME_columns[sum->low] == column)
    sum->z[sum->low] = NAME_standardize(sum->low, value);
}
/* The next term: the columns, then the products, row by row of the upper triangle. */
static NAME_weight NAME_term(const NAME_sum *sum, size_t t, size_t *j, size_t *k) {
  float product;
  if (t < MACRO_COLUMNS) return sum->z[t];
  product = SHARE * sum->z[*j];
  product = product * sum->z[*k];
  if (*j == *k) product -= SHARE;
  if (++*k == MACRO_COLUMNS) *k = ++*j;
  return product;
}
static void NAME_finish(const NAME_sum *sum, double *scores) {
  const size_t blocks = BLOCKS_END, lanes = LANES_END, halves = HALVES_END;
  size_t row, s, l;
  for (row = 0; row < MACRO_ROWS; ++row) {
    const NAME_weight *w = NAME_weights + row * TERMS;
    NAME_weight sums[4][LANES] = {{0}}, half[LANES / 2], rest = 0;
    size_t t = 0, j = 0, k = 0;
    for (; t < blocks; ++t) sums[t / LANES % 4][t % LANES] += NAME_term(sum, t, &j, &k) * w[t];
    for (; t < lanes; ++t) sums[(t - blocks) / LANES][t % LANES] += NAME_term(sum, t, &j, &k) * w[t];
    for (l = 0; l < LANES; ++l) sums[0][l] = (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
    for (l = 0; l < LANES / 2; ++l) half[l] = sums[0][l] + sums[0][l + LANES / 2];
    for (; t < halves; ++t) half[t - lanes] += NAME_term(sum, t, &j, &k) * w[t];
    for (; t < TERMS; ++t) rest += NAME_term(sum, t, &j, &k) * w[t];
    for (s = LANES / 4; s > 0; s /= 2)
      for (l = 0; l < s; ++l) half[l] += half[l + s];
    scores[row] = (double)(half[0] + rest) + NAME_intercept[row];
  }
}
