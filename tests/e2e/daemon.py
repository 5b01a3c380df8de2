"""The built daemon, started and stopped as an operator would: for the drivers beside this file."""
import http.client
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(os.environ.get("SLUICE_SOURCE") or Path(__file__).resolve().parents[2])
BINARY = Path(os.environ.get("SLUICE_BINARY") or ROOT / "build/release") / "sluice"
SHARED = Path(os.environ.get("SLUICE_SHARED") or ROOT.parent / "shared")

READY = re.compile(r"^sluice ready events=(\S+):(\d+) admin=(\S+):(\d+)")
SKIPPED = 77


def need_shared(*names):
    """Ends the run as skipped where the shared data is not laid beside the checkout."""
    for name in names:
        if not (SHARED / name).exists():
            print(f"SKIPPED: {name} is not in the shared data folder")
            sys.exit(SKIPPED)


class Failure(Exception):
    """What a check found; ends the driver with exit code 1 and the daemon's last log lines."""


def check(condition, text):
    if not condition:
        raise Failure(text)


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)


class Process:
    """A program whose stderr is read line by line while it runs."""

    def __init__(self, command, **options):
        self.lines = []
        self._arrived = queue.Queue()
        self.process = subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE, text=True,
                                        errors="replace", **options)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            self._arrived.put(line)
        self._arrived.put(None)

    def wait_for_line(self, pattern, seconds):
        """The first match of a line still to come; Failure when the program ends or the time is up."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self._arrived.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise Failure(f"no line like {pattern.pattern} within {seconds} s") from None
            if line is None:
                raise Failure(f"ended with {self.process.wait()} before a line like {pattern.pattern}")
            match = pattern.search(line)
            if match:
                return match

    def wait(self, seconds):
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"still runs {seconds} s after it was told to stop") from None
        self._reader.join(5)
        return code

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join(5)
        if kind is not None:
            print("\n".join(self.lines[-30:]), file=sys.stderr)


class Daemon(Process):
    """`sluice serve` on free ports; `settings` become --set options. Runs in the source folder unless `cwd` says
    otherwise: relative paths of a configuration are those of the folder that the daemon is started in."""

    def __init__(self, config, data_dir, settings=(), binary=BINARY, prefix=(), **options):
        settings = {"port": 0, "admin.port": 0, "data_dir": str(data_dir), **dict(settings)}
        command = [*prefix, binary, "serve", "--config", config]
        for key, value in settings.items():
            command += ["--set", f"{key}={json.dumps(value)}"]
        self.data_dir = Path(data_dir)
        super().__init__(command, **{"cwd": ROOT, **options})
        try:
            match = self.wait_for_line(READY, 60)
        except Failure:
            self.__exit__(Failure, None, None)
            raise
        self.host, self.port = match.group(1), int(match.group(2))
        self.admin = match.group(3), int(match.group(4))

    def request(self, method, path, body=None, headers=None, admin=False):
        """(status, reason, body bytes) of one request on a connection of its own."""
        host, port = self.admin if admin else (self.host, self.port)
        connection = http.client.HTTPConnection(host, port, timeout=30)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.reason, answer.read()
        finally:
            connection.close()

    def request_whole(self, method, path, body=None, headers=None):
        """Status, headers (names in lower case), body and json() of one request to the admin listener."""
        connection = http.client.HTTPConnection(*self.admin, timeout=30)
        try:
            connection.request(method, path, body=body.encode() if isinstance(body, str) else body,
                               headers=headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def post(self, text, path="/v1/events", content_type="application/json", headers=None):
        body = text if isinstance(text, bytes) else text.encode()
        return self.request("POST", path, body, {"Content-Type": content_type, **(headers or {})})

    def topic_lines(self, topic):
        path = self.data_dir / "topics" / f"{topic}.ndjson"
        return path.read_bytes().splitlines() if path.exists() else []

    def stop(self, seconds=30):
        self.process.send_signal(signal.SIGTERM)
        return self.wait(seconds)


def eventually(what, condition, seconds=10):
    """Polls until the condition gives something; for what the daemon does after it has answered."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        check(time.monotonic() < end, f"{what}: not within {seconds} s")
        time.sleep(0.02)


def run(driver):
    """Runs a driver with a folder of its own; prints what failed. Returns the exit code."""
    with tempfile.TemporaryDirectory(prefix="sluice-e2e-") as folder:
        try:
            driver(Path(folder))
        except Failure as failure:
            print(f"FAILED: {failure}", file=sys.stderr)
            return 1
    return 0
