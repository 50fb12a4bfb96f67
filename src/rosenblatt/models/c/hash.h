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
/* The scores of the features in the bag, equal columns added up; 0 if there was no memory. The bag is empty then. */
static int NAME_scores_bag(NAME_bag *bag, double *scores) {
  NAME_feature *held = bag->held;
  const int good = !bag->failed;
  size_t p, at = 0;
  NAME_sum sum;
  if (good) {
    if (bag->count) qsort(held, bag->count, sizeof(NAME_feature), NAME_compare);
    for (p = 0; p < bag->count; ++p) {
      if (at && held[at - 1].column == held[p].column) {
        held[at - 1].value = (NAME_scalar)(held[at - 1].value + held[p].value);
      } else {
        held[at].column = held[p].column;
        held[at++].value = (NAME_scalar)held[p].value;
      }
    }
    NAME_begin(&sum, at);
    for (p = 0; p < at; ++p) NAME_add(&sum, held[p].column, (NAME_scalar)held[p].value);
    NAME_finish(&sum, scores);
  }
  free(held);
  memset(bag, 0, sizeof(*bag));
  return good;
}
