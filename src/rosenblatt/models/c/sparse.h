/* A score for each weight row; the columns must rise. */
static void NAME_scores_sparse(const uint32_t *index, const NAME_scalar *value, size_t count, double *scores) {
  NAME_sum sum;
  size_t p;
  NAME_begin(&sum, count);
  for (p = 0; p < count; ++p) NAME_add(&sum, index[p], value[p]);
  NAME_finish(&sum, scores);
}
static RESULT NAME_predict_sparse(const uint32_t *index, const NAME_scalar *value, size_t count) {
  double scores[MACRO_ROWS];
  NAME_scores_sparse(index, value, count, scores);
  return NAME_decide(scores);
}
