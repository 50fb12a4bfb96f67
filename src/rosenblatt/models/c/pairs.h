static uint32_t NAME_join(uint32_t first, uint32_t second) {
  uint32_t h = first * 0x9e3779b1u + second;
  h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}
static void NAME_put_word(NAME_bag *bag, const char *word, size_t length, uint32_t seed, uint32_t *last, int *any) {
  const uint32_t hash = NAME_hash(word, length, seed);
  NAME_put(bag, hash & MACRO_MASK, 1.0);
  if (*any) NAME_put(bag, NAME_join(*last, hash) & MACRO_MASK, 1.0);
  *last = hash;
  *any = 1;
}
