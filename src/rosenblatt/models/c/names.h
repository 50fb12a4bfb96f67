/* The column of a name in a namespace ("" if it has none), by the rules of Vowpal Wabbit. */
static uint32_t NAME_hash_name(const char *name, uint32_t seed) {
  uint32_t number = 0;
  const char *p = name;
  for (; *p >= '0' && *p <= '9'; ++p) number = number * 10u + (uint32_t)(*p - '0');
  return *p ? NAME_hash(name, strlen(name), seed) : number + seed;
}
static uint32_t NAME_column(const char *space, const char *name) {
  return NAME_hash_name(name, *space ? NAME_hash_name(space, 0) : 0) & MACRO_MASK;
}
/* The scores of named features; 0 if there is no memory. */
static int NAME_scores_names(const char *const *spaces, const char *const *names, const double *values, size_t count,
                             double *scores) {
  NAME_bag bag = {0, 0, 0, 0};
  size_t p;
  for (p = 0; p < count; ++p)
    if (values[p] != 0) NAME_put(&bag, NAME_column(spaces[p], names[p]), values[p]);
  return NAME_scores_bag(&bag, scores);
}
/* The prediction for named features; FAILED if there is no memory. */
static RESULT NAME_predict_names(const char *const *spaces, const char *const *names, const double *values, size_t count) {
  double scores[MACRO_ROWS];
  return NAME_scores_names(spaces, names, values, count, scores) ? NAME_decide(scores) : FAILED;
}
