/* The length of the separator at `at`; 0 if a word goes on there. The text is in lower case. */
static size_t NAME_separator(const unsigned char *text, size_t at, size_t length) {
  const unsigned char c = text[at];
  if (c < 0x80) return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
  if (c == 0xc2 && at + 1 < length) return 2;
  if (c != 0xe2 || at + 2 >= length) return 0;
  if (text[at + 1] == 0x80 || (text[at + 1] == 0x81 && text[at + 2] <= 0xaf)) return 3;
  return 0;
}
