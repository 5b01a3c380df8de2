#!/usr/bin/env python3
"""The tarball: unpacked, it says its version, checks and serves its demo configuration and needs no other libraries than it
lists; what was linked into it is in its list of parts, with a licence.

tarball.py FOLDER      of packages; the newest sluice-*.tar.gz there
"""
import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

# The C library resolves names and users by modules of the machine that it runs on; libsasl2's static library needs LDAP,
# Kerberos and databases; simdjson, prometheus-cpp and systemd have none in Debian, and two of these bring libstdc++.
DYNAMIC = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libsimdjson.so.14", "libprometheus-cpp-core.so.1.0",
           "libsystemd.so.0", "libsasl2.so.2", "libstdc++.so.6", "libgcc_s.so.1"}
LINKED_IN = ("libboost-json1.81-dev", "libssl-dev", "librdkafka-dev", "libyaml-cpp-dev", "libre2-dev", "libpcre2-dev",
             "zlib1g-dev", "libzstd-dev", "libbrotli-dev", "liblz4-dev")
EVENT = {"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan"}, "action": "lend",
         "book": {"isbn": "9780141439518"}, "reader_id": "r-1801"}


def run(*words, **options):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def serve(folder):
    daemon = subprocess.Popen(["bin/sluice", "serve", "--config", "config/demo.yaml", "--set", "port=0", "--set",
                               "admin.port=0"], cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        address = next(re.search(r"events=(\S+)", line).group(1) for line in daemon.stderr if "sluice ready" in line)
        request = urllib.request.Request(f"http://{address}/v1/events", json.dumps(EVENT).encode(),
                                         {"content-type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=10) as reply:
            assert reply.status == 201, reply.status
    finally:
        daemon.terminate()
        daemon.communicate()
    assert daemon.returncode == 0, daemon.returncode


def check(folder):
    print(run("bin/sluice", "--version", cwd=folder), end="")
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", "bin/sluice", cwd=folder)))
    print("needs", *sorted(needed))
    assert needed <= DYNAMIC, f"also needs {needed - DYNAMIC}"
    assert set((folder / "LIBRARIES").read_text().split()) == needed
    parts = {package["name"]: package for package in json.loads((folder / "sluice.spdx.json").read_text())["packages"]}
    for name in LINKED_IN:
        assert "linked into the program" in parts.get(name, {}).get("comment", ""), f"{name} is not in the list of parts"
        assert (folder / "licences" / name).exists(), f"no licence of {name}"
    for path in ("README.md", "man/man1/sluice.1", "man/man5/sluice.yaml.5", "completion/sluice.bash",
                 "completion/_sluice", "systemd/sluice.service", "config/production.yaml"):
        assert (folder / path).exists(), f"no {path}"
    run("bin/sluice", "check-config", "--config", "config/demo.yaml", cwd=folder)
    serve(folder)


def main():
    tarball = max(Path(sys.argv[1]).glob("sluice-*.tar.gz"), key=lambda path: path.stat().st_mtime)
    with tempfile.TemporaryDirectory() as folder:
        run("tar", "-C", folder, "-xzf", tarball)
        check(next(Path(folder).iterdir()))
    print(f"{tarball.name}: all true, {tarball.stat().st_size >> 20} MiB")


if __name__ == "__main__":
    main()
