"""A real Kafka for the drivers beside this file, and what is in its topics."""
import json
import os
import subprocess

from daemon import ROOT, Failure

PORT = os.environ.get("SLUICE_KAFKA_PORT", "19192")  # not the port of a person's trials


def script(port, *arguments):
    """scripts/kafka for the cluster of that port; the last line that it prints."""
    done = subprocess.run([str(ROOT / "scripts/kafka"), *arguments, "--port", str(port)], stdout=subprocess.PIPE,
                          text=True, timeout=300)
    if done.returncode != 0:
        raise Failure(f"scripts/kafka {arguments[0]}: exit {done.returncode}")
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def address():
    """host:port of the cluster; starts it if need be (the ctest fixture `kafka` has, and stops it)."""
    return script(PORT, "up").split()[-1]


def settings(broker):
    """The --set options that make the daemon write there."""
    return {"output": "kafka", "kafka.conf": {"metadata.broker.list": broker}}


def consume(broker, topic):
    """Every record of the topic: {(partition, offset): (key or None, timestamp in ms, value bytes)}."""
    done = subprocess.run(["kcat", "-C", "-q", "-e", "-J", "-b", broker, "-t", topic, "-o", "beginning"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if done.returncode != 0:
        raise Failure(f"kcat {topic}: {done.stderr.decode()}")
    # kcat puts bytes that are no UTF-8 into its JSON as they are.
    records = [json.loads(line) for line in done.stdout.decode(errors="replace").split("\n") if line]
    return {(r["partition"], r["offset"]): (r["key"], r["ts"], r["payload"].encode()) for r in records}


def topics(broker):
    """The names of all topics that hold events."""
    done = subprocess.run(["kcat", "-L", "-J", "-b", broker], stdout=subprocess.PIPE, timeout=60, check=True)
    return [t["topic"] for t in json.loads(done.stdout)["topics"] if not t["topic"].startswith("__")]
