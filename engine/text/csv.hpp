// CSV text to records: where each ends, how many cells it has, and in which line it begins.
//
// A quote opens a cell only at its beginning; what follows the closing quote of a cell within one line belongs to it. A
// cell whose quote is never closed, or whose closing quote stands lines below in the middle of something else, is
// malformed: its first line is a record of its own, and reading goes on in the next line. This takes linear time: the
// next quote that is not doubled decides, and where there is none to the end, all quotes from there on are doubled, so
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

class RecordSplitter {
 public:
  RecordSplitter(const char* data, std::size_t size, char delimiter, char escape, bool last, bool hopeless)
      : data_(data), size_(size), delimiter_(delimiter), escape_(escape), last_(last), hopeless_(hopeless) {}

  // Whole records only, unless nothing follows (`last`); `hopeless`: a quote that is not closed by now never will be.
  Records split() {
    Records out;
    std::size_t begin = 0;
    while (begin < size_) {
      std::size_t end = begin;
      std::int32_t cells = 0;
      std::int64_t inside = 0;
      const Found found = read(begin, end, cells, inside, out.open);
      if (found == Found::incomplete) break;
      if (found == Found::malformed) {
        end = begin;
        while (end < size_ && data_[end] != '\n' && data_[end] != '\r') ++end;
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
    if (at == size_) return last_;
    if (data_[at] == '\r') {
      if (at + 1 == size_) {
        ++at;
        return last_;
      }
      at += data_[at + 1] == '\n' ? 2 : 1;
      return true;
    }
    ++at;
    return true;
  }

  Found read(std::size_t begin, std::size_t& end, std::int32_t& cells, std::int64_t& inside, bool& open) {
    std::size_t at = begin;
    bool blank = true;
    cells = 1;
    for (;;) {
      if (at < size_ && data_[at] == '"') {
        blank = false;
        const Found found = skip_quoted(at, inside, open);
        if (found != Found::whole) return found;
      }
      while (at < size_ && data_[at] != delimiter_ && data_[at] != '\n' && data_[at] != '\r') {
        blank &= data_[at] == ' ' || data_[at] == '\t';
        at += escape_ && data_[at] == escape_ && at + 1 < size_ ? 2 : 1;
      }
      if (at < size_ && data_[at] == delimiter_) {
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
  Found skip_quoted(std::size_t& at, std::int64_t& inside, bool& open) {
    std::int64_t lines = 0;
    for (std::size_t p = at + 1; p < size_; ++p) {
      const char c = data_[p];
      if (c == '\n' || (c == '\r' && !(p + 1 < size_ && data_[p + 1] == '\n'))) ++lines;
      if (escape_ && c == escape_ && p + 1 < size_) {
        ++p;
        continue;
      }
      if (c != '"') continue;
      if (p + 1 < size_ && data_[p + 1] == '"') {
        ++p;
        continue;
      }
      if (p + 1 == size_ && !last_) return Found::incomplete;
      const bool ends = p + 1 == size_ || data_[p + 1] == delimiter_ || data_[p + 1] == '\n' || data_[p + 1] == '\r';
      if (lines > 0 && !ends) return Found::malformed;
      inside += lines;
      at = p + 1;
      return Found::whole;
    }
    if (last_ || hopeless_) return Found::malformed;
    open = true;
    return Found::incomplete;
  }

  const char* data_;
  std::size_t size_;
  char delimiter_, escape_;
  bool last_, hopeless_;
};

}  // namespace rosenblatt
