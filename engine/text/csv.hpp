// CSV text to records: where each ends, how many cells it has, and in which line it begins.
//
// A quote opens a cell only at its beginning; what follows the closing quote of a cell within one line belongs to it. A
// cell whose quote is never closed, or whose closing quote stands lines below in the middle of something else, is
// malformed: its first line is a record of its own, and reading continues in the next line. This takes linear time: the
// next quote that is not doubled decides, and if there is none to the end, all quotes from there on are doubled, so
// that no later cell stays open.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace rosenblatt {

struct Records {
  static constexpr std::int32_t blank = 0, malformed = -1;
  std::vector<std::int64_t> ends;   // behind the line end of each record
  std::vector<std::int32_t> cells;  // of each record; blank: nothing but spaces and delimiters
  std::vector<std::int64_t> lines;  // in which each begins, from 0
  std::int64_t line = 0;            // lines of all records
  bool open = false;                // does what is left begin with a quote that is not closed yet?
};

struct RecordSplitter {
  const char* data;
  std::size_t size;
  char delimiter, escape;  // escape: 0 if there is none
  bool last;               // does nothing follow? Else only whole records are split
  bool hopeless;           // a quote that is not closed by now never will be

  Records split() const {
    Records out;
    std::size_t begin = 0;
    while (begin < size) {
      std::size_t end = begin;
      std::int32_t cells = 0;
      std::int64_t inside = 0;
      const Found found = read(begin, end, cells, inside, out.open);
      if (found == Found::incomplete) break;
      if (found == Found::malformed) {
        end = begin;
        while (end < size && data[end] != '\n' && data[end] != '\r') ++end;
        if (!take_line_end(end)) break;
        cells = Records::malformed;
        inside = 0;
      }
      out.ends.push_back(static_cast<std::int64_t>(end));
      out.cells.push_back(cells);
      out.lines.push_back(out.line);
      out.line += 1 + inside;
      begin = end;
    }
    return out;
  }

 private:
  enum class Found { whole, incomplete, malformed };

  // Behind a line end, or at the end of all. False: it may come with the next bytes.
  bool take_line_end(std::size_t& at) const {
    if (at == size) return last;
    const bool is_return = data[at++] == '\r';
    if (is_return && at == size) return last;
    at += is_return && data[at] == '\n';
    return true;
  }

  Found read(std::size_t begin, std::size_t& end, std::int32_t& cells, std::int64_t& inside, bool& open) const {
    std::size_t at = begin;
    bool blank = true;
    cells = 1;
    for (;;) {
      if (at < size && data[at] == '"') {
        blank = false;
        const Found found = skip_quoted(at, inside, open);
        if (found != Found::whole) return found;
      }
      while (at < size && data[at] != delimiter && data[at] != '\n' && data[at] != '\r') {
        blank &= data[at] == ' ' || data[at] == '\t';
        at += escape && data[at] == escape && at + 1 < size ? 2 : 1;
      }
      if (at < size && data[at] == delimiter) {
        ++cells;
        ++at;
        continue;
      }
      if (!take_line_end(at)) return Found::incomplete;
      end = at;
      if (blank) cells = Records::blank;
      return Found::whole;
    }
  }

  // On exit `at` is behind the closing quote.
  Found skip_quoted(std::size_t& at, std::int64_t& inside, bool& open) const {
    std::int64_t lines = 0;
    for (std::size_t p = at + 1; p < size; ++p) {
      const char c = data[p];
      if (c == '\n' || (c == '\r' && !(p + 1 < size && data[p + 1] == '\n'))) ++lines;
      if (escape && c == escape && p + 1 < size) {
        ++p;
        continue;
      }
      if (c != '"') continue;
      if (p + 1 < size && data[p + 1] == '"') {
        ++p;
        continue;
      }
      if (p + 1 == size && !last) return Found::incomplete;
      const bool ends = p + 1 == size || data[p + 1] == delimiter || data[p + 1] == '\n' || data[p + 1] == '\r';
      if (lines > 0 && !ends) return Found::malformed;
      inside += lines;
      at = p + 1;
      return Found::whole;
    }
    if (last || hopeless) return Found::malformed;
    open = true;
    return Found::incomplete;
  }
};

}  // namespace rosenblatt
