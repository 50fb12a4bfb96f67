/* The place of the class that scores stand for. */
static int NAME_decide(const double *scores) {
  int best = 0, k;
  if (MACRO_ROWS == 1) return MACRO_CLASSES > 1 && scores[0] >= 0;
  for (k = 1; k < MACRO_ROWS; ++k)
    if (scores[k] > scores[best]) best = k;
  return best;
}
