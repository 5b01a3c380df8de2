#!/usr/bin/env python3
"""The units in a systemd that was booted for them (systemd-nspawn): start, reload, restart under load, watchdog, stop.

booted_systemd.py --root DIR [--rounds N]

DIR is a root file system with systemd, of which a copy is made on top (--volatile=overlay): for example
  debootstrap --include=systemd,systemd-sysv,dbus bookworm DIR
Needs root, and the ports 8888 and 9102 free, since the guest shares the network. Skipped without DIR.
"""
import argparse
import http.client
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import restarts
from daemon import BINARY, ROOT, SKIPPED, check, eventually, run

PORT, ADMIN_PORT = 8888, 9102
CONFIG = {"schema_base_uris": ["/usr/share/sluice/schemas"], "topic_prefix": "local.", "output": "files",
          "io_threads": 2, "port": PORT, "admin.port": ADMIN_PORT}


class Guest:
    """A booted copy of the root, with the program and units of this checkout."""

    def __init__(self, root, log):
        self.root, self.log = root, log
        self.files = log.parent / "files"
        self._install()
        binds = [f"--bind-ro={self.files / name}:/{target}" for name, target in self.binds.items()]
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--volatile=overlay", "-D", root, *binds,
             f"--bind={self.files / 'etc'}:/etc/sluice"],
            stdin=subprocess.DEVNULL, stdout=log.open("wb"), stderr=subprocess.STDOUT)
        try:
            eventually("the guest's first process", self._init, 30)
            eventually("a booted guest", lambda: self.run("systemctl", "is-system-running").stdout.strip() in
                       ("running", "degraded"), 90)
        except Exception:
            self.__exit__()
            raise

    def _install(self):
        self.binds = {"sluice": "usr/bin/sluice", "schemas": "usr/share/sluice/schemas", "lib": "usr/local/lib/sluice"}
        (self.files / "lib").mkdir(parents=True)
        (self.files / "etc").mkdir()
        shutil.copy(BINARY, self.files / "sluice")
        shutil.copytree(ROOT / "config/schemas", self.files / "schemas")
        needed = subprocess.run(["ldd", str(BINARY)], check=True, capture_output=True, text=True).stdout
        for path in re.findall(r"=> (/\S+)", needed):
            if not re.search(r"/(libc|libm|libdl|libpthread|librt|ld-linux)\b", path):
                shutil.copy(path, self.files / "lib")
        for unit in (ROOT / "systemd").glob("sluice*"):
            if unit.suffix in (".service", ".socket"):
                shutil.copy(unit, self.files / unit.name)
                self.binds[unit.name] = f"etc/systemd/system/{unit.name}"
        drop_in = self.files / "test.conf"
        # Libraries are elsewhere than where a package puts them; a person would not wait 30 s for a watchdog.
        drop_in.write_text("[Service]\nEnvironment=LD_LIBRARY_PATH=/usr/local/lib/sluice\nWatchdogSec=3\n")
        self.binds["test.conf"] = "etc/systemd/system/sluice.service.d/test.conf"
        self.configure(CONFIG)

    def configure(self, config):
        path = self.files / "etc/sluice.yaml"
        path.write_text(json.dumps(config) if isinstance(config, dict) else config)
        path.chmod(0o644)

    def _init(self):
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.pid = int(children[0]) if children else 0
        return self.pid and Path(f"/proc/{self.pid}/comm").read_text().strip() == "systemd"

    def run(self, *command):
        return subprocess.run(["nsenter", "--target", str(self.pid), "--mount", "--uts", "--ipc", "--pid", "--cgroup",
                               *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def systemctl(self, *words, code=0):
        result = self.run("systemctl", *words)
        check((result.returncode == 0) == (code == 0), f"systemctl {' '.join(words)}: {result.returncode} {result.stdout}"
              f"{result.stderr}\n{self.run('journalctl', '-n', '20', '--no-pager', '-u', 'sluice').stdout}")
        return result.stdout.strip()

    def show(self, name, unit="sluice"):
        return self.systemctl("show", "--property", name, "--value", unit)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def get(path, port=ADMIN_PORT):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def starts(guest):
    guest.systemctl("start", "sluice.socket", "sluice-admin.socket")
    check(guest.show("ActiveState") == "inactive", "the service runs before anybody has connected")
    status, _ = get("/readyz")  # by which systemd starts it
    check(status == 200, f"/readyz gave {status}")
    check(guest.show("ActiveState") == "active", "the service is not active")
    check("events" in guest.show("StatusText"), guest.show("StatusText"))
    print("started by the first connection:", guest.show("StatusText"))


def reloads(guest):
    guest.configure({**CONFIG, "cors": "https://example.org", "port": 1})
    guest.systemctl("reload", "sluice")
    check("https://example.org" in get("/-/config")[1], "the reload did not change cors")
    check("port" in guest.show("StatusText"), f"needs a restart is not told: {guest.show('StatusText')}")
    guest.configure("colour: red\n")
    guest.systemctl("reload", "sluice", code=1)
    check(guest.show("ActiveState") == "active", "a failed reload ended the service")
    check("https://example.org" in get("/-/config")[1], "a failed reload changed something")
    guest.configure(CONFIG)
    guest.systemctl("reload", "sluice")
    print("reloaded, and kept what was there when the file was bad")


def restarts_under_load(guest, rounds):
    queue, going = multiprocessing.Queue(), multiprocessing.Value("b", 1, lock=False)
    workers = [multiprocessing.Process(target=restarts.worker, daemon=True,
                                       args=(queue, PORT, "booted.test", f"w{i}", 1000, going)) for i in range(2)]
    begun = time.monotonic()
    for process in workers:
        process.start()
    pids, longest = set(), 0.0
    for _ in range(rounds):
        time.sleep(0.5)
        told = time.monotonic()
        guest.systemctl("restart", "sluice")
        longest = max(longest, time.monotonic() - told)
        pids.add(guest.show("MainPID"))
    time.sleep(0.5)
    going.value = 0
    results = [queue.get(timeout=60) for _ in workers]
    check(len(pids) == rounds, f"{rounds} restarts, {len(pids)} processes")
    restarts.report(results, rounds, time.monotonic() - begun, longest)
    acknowledged = [event_id for result in results for event_id in result["acknowledged"]]
    lines = guest.run("cat", "/var/lib/sluice/topics/local.booted.test.ndjson").stdout.splitlines()
    found = [json.loads(line)["meta"]["id"] for line in lines]
    check(set(acknowledged) <= set(found), "acknowledged events are lost")


def watchdog(guest):
    before = guest.show("MainPID")
    guest.systemctl("kill", "--signal=SIGSTOP", "sluice")
    eventually("the end of a process that is stuck", lambda: guest.show("MainPID") not in (before, "0"), 60)
    eventually("its successor", lambda: guest.show("ActiveState") == "active", 30)
    check(guest.show("NRestarts") != "0", "systemd did not start it again")
    check(get("/readyz")[0] == 200, "not ready after the watchdog's restart")
    print("the watchdog ended a stopped process, and its successor serves")


def driver_with(root, rounds):
    def driver(folder):
        with Guest(root, folder / "console.log") as guest:
            starts(guest)
            reloads(guest)
            restarts_under_load(guest, rounds)
            watchdog(guest)
            guest.systemctl("stop", "sluice.socket", "sluice-admin.socket", "sluice")
            check(guest.show("ActiveState") == "inactive" and guest.show("Result") == "success", guest.show("Result"))
            print("stopped;", guest.run("systemd-analyze", "security", "sluice").stdout.strip().splitlines()[-1].strip("→ "))
    return driver


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.environ.get("SLUICE_SYSTEMD_ROOT", ""))
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if not args.root or os.geteuid() != 0 or not shutil.which("systemd-nspawn"):
        print("SKIPPED: needs --root, the user root and systemd-nspawn")
        return SKIPPED
    return run(driver_with(args.root, args.rounds))


if __name__ == "__main__":
    sys.exit(main())
