static RESULT NAME_predict(const double *row) {
  double scores[MACRO_ROWS];
  NAME_scores(row, scores);
  return NAME_decide(scores);
}
