// SPDX-License-Identifier: BSD-3-Clause
// Starts a program of the bundle (scripts/packages/make-bundle.sh) by the loader and with the libraries that the bundle brings,
// so that it needs none of the system's. FOLDER/bin/NAME, a copy of this program, starts FOLDER/libexec/NAME. It is
// linked statically, and sets no environment variable: what the program starts finds the system's libraries.
// LD_PRELOAD and LD_AUDIT are taken away.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { kCantRead = 3, kMostNames = 64, kWordsOfLoader = 7 };

static int fail(const char* path, const char* problem, const char* advice) {
  fprintf(stderr, "nnapi-convert: error: %s: %s; %s\n", path, problem, advice);
  return kCantRead;
}

// Writes the path of this file, without links. Without /proc, the path that the kernel was given has to do.
static int find_self(char* path) {
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (length > 0) {
    path[length] = '\0';
    return 1;
  }
  const char* started = (const char*)getauxval(AT_EXECFN);
  return started != NULL && realpath(started, path) != NULL;
}

// Cuts the last name off a path, and returns it.
static const char* cut_name(char* path) {
  char* slash = strrchr(path, '/');
  if (slash == NULL) return path;
  *slash = '\0';
  return slash + 1;
}

int main(int argc, char** argv) {
  static char self[PATH_MAX], folder[PATH_MAX], loader[PATH_MAX + kMostNames], program[2 * PATH_MAX];
  if (!find_self(self)) {
    return fail(argc > 0 ? argv[0] : "nnapi-convert", strerror(errno),
                "/proc is not mounted: start it by its whole path");
  }
  strcpy(folder, self);
  const char* name = cut_name(folder);
  cut_name(folder);  // "bin"
  snprintf(loader, sizeof loader, "%s/lib/" NNAPI_CONVERT_LOADER, folder);
  snprintf(program, sizeof program, "%s/libexec/%s", folder, name);
  const char* const needed[] = {loader, program};
  for (int i = 0; i < 2; ++i) {
    if (access(needed[i], R_OK) == 0) continue;
    return fail(needed[i], strerror(errno),
                "the folders bin, lib and libexec of the bundle belong together: unpack it again, and where you want "
                "the command, make a link to the one in bin");
  }
  // The loader expands $ORIGIN to the program's folder. The user's folders come behind the bundle's.
  const char* users = getenv("LD_LIBRARY_PATH");
  static const char kFolders[] = "$ORIGIN/../lib";
  char* folders = malloc(sizeof kFolders + 1 + (users != NULL ? strlen(users) : 0));
  char** words = malloc((size_t)(argc + kWordsOfLoader + 1) * sizeof *words);
  if (folders == NULL || words == NULL) return fail(self, strerror(errno), "free some memory");
  strcpy(folders, kFolders);
  if (users != NULL && *users != '\0') strcat(strcat(folders, ":"), users);
  // Libraries of the system may need a later C library than the bundle's, which stops the program at once.
  unsetenv("LD_PRELOAD");
  unsetenv("LD_AUDIT");
  // No library is taken by the system's cache, which is for the system's C library.
  char* const options[kWordsOfLoader] = {loader, "--inhibit-cache", "--library-path", folders, "--argv0", self,
                                         program};
  memcpy(words, options, sizeof options);
  for (int i = 1; i <= argc; ++i) words[kWordsOfLoader + i - 1] = argv[i];  // with the null behind them
  if (argc == 0) words[kWordsOfLoader] = NULL;
  execv(loader, words);
  return fail(loader, strerror(errno), "programs have to be allowed to run from this folder (mounted without noexec)");
}
