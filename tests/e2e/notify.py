#!/usr/bin/env python3
"""What systemd is told (Type=notify): READY=1 once events are taken, STOPPING=1 when the drain begins."""
import os
import socket
import sys

from daemon import ROOT, Daemon, check, run


def received(receiver, word):
    """Reads datagrams until one holds the assignment."""
    seen = []
    receiver.settimeout(10)
    while True:
        try:
            seen += receiver.recv(4096).decode().split("\n")
        except socket.timeout:
            check(False, f"no {word}, only {seen}")
        if word in seen:
            return


def driver(folder):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(folder / "notify"))
        environment = {**os.environ, "NOTIFY_SOCKET": str(folder / "notify")}
        settings = {"schema_base_uris": [str(ROOT / "config/schemas")], "stream_config_uri": ""}
        with Daemon(ROOT / "config/demo.yaml", folder, settings, env=environment) as daemon:
            received(receiver, "READY=1")
            check(daemon.request("GET", "/readyz", admin=True)[0] == 200, "READY=1, but not ready")
            code = daemon.stop()
            check(code == 0, f"exit {code}")
            received(receiver, "STOPPING=1")
    print("READY=1 and STOPPING=1 came")


if __name__ == "__main__":
    sys.exit(run(driver))
