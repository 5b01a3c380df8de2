"""Holds the answers of a run against what is in the topics."""
import collections
import gzip
import statistics

from . import cluster, events, load

DELETED_SECONDS = 5     # after a topic was deleted: a broker that has not heard of it acknowledges into what goes
IN_MEMORY_SECONDS = 5   # of a hasty event while all is well, linger included
HASTY_SECONDS = 62      # ... while Kafka is away: message.timeout.ms, and what librdkafka takes to see it
DOUBT_SECONDS = 11      # before a fault: what was sent then may still be on its way (message.timeout.ms, and 3 s)
REPLAY_SECONDS = 15     # after a fault: what waits in the spool is sent
RECOVERY_SECONDS = 5    # from the end of a fault to a fresh event in each stream
NARROW_SHARE = 0.05     # of events of other streams that may fail while one stream is in trouble


class Window:
    """A fault (or two at a time) as it was: when it began, was over, and when Kafka was well again."""

    def __init__(self, faults):
        self.name = " + ".join(fault.name for fault in faults)
        self.uses = frozenset().union(*(fault.uses for fault in faults))
        self.faults = faults
        self.began = self.ended = self.healthy = 0.0
        self.restarts = []  # when a daemon that had events in memory was killed

    @property
    def hides(self):
        return frozenset().union(*(fault.hides for fault in self.faults))

    @property
    def wipes(self):
        return frozenset().union(*(fault.wipes for fault in self.faults))


class Records:
    """What is in the topics, counted while it is read."""

    def __init__(self, run, answers):
        self.run, self.answers = run.encode(), answers
        self.seen = [bytearray(len(worker.answer)) for worker in answers]
        self.count = 0
        self.foreign, self.altered, self.unwanted = [], [], []

    def take(self, topic, partition, offset, key, value):
        self.count += 1
        where = f"{topic}[{partition}]@{offset}"
        found = events.find_id(value, self.run)
        if found is None:
            self.foreign.append(f"{where}: no event of this run: {value[:200]!r}")
            return
        worker, number, at = found
        if worker >= len(self.answers) or number >= len(self.answers[worker].answer):
            self.foreign.append(f"{where}: event {worker}.{number} was never sent")
            return
        stream = events.STREAMS[self.answers[worker].stream[number]]
        if not events.is_intact(value, at) or events.PREFIX + stream != topic:
            self.altered.append(f"{where}: event {worker}.{number} of {stream} is not as it was sent: {value[:300]!r}")
        elif key.decode(errors="replace") != events.key_of(stream, number):
            self.altered.append(f"{where}: the key of event {worker}.{number} is {key!r}")
        answer = self.answers[worker].answer[number]
        if answer == load.REFUSED or self.answers[worker].is_invalid[number]:
            self.unwanted.append(f"{where}: event {worker}.{number} is there, its answer was {load.ANSWERS[answer]}")
        if self.seen[worker][number] < 255:
            self.seen[worker][number] += 1

    def take_error(self, topic, partition, offset, value):
        """A record of the error stream: about an event that is not valid."""
        at = value.find(self.run + b".")
        parts = value[at:at + 60].split(b".")
        if at < 0 or len(parts) < 3 or not (parts[1].isdigit() and parts[2].isdigit()):
            return  # about a body that could not be read
        worker, number = int(parts[1]), int(parts[2])
        if worker >= len(self.answers) or number >= len(self.answers[worker].answer):
            self.foreign.append(f"{topic}[{partition}]@{offset}: an error event about one that was never sent")
        elif not self.answers[worker].is_invalid[number] and self.answers[worker].answer[number] == load.ACKED:
            self.unwanted.append(f"{topic}[{partition}]@{offset}: an error event about {worker}.{number}, a good one")


def read_topics(bootstrap, run, answers):
    records = Records(run, answers)
    for stream in events.STREAMS:
        topic = events.PREFIX + stream
        for partition, offset, key, value in cluster.read(bootstrap, topic):
            records.take(topic, partition, offset, key, value)
    topic = events.PREFIX + events.ERROR_STREAM
    for partition, offset, _, value in cluster.read(bootstrap, topic):
        records.take_error(topic, partition, offset, value)
    return records


class Verdict:
    def __init__(self, answers, records, windows, service, set_aside, deadline, hasty_may_be_lost):
        self.answers, self.records, self.windows, self.service = answers, records, windows, service
        self.set_aside = set_aside
        self.deadline, self.hasty_may_be_lost = deadline, hasty_may_be_lost
        self.violations = collections.defaultdict(list)  # kind -> texts
        self.lines = []
        self.damaged = frozenset().union(*(fault.damaged for window in windows for fault in window.faults))
        self.lost = []  # (worker, number)
        self._judge()

    def _excuse_wiped(self, stream, answered):
        return any(stream in window.wipes and answered <= window.ended + DELETED_SECONDS for window in self.windows)

    def _is_refused(self, worker, number, until):
        """Whether Kafka refused such events for good between its sending and then."""
        sent, stream = worker.sent[number], events.STREAMS[worker.stream[number]]
        return any(window.began <= until and sent <= window.healthy + HASTY_SECONDS and
                   fault.refuses(stream, worker.is_large[number])
                   for window in self.windows for fault in window.faults)

    def _is_aside(self, index, number):
        """Whether it was set aside, as it had to be: Kafka refused such events for good while it was replayed, which is
        soon after the fault that brought it into the spool, or after those that held up the replay."""
        if (index, number) not in self.set_aside:
            return False
        worker = self.answers[index]
        sent = worker.sent[number]
        until = sent + HASTY_SECONDS
        for window in self.windows:
            if sent <= window.healthy and window.began <= until:
                until = max(until, window.healthy + REPLAY_SECONDS)
        return self._is_refused(worker, number, until)

    def _excuse_hasty(self, worker, number):
        """Whether a stated policy allows that a valid event that was answered 202 is not there: there is no spool;
        Kafka refuses it for good; it was in memory when the daemon was killed; the spool was full."""
        if self.hasty_may_be_lost:
            return True
        sent = worker.sent[number]
        if self._is_refused(worker, number, sent + HASTY_SECONDS):
            return True
        for window in self.windows:
            if window.began - HASTY_SECONDS <= sent <= window.healthy and \
                    any(fault.fills_spool for fault in window.faults):
                return True
            for killed in window.restarts:
                since = killed - IN_MEMORY_SECONDS
                for other in self.windows:
                    if other.began < killed and other.healthy + IN_MEMORY_SECONDS > killed - HASTY_SECONDS:
                        since = min(since, max(other.began - IN_MEMORY_SECONDS, killed - HASTY_SECONDS))
                if since <= sent <= killed:
                    return True
        return False

    def _judge(self):
        self._judge_answers()
        for kind in ("foreign", "altered", "unwanted"):
            self.violations[kind] += getattr(self.records, kind)
        self._judge_duplicates()
        self._judge_deadlines()
        self._judge_recovery()
        self._judge_neighbours()
        for worker in self.answers:
            for text, count in worker.findings.items():
                self.violations["answer"].append(f"{text} ({count} times)")
        self.violations["daemon"] += self.service.findings

    def _judge_answers(self):
        counts = collections.Counter()
        for index, worker in enumerate(self.answers):
            seen = self.records.seen[index]
            for number, answer in enumerate(worker.answer):
                counts[answer] += 1
                there = seen[number] > 0
                if there:
                    counts["there", answer] += 1
                    continue
                if answer == load.ACKED:
                    if self._excuse_wiped(events.STREAMS[worker.stream[number]], worker.answered[number]):
                        counts["wiped"] += 1
                    elif (index, number) in self.damaged:
                        counts["damaged"] += 1
                    elif self._is_aside(index, number):
                        counts["aside"] += 1
                    else:
                        self.lost.append((index, number))
                elif answer == load.HASTY and not worker.is_invalid[number]:
                    if self._excuse_wiped(events.STREAMS[worker.stream[number]], worker.answered[number]):
                        counts["wiped"] += 1
                        continue
                    counts["hasty lost"] += 1
                    if not self._excuse_hasty(worker, number) and (index, number) not in self.damaged and \
                            not self._is_aside(index, number):
                        self.violations["hasty lost"].append(self.describe(index, number))
        self.violations["lost"] += [self.describe(*one) for one in self.lost]
        say = self.lines.append
        say(f"events sent {sum(len(worker.answer) for worker in self.answers)}, records in the topics "
            f"{self.records.count}")
        say(f"  answered 201: {counts[load.ACKED]}, of them in their topic {counts['there', load.ACKED]}, removed with "
            f"their topic on purpose {counts['wiped']}, in a part of the spool that was damaged on purpose "
            f"{counts['damaged']}, set aside since Kafka refused it for good {counts['aside']}, lost {len(self.lost)}")
        say(f"  answered 202: {counts[load.HASTY]}, in their topic {counts['there', load.HASTY]}, lost "
            f"{counts['hasty lost']} (valid ones; the rest was refused)")
        say(f"  refused: {counts[load.REFUSED]}, in a topic {counts['there', load.REFUSED]}")
        say(f"  answered as failed: {counts[load.FAILED]}, there all the same {counts['there', load.FAILED]}")
        say(f"  without an answer: {counts[load.UNKNOWN]}, in their topic {counts['there', load.UNKNOWN]}")
        say(f"  foreign {len(self.records.foreign)}, altered {len(self.records.altered)}, refused but there "
            f"{len(self.records.unwanted)}")
        statuses, reasons = collections.Counter(), collections.Counter()
        for worker in self.answers:
            statuses.update(worker.statuses)
            reasons.update(worker.reasons)
        say(f"  resident memory at most {self.service.peak_rss >> 20} MiB")
        say(f"  requests by status and what the answer rests on {dict(sorted(statuses.items()))}")
        say(f"  failures by code {dict(reasons)}")

    def describe(self, index, number):
        worker = self.answers[index]
        answered = worker.answered[number]
        near = [window.name for window in self.windows if window.began - 10 <= answered <= window.healthy + 10]
        return (f"event {index}.{number} of {events.STREAMS[worker.stream[number]]}, answered "
                f"{load.ANSWERS[worker.answer[number]]} at {answered:.3f} (sent {worker.sent[number]:.3f}), near: "
                f"{', '.join(near) or 'no fault'}")

    def _judge_duplicates(self):
        """A record is written twice only where an answer of the broker was lost: librdkafka writes again under a new
        epoch what was on its way when something timed out there, and a hasty or spooled record is rather written twice
        than not at all. So each duplicate lies near a fault."""
        extra = collections.Counter()
        for index, worker in enumerate(self.answers):
            for number, times in enumerate(self.records.seen[index]):
                if times < 2:
                    continue
                answer, sent = worker.answer[number], worker.sent[number]
                extra[load.ANSWERS[answer]] += times - 1
                # What waited is made up for afterwards, as fast as the brokers can, which may time out once more.
                if not any(window.began - DOUBT_SECONDS <= sent <=
                           window.healthy + IN_MEMORY_SECONDS + window.healthy - window.began
                           for window in self.windows):
                    self.violations["duplicates"].append(self.describe(index, number))
        doubtful = int(self.service.total("sluice_kafka_records_possibly_written_total"))
        self.lines.append(f"  duplicates {sum(extra.values())} {dict(extra)}; reports that left in doubt whether a "
                          f"record was written: {doubtful}")

    def _judge_deadlines(self):
        seconds = sorted(second for worker in self.answers for second in worker.requests)
        if not seconds:
            self.violations["answer"].append("not one request was answered")
            return
        disturbed = [(window.began - 1, window.healthy + 1) for window in self.windows if "sluice" in window.uses]
        late = [(sent, took, status) for worker in self.answers for sent, took, status in worker.late
                if not any(sent <= end and sent + took >= begin for begin, end in disturbed)]
        lags = [lag for worker in self.answers for lag in worker.lags]
        if len(seconds) > 1:
            percent = statistics.quantiles(seconds, n=100)
            self.lines.append(f"  answers: p50 {percent[49] * 1000:.0f} ms, p99 {percent[98] * 1000:.0f} ms, longest "
                              f"{seconds[-1]:.1f} s, later than {self.deadline} s: {len(late)}; the load itself stood "
                              f"still for at most {max((lag[1] for lag in lags), default=0):.1f} s")
        for sent, took, status in late:
            lag = max((lag for when, lag in lags if sent <= when + lag and when <= sent + took), default=0)
            if took - lag > self.deadline:
                self.violations["late"].append(f"status {status} after {took:.1f} s, sent at {sent:.3f}")

    def _judge_recovery(self):
        for window in self.windows:
            first = {}
            for worker in self.answers:
                begin = _first_at(worker.sent, window.healthy)
                for number in range(begin, len(worker.answer)):
                    if worker.sent[number] > window.healthy + 30:
                        break
                    if worker.answer[number] == load.ACKED:
                        stream = worker.stream[number]
                        first[stream] = min(first.get(stream, 1e18), worker.answered[number])
            took = {events.STREAMS[stream]: first.get(stream, 1e18) - window.healthy
                    for stream in range(len(events.STREAMS))}
            slowest = max(took, key=took.get)
            lag = max((lag for worker in self.answers for when, lag in worker.lags
                       if window.healthy - lag <= when <= window.healthy + RECOVERY_SECONDS), default=0)
            window.recovery = took[slowest]
            if window.recovery > RECOVERY_SECONDS + lag:
                self.violations["recovery"].append(f"{window.name}: a fresh event of {slowest} took "
                                                   f"{_seconds(window.recovery)} after the end of the fault")
            self.lines.append(f"  {window.name:42} {_seconds(window.ended - window.began):>7}, Kafka well after "
                              f"{_seconds(window.healthy - window.ended):>6}, fresh event in every stream after "
                              f"{_seconds(window.recovery):>6}  "
                              f"{'; '.join(fault.detail for fault in window.faults if fault.detail)}")

    def _judge_neighbours(self):
        """While one stream is in trouble the others are not."""
        for window in self.windows:
            if not window.hides or len(window.faults) > 1:
                continue
            count = failed = 0
            for worker in self.answers:
                for number in range(_first_at(worker.sent, window.began), _first_at(worker.sent, window.ended)):
                    if events.STREAMS[worker.stream[number]] in window.hides or worker.is_hasty[number]:
                        continue
                    count += 1
                    failed += worker.answer[number] == load.FAILED
            if count and failed > NARROW_SHARE * count:
                self.violations["neighbours"].append(f"{window.name}: {failed} of {count} events of other streams "
                                                     "failed")

    def report(self):
        lines = list(self.lines)
        found = {kind: texts for kind, texts in self.violations.items() if texts}
        for kind, texts in found.items():
            lines.append(f"VIOLATION {kind}: {len(texts)}")
            lines += [f"    {text}" for text in texts[:10]]
        return "\n".join(lines), found

    def write_answers(self, path):
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.write("event\tstream\thasty\tinvalid\tsent\tanswered\tanswer\tfound\n")
            for index, worker in enumerate(self.answers):
                for number, answer in enumerate(worker.answer):
                    file.write(f"{index}.{number}\t{events.STREAMS[worker.stream[number]]}\t{worker.is_hasty[number]}\t"
                               f"{worker.is_invalid[number]}\t{worker.sent[number]:.3f}\t"
                               f"{worker.answered[number]:.3f}\t{load.ANSWERS[answer]}\t"
                               f"{self.records.seen[index][number]}\n")


def _seconds(value):
    return "never" if value > 1e9 else f"{value:.1f} s"


def _first_at(times, moment):
    """The first index whose time is not before the moment; the times rise."""
    low, high = 0, len(times)
    while low < high:
        middle = (low + high) // 2
        if times[middle] < moment:
            low = middle + 1
        else:
            high = middle
    return low
