"""The part of a C header that takes names and words: the hash, words of a text, and cells of a table.

Invariant: the columns and values are those of the engine, to the bit, so that the scores are too.
"""

from __future__ import annotations

from typing import Any

from rosenblatt.encode.lines import LineEncoder
from rosenblatt.models.export_interactions import c_interactions
from rosenblatt.models.model import Model

_DATE_PARTS = ("year", "month", "day_of_week", "hour")


def c_string(text: Any) -> str:
    """A string of C: every byte as an octal escape, so that no byte means anything to a compiler.

    >>> print(c_string("a?"))
    "\\141\\077"
    """
    return '"' + "".join(f"\\{byte:03o}" for byte in str(text).encode("utf-8", "replace")) + '"'


def c_names(model: Model, name: str) -> str:
    """The functions that take names, texts or cells; nothing for a model that hashes none."""
    encoder = model.encoder
    if encoder is None or not encoder.hashed:
        return ""
    upper = name.upper()
    parts = [f"#define {upper}_MASK {(1 << encoder.bits) - 1}u", _BAG]
    if isinstance(encoder, LineEncoder) and encoder.format == "vw":
        parts += [_VW, c_interactions(encoder.interactions)] if encoder.interactions else [_VW]
        multiply = "  NAME_multiply(&bag, spaces, names, values, count);\n" if encoder.interactions else ""
        parts.append(_PREDICT_NAMES.replace("  MULTIPLY\n", multiply))
    else:
        parts += [_WORDS[encoder.grams], _TEXT]
        parts.append(_PREDICT_TEXT if isinstance(encoder, LineEncoder) else _cells(encoder, upper))
    code = "\n".join(parts)
    return code.replace("NAME", name).replace("MASK_OF", f"{upper}_MASK").replace("ROWS_OF", f"{upper}_ROWS")


def _cells(encoder: Any, upper: str) -> str:
    """A function that takes a row of a table: its numbers, and its other cells as strings."""
    from rosenblatt.encode.table import seed_of

    numbers, used = encoder.numbers, encoder.used
    put = []
    for place, column in enumerate(used):
        missing = f"NAME_put(&bag, {len(numbers) + place}u, 1.0);"
        if column.kind == "number":
            j = numbers.index(column)
            put.append(
                f"  if (numbers[{j}] == numbers[{j}]) "
                f"NAME_put(&bag, {j}u, (numbers[{j}] - {column.mean!r}) / {column.scale!r}); else {missing}"
            )
    cells: list[str] = []
    for place, column in enumerate(used):
        missing = f"NAME_put(&bag, {len(numbers) + place}u, 1.0);"
        at = len(cells)
        if column.kind == "date":
            cells += [f"{column.name}.{part}" for part in _DATE_PARTS]
            each = " ".join(
                f"NAME_put_cell(&bag, cells[{at + k}], {seed_of(f'{column.name}.{part}')}u, {encoder.base}u);"
                for k, part in enumerate(_DATE_PARTS)
            )
            put.append(f"  if (cells[{at}]) {{ {each} }} else {missing}")
        elif column.kind in ("category", "text"):
            cells.append(column.name)
            kind = "text" if column.kind == "text" else "cell"
            put.append(
                f"  if (cells[{at}]) NAME_put_{kind}(&bag, cells[{at}], {seed_of(column.name)}u, {encoder.base}u); "
                f"else {missing}"
            )
    number_names = ", ".join(c_string(column.name) for column in numbers) or "0"
    cell_names = ", ".join(c_string(cell) for cell in cells) or "0"
    return (
        f"#define {upper}_NUMBERS {len(numbers)}\n#define {upper}_CELLS {len(cells)}\n"
        f"static const char *const NAME_number_names[] = {{{number_names}}};\n"
        f"static const char *const NAME_cell_names[] = {{{cell_names}}};\n"
        "/* The scores of a row: numbers (NaN where one is missing) and other cells (a null pointer where one is "
        "missing), in the order of NAME_number_names and NAME_cell_names. */\n"
        "static int NAME_scores_row(const double *numbers, const char *const *cells, double *scores) {\n"
        "  NAME_bag bag = {0, 0, 0, 0};\n"
        "  (void)numbers; (void)cells;\n" + "\n".join(put) + "\n  return NAME_scores_bag(&bag, scores);\n}\n"
        "/* The place of the class of a row; -1 if there is no memory. */\n"
        "static int NAME_predict_row(const double *numbers, const char *const *cells) {\n"
        "  double scores[ROWS_OF];\n"
        "  return NAME_scores_row(numbers, cells, scores) ? NAME_decide(scores) : -1;\n}"
    )


_BAG = """\
#include <math.h>
#include <stdlib.h>
#include <string.h>
/* MurmurHash3, 32 bits. */
static uint32_t NAME_hash(const char *data, size_t length, uint32_t seed) {
  uint32_t h = seed, k;
  size_t at = 0, left;
  for (; at + 4 <= length; at += 4) {
    k = (uint32_t)(unsigned char)data[at] | (uint32_t)(unsigned char)data[at + 1] << 8 |
        (uint32_t)(unsigned char)data[at + 2] << 16 | (uint32_t)(unsigned char)data[at + 3] << 24;
    k *= 0xcc9e2d51u; k = k << 15 | k >> 17; k *= 0x1b873593u;
    h ^= k; h = h << 13 | h >> 19; h = h * 5 + 0xe6546b64u;
  }
  k = 0;
  for (left = length - at; left > 0; --left) k = k << 8 | (unsigned char)data[at + left - 1];
  if (at < length) { k *= 0xcc9e2d51u; k = k << 15 | k >> 17; k *= 0x1b873593u; h ^= k; }
  h ^= (uint32_t)length;
  h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}
/* Features in the order in which they come, with memory that grows. */
typedef struct { uint32_t column; uint32_t order; double value; } NAME_feature;
typedef struct { NAME_feature *held; size_t count, room; int failed; } NAME_bag;
static void NAME_put(NAME_bag *bag, uint32_t column, double value) {
  if (bag->count == bag->room) {
    const size_t room = bag->room ? 2 * bag->room : 64;
    NAME_feature *grown = (NAME_feature *)realloc(bag->held, room * sizeof(NAME_feature));
    if (!grown) { bag->failed = 1; return; }
    bag->held = grown;
    bag->room = room;
  }
  bag->held[bag->count].column = column;
  bag->held[bag->count].order = (uint32_t)bag->count;
  bag->held[bag->count++].value = value;
}
static int NAME_compare(const void *a, const void *b) {
  const NAME_feature *x = (const NAME_feature *)a, *y = (const NAME_feature *)b;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}
/* The scores of what is in the bag, equal columns added up; 0 if there was no memory. The bag is empty then. */
static int NAME_scores_bag(NAME_bag *bag, double *scores) {
  uint32_t *index = (uint32_t *)malloc((bag->count + 1) * sizeof(uint32_t));
  NAME_scalar *value = (NAME_scalar *)malloc((bag->count + 1) * sizeof(NAME_scalar));
  const int good = index && value && !bag->failed;
  size_t p, at = 0;
  if (good) {
    if (bag->count) qsort(bag->held, bag->count, sizeof(NAME_feature), NAME_compare);
    for (p = 0; p < bag->count; ++p) {
      if (at && index[at - 1] == bag->held[p].column) {
        value[at - 1] = (NAME_scalar)(value[at - 1] + bag->held[p].value);
      } else {
        index[at] = bag->held[p].column;
        value[at++] = (NAME_scalar)bag->held[p].value;
      }
    }
    NAME_scores_sparse(index, value, at, scores);
  }
  free(index);
  free(value);
  free(bag->held);
  memset(bag, 0, sizeof(*bag));
  return good;
}"""

_VW = """\
/* The column of a name in a namespace ("" if it has none), by the rules of Vowpal Wabbit. */
static uint32_t NAME_hash_name(const char *name, uint32_t seed) {
  uint32_t number = 0;
  const char *p = name;
  for (; *p >= '0' && *p <= '9'; ++p) number = number * 10u + (uint32_t)(*p - '0');
  return *p ? NAME_hash(name, strlen(name), seed) : number + seed;
}
static uint32_t NAME_column(const char *space, const char *name) {
  return NAME_hash_name(name, *space ? NAME_hash_name(space, 0) : 0) & MASK_OF;
}"""

_PREDICT_NAMES = """\
/* The scores of named features; 0 if there is no memory. */
static int NAME_scores_names(const char *const *spaces, const char *const *names, const double *values, size_t count,
                             double *scores) {
  NAME_bag bag = {0, 0, 0, 0};
  size_t p;
  for (p = 0; p < count; ++p)
    if (values[p] != 0) NAME_put(&bag, NAME_column(spaces[p], names[p]), values[p]);
  MULTIPLY
  return NAME_scores_bag(&bag, scores);
}
/* The place of the class of named features; -1 if there is no memory. */
static int NAME_predict_names(const char *const *spaces, const char *const *names, const double *values, size_t count) {
  double scores[ROWS_OF];
  return NAME_scores_names(spaces, names, values, count, scores) ? NAME_decide(scores) : -1;
}"""

_SEPARATOR = """\
/* The length of the separator at `at`; 0 if a word goes on there. The text is in lower case. */
static size_t NAME_separator(const unsigned char *text, size_t at, size_t length) {
  const unsigned char c = text[at];
  if (c < 0x80) return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
  if (c == 0xc2 && at + 1 < length) return 2;
  if (c != 0xe2 || at + 2 >= length) return 0;
  if (text[at + 1] == 0x80 || (text[at + 1] == 0x81 && text[at + 2] <= 0xaf)) return 3;
  return 0;
}
"""

_PAIR = """\
static uint32_t NAME_join(uint32_t first, uint32_t second) {
  uint32_t h = first * 0x9e3779b1u + second;
  h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}
"""

_WORD = """\
static void NAME_put_word(NAME_bag *bag, const char *word, size_t length, uint32_t seed, uint32_t *last, int *any) {
  const uint32_t hash = NAME_hash(word, length, seed);
  NAME_put(bag, hash & MASK_OF, 1.0);
  PAIRS
  *last = hash;
  *any = 1;
}"""

_CHARACTERS = """\
static void NAME_put_word(NAME_bag *bag, const char *word, size_t length, uint32_t seed, uint32_t *last, int *any) {
  char *padded = (char *)malloc(length + 2);
  size_t from, n, to, p;
  (void)last; (void)any;
  if (!padded) { bag->failed = 1; return; }
  padded[0] = padded[length + 1] = ' ';
  memcpy(padded + 1, word, length);
  length += 2;
  for (from = 0; from < length; ++from) {
    if (((unsigned char)padded[from] & 0xc0) == 0x80) continue;
    for (n = 1, to = from; n <= 5; ++n) {
      if (to >= length) break;
      for (p = to + 1; p < length && ((unsigned char)padded[p] & 0xc0) == 0x80; ++p) {}
      to = p;
      if (n >= 3) NAME_put(bag, NAME_hash(padded + from, to - from, seed) & MASK_OF, 1.0);
    }
  }
  free(padded);
}"""

_WORDS = {
    "words": _SEPARATOR + _WORD.replace("PAIRS", "(void)last; (void)any;"),
    "pairs": _SEPARATOR
    + _PAIR
    + _WORD.replace("PAIRS", "if (*any) NAME_put(bag, NAME_join(*last, hash) & MASK_OF, 1.0);"),
    "characters": _SEPARATOR + _CHARACTERS,
}

_TEXT = """\
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
static void NAME_put_text(NAME_bag *bag, const char *text, uint32_t seed, uint32_t base) {
  NAME_put_text_of(bag, text, strlen(text), seed, base);
}
static void NAME_put_cell(NAME_bag *bag, const char *cell, uint32_t seed, uint32_t base) {
  NAME_put(bag, base + (NAME_hash(cell, strlen(cell), seed) & MASK_OF), 1.0);
}"""

_PREDICT_TEXT = """\
/* The scores of a text of `length` bytes in UTF-8; 0 if there is no memory. */
static int NAME_scores_text(const char *text, size_t length, double *scores) {
  NAME_bag bag = {0, 0, 0, 0};
  NAME_put_text_of(&bag, text, length, 0, 0);
  return NAME_scores_bag(&bag, scores);
}
/* The place of the class of a text; -1 if there is no memory. */
static int NAME_predict_text(const char *text, size_t length) {
  double scores[ROWS_OF];
  return NAME_scores_text(text, length, scores) ? NAME_decide(scores) : -1;
}"""
