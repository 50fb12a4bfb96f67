static void NAME_put_word(NAME_bag *bag, const char *word, size_t length, uint32_t seed, uint32_t *last, int *any) {
  const uint32_t hash = NAME_hash(word, length, seed);
  NAME_put(bag, hash & MACRO_MASK, 1.0);
  (void)last; (void)any;
  *last = hash;
  *any = 1;
}
