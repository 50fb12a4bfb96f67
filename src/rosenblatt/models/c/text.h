/* The features of a text, from column `base` on: the root of how often each occurs, scaled to length 1. */
static void NAME_put_text_of(NAME_bag *bag, const char *text, size_t length, uint32_t seed, uint32_t base) {
  NAME_bag found = {0, 0, 0, 0};
  unsigned char *lower = (unsigned char *)malloc(length + 1);
  size_t at = 0, begin, gap, p, q;
  uint32_t last = 0;
  int any = 0;
  double squares = 0;
  if (!lower) { bag->failed = 1; return; }
  for (p = 0; p < length; ++p) {
    const unsigned char c = (unsigned char)text[p];
    lower[p] = c >= 'A' && c <= 'Z' ? (unsigned char)(c + ('a' - 'A')) : c;
  }
  while (at < length) {
    gap = NAME_separator(lower, at, length);
    if (gap) { at += gap; continue; }
    begin = at;
    while (at < length && !NAME_separator(lower, at, length)) ++at;
    NAME_put_word(&found, (const char *)lower + begin, at - begin, seed, &last, &any);
  }
  if (found.count) qsort(found.held, found.count, sizeof(NAME_feature), NAME_compare);
  squares = (double)found.count;
  for (p = 0; p < found.count; p = q) {
    for (q = p; q < found.count && found.held[q].column == found.held[p].column; ++q) {}
    NAME_put(bag, base + found.held[p].column, sqrt((double)(q - p)) / sqrt(squares));
  }
  bag->failed |= found.failed;
  free(found.held);
  free(lower);
}
/* The scores of a text of `length` bytes in UTF-8; 0 if there is no memory. */
static int NAME_scores_text(const char *text, size_t length, double *scores) {
  NAME_bag bag = {0, 0, 0, 0};
  NAME_put_text_of(&bag, text, length, 0, 0);
  return NAME_scores_bag(&bag, scores);
}
/* The prediction for a text; FAILED if there is no memory. */
static RESULT NAME_predict_text(const char *text, size_t length) {
  double scores[MACRO_ROWS];
  return NAME_scores_text(text, length, scores) ? NAME_decide(scores) : FAILED;
}
