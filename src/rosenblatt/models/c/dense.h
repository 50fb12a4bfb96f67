/* The scores of a row of MACRO_NUMBERS numbers. */
static void NAME_scores(const double *row, double *scores) {
  NAME_sum sum;
  uint32_t j;
  NAME_begin(&sum, MACRO_NUMBERS);
  for (j = 0; j < MACRO_NUMBERS; ++j) NAME_add(&sum, j, (NAME_scalar)row[j]);
  NAME_finish(&sum, scores);
}
