"""The part of a C header that multiplies the features of namespaces, as `rosenblatt.encode.interactions` does.

Invariant: the products come in the same order, so that their sums are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence

from rosenblatt.encode.interactions import LARGEST, MOST, PRIME


def c_interactions(terms: Sequence[str]) -> str:
    """The function ``NAME_multiply``, which puts the products of named features into a bag.

    >>> "NAME_multiply" in c_interactions(["ab"])
    True
    """
    # As numbers, so that no letter means anything to a compiler; 0 ends a term.
    written = ", ".join("{" + ", ".join(str(ord(letter)) for letter in term) + ", 0}" for term in terms)
    longest = max(len(term) for term in terms)
    return f"static const unsigned char NAME_terms[{len(terms)}][{longest + 1}] = {{{written}}};\n" + _MULTIPLY.replace(
        "TERMS", str(len(terms))
    ).replace("LONGEST", str(longest)).replace("MOST", str(MOST)).replace("LARGEST", repr(LARGEST)).replace(
        "PRIME", f"{PRIME}u"
    )


_MULTIPLY = """\
/* Features by the first letter of their namespace, a space if it has none; equal ones are added up. */
typedef struct { uint32_t letter, column, order; double value; } NAME_factor;
typedef struct { NAME_factor *held; size_t begin[257], made; NAME_bag *bag; } NAME_factors;
static int NAME_compare_factors(const void *a, const void *b) {
  const NAME_factor *x = (const NAME_factor *)a, *y = (const NAME_factor *)b;
  if (x->letter != y->letter) return x->letter < y->letter ? -1 : 1;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}
/* The products of the namespaces that begin with these letters, each pair of a namespace with itself once. */
static void NAME_cross(NAME_factors *all, const unsigned char *letters, size_t depth, uint32_t column, double value,
                       size_t last) {
  const unsigned char letter = letters[depth];
  size_t q = depth && letters[depth - 1] == letter ? last : all->begin[letter];
  for (; q < all->begin[letter + 1]; ++q) {
    const uint32_t c = depth ? ((PRIME * column) & MASK_OF) ^ all->held[q].column : all->held[q].column;
    const double v = depth ? value * all->held[q].value : all->held[q].value;
    if (letters[depth + 1]) {
      NAME_cross(all, letters, depth + 1, c, v, q);
    } else if (++all->made > MOST) {
      all->bag->failed = 1;
      return;
    } else if (v != 0 && fabs(v) <= LARGEST) {
      NAME_put(all->bag, c, v);
    }
  }
}
/* May a term stand for these letters? A colon is any, and two of them side by side rise. */
static int NAME_stands_for(const unsigned char *term, const unsigned char *letters) {
  size_t k;
  for (k = 0; term[k] && letters[k]; ++k) {
    if (term[k] != ':' && term[k] != letters[k]) return 0;
    if (k && term[k] == ':' && term[k - 1] == ':' && letters[k - 1] > letters[k]) return 0;
  }
  return !term[k] && !letters[k];
}
/* Every way to write a term without colons, unless an earlier term has it. */
static void NAME_write_term(NAME_factors *all, size_t term, unsigned char *letters, size_t depth) {
  const unsigned char letter = NAME_terms[term][depth];
  unsigned any;
  size_t k;
  letters[depth] = letter;
  if (!letter) {
    for (k = 0; k < term; ++k) if (NAME_stands_for(NAME_terms[k], letters)) return;
    all->made = 0;
    if (NAME_stands_for(NAME_terms[term], letters)) NAME_cross(all, letters, 0, 0, 0, 0);
  } else if (letter != ':') {
    NAME_write_term(all, term, letters, depth + 1);
  } else {
    for (any = 1; any < 256; ++any) {
      letters[depth] = (unsigned char)any;
      if (all->begin[any] < all->begin[any + 1]) NAME_write_term(all, term, letters, depth + 1);
    }
  }
}
static void NAME_multiply(NAME_bag *bag, const char *const *spaces, const char *const *names, const double *values,
                          size_t count) {
  NAME_factors all;
  unsigned char letters[LONGEST + 1];
  size_t p, at = 0, letter = 0;
  all.held = (NAME_factor *)malloc((count + 1) * sizeof(NAME_factor));
  all.bag = bag;
  if (!all.held) { bag->failed = 1; return; }
  for (p = 0; p < count; ++p) {
    if (values[p] == 0) continue;
    all.held[at].letter = *spaces[p] ? (unsigned char)*spaces[p] : (unsigned char)' ';
    all.held[at].column = NAME_column(spaces[p], names[p]);
    all.held[at].order = (uint32_t)p;
    all.held[at++].value = values[p];
  }
  count = at;
  if (count) qsort(all.held, count, sizeof(NAME_factor), NAME_compare_factors);
  for (p = at = 0; p < count; ++p) {
    if (at && all.held[at - 1].letter == all.held[p].letter && all.held[at - 1].column == all.held[p].column) {
      all.held[at - 1].value += all.held[p].value;
    } else {
      all.held[at++] = all.held[p];
    }
  }
  for (p = 0; letter < 257; ++letter) {
    while (p < at && all.held[p].letter < letter) ++p;
    all.begin[letter] = p;
  }
  for (p = 0; p < TERMS; ++p) NAME_write_term(&all, p, letters, 0);
  free(all.held);
}"""
