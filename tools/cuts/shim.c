// Cuts a process off at its n-th call that changes something in one folder, and writes down what was asked for before.
//
// Loaded with LD_PRELOAD, switched on by `cut_begin`. A call counts if its path, or the file of its descriptor, lies in
// the folder. The log holds what a disk would have been told: which bytes of which file, which names, which fsync.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { off, kill_before, kill_after, fail, torn };  // torn: half of a write, then the end

static int mode = off, at = 0, error_number = 0, log_to = -1;
static int* count = NULL;  // shared with the parent
static char folder[PATH_MAX];

#define REAL(type, name) \
  static type (*real)() = NULL; \
  if (!real) real = (type (*)())dlsym(RTLD_NEXT, name)

void cut_begin(const char* watched, int how, int number, int failure, int* counted, int log_descriptor) {
  strncpy(folder, watched, sizeof folder - 1);
  at = number;
  error_number = failure;
  count = counted;
  log_to = log_descriptor;
  *count = 0;
  mode = how;
}

// The folder itself, or something in it.
static int inside(const char* path) {
  const size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && (path[length] == 0 || path[length] == '/');
}

static int full_path(int where, const char* path, char* out) {
  if (path[0] == '/') {
    snprintf(out, PATH_MAX, "%s", path);
    return 1;
  }
  char base[PATH_MAX] = "";
  if (where == AT_FDCWD) {
    if (!getcwd(base, sizeof base)) return 0;
  } else {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", where);
    const ssize_t length = readlink(link, base, sizeof base - 1);
    if (length < 0) return 0;
    base[length] = 0;
  }
  snprintf(out, PATH_MAX, "%.2000s/%.2000s", base, path);
  return 1;
}

static int watched_path(int where, const char* path, char* out) {
  return mode != off && path && full_path(where, path, out) && inside(out);
}

static int watched_file(int descriptor) {
  if (mode == off || descriptor == log_to) return 0;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return inside(path);
}

static void end(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// Called before a call that counts; 1: it is to fail. Only a write can be torn.
static int is_cut(void) {
  if (mode == torn) return 0;
  if (__atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST) != at) return 0;
  if (mode == kill_before) end();
  errno = error_number;
  return mode == fail;
}

static void after(void) {
  if (*count == at && mode == kill_after) end();
}

static void raw_write(const void* data, size_t size) {
  static ssize_t (*real)(int, const void*, size_t) = NULL;
  if (!real) real = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  while (size > 0) {
    const ssize_t done = real(log_to, data, size);
    if (done <= 0) return;
    data = (const char*)data + done;
    size -= done;
  }
}

static void note(const char* format, ...) {
  if (log_to < 0) return;
  char line[3 * PATH_MAX];
  va_list words;
  va_start(words, format);
  const int length = vsnprintf(line, sizeof line, format, words);
  va_end(words);
  raw_write(line, length);
}

static unsigned long inode_of(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) ? 0 : (unsigned long)status.st_ino;
}

static unsigned long inode_at(const char* path) {
  struct stat status;
  return lstat(path, &status) ? 0 : (unsigned long)status.st_ino;
}

static int open_any(const char* name, int where, const char* path, int flags, mode_t bits) {
  REAL(int, "openat");
  char full[PATH_MAX];
  const int changes = flags & (O_CREAT | O_TRUNC);
  if (!changes || !watched_path(where, path, full)) return real(where, path, flags, bits);
  (void)name;
  const unsigned long before = inode_at(full);
  if (is_cut()) return -1;
  const int found = real(where, path, flags, bits);
  if (found >= 0) {
    if (!before) note("create %lu %s\n", inode_of(found), full);
    if (before && (flags & O_TRUNC)) note("truncate %lu 0\n", before);
  }
  after();
  return found;
}

#define OPEN(name) \
  int name(const char* path, int flags, ...) { \
    va_list words; \
    va_start(words, flags); \
    const mode_t bits = va_arg(words, mode_t); \
    va_end(words); \
    return open_any(#name, AT_FDCWD, path, flags, bits); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
  int name(int where, const char* path, int flags, ...) { \
    va_list words; \
    va_start(words, flags); \
    const mode_t bits = va_arg(words, mode_t); \
    va_end(words); \
    return open_any(#name, where, path, flags, bits); \
  }
OPENAT(openat)
OPENAT(openat64)

static void note_bytes(int descriptor, off_t begin, const void* data, size_t size) {
  note("write %lu %lld %zu\n", inode_of(descriptor), (long long)begin, size);
  if (log_to >= 0) raw_write(data, size);
}

ssize_t write(int descriptor, const void* data, size_t size) {
  REAL(ssize_t, "write");
  if (!watched_file(descriptor)) return real(descriptor, data, size);
  const off_t begin = lseek(descriptor, 0, SEEK_CUR);
  if (is_cut()) return -1;
  const int half = mode == torn && __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST) == at;
  const ssize_t done = real(descriptor, data, half ? size / 2 : size);
  if (half) end();
  if (done > 0) note_bytes(descriptor, begin, data, done);
  after();
  return done;
}

#define PWRITE(name) \
  ssize_t name(int descriptor, const void* data, size_t size, off_t begin) { \
    REAL(ssize_t, #name); \
    if (!watched_file(descriptor)) return real(descriptor, data, size, begin); \
    if (is_cut()) return -1; \
    const ssize_t done = real(descriptor, data, size, begin); \
    if (done > 0) note_bytes(descriptor, begin, data, done); \
    after(); \
    return done; \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

// One piece after the other, so that each can be cut off.
ssize_t writev(int descriptor, const struct iovec* parts, int number) {
  REAL(ssize_t, "writev");
  if (!watched_file(descriptor)) return real(descriptor, parts, number);
  ssize_t all = 0;
  for (int k = 0; k < number; ++k) {
    const ssize_t done = write(descriptor, parts[k].iov_base, parts[k].iov_len);
    if (done < 0) return all ? all : -1;
    all += done;
  }
  return all;
}

#define SYNC(name) \
  int name(int descriptor) { \
    REAL(int, #name); \
    if (!watched_file(descriptor)) return real(descriptor); \
    if (is_cut()) return -1; \
    const int done = real(descriptor); \
    if (!done) note("sync %lu\n", inode_of(descriptor)); \
    after(); \
    return done; \
  }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name) \
  int name(int descriptor, off_t size) { \
    REAL(int, #name); \
    if (!watched_file(descriptor)) return real(descriptor, size); \
    if (is_cut()) return -1; \
    const int done = real(descriptor, size); \
    if (!done) note("truncate %lu %lld\n", inode_of(descriptor), (long long)size); \
    after(); \
    return done; \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

static int rename_any(int from_where, const char* from, int to_where, const char* to, unsigned flags) {
  static int (*real)(int, const char*, int, const char*, unsigned) = NULL;
  if (!real) real = (int (*)(int, const char*, int, const char*, unsigned))dlsym(RTLD_NEXT, "renameat2");
  char first[PATH_MAX], second[PATH_MAX];
  const int leaves = watched_path(from_where, from, first), comes = watched_path(to_where, to, second);
  if (!leaves && !comes) return real(from_where, from, to_where, to, flags);
  if (is_cut()) return -1;
  const int done = real(from_where, from, to_where, to, flags);
  if (!done) note("rename %s\t%s\n", first, second);
  after();
  return done;
}
int rename(const char* from, const char* to) { return rename_any(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char* from, int b, const char* to) { return rename_any(a, from, b, to, 0); }
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  return rename_any(a, from, b, to, flags);
}

static int unlink_any(int where, const char* path, int flags) {
  static int (*real)(int, const char*, int) = NULL;
  if (!real) real = (int (*)(int, const char*, int))dlsym(RTLD_NEXT, "unlinkat");
  char full[PATH_MAX];
  if (!watched_path(where, path, full)) return real(where, path, flags);
  if (is_cut()) return -1;
  const int done = real(where, path, flags);
  if (!done) note("unlink %s\n", full);
  after();
  return done;
}
int unlink(const char* path) { return unlink_any(AT_FDCWD, path, 0); }
int rmdir(const char* path) { return unlink_any(AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int where, const char* path, int flags) { return unlink_any(where, path, flags); }

int mkdirat(int where, const char* path, mode_t bits) {
  REAL(int, "mkdirat");
  char full[PATH_MAX];
  if (!watched_path(where, path, full)) return real(where, path, bits);
  if (is_cut()) return -1;
  const int done = real(where, path, bits);
  if (!done) note("mkdir %lu %s\n", inode_at(full), full);
  after();
  return done;
}
int mkdir(const char* path, mode_t bits) { return mkdirat(AT_FDCWD, path, bits); }

// What changes neither bytes nor names: it may fail, and is not written down.
#define QUIET(name, declared, given, is_watched) \
  int name declared { \
    REAL(int, #name); \
    if (!(is_watched)) return real given; \
    if (is_cut()) return -1; \
    const int done = real given; \
    after(); \
    return done; \
  }
QUIET(fchmod, (int descriptor, mode_t bits), (descriptor, bits), watched_file(descriptor))
QUIET(fchown, (int descriptor, uid_t user, gid_t group), (descriptor, user, group), watched_file(descriptor))
QUIET(flock, (int descriptor, int how), (descriptor, how), watched_file(descriptor))
