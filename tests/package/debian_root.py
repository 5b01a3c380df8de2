#!/usr/bin/env python3
"""The .deb in a Debian of its own: a debootstrap root, where apt installs it with its dependencies, the service's command
line takes an event as an unprivileged user, an upgrade keeps a configuration that was changed, and a purge leaves
nothing; then under a booted systemd, where systemd-nspawn can. Needs root, debootstrap and Debian's archive; the bare
root is kept between runs ($SLUICE_ROOT_CACHE).

debian_root.py FOLDER      of packages; the newest .deb there
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

MIRROR = [os.environ["SLUICE_DEBIAN_MIRROR"]] if "SLUICE_DEBIAN_MIRROR" in os.environ else []  # else debootstrap's own
GUEST_FOLDER = "srv"  # where the packages lie inside
ARCHITECTURE = subprocess.run(["dpkg", "--print-architecture"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
CACHE = Path(os.environ.get("SLUICE_ROOT_CACHE", Path(tempfile.gettempdir()) / "sluice-debian-root"))
UID = "61234"  # as systemd's DynamicUser: a number that no user has
EVENT = {"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan"}, "action": "lend",
         "book": {"isbn": "9780141439518"}, "reader_id": "r-1801"}
# Whose content changes with every package there is, or which only caches something.
NOT_OURS = re.compile(r"^(dev|proc|sys|tmp|run|var/cache|var/log|var/lib/dpkg|var/lib/apt|root|etc/ld\.so\.cache)(/|$)")


class Failed(Exception):
    pass


def expect(true, what):
    if not true:
        raise Failed(what)
    print(f"ok: {what}", flush=True)


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def bare_root():
    """A tar of a minimal Debian 12, made once."""
    tar = CACHE / "bookworm.tar"
    if not tar.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            run("debootstrap", "--variant=minbase", "bookworm", folder + "/root", *MIRROR)
            run("tar", "-C", folder + "/root", "-cf", folder + "/tar", ".")
            os.rename(folder + "/tar", tar)
    return tar


class Root:
    """A folder to change root into; apt's downloads stay in the cache."""

    def __init__(self, folder):
        self.path = Path(folder) / "root"
        self.path.mkdir()
        run("tar", "-C", self.path, "-xf", bare_root())
        shutil.copy("/etc/resolv.conf", self.path / "etc/resolv.conf")
        # Without this, packages would try to start their services.
        policy = self.path / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        self.archives = self.path / "var/cache/apt/archives"
        for deb in (CACHE / "archives").glob("*.deb"):
            shutil.copy(deb, self.archives)
        self.mounted = subprocess.run(["mount", "-t", "proc", "proc", self.path / "proc"], check=False,
                                      stderr=subprocess.DEVNULL).returncode == 0

    def close(self):
        (CACHE / "archives").mkdir(exist_ok=True)
        for deb in self.archives.glob("*.deb"):
            if not deb.name.startswith("sluice_"):
                shutil.copy(deb, CACHE / "archives")
        self.unmount()

    def unmount(self):
        if self.mounted:
            run("umount", self.path / "proc")
        self.mounted = False

    def run(self, *words):
        return run("chroot", self.path, *words, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
                                                     "DEBIAN_FRONTEND": "noninteractive"})

    def apt(self, *words):
        # Of a configuration that was changed here and by the package: the one that is here.
        return self.run("apt-get", "-y", "-q", "--no-install-recommends", "-o", "Dpkg::Options::=--force-confdef", "-o",
                        "Dpkg::Options::=--force-confold", *words)

    def install(self, deb):
        shutil.copy(deb, self.path / "tmp" / deb.name)
        return self.apt("install", f"/tmp/{deb.name}")

    def files(self):
        """{path: kind, or target} of everything that no cache owns."""
        found = {}
        for folder, folders, names in os.walk(self.path):
            for name in folders + names:
                path = Path(folder, name)
                inside = str(path.relative_to(self.path))
                if not NOT_OURS.match(inside):
                    found[inside] = os.readlink(path) if path.is_symlink() else "folder" if path.is_dir() else "file"
        return found


def serve_words(root):
    """The command line of the installed unit, on free ports."""
    unit = (root.path / "lib/systemd/system/sluice.service").read_text()
    words = re.search(r"^ExecStart=(.*)$", unit, re.M).group(1).replace("$SLUICE_OPTIONS", "").split()
    return words + ["--set", "port=0", "--set", "admin.port=0"]


def check_service(root):
    """What the unit does, without systemd: DynamicUser, StateDirectory, ExecStart."""
    state = root.path / "var/lib/private/sluice"
    state.mkdir(parents=True, mode=0o700)
    os.chown(state, int(UID), int(UID))
    # systemd lets the user of the unit through var/lib/private by a mount of its own.
    (root.path / "var/lib/private").chmod(0o711)
    (root.path / "var/lib/sluice").symlink_to("private/sluice")
    daemon = subprocess.Popen(
        [shutil.which("chroot"), str(root.path), "setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--no-new-privs",
         "--inh-caps=-all", "--bounding-set=-all", *serve_words(root)],
        stderr=subprocess.PIPE, text=True, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    lines = []
    try:
        for line in daemon.stderr:
            lines.append(line)
            if match := re.search(r"sluice ready events=(\S+)", line):
                break
        else:
            raise Failed("the daemon did not start:\n" + "".join(lines))
        expect(match.group(1).startswith("127.0.0.1:"), f"listens on loopback only: {line.strip()}")
        uids = re.search(r"^Uid:(.*)$", Path(f"/proc/{daemon.pid}/status").read_text(), re.M).group(1).split()
        expect(set(uids) == {UID}, f"runs as user {UID}")
        request = urllib.request.Request(f"http://{match.group(1)}/v1/events", json.dumps(EVENT).encode(),
                                         {"content-type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=10) as reply:
            expect(reply.status == 201, "a posted event is answered 201")
    finally:
        daemon.terminate()
        rest = daemon.stderr.read()
    expect(daemon.wait(20) == 0, "stops with exit code 0")
    topics = list((state / "topics").glob("*library.loan.ndjson"))
    expect(len(topics) == 1 and "r-1801" in topics[0].read_text(), "the event is in its topic's file")
    expect('"level":"error"' not in "".join(lines) + rest, "no error was logged")


def newer(deb, folder):
    """The same package with a higher version and another /etc/sluice/sluice.yaml."""
    shutil.rmtree(folder / "newer", ignore_errors=True)
    run("dpkg-deb", "-R", deb, folder / "newer")
    control = folder / "newer/DEBIAN/control"
    control.write_text(re.sub(r"^(Version: .*)$", r"\1+test1", control.read_text(), flags=re.M))
    shipped = folder / "newer/etc/sluice/sluice.yaml"
    shipped.write_text(shipped.read_text() + "# a line of the newer version\n")
    run("dpkg-deb", "--root-owner-group", "-b", folder / "newer", folder / "sluice_newer.deb")
    return folder / "sluice_newer.deb"


def check_sbom(root):
    """Whatever the program loads is in the list, with the version that this machine, which linked it, has."""
    listed = {package["name"]: package["versionInfo"] for package in json.loads(
        (root.path / "usr/share/doc/sluice/sluice.spdx.json").read_text())["packages"]}
    libraries = re.findall(r"(/\S+) \(0x", root.run("ldd", "/usr/bin/sluice"))
    expect(len(libraries) > 8, f"{len(libraries)} shared libraries are loaded")
    for library in libraries:
        real = root.run("readlink", "-f", library).strip()
        names = "\n".join({library, real, re.sub("^/usr", "", real), "/usr" + library}).split()
        owner = subprocess.run(["chroot", str(root.path), "dpkg-query", "-S", *names], stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.DEVNULL, check=False).stdout.split(":")[0]
        version = run("dpkg-query", "-W", "-f", "${Version}", owner + ":" + ARCHITECTURE)
        if listed.get(owner) != version:
            raise Failed(f"{library} is of {owner} {version}; the list of what sluice is made of says {listed.get(owner)}")
    for name in ("libboost1.81-dev", "libssl3", "librdkafka1", "libyaml-cpp0.7", "libsimdjson14", "libre2-9"):
        expect(name in listed, f"{name} is in the list of what sluice is made of")


def check_shells(root):
    """Completion in a shell that has only loaded its file."""
    script = ("compopt() { :; }; . /usr/share/bash-completion/completions/sluice; COMP_WORDS=(%s); "
              "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sluice; echo \"${COMPREPLY[*]}\"")
    for words, wanted in (("sluice ser", "serve"), ("sluice check-config --pri", "--print"),
                          ("sluice spool ex", "export"), ("sluice serve --set limits.max_dep", "limits.max_depth="),
                          ("sluice serve --config = /etc/slui", "/etc/sluice"),
                          ("sluice validate --format-mode fu", "full")):
        got = root.run("bash", "-c", script % words).strip()
        expect(got == wanted, f"completion of {words!r}: {got}")


def check_conffile(root, deb, folder):
    config = root.path / "etc/sluice/sluice.yaml"
    changed = config.read_text().replace("port: 8888", "port: 8899")
    config.write_text(changed)
    root.install(newer(deb, folder))
    expect(root.run("dpkg-query", "-W", "-f", "${Version}", "sluice").endswith("+test1"), "the newer version is installed")
    expect(config.read_text() == changed, "the upgrade keeps a changed configuration")
    expect(root.run("sluice", "check-config", "--config", "/etc/sluice/sluice.yaml").strip() ==
           "The configuration is good.", "which is good for the newer one")


class Booted:
    """The root with systemd as its first process, in a container that has loopback only."""

    def __init__(self, root):
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "--register=no", "--keep-unit", "--private-network", "--console=pipe", "-b", "-D", root.path],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.first = None
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.nspawn.poll() is None:
            children = Path(f"/proc/{self.nspawn.pid}/task/{self.nspawn.pid}/children").read_text().split()
            if children:
                self.first = children[-1]
                if self.run("systemctl", "is-system-running")[1].strip() in ("running", "degraded"):
                    return
            time.sleep(0.5)
        self.close()
        self.first = None

    def run(self, *words):
        """(exit code, output)"""
        done = subprocess.run(["nsenter", "-t", self.first, "-a", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                               "DEBIAN_FRONTEND=noninteractive", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout

    def good(self, *words):
        code, text = self.run(*words)
        if code != 0:
            raise Failed(f"{' '.join(words)}: exit {code}\n{text}\n{self.run('journalctl', '-b', '-n', '30')[1]}")
        return text.strip()

    def is_active(self, unit):
        return self.run("systemctl", "is-active", unit)[1].strip() == "active"

    def close(self):
        self.nspawn.terminate()
        try:
            self.nspawn.wait(20)
        except subprocess.TimeoutExpired:
            self.nspawn.kill()
            self.nspawn.wait()


def check_units(booted, deb, folder):
    install = ("apt-get", "install", "-y", "-q", "--no-install-recommends")
    booted.good(*install, f"/{GUEST_FOLDER}/{deb.name}")
    expect(not booted.is_active("sluice"), "under systemd: installation starts nothing")
    booted.good("systemctl", "enable", "--now", "sluice")
    expect(booted.is_active("sluice"), "the unit starts")
    status = booted.good("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "content-type: application/json", "-d",
                         json.dumps(EVENT), "http://127.0.0.1:8888/v1/events")
    expect(status == "201", "a posted event is answered 201")
    expect("r-1801" in booted.good("sh", "-c", "cat /var/lib/sluice/topics/*"), "the event is in its topic's file")
    process = booted.good("systemctl", "show", "-p", "MainPID", "--value", "sluice")
    user = booted.good("stat", "-c", "%u", f"/proc/{process}")
    expect(int(user) > 60000, f"it runs as the dynamic user {user}")
    expect("mode is different" not in booted.good("journalctl", "-b"), "systemd finds nothing odd about its folders")
    booted.good("systemctl", "reload", "sluice")
    expect("config_reloaded" in booted.good("journalctl", "-u", "sluice"), "the unit reloads")
    booted.good(*install, f"/{GUEST_FOLDER}/{newer(deb, folder).name}")
    after = booted.good("systemctl", "show", "-p", "MainPID", "--value", "sluice")
    expect(booted.is_active("sluice") and after != process, "an upgrade starts it again")
    booted.good("systemctl", "stop", "sluice")
    expect("nothing was lost" in booted.good("journalctl", "-u", "sluice", "-n", "5"), "the unit stops, nothing is lost")
    booted.good("systemctl", "start", "sluice")
    booted.good("apt-get", "purge", "-y", "-q", "sluice")
    expect(not booted.is_active("sluice"), "purging stops it")
    left = booted.good("find", "/", "-xdev", "-name", "*sluice*", "-not", "-path", f"/{GUEST_FOLDER}/*", "-not", "-path", "/proc/*")
    expect(not left, f"and leaves nothing {left}")


def check_booted(root, deb, folder):
    """The same under a systemd that really runs, where one can be booted."""
    if not shutil.which("systemd-nspawn"):
        print("not tried: a booted systemd (no systemd-nspawn here)")
        return
    root.apt("install", "systemd", "systemd-sysv", "dbus", "curl", f"/tmp/{deb.name}")
    root.apt("purge", "sluice")
    (root.path / "usr/sbin/policy-rc.d").unlink()
    shutil.copy(deb, root.path / GUEST_FOLDER)
    root.unmount()
    booted = Booted(root)
    if not booted.first:
        print("not tried: a booted systemd (systemd-nspawn cannot boot one here)")
        return
    try:
        check_units(booted, root.path / GUEST_FOLDER / deb.name, root.path / GUEST_FOLDER)
    finally:
        booted.close()


def check(deb, folder):
    root = Root(folder)
    try:
        root.apt("update")
        before = root.files()
        started = time.monotonic()
        root.install(deb)
        print(f"installed with its dependencies in {time.monotonic() - started:.1f} s", flush=True)
        installed = root.files()
        expect(not [path for path in installed if re.match(r"etc/systemd/system/.*sluice", path)], "nothing is enabled")
        version = root.run("dpkg-query", "-W", "-f", "${Version}", "sluice")
        expect(root.run("sluice", "--version").strip() == f"sluice {version}", f"the version of both is {version}")
        expect(root.run("sluice", "check-config", "--config", "/etc/sluice/sluice.yaml").strip() ==
               "The configuration is good.", "the installed configuration is good")
        check_sbom(root)
        check_shells(root)
        check_service(root)
        check_conffile(root, deb, Path(folder))
        (root.path / "etc/sluice/streams.d/own.yaml").write_text("own: {schema_title: library/loan}\n")
        root.apt("remove", "sluice")
        expect((root.path / "etc/sluice/sluice.yaml").exists() and (root.path / "var/lib/private/sluice").exists(),
               "remove keeps configuration and events")
        expect(not (root.path / "usr/bin/sluice").exists(), "and takes the program away")
        root.apt("purge", "sluice")
        root.apt("autoremove", "--purge")
        after = root.files()
        after.pop("var/lib/private", None)  # systemd's, made by this test
        differ = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        left = [path for path in differ if "sluice" in path]
        expect(not left, f"purge leaves nothing: {left or 'no path with the name'}")
        expect(not differ, f"all files are those of before: {len(before)}, {differ or 'no difference'}")
        check_booted(root, deb, Path(folder))
    finally:
        root.close()


def main():
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        print("SKIPPED: needs root and debootstrap (scripts/setup --package)")
        return 77
    deb = max(Path(sys.argv[1]).glob("sluice_*.deb"), key=lambda path: path.stat().st_mtime)
    try:
        print(run("lintian", "--allow-root", "--fail-on", "error", "--suppress-tags", "initial-upload-closes-no-bugs", deb))
        with tempfile.TemporaryDirectory() as folder:
            check(deb.resolve(), folder)
    except Failed as failure:
        print(f"FAILED: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
