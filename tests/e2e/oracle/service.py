"""The daemon under test through all its lives, and what it says of itself meanwhile."""
import http.client
import json
import signal
import threading
import time

from daemon import ROOT, Daemon

from . import events, small_disk

LOOK_SECONDS = 0.5
HEALTH_SECONDS = 5      # for an answer of /healthz on a busy machine
DELIVERY_SECONDS = 10   # limits.delivery_timeout
SHUTDOWN_SECONDS = 15   # shutdown.deadline

EVENT_SUMS = ("sluice_events_received_total",
              ("sluice_events_acknowledged_total", "sluice_events_hastily_accepted_total",
               "sluice_events_refused_total", "sluice_events_failed_total", "sluice_events_in_flight"))
RECORD_SUMS = ("sluice_records_handed_total",
               ("sluice_records_delivered_total", "sluice_records_failed_total", "sluice_records_spooled_total",
                "sluice_records_in_flight"))


def parse_metrics(text):
    values = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            values[name] = float(value)
    return values


class Service:
    """start() gives the daemon a life, which ends by stop() or kill(). One thread drives, another looks."""

    def __init__(self, folder, cluster, binary, spool_mode, spool_disk=None):
        """`spool_disk`: the spool lies in a tmpfs of this size."""
        self.spool, self.spool_disk = folder / "spool", spool_disk
        if spool_disk:
            self.spool.mkdir()
            small_disk.mount(self.spool, spool_disk)
        self.folder, self.binary, self.findings = folder, binary, []
        config = folder / "sluice.yaml"
        config.write_text("service_name: oracle\n")
        (folder / "streams.json").write_text(json.dumps(events.stream_config()))
        self.settings = {
            "schema_base_uris": [str(ROOT / "config/schemas")], "stream_config_uri": str(folder / "streams.json"),
            "stream_config_object_path": "streams", "topic_prefix": events.PREFIX, "error_stream": events.ERROR_STREAM,
            "enrichment.meta_dt": "never", "enrichment.meta_id": "never", "output": "kafka",
            "kafka.conf": cluster.conf, "limits.delivery_timeout": f"{DELIVERY_SECONDS}s",
            "shutdown.deadline": f"{SHUTDOWN_SECONDS}s", "spool.mode": spool_mode, "spool.dir": str(self.spool)}
        self.config, self.daemon = config, None
        self.lives, self.exits, self.log = [], [], []  # last metrics of each life; exit codes; lines of all lives
        self.peak_rss = 0
        self.readiness = []     # (when, status, body) of each change
        self._end = threading.Event()
        self._lock = threading.Lock()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._disturbances = 1  # odd while the daemon is frozen or between two lives
        self.start()
        self._watcher.start()

    def start(self):
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        self.daemon = Daemon(self.config, data, self.settings, binary=self.binary)
        # Its next lives have the same address: the load comes back there.
        self.settings["port"], self.settings["admin.port"] = self.daemon.port, self.daemon.admin[1]
        with self._lock:
            self.lives.append({})
        self._disturbances += 1

    def _ended(self, what, code):
        self.log += [f"--- {what}, exit {code}", *self.daemon.lines]
        self.exits.append((what, code))
        self.daemon = None

    def stop(self):
        """SIGTERM; the exit code."""
        self._look()
        self._disturbances += 1
        code = self.daemon.stop(SHUTDOWN_SECONDS + 10)
        self._ended("SIGTERM", code)
        if code not in (0, 3):
            self.findings.append(f"the daemon ended with {code} after SIGTERM")
        return code

    def kill(self):
        self._disturbances += 1
        self.daemon.process.kill()
        self.daemon.wait(30)
        self._ended("SIGKILL", -signal.SIGKILL)

    def freeze(self):
        self._disturbances += 1
        self.daemon.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.daemon.process.send_signal(signal.SIGCONT)
        self._disturbances += 1

    def get(self, path, seconds=HEALTH_SECONDS):
        connection = http.client.HTTPConnection("127.0.0.1", self.settings["admin.port"], timeout=seconds)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def total(self, name):
        """A metric summed over the lives, as last seen in each; all its labels."""
        with self._lock:
            return sum(value for life in self.lives for key, value in life.items()
                       if key == name or key.startswith(name + "{"))

    def _look(self):
        values = parse_metrics(self.get("/metrics")[1])
        with self._lock:
            self.lives[-1] = values
        for whole, parts in (EVENT_SUMS, RECORD_SUMS):
            if whole in values and values[whole] != sum(values[part] for part in parts):
                self.findings.append(f"{whole} is {values[whole]}, its parts are { {p: values[p] for p in parts} }")
        self.peak_rss = max(self.peak_rss, int(values.get("process_resident_memory_bytes", 0)))
        return values

    def _watch(self):
        ready = None
        while not self._end.wait(LOOK_SECONDS):
            before, daemon = self._disturbances, self.daemon
            if before % 2 == 1:
                continue
            try:
                status, _ = self.get("/healthz")
                if status != 200:
                    self.findings.append(f"/healthz says {status}")
                answer = self.get("/readyz")
                if answer != ready:
                    ready = answer
                    self.readiness.append((time.time(), *answer))
                self._look()
            except (OSError, http.client.HTTPException) as error:
                code = daemon.process.poll()
                if self._disturbances != before:
                    continue  # it was frozen or killed between the question and the answer
                if code is not None:
                    self.findings.append(f"the daemon ended by itself with {code}")
                    return
                self.findings.append(f"/healthz, /readyz or /metrics: {error!r}")

    def wait_idle(self, seconds):
        """Until no record waits for its report and none is in the spool."""
        end = time.monotonic() + seconds
        values = {}
        while time.monotonic() < end:
            values = self._look()
            if values["sluice_records_in_flight"] == 0 and self.spooled(values) == 0:
                return
            time.sleep(0.2)
        self.findings.append(f"{values['sluice_records_in_flight']} records are on their way and "
                             f"{self.spooled(values)} in the spool {seconds} s after the last request")

    @staticmethod
    def spooled(values):
        return values.get("sluice_spool_records", 0)

    def set_aside(self, run):
        """(worker, number) of the events that Kafka refused for good when they came from the spool."""
        path = self.spool / "aside/refused.spool"
        content = path.read_bytes() if path.exists() else b""
        return events.ids_between(content, run, 0, len(content))

    def close(self):
        self._end.set()
        self._watcher.join(10)
        if self.daemon is not None and self.daemon.process.poll() is None:
            self.daemon.process.kill()
            self.daemon.wait(30)
            self._ended("the end", -signal.SIGKILL)
        if self.spool_disk:
            small_disk.unmount(self.spool)
