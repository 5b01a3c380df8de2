#!/usr/bin/env python3
"""What systemd is told, and what it hands over: READY=1 once events are taken, RELOADING=1 and READY=1 around a reload,
STATUS= with rates, WATCHDOG=1 only while every I/O loop comes round, STOPPING=1; sockets by LISTEN_FDS."""
import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from daemon import BINARY, ROOT, Daemon, check, run
from held_sockets import HeldSockets

WATCHDOG_SECONDS = 1.0
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17


class Receiver:
    """The other end of NOTIFY_SOCKET."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.seen = []  # lists of assignments

    def next(self, seconds):
        """One datagram as a list of assignments; None if none comes."""
        self.socket.settimeout(max(0.001, seconds))
        try:
            self.seen.append(self.socket.recv(4096).decode().split("\n"))
        except socket.timeout:
            return None
        return self.seen[-1]

    def wait(self, pattern, seconds=10):
        """The datagram with an assignment like the pattern."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            message = self.next(end - time.monotonic())
            if message and any(re.fullmatch(pattern, assignment) for assignment in message):
                return message
        check(False, f"no {pattern}, only {self.seen[-10:]}")

    def beats(self, seconds):
        """How often WATCHDOG=1 comes in that time."""
        end, count = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            count += (self.next(end - time.monotonic()) or []).count("WATCHDOG=1")
        return count

    def drain(self):
        while self.next(0.001):
            pass


class StoppedThread:
    """One thread of a process that is held by ptrace while all others run."""

    def __init__(self, thread):
        self.thread, self.libc = thread, ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def _ptrace(self, request):
        if self.libc.ptrace(request, self.thread, None, None) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def __enter__(self):
        self._ptrace(PTRACE_SEIZE)
        self._ptrace(PTRACE_INTERRUPT)
        os.waitpid(self.thread, 0x40000000)  # __WALL
        return self

    def __exit__(self, *_):
        self._ptrace(PTRACE_DETACH)


def io_threads(pid):
    return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()
            if (task / "comm").read_text().strip() == "sluice-io"]


def watchdog(daemon, receiver):
    """A loop that does not come round stops the beat; when it does, the beat is back."""
    receiver.drain()
    check(receiver.beats(3 * WATCHDOG_SECONDS) >= 4, "WATCHDOG=1 comes less often than twice in WatchdogSec=")
    threads = io_threads(daemon.process.pid)
    check(len(threads) == 2, f"{len(threads)} threads are named sluice-io")
    try:
        with StoppedThread(threads[1]):
            time.sleep(WATCHDOG_SECONDS)  # within it the last beat may come
            receiver.drain()
            count = receiver.beats(2 * WATCHDOG_SECONDS)
            check(count == 0, f"{count} times WATCHDOG=1 though an I/O loop is blocked")
    except PermissionError:
        print("the blocked loop was left out: ptrace is not allowed here")
        return
    receiver.wait("WATCHDOG=1")
    check(any('"loop_stuck"' in line and "I/O threads" in line for line in daemon.lines), "loop_stuck is not in the log")


def reload(daemon, receiver, config):
    config.write_text(config.read_text().replace('"cors": "*"', '"cors": "https://example.org"'))
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    daemon.process.send_signal(signal.SIGHUP)
    reloading = receiver.wait("RELOADING=1")
    stamp = [int(text.split("=")[1]) for text in reloading if text.startswith("MONOTONIC_USEC=")]
    check(len(stamp) == 1 and before <= stamp[0] <= before + 10_000_000, f"{reloading}")
    ready = receiver.wait("READY=1")
    check(any("cors" in text for text in ready), f"STATUS= does not say what was reloaded: {ready}")
    config.write_text("colour: red\n")
    daemon.process.send_signal(signal.SIGHUP)
    receiver.wait("RELOADING=1")
    ready = receiver.wait("READY=1")
    check(any("nothing was changed" in text for text in ready), f"STATUS= does not say that it failed: {ready}")


def refusals(folder, config):
    with HeldSockets("events", "metrics") as held:
        command = [*held.prefix(), str(BINARY), "serve", "--config", str(config), "--set", f"data_dir={folder}/refused"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=30, **held.options())
        check(result.returncode == 2, f"exit {result.returncode} with a socket of a name that nobody knows")
        check('"metrics"' in result.stderr and "FileDescriptorName=" in result.stderr, result.stderr)


def driver(folder):
    config = folder / "sluice.yaml"
    settings = {"schema_base_uris": [str(ROOT / "config/schemas")], "cors": "*", "io_threads": 2}
    config.write_text(json.dumps(settings))
    receiver = Receiver(folder / "notify")
    environment = {**os.environ, "NOTIFY_SOCKET": str(folder / "notify"),
                   "WATCHDOG_USEC": str(int(WATCHDOG_SECONDS * 1e6))}
    refusals(folder, config)
    with HeldSockets("events", "events", "admin") as held:
        with Daemon(config, folder / "data", env=environment, prefix=held.prefix(), **held.options()) as daemon:
            receiver.wait("READY=1")
            check(daemon.request("GET", "/readyz", admin=True)[0] == 200, "READY=1, but not ready")
            ports = [each.getsockname()[1] for each in held.sockets]
            check([daemon.port, daemon.admin[1]] == [ports[0], ports[2]], "the ready line names other ports")
            for port in ports[:2]:
                daemon.port = port
                check(daemon.request("GET", "/_info")[0] == 200, "no answer on an inherited socket")
            receiver.wait(r"STATUS=\d+ events/s, \d+ refused/s, \d+ failed/s, \d+ connections on 127\.0\.0\.1:\d+")
            reload(daemon, receiver, config)
            watchdog(daemon, receiver)
            code = daemon.stop()
            check(code == 0, f"exit {code}")
            receiver.wait("STOPPING=1")
    print("READY, STATUS, RELOADING, WATCHDOG and STOPPING came when they had to; sockets of LISTEN_FDS are served")


if __name__ == "__main__":
    sys.exit(run(driver))
