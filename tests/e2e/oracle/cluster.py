"""The Kafka that is broken: three brokers behind a proxy, with permissions, and one on a disk that can be full."""
import json
import os
import re
import subprocess
import time

from daemon import ROOT, Failure, check

from . import events, rdkafka, small_disk
from .proxy import Proxy

BROKERS = 3
SMALL_DISK_BROKER = 3
SMALL_DISK = "4g"
PARTITIONS = 3
CANARY = "oracle.canary"  # of the reference producer, not of the daemon
USER, PASSWORD = "sluice", "front"
HEALTHY_SECONDS = 180     # for a cluster to come back, on a machine that is busy

PROPERTIES = {
    "broker.session.timeout.ms": "6000",  # a killed broker may register again only after this
    "broker.heartbeat.interval.ms": "1000",
    "num.partitions": str(PARTITIONS),
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "super.users": "User:ANONYMOUS",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,FRONT:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.front.plain.sasl.jaas.config":
        f'org.apache.kafka.common.security.plain.PlainLoginModule required user_{USER}="{PASSWORD}";',
}

TOPICS = tuple(events.PREFIX + stream for stream in events.STREAMS + (events.ERROR_STREAM,))


class Cluster:
    def __init__(self, port, seed):
        self.port = port
        arguments = ["up", "--brokers", str(BROKERS), "--front", "--quick"]
        for name, value in PROPERTIES.items():
            arguments += ["--set", f"{name}={value}"]
        if small_disk.can_mount():
            arguments += ["--tmpfs", f"{SMALL_DISK_BROKER}:{SMALL_DISK}"]
        self.bootstrap = self._script(*arguments).strip().splitlines()[-1]
        self.proxy = Proxy({port + 20 + node: port + 10 + node for node in range(BROKERS)}, seed)
        self.conf = {"metadata.broker.list": ",".join(f"127.0.0.1:{port + 20 + node}" for node in range(BROKERS)),
                     "security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "PLAIN", "sasl.username": USER,
                     "sasl.password": PASSWORD, "compression.type": "snappy"}
        self.create(CANARY)
        self.renew()

    def renew(self):
        """Empty topics, also where the cluster ran already."""
        for topic in TOPICS:
            with self.admin() as admin:
                admin.delete_topic(topic)
        end = time.monotonic() + 30
        while any(topic in TOPICS for topic, _ in self.leaders()) and time.monotonic() < end:
            time.sleep(0.1)
        for topic in TOPICS:
            self.create(topic)

    def _script(self, *arguments, seconds=900):
        done = subprocess.run([str(ROOT / "scripts/kafka"), *map(str, arguments), "--port", str(self.port)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=seconds)
        check(done.returncode == 0, f"scripts/kafka {arguments[0]}: exit {done.returncode}: {done.stderr[-500:]}")
        return done.stdout

    def admin(self):
        return rdkafka.Client({"bootstrap.servers": self.bootstrap})

    def create(self, topic):
        with self.admin() as admin:
            problems = admin.create_topic(topic, PARTITIONS, BROKERS)
        check(not problems or "exists" in problems[0], f"{topic}: {problems}")

    def stop(self, *nodes):
        self._script("stop", *nodes)

    def cont(self, *nodes):
        self._script("cont", *nodes)

    def kill(self, *nodes):
        self._script("kill", *nodes)

    def start(self, *nodes):
        self._script("start", *nodes)

    def pid(self, node):
        return int((ROOT / f"var/kafka/{self.port}/node-{node}/pid").read_text())

    def runs(self, node):
        return os.path.exists(f"/proc/{self.pid(node)}")

    def small_disk(self):
        return ROOT / f"var/kafka/{self.port}/node-{SMALL_DISK_BROKER}/data"

    def leaders(self):
        """{(topic, partition): (leader or -1, in-sync replicas)} as one broker tells it; empty if none does."""
        done = subprocess.run(["kcat", "-L", "-J", "-m", "3", "-b", self.bootstrap], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=60)
        if done.returncode != 0:
            return {}
        return {(topic["topic"], partition["partition"]): (partition["leader"], len(partition["isrs"]))
                for topic in json.loads(done.stdout)["topics"] for partition in topic["partitions"]}

    def is_whole(self, in_sync):
        found = self.leaders()
        ours = [state for (topic, _), state in found.items() if topic.startswith(events.PREFIX)]
        return bool(ours) and all(leader >= 0 and replicas >= in_sync for leader, replicas in ours)

    def wait_healthy(self, in_sync=2):
        """Until every partition has its leader and replicas, and a new producer, by the daemon's way, is acknowledged
        in each partition of a topic. When that was."""
        end = time.monotonic() + HEALTHY_SECONDS
        while time.monotonic() < end:
            if self.is_whole(in_sync):
                with rdkafka.Client({**self.conf, "acks": "all", "message.timeout.ms": 4000}) as client:
                    if client.deliver(CANARY, PARTITIONS, b"canary", 5):
                        return time.time()
            time.sleep(0.2)
        raise Failure(f"the Kafka cluster is not well {HEALTHY_SECONDS} s after the fault: {self.leaders()}")

    def close(self):
        self.proxy.close()
        self._script("down")


def read(bootstrap, topic):
    """Each record of the topic: (partition, offset, key, value), all bytes. The values hold no newlines."""
    command = ["kcat", "-C", "-q", "-e", "-b", bootstrap, "-t", topic, "-o", "beginning", "-f", "%p %o %k\t%s\n",
               "-X", "fetch.wait.max.ms=10", "-X", "isolation.level=read_uncommitted"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for line in process.stdout:
            head, _, value = line.rstrip(b"\n").partition(b"\t")
            partition, offset, key = head.split(b" ", 2)
            yield int(partition), int(offset), key, value
        errors = process.stderr.read().decode(errors="replace")
        code = process.wait()
    if code != 0 and not re.search("unknown topic|Unknown topic", errors):
        raise Failure(f"kcat {topic}: {errors}")
