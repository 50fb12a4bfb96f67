/* Sums of weight times value in the order of the engine; columns must rise. */
typedef struct {
  size_t at, count, low;
  NAME_scalar sums[MACRO_ROWS < 5 ? 5 : MACRO_ROWS];
} NAME_sum;
MACRO_STATIC void NAME_add(NAME_sum *sum, uint32_t column, NAME_scalar value) {
  const size_t p = sum->at++, end = MACRO_COLUMNS;
  size_t low = sum->low, high = end;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (NAME_columns[middle] < column) low = middle + 1; else high = middle;
  }
  sum->low = low;
  if (low == end || NAME_columns[low] != column) return;
  const NAME_scalar *weights = NAME_weights + low * MACRO_ROWS;
  if (MACRO_ROWS == 1) {
    sum->sums[p < sum->count - sum->count % 4 ? p % 4 : 4] += value * weights[0];
  } else {
    for (size_t k = 0; k < MACRO_ROWS; ++k) sum->sums[k] += value * weights[k];
  }
}
MACRO_STATIC void NAME_finish(const NAME_sum *sum, double *scores) {
  const NAME_scalar *s = sum->sums;
  if (MACRO_ROWS == 1) {
    scores[0] = (double)(((s[0] + s[1]) + (s[2] + s[3])) + s[4]) + NAME_intercept[0];
  } else {
    for (size_t k = 0; k < MACRO_ROWS; ++k) scores[k] = (double)s[k] + NAME_intercept[k];
  }
}

/* The place in NAME_classes of the class that scores stand for; without classes, the score is the number. */
typedef MACRO_RESULT NAME_result;
MACRO_STATIC NAME_result NAME_decide(const double *scores) {
  int best = 0;
  if (MACRO_CLASSES == 0) return (NAME_result)scores[0];
  if (MACRO_ROWS == 1) return MACRO_CLASSES > 1 && scores[0] >= 0;
  for (int k = 1; k < MACRO_ROWS; ++k)
    if (scores[k] > scores[best]) best = k;
  return best;
}

/* A score for each weight row; the columns must rise. */
MACRO_STATIC void NAME_scores_sparse(const uint32_t *index, const NAME_scalar *value, size_t count, double *scores) {
  NAME_sum sum = {0, count, 0, {0}};
  for (size_t p = 0; p < count; ++p) NAME_add(&sum, index[p], value[p]);
  NAME_finish(&sum, scores);
}
MACRO_STATIC NAME_result NAME_predict_sparse(const uint32_t *index, const NAME_scalar *value, size_t count) {
  double scores[MACRO_ROWS];
  NAME_scores_sparse(index, value, count, scores);
  return NAME_decide(scores);
}

#ifdef MACRO_NUMBERS
/* The scores of a row of MACRO_NUMBERS numbers; in a table, NaN for a missing one. */
MACRO_STATIC void NAME_scores(const double *row, double *scores) {
  NAME_sum sum = {0, MACRO_NUMBERS, 0, {0}};
#ifdef MACRO_TABLE
  for (uint32_t j = 0; j < MACRO_NUMBERS; ++j)
    if (row[j] == row[j]) NAME_add(&sum, j, (NAME_scalar)((row[j] - NAME_means[j]) / NAME_scales[j]));
  for (uint32_t j = 0; j < MACRO_NUMBERS; ++j)
    if (row[j] != row[j]) NAME_add(&sum, j + MACRO_NUMBERS, 1);
#else
  for (uint32_t j = 0; j < MACRO_NUMBERS; ++j) NAME_add(&sum, j, (NAME_scalar)row[j]);
#endif
  NAME_finish(&sum, scores);
}
MACRO_STATIC NAME_result NAME_predict(const double *row) {
  double scores[MACRO_ROWS];
  NAME_scores(row, scores);
  return NAME_decide(scores);
}
#endif

#ifdef MACRO_MASK
/* MurmurHash3, 32 bits. */
MACRO_STATIC uint32_t NAME_hash(const char *data, size_t length, uint32_t seed) {
  uint32_t h = seed, k;
  size_t at = 0;
  for (; at + 4 <= length; at += 4) {
    k = (uint32_t)(unsigned char)data[at] | (uint32_t)(unsigned char)data[at + 1] << 8 |
        (uint32_t)(unsigned char)data[at + 2] << 16 | (uint32_t)(unsigned char)data[at + 3] << 24;
    k *= 0xcc9e2d51u; k = k << 15 | k >> 17; k *= 0x1b873593u;
    h ^= k; h = h << 13 | h >> 19; h = h * 5 + 0xe6546b64u;
  }
  k = 0;
  for (size_t left = length - at; left > 0; --left) k = k << 8 | (unsigned char)data[at + left - 1];
  if (at < length) { k *= 0xcc9e2d51u; k = k << 15 | k >> 17; k *= 0x1b873593u; h ^= k; }
  h ^= (uint32_t)length;
  h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}
/* Features in the order in which they come, with memory that grows. */
typedef struct { uint32_t column; uint32_t order; double value; } NAME_feature;
typedef struct { NAME_feature *held; size_t count, room; int failed; } NAME_bag;
MACRO_STATIC void NAME_put(NAME_bag *bag, uint32_t hash, double value) {
  if (bag->count == bag->room) {
    const size_t room = bag->room ? 2 * bag->room : 64;
    NAME_feature *grown = (NAME_feature *)realloc(bag->held, room * sizeof(NAME_feature));
    if (!grown) { bag->failed = 1; return; }
    bag->held = grown;
    bag->room = room;
  }
  bag->held[bag->count].column = hash & MACRO_MASK;
  bag->held[bag->count].order = (uint32_t)bag->count;
  bag->held[bag->count++].value = value;
}
MACRO_STATIC int NAME_compare(const void *a, const void *b) {
  const NAME_feature *x = (const NAME_feature *)a, *y = (const NAME_feature *)b;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}
/* The scores of the features in the bag, equal columns added up; 0 if there was no memory. The bag is freed. */
MACRO_STATIC int NAME_scores_bag(NAME_bag *bag, double *scores) {
  NAME_feature *held = bag->held;
  size_t at = 0;
  if (bag->count) qsort(held, bag->count, sizeof(NAME_feature), NAME_compare);
  for (size_t p = 0; p < bag->count; ++p) {
    if (at && held[at - 1].column == held[p].column) {
      held[at - 1].value = (NAME_scalar)(held[at - 1].value + held[p].value);
    } else {
      held[at].column = held[p].column;
      held[at++].value = (NAME_scalar)held[p].value;
    }
  }
  NAME_sum sum = {0, at, 0, {0}};
  for (size_t p = 0; p < at; ++p) {
#ifdef MACRO_TEXT /* the root of how often each occurs, scaled to length 1 */
    held[p].value = sqrt(held[p].value) / sqrt((double)bag->count);
#endif
    NAME_add(&sum, held[p].column, (NAME_scalar)held[p].value);
  }
  NAME_finish(&sum, scores);
  free(held);
  return !bag->failed;
}
#endif

#ifdef MACRO_VW
/* The hash of a name in a namespace ("" if it has none), by the rules of Vowpal Wabbit. */
MACRO_STATIC uint32_t NAME_hash_name(const char *name, uint32_t seed) {
  uint32_t number = 0;
  const char *p = name;
  for (; *p >= '0' && *p <= '9'; ++p) number = number * 10u + (uint32_t)(*p - '0');
  return *p ? NAME_hash(name, strlen(name), seed) : number + seed;
}
/* The scores of named features; 0 if there is no memory. */
MACRO_STATIC int NAME_scores_names(const char *const *spaces, const char *const *names, const double *values,
                                   size_t count, double *scores) {
  NAME_bag bag = {0, 0, 0, 0};
  for (size_t p = 0; p < count; ++p)
    if (values[p] != 0)
      NAME_put(&bag, NAME_hash_name(names[p], *spaces[p] ? NAME_hash_name(spaces[p], 0) : 0), values[p]);
  return NAME_scores_bag(&bag, scores);
}
/* The prediction for named features; MACRO_FAILED if there is no memory. */
MACRO_STATIC NAME_result NAME_predict_names(const char *const *spaces, const char *const *names, const double *values,
                                            size_t count) {
  double scores[MACRO_ROWS];
  return NAME_scores_names(spaces, names, values, count, scores) ? NAME_decide(scores) : MACRO_FAILED;
}
#endif

#ifdef MACRO_TEXT
/* The length of the separator at `at`; 0 if a word goes on there. The text is in lower case. */
MACRO_STATIC size_t NAME_separator(const unsigned char *text, size_t at, size_t length) {
  const unsigned char c = text[at];
  if (c < 0x80) return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
  if (c == 0xc2 && at + 1 < length) return 2;
  if (c != 0xe2 || at + 2 >= length) return 0;
  if (text[at + 1] == 0x80 || (text[at + 1] == 0x81 && text[at + 2] <= 0xaf)) return 3;
  return 0;
}
/* A text in lower case, by the small letter of each character from U+0080 to U+07FF; the letters keep their places. */
MACRO_STATIC void NAME_to_lower(const char *text, size_t length, unsigned char *lower) {
  for (size_t p = 0; p < length; ++p) {
    const unsigned char c = (unsigned char)text[p];
    lower[p] = c >= 'A' && c <= 'Z' ? (unsigned char)(c + ('a' - 'A')) : c;
    if (!p || lower[p - 1] < 0xc3 || lower[p - 1] > 0xd6 || (c & 0xc0) != 0x80) continue;
    const int code = NAME_small[((lower[p - 1] & 0x1f) << 6 | (c & 0x3f)) - 0x80];
    lower[p - 1] = (unsigned char)(0xc0 | code >> 6);
    lower[p] = (unsigned char)(0x80 | (code & 0x3f));
  }
}
/* Runs of 3 to 5 characters of a word, with the spaces at its ends. */
MACRO_STATIC void NAME_put_runs(NAME_bag *bag, const unsigned char *word, size_t length) {
  for (size_t from = 0; from < length; ++from) {
    if ((word[from] & 0xc0) == 0x80) continue;
    for (size_t n = 1, to = from; n <= 5 && to < length; ++n) {
      do ++to; while (to < length && (word[to] & 0xc0) == 0x80);
      if (n >= 3) NAME_put(bag, NAME_hash((const char *)word + from, to - from, 0), 1.0);
    }
  }
}
MACRO_STATIC uint32_t NAME_join(uint32_t first, uint32_t second) {
  uint32_t h = first * 0x9e3779b1u + second;
  h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}
/* What a text in lower case is made of: words, words and pairs of neighbors, or runs of characters.
   There is room for a space before and after the text; the spaces at the ends of a word replace its separators. */
MACRO_STATIC void NAME_put_words(NAME_bag *bag, unsigned char *text, size_t length) {
  size_t at = 0;
  uint32_t last = 0;
  int any = 0;
  while (at < length) {
    size_t gap = NAME_separator(text, at, length);
    if (gap) { at += gap; continue; }
    const size_t begin = at;
    while (at < length && !(gap = NAME_separator(text, at, length))) ++at;
    if (MACRO_RUNS) {
      unsigned char *word = text + begin;
      word[-1] = text[at] = ' ';
      NAME_put_runs(bag, word - 1, at - begin + 2);
      at += gap;
      continue;
    }
    const uint32_t hash = NAME_hash((const char *)text + begin, at - begin, 0);
    NAME_put(bag, hash, 1.0);
    if (MACRO_PAIRS && any) NAME_put(bag, NAME_join(last, hash), 1.0);
    last = hash;
    any = 1;
  }
}
/* The scores of a text of `length` bytes in UTF-8; 0 if there is no memory. */
MACRO_STATIC int NAME_scores_text(const char *text, size_t length, double *scores) {
  NAME_bag bag = {0, 0, 0, 0};
  unsigned char *lower = (unsigned char *)malloc(length + 2);
  if (!lower) return 0;
  NAME_to_lower(text, length, lower + 1);
  NAME_put_words(&bag, lower + 1, length);
  free(lower);
  return NAME_scores_bag(&bag, scores);
}
/* The prediction for a text; MACRO_FAILED if there is no memory. */
MACRO_STATIC NAME_result NAME_predict_text(const char *text, size_t length) {
  double scores[MACRO_ROWS];
  return NAME_scores_text(text, length, scores) ? NAME_decide(scores) : MACRO_FAILED;
}
#endif

#ifdef MACRO_PROBABILITIES
/* Curve k: a sigmoid of slope NAME_slopes[k], points from NAME_starts[k] to NAME_starts[k + 1], or the mean of both. */
MACRO_STATIC double NAME_curve(size_t k, double score) {
  const size_t begin = NAME_starts[k], end = NAME_starts[k + 1];
  const double *x = NAME_points, *y = NAME_levels;
  double total = 0, level;
  size_t at = begin;
  if (NAME_has_sigmoid[k]) total = 1 / (1 + exp(-(NAME_slopes[k] * score + NAME_offsets[k])));
  if (begin == end) return total;
  while (at + 1 < end && x[at + 1] <= score) ++at;
  level = y[at];
  if (score >= x[begin] && at + 1 < end) level += (score - x[at]) * ((y[at + 1] - y[at]) / (x[at + 1] - x[at]));
  return NAME_has_sigmoid[k] ? (total + level) / 2 : level;
}
/* The probability of each class, from the scores. */
MACRO_STATIC void NAME_probabilities(const double *scores, double *probabilities) {
  double total = 0;
  if (MACRO_ROWS == 1) {
    probabilities[MACRO_CLASSES - 1] = MACRO_CLASSES == 1 ? 1 : NAME_curve(0, scores[0]);
    if (MACRO_CLASSES > 1) probabilities[0] = 1 - probabilities[MACRO_CLASSES - 1];
    return;
  }
  for (int k = 0; k < MACRO_ROWS; ++k) {
    double other = -HUGE_VAL;
    for (int j = 0; j < MACRO_ROWS; ++j)
      if (j != k && scores[j] > other) other = scores[j];
    total += probabilities[k] = NAME_curve((size_t)k, scores[k] - other);
  }
  for (int k = 0; k < MACRO_ROWS; ++k) probabilities[k] = total > 0 ? probabilities[k] / total : 1.0 / MACRO_ROWS;
}
#endif
