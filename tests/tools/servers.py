#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Servers of test runs, as loading LibTorch takes longer than most runs: a Python that has PyTorch and a nnapi-convert
that has LibTorch (program_server.cpp), which fork for each run. They live for one run of ctest, in the folder that the
environment variable NNAPI_TEST_SERVERS names; without a server, each run starts a program of its own.

    servers.py start                  starts the servers for the calling process; they end with it
    servers.py stop                   ends them
    servers.py run SCRIPT ARGUMENT... runs a Python script, by the server if there is one"""

import atexit
import json
import os
import pathlib
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback
from typing import Dict, List, Optional

FOLDER = os.environ.get("NNAPI_TEST_SERVERS")
LONGEST_MESSAGE = 1 << 20
LONGEST_PATH = 107  # of a socket
STREAMS = 3
START_SECONDS = 60
NUMBER = struct.Struct("i")


def path_of(name: str) -> pathlib.Path:
    return pathlib.Path(FOLDER or ".") / f"{name}.socket"


def connect(name: str) -> Optional[socket.socket]:
    if not FOLDER:
        return None
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        client.connect(str(path_of(name)))
    except OSError:
        client.close()
        return None
    return client


def receive_number(client: socket.socket) -> int:
    data = client.recv(NUMBER.size)
    if len(data) != NUMBER.size:
        raise RuntimeError("a server of test runs ended")
    return NUMBER.unpack(data)[0]


# The program

def run_program(command: List[str], cwd, environment: Dict[str, str],
                timeout: float) -> Optional[subprocess.CompletedProcess]:
    """As subprocess.run(), with no input; None if there is no server."""
    client = connect("program")
    if client is None:
        return None
    words = [str(len(command)), os.fspath(cwd or os.getcwd()), *command,
             *(f"{name}={value}" for name, value in environment.items())]
    message = b"".join(os.fsencode(word) + b"\0" for word in words)
    with client, open(os.devnull, "rb") as empty:
        pipes = [os.pipe(), os.pipe()]
        try:
            socket.send_fds(client, [message], [empty.fileno(), pipes[0][1], pipes[1][1]])
        finally:
            for _, end in pipes:
                os.close(end)
        process = receive_number(client)
        try:
            output = read_all([end for end, _ in pipes], time.monotonic() + timeout)
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            raise subprocess.TimeoutExpired(command, timeout) from None
        code = os.waitstatus_to_exitcode(receive_number(client))
    return subprocess.CompletedProcess(command, code, *output)


def read_all(ends: List[int], deadline: float) -> List[bytes]:
    """Reads and closes the pipes."""
    chunks: Dict[int, List[bytes]] = {end: [] for end in ends}
    with selectors.DefaultSelector() as selector:
        for end in ends:
            selector.register(end, selectors.EVENT_READ)
        try:
            while selector.get_map():
                ready = selector.select(max(0, deadline - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    data = os.read(key.fd, 1 << 16)
                    chunks[key.fd].append(data)
                    if not data:
                        selector.unregister(key.fd)
        finally:
            for end in ends:
                os.close(end)
    return [b"".join(chunks[end]) for end in ends]


# Python

def run_script(words: List[str]) -> int:
    """Runs the script, by the server if there is one; gives the exit code."""
    client = connect("python")
    if client is None:
        os.execv(sys.executable, [sys.executable, *words])
    request = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}
    with client:
        socket.send_fds(client, [json.dumps(request).encode()], list(range(STREAMS)))
        return os.waitstatus_to_exitcode(receive_number(client))


def become(request: dict, streams: List[int]) -> None:
    """In the process of a run: runs the script and ends."""
    os.setpgid(0, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(STREAMS, 1024)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    script = os.path.abspath(request["words"][0])
    sys.argv = request["words"]
    sys.path[0] = os.path.dirname(script)
    code = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()  # pylint: disable=protected-access
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xff)  # pylint: disable=protected-access


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def serve(owner: int) -> None:
    """Forks for each run, until the owner ends."""
    for name in ("torch", "numpy", "jsonschema", "json", "unittest", "zipfile"):
        __import__(name)
    sys.modules["torch"].set_num_threads(1)  # others of QNNPACK wait in busy loops
    path = path_of("python")
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(str(path))
    listening.listen()
    selector = selectors.DefaultSelector()
    selector.register(listening, selectors.EVENT_READ)
    ends: Dict[int, tuple] = {}  # a file descriptor that tells of a process's end: the process, the client
    while is_alive(owner):
        for key, _ in selector.select(1):
            if key.fileobj is listening:
                client, _ = listening.accept()
                data, streams, _, _ = socket.recv_fds(client, LONGEST_MESSAGE, STREAMS)
                if not data:
                    client.close()
                    continue
                process = os.fork()
                if process == 0:
                    become(json.loads(data), streams)
                for stream in streams:
                    os.close(stream)
                end = os.pidfd_open(process)
                ends[end] = process, client
                selector.register(end, selectors.EVENT_READ)
                selector.register(client, selectors.EVENT_READ, process)
            elif key.data is not None:  # the client ended before the run
                selector.unregister(key.fileobj)
                kill_group(key.data)
            else:
                process, client = ends.pop(key.fd)
                selector.unregister(key.fd)
                if client in selector.get_map():
                    selector.unregister(client)
                _, status = os.waitpid(process, 0)
                try:
                    client.send(NUMBER.pack(status))
                except OSError:
                    pass
                client.close()
                os.close(key.fd)


def kill_group(process: int) -> None:
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


# Their start and end

def start() -> int:
    folder = pathlib.Path(FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    if len(os.fsencode(path_of("program"))) > LONGEST_PATH:
        print(f"no servers, as the path of {folder} is too long for a socket: each test starts Python and LibTorch")
        return 0
    for name in ("program", "python"):
        path_of(name).unlink(missing_ok=True)
    owner = os.getppid()
    with open(folder / "log", "wb") as log:
        streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "start_new_session": True}
        python = subprocess.Popen([sys.executable, __file__, "serve", str(owner)], **streams)
        environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        environment.update(NNAPI_CONVERT_SERVER=str(path_of("program")), NNAPI_CONVERT_SERVER_FOR=str(python.pid))
        program = subprocess.Popen([os.environ["NNAPI_PROGRAM_SERVER"]], env=environment, **streams)
    (folder / "process").write_text(str(python.pid))
    deadline = time.monotonic() + START_SECONDS
    for name, process in (("program", program), ("python", python)):
        while True:
            client = connect(name)
            if client is not None:
                client.close()
                break
            if process.poll() is not None or time.monotonic() > deadline:
                print(f"the server of {name} doesn't start:\n{(folder / 'log').read_text(errors='replace')}")
                return 1
            time.sleep(0.05)
    return 0


def stop() -> int:
    """The program's server ends with Python's."""
    process = pathlib.Path(FOLDER) / "process"
    if process.exists():
        number = int(process.read_text())
        command = pathlib.Path(f"/proc/{number}/cmdline")
        if command.exists() and b"servers.py" in command.read_bytes():
            os.kill(number, signal.SIGTERM)
        process.unlink()
    path_of("python").unlink(missing_ok=True)
    return 0


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["run"] and len(words) > 1:
        code = run_script(words[1:])
        if code < 0:
            signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        return code
    if words[:1] == ["serve"]:
        return serve(int(words[1]))
    if words in (["start"], ["stop"]) and FOLDER:
        return start() if words == ["start"] else stop()
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
