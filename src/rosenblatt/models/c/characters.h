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
      if (n >= 3) NAME_put(bag, NAME_hash(padded + from, to - from, seed) & MACRO_MASK, 1.0);
    }
  }
  free(padded);
}
