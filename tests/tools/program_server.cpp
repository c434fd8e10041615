// SPDX-License-Identifier: BSD-3-Clause
// program_server: nnapi-convert as a server of its own runs. It loads LibTorch once, and forks for each run that a
// client asks for, which takes half a second less than a start. What runs is what nnapi-convert's main() runs, with the
// client's arguments, environment, folder and streams. For tests/tools/cli.py; other runs start the program as users
// do.
//
// A client connects to the socket NNAPI_CONVERT_SERVER and sends one message: the number of arguments, the folder, the
// arguments and the environment, each ended by a zero, with the three streams beside it. It gets the process's number
// and, at its end, the status that waitpid() gave, as 32-bit integers. The server ends with the process
// NNAPI_CONVERT_SERVER_FOR. Without these variables it is nnapi-convert.
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tools/nnapi-convert/engine.h"
#include "tools/nnapi-convert/run_program.h"

namespace {

constexpr size_t kLongestMessage = 1 << 20;
constexpr int kStreams = 3;
constexpr int kMillisecondsBetweenLooks = 1000;  // at the process that the server is for

struct Run {
  int client;    // the connection
  int end = -1;  // readable once the process ended
  pid_t process = -1;
};

// Strings of a message, as main() gets them: arguments, null, environment, null.
struct Request {
  std::string text;
  std::string folder;
  int argument_count = 0;
  std::vector<char*> words;
  int streams[kStreams] = {-1, -1, -1};
};

[[noreturn]] void stop(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

int listening_socket(const char* path) {
  const int result = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) stop("the socket's path is too long");
  std::strcpy(address.sun_path, path);
  ::unlink(path);
  if (::bind(result, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(result, SOMAXCONN) != 0) {
    stop(path);
  }
  return result;
}

bool receive(int client, Request& request) {
  request.text.resize(kLongestMessage);
  iovec part{request.text.data(), request.text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof request.streams)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(client, &message, 0);
  const cmsghdr* header = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_len != CMSG_LEN(sizeof request.streams)) return false;
  std::memcpy(request.streams, CMSG_DATA(header), sizeof request.streams);
  request.text.resize(static_cast<size_t>(size));

  std::vector<char*> words;
  for (size_t i = 0; i < request.text.size(); i += std::strlen(words.back()) + 1) words.push_back(&request.text[i]);
  if (words.size() < 2) return false;
  request.argument_count = std::atoi(words[0]);
  request.folder = words[1];
  words.erase(words.begin(), words.begin() + 2);
  if (words.size() < static_cast<size_t>(request.argument_count)) return false;
  words.insert(words.begin() + request.argument_count, nullptr);
  words.push_back(nullptr);
  request.words = std::move(words);
  return true;
}

// Forks, and in the new process returns true, with the client's folder and streams.
bool is_new_process(Run& run, const Request& request) {
  run.process = ::fork();
  if (run.process == 0) {
    if (::chdir(request.folder.c_str()) != 0) stop("chdir");
    for (int i = 0; i < kStreams; ++i) {
      if (::dup2(request.streams[i], i) < 0) stop("dup2");
    }
    ::syscall(SYS_close_range, kStreams, ~0U, 0);
    return true;
  }
  for (const int stream : request.streams) ::close(stream);
  run.end = static_cast<int>(::syscall(SYS_pidfd_open, run.process, 0));
  if (run.process < 0 || run.end < 0) stop("a new process");
  const int32_t number = run.process;
  (void)!::send(run.client, &number, sizeof number, MSG_NOSIGNAL);
  return false;
}

void report_end(const Run& run) {
  int status = 0;
  ::waitpid(run.process, &status, 0);
  const int32_t sent = status;
  (void)!::send(run.client, &sent, sizeof sent, MSG_NOSIGNAL);
  ::close(run.end);
  ::close(run.client);
}

// Returns in the processes of runs only.
Request serve(const char* path, pid_t owner) {
  const int listening = listening_socket(path);
  std::vector<Run> runs;
  while (::kill(owner, 0) == 0) {
    std::vector<pollfd> awaited{{listening, POLLIN, 0}};
    for (const Run& run : runs) awaited.push_back({run.end, POLLIN, 0});
    if (::poll(awaited.data(), awaited.size(), kMillisecondsBetweenLooks) <= 0) continue;
    for (size_t i = runs.size(); i-- > 0;) {
      if (awaited[i + 1].revents == 0) continue;
      report_end(runs[i]);
      runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (awaited[0].revents == 0) continue;
    Run run{::accept(listening, nullptr, nullptr)};
    Request request;
    if (!receive(run.client, request)) {
      ::close(run.client);
      continue;
    }
    if (is_new_process(run, request)) return request;
    runs.push_back(run);
  }
  ::unlink(path);
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = std::getenv("NNAPI_CONVERT_SERVER");
  const char* owner = std::getenv("NNAPI_CONVERT_SERVER_FOR");
  if (path == nullptr || owner == nullptr) nnapi_convert::run_program(argc, argv);
  nnapi_convert::engine().use_one_thread();  // others of QNNPACK wait in busy loops
  Request request = serve(path, static_cast<pid_t>(std::atoi(owner)));
  ::environ = request.words.data() + request.argument_count + 1;
  nnapi_convert::run_program(request.argument_count, request.words.data());
}
