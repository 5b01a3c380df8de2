#!/usr/bin/env python3
"""TLS on the built daemon, with certificates that openssl makes here: protocols and ciphers as `openssl s_client` sees
them, certificates of clients, a certificate that is replaced under load with no failed request, and one clear sentence
for files that cannot be used, at start and while it runs.

tls.py [--seconds N]
"""
import argparse
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time

from daemon import BINARY, ROOT, SKIPPED, Daemon, check, eventually, run

EVENT = json.dumps({"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan"}, "action": "lend",
                    "book": {"isbn": "9780141439518"}, "reader_id": "r-1"}).encode()
HEADERS = {"Content-Type": "application/json"}


def openssl(*arguments, **options):
    return subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, **options)


def make(*arguments):
    done = openssl(*arguments)
    check(done.returncode == 0, f"openssl {arguments[0]}: {done.stderr}")


class Authority:
    """Signs certificates into a folder: name.crt with name.key."""

    def __init__(self, folder, name="ca"):
        self.folder = folder
        self.certificate, self.key = folder / f"{name}.crt", folder / f"{name}.key"
        make("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key,
             "-out", self.certificate, "-days", 30, "-subj", f"/CN={name}")

    def sign(self, name, common_name="localhost", alt="DNS:localhost,IP:127.0.0.1", days=30, rsa=False):
        kind = ["rsa:2048"] if rsa else ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        request, certificate, key = (self.folder / f"{name}.{end}" for end in ("csr", "crt", "key"))
        make("req", "-newkey", *kind, "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={common_name}")
        extensions = self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={alt}\n")
        make("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial", "-out",
             certificate, "-days", days, "-extfile", extensions)
        return certificate, key


def context_for(authority, client=None):
    context = ssl.create_default_context(cafile=str(authority.certificate))
    if client:
        context.load_cert_chain(*map(str, client))
    return context


def post(sluice, context, connection=None, body=EVENT):
    opened = connection or http.client.HTTPSConnection(sluice.host, sluice.port, context=context, timeout=30)
    opened.request("POST", "/v1/events", body=body, headers=HEADERS)
    answer = opened.getresponse()
    answer.read()
    if not connection:
        opened.close()
    return answer.status


def s_client(sluice, *options, text="GET /_info HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"):
    """The handshake and what came, or None where the handshake failed."""
    done = openssl("s_client", "-connect", f"{sluice.host}:{sluice.port}", "-ign_eof", *options, input=text, timeout=30)
    return done.stdout if "HTTP/1.1 200" in done.stdout else None


def protocols(folder):
    authority = Authority(folder)
    certificate, key = authority.sign("server", rsa=True)
    settings = {"output": "discard", "tls.certificate": str(certificate), "tls.key": str(key),
                "admin.tls.certificate": str(certificate), "admin.tls.key": str(key)}
    with Daemon(ROOT / "config/demo.yaml", folder / "data", settings) as sluice:
        context = context_for(authority)
        for body in (EVENT, b"[" + b",".join([EVENT] * 3000) + b"]"):  # several records
            status = post(sluice, context, body=body)
            check(status == 201, f"{status} for a body of {len(body)} bytes")
        admin = http.client.HTTPSConnection(*sluice.admin, context=context, timeout=30)
        for _ in range(2):
            admin.request("GET", "/metrics")
            metrics = admin.getresponse().read().decode()
        expiry = float(re.search(r'^sluice_tls_certificate_expiry_timestamp_seconds{listener="events"} (\S+)', metrics,
                                 re.M).group(1))
        check(29 * 86400 < expiry - time.time() < 31 * 86400, f"the certificate expires at {expiry}")
        for version, accepted in (("-tls1", False), ("-tls1_1", False), ("-tls1_2", True), ("-tls1_3", True)):
            # Level 0: or this openssl would not even offer the old ones.
            output = s_client(sluice, version, "-cipher", "ALL:@SECLEVEL=0")
            check((output is not None) == accepted, f"{version}: {'refused' if accepted else 'accepted'}")
        for cipher, accepted in (("AES128-SHA", False), ("AES128-GCM-SHA256", False), ("ECDHE-RSA-AES128-SHA", False),
                                 ("NULL", False), ("aNULL", False), ("3DES", False), ("DHE", False),
                                 ("ECDHE-RSA-AES128-GCM-SHA256", True), ("ECDHE-RSA-CHACHA20-POLY1305", True)):
            output = s_client(sluice, "-tls1_2", "-cipher", f"{cipher}:@SECLEVEL=0")
            check((output is not None) == accepted, f"{cipher}: {'refused' if accepted else 'accepted'}")
        output = s_client(sluice, "-alpn", "h2,http/1.1")
        check("ALPN protocol: http/1.1" in output, "ALPN")
        check(s_client(sluice, "-alpn", "h2") is None, "a client that speaks HTTP/2 only")
        output = s_client(sluice, "-tls1_2")
        check("Compression: NONE" in output and "Secure Renegotiation IS supported" in output, "compression")
        done = openssl("s_client", "-connect", f"{sluice.host}:{sluice.port}", "-tls1_2", input="R\n", timeout=30)
        check("no renegotiation" in done.stderr or "handshake failure" in done.stderr, f"renegotiation {done.stderr}")
        with socket.create_connection((sluice.host, sluice.port), timeout=10) as plain:
            plain.sendall(b"GET /_info HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = plain.recv(1000)
        check(answer.startswith(b"HTTP/1.1 400 ") and b"HTTPS" in answer, f"plain HTTP got {answer}")
        check(sluice.stop() == 0, "exit code")


def client_certificates(folder):
    authority, other = Authority(folder), Authority(folder, "other")
    certificate, key = authority.sign("server")
    settings = {"output": "discard", "tls.certificate": str(certificate), "tls.key": str(key), "tls.min_version": "1.3",
                "tls.client_ca": str(authority.certificate),
                "tls.allowed_names": ["producer.example", "spiffe://example/producer"]}
    allowed = {"by DNS name": ("x", "DNS:producer.example"), "by URI": ("x", "URI:spiffe://example/producer"),
               "by common name": ("producer.example", "DNS:other.example")}
    with Daemon(ROOT / "config/demo.yaml", folder / "data", settings) as sluice:
        for number, (what, (common, alt)) in enumerate(allowed.items()):
            client = authority.sign(f"client{number}", common, alt)
            check(post(sluice, context_for(authority, client)) == 201, what)
        refused = {"none": None, "another name": authority.sign("stranger", "x", "DNS:producer.example.org"),
                   "another signer": other.sign("foreign", "producer.example", "DNS:producer.example")}
        for what, client in refused.items():
            try:
                status = post(sluice, context_for(authority, client))
                check(False, f"a certificate of {what} got {status}")
            except (ssl.SSLError, OSError):
                pass
        check(s_client(sluice, "-tls1_2") is None, "TLS 1.2 in spite of tls.min_version")
        metrics = sluice.request("GET", "/metrics", admin=True)[2].decode()
        check('sluice_tls_handshakes_total{listener="events",outcome="client_certificate"} 3' in metrics,
              "refused handshakes")
        check(sluice.stop() == 0, "exit code")


def put(pair, place):
    """A renewal as it is done: each file under another name, then renamed into its place."""
    for source, name in zip(pair, ("certificate.pem", "key.pem")):
        shutil.copy(source, place / f"{name}.new")
        os.rename(place / f"{name}.new", place / name)


def replaced_under_load(folder, seconds):
    authority = Authority(folder)
    place = folder / "place"
    place.mkdir()
    put(authority.sign("first"), place)
    settings = {"output": "discard", "tls.certificate": str(place / "certificate.pem"),
                "tls.key": str(place / "key.pem")}
    with Daemon(ROOT / "config/demo.yaml", folder / "data", settings) as sluice:
        context, failures, counts, stop = context_for(authority), [], {"kept": 0, "new": 0}, threading.Event()

        def load(kind):
            kept = http.client.HTTPSConnection(sluice.host, sluice.port, context=context, timeout=30)
            while not stop.is_set():
                try:
                    status = post(sluice, context, kept if kind == "kept" else None)
                    if status != 201:
                        failures.append(status)
                    counts[kind] += 1
                except OSError as error:
                    failures.append(error)

        def serial():
            text = ssl.get_server_certificate((sluice.host, sluice.port))
            return openssl("x509", "-noout", "-serial", input=text).stdout

        def metric(outcome):
            metrics = sluice.request("GET", "/metrics", admin=True)[2].decode()
            return int(re.search(rf'sluice_tls_reloads_total{{listener="events",outcome="{outcome}"}} (\d+)',
                                 metrics).group(1))

        threads = [threading.Thread(target=load, args=(kind,)) for kind in ("kept", "kept", "new", "new")]
        for thread in threads:
            thread.start()
        try:
            end = time.monotonic() + seconds
            number = 0
            while number < 2 or time.monotonic() < end:
                before = serial()
                put(authority.sign(f"renewed{number}"), place)
                eventually("the renewed certificate", lambda: serial() != before)
                number += 1
            # What cannot be used changes nothing but the log.
            before, used = serial(), metric("used")
            bad = list(bad_files(authority, place).items())
            for number, (what, text) in enumerate((bad[0], bad[1], bad[-1])):
                what()
                eventually(text, lambda: metric("failed") > number)
                eventually(f"a line like {text}", lambda: any(
                    re.search(text, line) and "stays in use" in line for line in sluice.lines))
                check(serial() == before, f"{text}: and it is used")
            check(metric("used") == used, "something bad was used")
            put(authority.sign("last"), place)
            eventually("good files again", lambda: serial() != before)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        check(not failures, f"{len(failures)} failed, first {failures[:3]}")
        print(f"{counts['kept']} requests on kept and {counts['new']} on new connections, none failed")
        check(sluice.stop() == 0, "exit code")


def bad_files(authority, place):
    """What to do to good files, and the sentence about it."""
    good, other = authority.sign("good"), authority.sign("unpaired")
    expired = authority.sign("expired", days=0)
    nothing = place / "nothing"
    nothing.write_text("nothing\n")
    locked = place / "locked.key"
    make("pkey", "-in", good[1], "-aes256", "-passout", "pass:x", "-out", locked)
    return {
        lambda: put((good[0], other[1]), place):
            r"'tls\.key' is \S+key\.pem, which is not the key of the certificate in \S+certificate\.pem",
        lambda: put(expired, place): r"'tls\.certificate' is \S+, a certificate that expired on \d{4}-\d\d-\d\d",
        lambda: put((nothing, good[1]), place): r"'tls\.certificate' is \S+, which has no certificate in PEM form",
        lambda: put((good[0], nothing), place): r"'tls\.key' is \S+, which has no private key in PEM form",
        lambda: put((good[0], locked), place): r"'tls\.key' is \S+, which has a passphrase",
        lambda: (put(good, place), os.remove(place / "certificate.pem")):
            r"'tls\.certificate' is \S+, which cannot be read: No such file",
    }


def refused_at_start(folder):
    authority = Authority(folder)
    place = folder / "place"
    place.mkdir()
    files = ["--set", f"tls.certificate={place / 'certificate.pem'}", "--set", f"tls.key={place / 'key.pem'}"]
    for what, text in bad_files(authority, place).items():
        what()
        for command in ("serve", "check-config"):
            done = subprocess.run([BINARY, command, "--config", ROOT / "config/demo.yaml", "--set", "port=0", "--set",
                                   "admin.port=0", "--set", f"data_dir={folder}", *files], capture_output=True,
                                  text=True, cwd=ROOT, timeout=60)
            told = (done.stdout + done.stderr).replace("'", "")
            check(done.returncode == 2, f"{command}: exit {done.returncode} for {text}")
            wanted = text.replace("'", "").replace("key is", "key:? is").replace("certificate is", "certificate:? is")
            check(re.search(wanted, told), f"{command}: no sentence like {wanted} in {told}")


def driver_for(seconds):
    def driver(folder):
        for number, part in enumerate((protocols, client_certificates, refused_at_start,
                                       lambda place: replaced_under_load(place, seconds))):
            place = folder / str(number)
            place.mkdir()
            part(place)
    return driver


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3, help="how long certificates are replaced, at least twice")
    if not shutil.which("openssl"):
        print("SKIPPED: there is no program 'openssl'")
        sys.exit(SKIPPED)
    sys.exit(run(driver_for(parser.parse_args().seconds)))
