/* The scores of a row of MACRO_NUMBERS numbers; NaN for a missing one. */
static void NAME_scores(const double *row, double *scores) {
  static const double mean[] = {MEANS};
  static const double scale[] = {DEVIATIONS};
  NAME_sum sum;
  uint32_t j;
  NAME_begin(&sum, MACRO_NUMBERS);
  for (j = 0; j < MACRO_NUMBERS; ++j)
    if (row[j] == row[j]) NAME_add(&sum, j, (NAME_scalar)((row[j] - mean[j]) / scale[j]));
  for (j = 0; j < MACRO_NUMBERS; ++j)
    if (row[j] != row[j]) NAME_add(&sum, j + MACRO_NUMBERS, 1);
  NAME_finish(&sum, scores);
}
