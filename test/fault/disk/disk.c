/*
 * A disk that fails on purpose, put under one process with LD_PRELOAD. It stands between the process and every
 * call that changes files below FAULT_DIR, and does what its environment says:
 *
 *   FAULT_DIR     the folder, an absolute path; files elsewhere are left alone
 *   FAULT_KILL    "KIND N MORE before|after|torn": SIGKILL at the Nth change of that kind ("any": of all), or MORE
 *                 changes later; torn writes half of the bytes first
 *   FAULT_FAIL    "KIND N ERRNO": the Nth change of that kind fails and does nothing
 *   FAULT_QUOTA   a file of 8 bytes, mapped: how many bytes may still be written; negative means no limit
 *   FAULT_SHADOW  a folder on the same disk: what a power cut would leave is recorded there (see powercut.ts)
 *   FAULT_SYNC_US how long a sync takes, in microseconds; no sync reaches the real disk, which is not at stake
 *   FAULT_STEPS   a file that gets a line for the change that was killed or failed: its number, kind and path
 *
 * Kinds: write sync syncdir create truncate rename unlink link mkdir rmdir. The shadow has a hard link to every
 * file, by inode number, and a journal `changes` with a line per change of a name ("C inode path", "R from to",
 * "L from to", "U path", "M path", "X path") or of what is durable ("T inode", "S inode size"; "d path" begins, "D path" ends the sync of a folder).
 * Built for glibc, whose stdio calls no `write` that could be replaced: so stdio files get writers of their own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_FILES 65536
#define MOST_STREAMS 256

enum { NEVER, BEFORE, AFTER, TORN };

static const char *root;
static size_t root_length;
static const char *shadow;
static int journal = -1;
static int steps_file = -1;
static char kill_kind[16];
static long kill_nth, kill_more, kill_mode, kill_count;
/* The change that is the last one, once it is known. */
static volatile long kill_at = -1;
static char fail_kind[16];
static long fail_at;
static int fail_errno;
static long long *quota;
static long sync_us;

static long step_count, fail_count;
static unsigned char tracked[MOST_FILES];
static struct { FILE *stream; int fd; } streams[MOST_STREAMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void) {
  const char *text;
  root = getenv("FAULT_DIR");
  if (root == NULL) return;
  root_length = strlen(root);
  if ((text = getenv("FAULT_KILL")) != NULL) {
    char mode[16] = "";
    if (sscanf(text, "%15s %ld %ld %15s", kill_kind, &kill_nth, &kill_more, mode) != 4) abort();
    kill_mode = mode[0] == 'b' ? BEFORE : mode[0] == 'a' ? AFTER : TORN;
  }
  if ((text = getenv("FAULT_FAIL")) != NULL && sscanf(text, "%15s %ld %d", fail_kind, &fail_at, &fail_errno) != 3)
    abort();
  if ((text = getenv("FAULT_QUOTA")) != NULL) {
    int fd = syscall(SYS_openat, AT_FDCWD, text, O_RDWR, 0);
    quota = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (quota == MAP_FAILED) abort();
    syscall(SYS_close, fd);
  }
  if ((text = getenv("FAULT_SYNC_US")) != NULL) sync_us = atol(text);
  if ((text = getenv("FAULT_STEPS")) != NULL)
    steps_file = syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if ((shadow = getenv("FAULT_SHADOW")) != NULL) {
    char path[4096];
    snprintf(path, sizeof path, "%s/changes", shadow);
    journal = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (journal < 0) abort();
  }
}

/* The path below the folder; NULL when it is elsewhere. */
static const char *inside(const char *path) {
  if (root == NULL || path == NULL || strncmp(path, root, root_length) != 0) return NULL;
  if (path[root_length] == '\0') return ".";
  return path[root_length] == '/' ? path + root_length + 1 : NULL;
}

static int is_tracked(int fd) { return fd >= 0 && fd < MOST_FILES && tracked[fd]; }

static void say(int fd, const char *format, ...) {
  char line[8300];
  va_list list;
  if (fd < 0) return;
  va_start(list, format);
  int length = vsnprintf(line, sizeof line, format, list);
  va_end(list);
  if (syscall(SYS_write, fd, line, length) != length) abort();
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

/* One change begins. Answers how the caller has to end it; -1 when it must fail with errno. */
static int step(const char *kind, const char *path) {
  long n = __sync_add_and_fetch(&step_count, 1);
  if (fail_at > 0 && strcmp(kind, fail_kind) == 0 && __sync_add_and_fetch(&fail_count, 1) == fail_at) {
    say(steps_file, "%ld fail %s %s\n", n, kind, path);
    errno = fail_errno;
    return -1;
  }
  if (kill_mode == NEVER) return NEVER;
  if (strcmp(kill_kind, "any") == 0 || strcmp(kind, kill_kind) == 0)
    if (__sync_add_and_fetch(&kill_count, 1) == kill_nth) kill_at = n + kill_more;
  if (kill_at < 0 || n < kill_at) return NEVER;
  say(steps_file, "%ld kill %s %s\n", n, kind, path);
  if (kill_mode == BEFORE || (kill_mode == TORN && strcmp(kind, "write") != 0)) die();
  return kill_mode;
}

static void done(int mode) {
  if (mode == AFTER) die();
}

static int full(void) {
  if (quota == NULL || *quota != 0) return 0;
  errno = ENOSPC;
  return 1;
}

/* Writes as much as the quota has left; offset -1 is where the file is. */
static ssize_t put(int fd, const void *bytes, size_t length, off64_t offset) {
  int mode = step("write", "");
  if (mode == -1) return -1;
  if (full() && length > 0) return -1;
  if (quota != NULL && *quota > 0) {
    if ((long long)length > *quota) length = *quota;
    *quota -= length;
  }
  if (mode == TORN) length = length / 2;
  ssize_t written = offset < 0 ? syscall(SYS_write, fd, bytes, length)
                               : syscall(SYS_pwrite64, fd, bytes, length, offset);
  if (mode != NEVER) die();
  return written;
}

static ssize_t put_all(int fd, const struct iovec *parts, int count, off64_t offset) {
  ssize_t sum = 0;
  for (int i = 0; i < count; i++) {
    ssize_t written = put(fd, parts[i].iov_base, parts[i].iov_len, offset < 0 ? -1 : offset + sum);
    if (written < 0) return sum > 0 ? sum : -1;
    sum += written;
    if ((size_t)written < parts[i].iov_len) break;
  }
  return sum;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  return is_tracked(fd) ? put(fd, bytes, length, -1) : syscall(SYS_write, fd, bytes, length);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  return is_tracked(fd) ? put(fd, bytes, length, offset) : syscall(SYS_pwrite64, fd, bytes, length, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
  return is_tracked(fd) ? put_all(fd, parts, count, -1) : syscall(SYS_writev, fd, parts, count);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  return is_tracked(fd) ? put_all(fd, parts, count, offset) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  return pwritev64(fd, parts, count, offset);
}

/* A new file gets its second name in the shadow, so that its bytes outlive its first. */
static void keep(const char *path, const char *below, int created, int truncated, int fd) {
  struct stat64 is;
  if (journal < 0 || fstat64(fd, &is) != 0) return;
  if (created) {
    char twin[4096];
    snprintf(twin, sizeof twin, "%s/%lu", shadow, (unsigned long)is.st_ino);
    syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, twin, 0);
    say(journal, "C %lu %s\n", (unsigned long)is.st_ino, below);
  } else if (truncated) say(journal, "T %lu\n", (unsigned long)is.st_ino);
}

static int open_inside(const char *path, const char *below, int flags, mode_t permissions) {
  int mode = NEVER, created = 0;
  pthread_mutex_lock(&lock);
  if (flags & O_CREAT) created = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
  if (created || (flags & O_TRUNC)) mode = step(created ? "create" : "truncate", below);
  int fd = mode == -1 || (created && full())
               ? -1
               : (int)syscall(SYS_openat, AT_FDCWD, path, flags, permissions);
  if (fd >= 0) {
    if (fd < MOST_FILES) tracked[fd] = 1;
    keep(path, below, created, flags & O_TRUNC, fd);
  }
  done(mode);
  pthread_mutex_unlock(&lock);
  return fd;
}

int open64(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t permissions = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
  va_end(list);
  const char *below = inside(path);
  if (below != NULL) return open_inside(path, below, flags, permissions);
  int fd = syscall(SYS_openat, AT_FDCWD, path, flags, permissions);
  /* libuv closes by a system call of its own, so the number may still be marked as that of a file before. */
  if (fd >= 0 && fd < MOST_FILES) tracked[fd] = 0;
  return fd;
}

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t permissions = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
  va_end(list);
  return open64(path, flags, permissions);
}

int close(int fd) {
  if (fd >= 0 && fd < MOST_FILES) tracked[fd] = 0;
  return syscall(SYS_close, fd);
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t length) {
  ssize_t written = put((int)(long)cookie, bytes, length, -1);
  return written < 0 ? 0 : written;
}

static int stream_close(void *cookie) { return close((int)(long)cookie); }

FILE *fopen64(const char *path, const char *how) {
  static FILE *(*real)(const char *, const char *);
  const char *below = inside(path);
  if (below == NULL || (how[0] != 'w' && how[0] != 'a')) {
    if (real == NULL) real = dlsym(RTLD_NEXT, "fopen64");
    return real(path, how);
  }
  int fd = open_inside(path, below, O_WRONLY | O_CREAT | O_CLOEXEC | (how[0] == 'w' ? O_TRUNC : O_APPEND), 0666);
  if (fd < 0) return NULL;
  FILE *stream = fopencookie((void *)(long)fd, "w", (cookie_io_functions_t){
    .write = stream_write, .close = stream_close });
  pthread_mutex_lock(&lock);
  int i = 0;
  while (i < MOST_STREAMS && streams[i].stream != NULL) i++;
  if (i == MOST_STREAMS) abort();
  streams[i].stream = stream;
  streams[i].fd = fd;
  pthread_mutex_unlock(&lock);
  return stream;
}

FILE *fopen(const char *path, const char *how) { return fopen64(path, how); }

int fclose(FILE *stream) {
  static int (*real)(FILE *);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST_STREAMS; i++)
    if (streams[i].stream == stream) streams[i].stream = NULL;
  pthread_mutex_unlock(&lock);
  if (real == NULL) real = dlsym(RTLD_NEXT, "fclose");
  return real(stream);
}

int fileno(FILE *stream) {
  static int (*real)(FILE *);
  int fd = -1;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST_STREAMS; i++)
    if (streams[i].stream == stream) fd = streams[i].fd;
  pthread_mutex_unlock(&lock);
  if (fd >= 0) return fd;
  if (real == NULL) real = dlsym(RTLD_NEXT, "fileno");
  return real(stream);
}

static int sync_file(int fd) {
  struct stat64 is;
  char name[64], path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(name, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  const char *below = inside(path);
  if (fstat64(fd, &is) != 0) return -1;
  int is_directory = S_ISDIR(is.st_mode);
  /* What becomes durable is decided now; what changes while the disk is busy is not part of it. */
  if (is_directory && journal >= 0) {
    pthread_mutex_lock(&lock);
    say(journal, "d %s\n", below ? below : "?");
    pthread_mutex_unlock(&lock);
  }
  int mode = step(is_directory ? "syncdir" : "sync", below ? below : "?");
  if (mode == -1) return -1;
  if (sync_us > 0) usleep(sync_us);
  if (journal >= 0) {
    if (is_directory) say(journal, "D %s\n", below ? below : "?");
    else say(journal, "S %lu %lld\n", (unsigned long)is.st_ino, (long long)is.st_size);
  }
  done(mode);
  return 0;
}

int fsync(int fd) { return is_tracked(fd) ? sync_file(fd) : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return is_tracked(fd) ? sync_file(fd) : (int)syscall(SYS_fdatasync, fd); }

int ftruncate64(int fd, off64_t length) {
  if (!is_tracked(fd)) return syscall(SYS_ftruncate, fd, length);
  int mode = step("truncate", "");
  if (mode == -1) return -1;
  int result = syscall(SYS_ftruncate, fd, length);
  struct stat64 is;
  if (result == 0 && journal >= 0 && fstat64(fd, &is) == 0) say(journal, "T %lu\n", (unsigned long)is.st_ino);
  done(mode);
  return result;
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

/* One change of names: call is done under the lock, so that the journal has the order that happened. */
#define CHANGE(kind, below, line, call)                   \
  pthread_mutex_lock(&lock);                              \
  int mode = step(kind, below);                           \
  int result = mode == -1 ? -1 : (int)(call);             \
  if (result == 0) say line;                              \
  done(mode);                                             \
  pthread_mutex_unlock(&lock);                            \
  return result;

int rename(const char *from, const char *to) {
  const char *old = inside(from), *new = inside(to);
  if (old == NULL || new == NULL) return syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
  CHANGE("rename", new, (journal, "R %s %s\n", old, new), syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to))
}

int link(const char *from, const char *to) {
  const char *old = inside(from), *new = inside(to);
  if (old == NULL || new == NULL) return syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
  CHANGE("link", new, (journal, "L %s %s\n", old, new), syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0))
}

int unlink(const char *path) {
  const char *below = inside(path);
  if (below == NULL) return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  CHANGE("unlink", below, (journal, "U %s\n", below), syscall(SYS_unlinkat, AT_FDCWD, path, 0))
}

int mkdir(const char *path, mode_t permissions) {
  const char *below = inside(path);
  if (below == NULL) return syscall(SYS_mkdirat, AT_FDCWD, path, permissions);
  CHANGE("mkdir", below, (journal, "M %s\n", below), syscall(SYS_mkdirat, AT_FDCWD, path, permissions))
}

int rmdir(const char *path) {
  const char *below = inside(path);
  if (below == NULL) return syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
  CHANGE("rmdir", below, (journal, "X %s\n", below), syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR))
}
