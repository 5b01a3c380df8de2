"""What is broken, how it is mended, and what each fault excuses.

A fault begins, is held for some seconds, and ends. Faults that use different things may overlap. All choices come from
the seed, so a run can be repeated; how threads and processes meet the faults cannot.
"""
import random

from . import events, small_disk
from .cluster import BROKERS, SMALL_DISK, SMALL_DISK_BROKER, USER

TOPIC = events.PREFIX + events.DOOMED
DENIED_TOPIC = events.PREFIX + events.DENIED
SIZES_TOPIC = events.PREFIX + events.SIZES
LOWERED_BYTES = 8000


class Fault:
    name = ""
    uses = frozenset()        # what no other fault may use meanwhile
    seconds = (1, 1)          # of a long run: shortest and longest
    hides = frozenset()       # streams that cannot take events meanwhile
    kills_memory = False      # a hasty event that was in memory may be gone
    wipes = frozenset()       # streams whose events so far are removed on purpose
    needs = None              # why it cannot be done here, or None
    needs_spool = False
    fills_spool = False       # a hasty event may find no room
    damaged = frozenset()     # (worker, number) of events whose only copy was damaged on purpose

    def __init__(self, world, rng, longest):
        self.world, self.rng = world, rng
        low, high = self.seconds
        self.hold = rng.uniform(low, max(low, min(high, longest)))
        self.detail = ""

    def begin(self):
        raise NotImplementedError

    def end(self):
        raise NotImplementedError

    def refuses(self, stream, is_large):
        """Whether Kafka meanwhile refuses such events for good."""
        return False

    def any_broker(self):
        node = self.rng.randint(1, BROKERS)
        self.detail = f"broker {node}"
        return node


class BrokerStop(Fault):
    name, uses, seconds = "broker-stop", frozenset({"brokers"}), (1, 60)

    def begin(self):
        self.node = self.any_broker()
        self.world.cluster.stop(self.node)

    def end(self):
        self.world.cluster.cont(self.node)


class BrokerKill(Fault):
    name, uses, seconds = "broker-kill", frozenset({"brokers"}), (0, 20)

    def begin(self):
        self.node = self.any_broker()
        self.world.cluster.kill(self.node)

    def end(self):
        self.world.cluster.start(self.node)


class AllGone(Fault):
    name, uses, seconds = "all-brokers-gone", frozenset({"brokers"}), (12, 120)

    def begin(self):
        self.world.cluster.kill(*range(1, BROKERS + 1))

    def end(self):
        self.world.cluster.start(*range(1, BROKERS + 1))


class AllFrozen(Fault):
    name, uses, seconds = "all-brokers-frozen", frozenset({"brokers"}), (3, 60)

    def begin(self):
        self.world.cluster.stop(*range(1, BROKERS + 1))

    def end(self):
        self.world.cluster.cont(*range(1, BROKERS + 1))


class LeaderMoves(Fault):
    """One broker down, so its leaders move; then a second one, so that acks=all is refused; then both come back."""
    name, uses, seconds = "leader-moves", frozenset({"brokers"}), (10, 40)

    def begin(self):
        self.nodes = self.rng.sample(range(1, BROKERS + 1), 2)
        self.detail = f"brokers {self.nodes[0]}, then {self.nodes[1]}"
        self.world.cluster.kill(self.nodes[0])
        self.world.sleep(self.hold / 2)
        self.world.cluster.kill(self.nodes[1])
        self.hold /= 2

    def end(self):
        self.world.cluster.start(*self.nodes)


class Latency(Fault):
    uses, seconds = frozenset({"network"}), (5, 30)
    latency = 0.0

    def begin(self):
        self.world.cluster.proxy.set(latency=self.latency)

    def end(self):
        self.world.cluster.proxy.set()


class Latency200(Latency):
    name, latency = "latency-200ms", 0.2


class Latency2000(Latency):
    name, latency = "latency-2s", 2.0


class Loss(Fault):
    name, uses, seconds = "loss-5-percent", frozenset({"network"}), (5, 30)

    def begin(self):
        self.world.cluster.proxy.set(loss=0.05)

    def end(self):
        self.world.cluster.proxy.set()


class Cut(Fault):
    """All connections to Kafka end in the middle of what they carry, a few times."""
    name, uses, seconds = "connections-cut", frozenset({"network"}), (1, 8)

    def begin(self):
        times = self.rng.randint(1, 4)
        self.detail = f"{times} times"
        for _ in range(times):
            self.world.cluster.proxy.cut()
            self.world.sleep(self.hold / times)
        self.hold = 0

    def end(self):
        pass


class TopicDeleted(Fault):
    name, uses, seconds = "topic-deleted", frozenset({"brokers", "doomed"}), (2, 8)
    wipes = hides = frozenset({events.DOOMED})

    def begin(self):
        self.world.administer(lambda admin: admin.delete_topic(TOPIC))

    def end(self):
        pass  # the daemon's next record makes it again, or so the broker is configured


class SizeLowered(Fault):
    name, uses, seconds = "max-message-bytes-lowered", frozenset({"brokers", "sizes"}), (4, 15)

    def begin(self):
        self.world.administer(lambda admin: admin.set_topic(SIZES_TOPIC, {"max.message.bytes": LOWERED_BYTES}))

    def end(self):
        self.world.administer(lambda admin: admin.set_topic(SIZES_TOPIC, {}))

    def refuses(self, stream, is_large):
        return stream == events.SIZES and is_large


class WriteDenied(Fault):
    name, uses, seconds = "write-denied", frozenset({"brokers", "denied"}), (4, 15)
    hides = frozenset({events.DENIED})

    def begin(self):
        self.world.administer(lambda admin: admin.deny_write(DENIED_TOPIC, f"User:{USER}"))

    def end(self):
        self.world.administer(lambda admin: admin.forget_acls(DENIED_TOPIC))

    def refuses(self, stream, is_large):
        return stream == events.DENIED


class BrokerDiskFull(Fault):
    name, uses, seconds = "broker-disk-full", frozenset({"brokers"}), (3, 20)
    needs = None if small_disk.can_mount() else "mounting a tmpfs needs root"

    def begin(self):
        self.detail = f"broker {SMALL_DISK_BROKER}"
        small_disk.fill(self.world.cluster.small_disk())

    def end(self):
        cluster = self.world.cluster
        small_disk.empty(cluster.small_disk(), SMALL_DISK)
        if cluster.runs(SMALL_DISK_BROKER):
            self.detail += ", which lived on"
        else:
            cluster.start(SMALL_DISK_BROKER)


class SluiceTerm(Fault):
    name, uses, seconds = "sluice-sigterm", frozenset({"sluice"}), (0, 3)
    kills_memory = False

    def begin(self):
        code = self.world.service.stop()
        self.detail = f"exit {code}"
        # With exit 3 it says itself that hasty events were lost.
        self.kills_memory = code == 3

    def end(self):
        self.world.service.start()


class SluiceKill(Fault):
    name, uses, seconds = "sluice-sigkill", frozenset({"sluice"}), (0, 2)
    kills_memory = True

    def begin(self):
        self.world.service.kill()

    def end(self):
        self.world.service.start()


class SluiceStop(Fault):
    name, uses, seconds = "sluice-sigstop", frozenset({"sluice"}), (1, 15)

    def begin(self):
        self.world.service.freeze()

    def end(self):
        self.world.service.thaw()


class SpoolDiskFull(Fault):
    """Kafka is away, so events go to the spool, and its disk is full."""
    name, uses, seconds = "spool-disk-full", frozenset({"brokers", "spool"}), (8, 40)
    needs = None if small_disk.can_mount() else "mounting a tmpfs needs root"
    needs_spool = fills_spool = True

    def begin(self):
        self.world.cluster.stop(*range(1, BROKERS + 1))
        self.world.sleep(self.hold / 2)
        small_disk.fill(self.world.service.spool)
        self.world.sleep(self.hold / 2)
        self.hold = 0

    def end(self):
        small_disk.empty(self.world.service.spool, self.world.service.spool_disk)
        self.world.cluster.cont(*range(1, BROKERS + 1))


class SpoolDamaged(Fault):
    """Sluice is killed while the spool holds events; one of its files loses its end, or has one bit turned."""
    name, uses, seconds = "spool-damaged", frozenset({"brokers", "sluice", "spool"}), (8, 30)
    needs_spool = kills_memory = True

    def begin(self):
        self.world.cluster.stop(*range(1, BROKERS + 1))
        self.world.sleep(self.hold)
        self.hold = 0
        self.world.service.kill()
        segments = [path for path in sorted(self.world.service.spool.glob("*.spool")) if path.stat().st_size > 4096]
        if not segments:
            self.detail = "nothing in the spool"
            return
        damage = self.truncate if self.rng.random() < 0.5 else self.turn_a_bit
        damage(self.rng.choice(segments))

    def truncate(self, path):
        content = path.read_bytes()
        size = len(content) - self.rng.randint(1, len(content) // 4)
        with open(path, "r+b") as file:
            file.truncate(size)
        self.damaged = events.ids_between(content, self.world.run, size, len(content))
        self.detail = f"{len(content) - size} bytes cut off, {len(self.damaged)} events"

    def turn_a_bit(self, path):
        content = bytearray(path.read_bytes())
        at = self.rng.randint(len(content) // 10, len(content) // 10 * 9)
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(bytes([content[at] ^ 1 << self.rng.randint(0, 7)]))
        self.damaged = events.ids_between(bytes(content), self.world.run, at, at + 1)
        self.detail = "a bit turned"

    def end(self):
        self.world.service.start()
        self.world.cluster.cont(*range(1, BROKERS + 1))


ALL = (BrokerStop, BrokerKill, AllGone, AllFrozen, LeaderMoves, Latency200, Latency2000, Loss, Cut, TopicDeleted,
       SizeLowered, WriteDenied, BrokerDiskFull, SluiceTerm, SluiceKill, SluiceStop, SpoolDiskFull, SpoolDamaged)
BY_NAME = {kind.name: kind for kind in ALL}


class Plan:
    """The faults of a run in order: each alone, in an order of the seed's; then pairs of them, without end."""

    def __init__(self, world, seed, kinds, longest):
        self._world, self._longest = world, longest
        self._random = random.Random(f"plan.{seed}")
        self._kinds = kinds
        self._alone = list(self._kinds)
        self._random.shuffle(self._alone)

    def _make(self, kind):
        return kind(self._world, random.Random(self._random.random()), self._longest)

    def next(self):
        if self._alone:
            return [self._make(self._alone.pop())]
        first = self._random.choice(self._kinds)
        others = [kind for kind in self._kinds if not kind.uses & first.uses]
        pair = [first] + ([self._random.choice(others)] if others else [])
        return [self._make(kind) for kind in pair]


