"""The load: processes that post events at a rate and keep the answer of each."""
import array
import asyncio
import json
import multiprocessing
import pickle
import random
import time
from pathlib import Path

from . import events

# The answer of an event. What was REFUSED must be in no topic, what was ACKED must be; HASTY must be as far as the
# stated policy goes; the others may.
UNSENT, ACKED, HASTY, REFUSED, FAILED, UNKNOWN = range(6)
ANSWERS = ("unsent", "201", "202", "refused", "failed", "unknown")

# The codes of an event's failure that say: this event will never be in a topic.
REFUSALS = {"malformed_body", "body_too_large", "unsupported_media_type", "missing_schema_uri",
            "schema_uri_not_allowed", "schema_not_found", "schema_unusable", "stream_missing",
            "stream_not_configured", "stream_schema_mismatch", "validation_failed", "message_key_missing",
            "record_too_large"}

GIVE_UP_SECONDS = 120  # for an answer; far above any deadline, so it is a finding
TICK_SECONDS = 0.005
RETRY_SECONDS = 0.1    # to connect again
SIZES = (1, 1, 1, 1, 1, 1, 3, 8, 20, 50)
INVALID_SHARE = 0.02
MALFORMED_SHARE = 0.005
LARGE_SHARE = 0.05     # in its stream

FILLERS = tuple(random.Random(number).randbytes(number * 12).hex() for number in range(16))


class Answers:
    """What a worker knows of its events, by their number."""

    def __init__(self):
        self.answer = bytearray()
        self.stream = bytearray()
        self.is_hasty = bytearray()
        self.is_invalid = bytearray()
        self.is_large = bytearray()
        self.sent = array.array("d")
        self.answered = array.array("d")
        self.requests = array.array("d")  # seconds of each answered one
        self.late = []                    # (sent, seconds, status)
        self.lags = []                    # (when, seconds): the load itself stood still
        self.statuses = {}
        self.reasons = {}
        self.findings = {}

    def add(self, stream, is_hasty, is_invalid, is_large, now):
        self.answer.append(UNKNOWN)
        self.stream.append(stream)
        self.is_hasty.append(is_hasty)
        self.is_invalid.append(is_invalid)
        self.is_large.append(is_large)
        self.sent.append(now)
        self.answered.append(0.0)
        return len(self.answer) - 1

    def find(self, text):
        self.findings[text] = self.findings.get(text, 0) + 1


class Request:
    __slots__ = ("first", "count", "is_hasty", "is_malformed", "sent", "text")


class Connection(asyncio.Protocol):
    def __init__(self, load):
        self.load, self.transport, self.request, self.buffer = load, None, None, b""

    def connection_made(self, transport):
        self.transport = transport
        self.load.opening -= 1
        self.load.open.add(self)
        self.load.idle.append(self)

    def send(self, request):
        self.request, self.buffer = request, b""
        self.transport.write(request.text)
        request.text = None

    def data_received(self, data):
        self.buffer += data
        head, end, body = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return
        head = head.lower()
        at = head.find(b"content-length:")
        length = int(head[at + 15:].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(body) < length:
            return
        request, self.request = self.request, None
        if request is None:
            self.load.answers.find(f"an answer that nobody asked for: {head[:80]!r}")
            self.transport.abort()
            return
        at = head.find(b"sluice-durability:")
        rests_on = head[at + 18:].split(b"\r\n", 1)[0].strip().decode() if at >= 0 else ""
        self.load.on_answer(request, int(head[9:12]), rests_on, body)
        self.load.idle.append(self)

    def connection_lost(self, error):
        self.load.open.discard(self)
        if self.request is not None:
            self.load.on_cut(self.request)
            self.request = None


class Load:
    def __init__(self, options, worker):
        self.host, self.port, self.run = options["host"], options["port"], options["run"]
        self.rate, self.deadline = options["rate"], options["deadline"]
        self.hasty_share, self.max_connections = options["hasty_share"], options["connections"]
        self.worker, self.random = worker, random.Random(f"{options['seed']}.{worker}")
        self.answers = Answers()
        self.idle, self.open, self.opening, self.pending = [], set(), 0, 0
        self.moment, self.retry_at, self.stopping = "", 0.0, False

    def compose(self):
        """The next request and the bytes that it is."""
        chance = self.random.random
        request, now = Request(), time.time()
        request.count = SIZES[int(chance() * len(SIZES))]
        request.is_hasty, request.is_malformed = chance() < self.hasty_share, chance() < MALFORMED_SHARE
        request.first, request.sent = len(self.answers.answer), now
        body = []
        for _ in range(request.count):
            stream = int(chance() * len(events.STREAMS))
            name, schema, action, target = events.STREAMS[stream], events.SCHEMA, "lend", events.STREAMS[stream]
            is_invalid = chance() < INVALID_SHARE
            if is_invalid:
                kind = int(chance() * 4)
                if kind == 0:
                    action = "burn"
                elif kind == 1:
                    schema = "/library/loan/9.9.9"
                elif kind == 2:
                    target = "conservation.unheard.of"
                else:
                    schema = ""
            is_large = name == events.SIZES and chance() < LARGE_SHARE
            number = self.answers.add(stream, request.is_hasty, is_invalid or request.is_malformed, is_large, now)
            filler = FILLERS[int(chance() * len(FILLERS))] or "t"
            if is_large:
                filler = self.random.randbytes(events.LARGE_BYTES // 2).hex()
            body.append(events.make(self.run, self.worker, number, target, self.moment, filler, schema, action))
        text = body[0] if request.count == 1 and chance() < 0.9 else b"[" + b",".join(body) + b"]"
        if request.is_malformed:
            text = text[:-1]
        path = b"/v1/events?hasty=true" if request.is_hasty else b"/v1/events"
        request.text = (b"POST %b HTTP/1.1\r\nHost: oracle\r\nContent-Type: application/json\r\n"
                        b"Content-Length: %d\r\n\r\n" % (path, len(text))) + text
        return request

    def set_answer(self, number, answer, now):
        self.answers.answer[number] = answer
        self.answers.answered[number] = now
        if answer == ACKED and self.answers.is_invalid[number]:
            self.answers.find("an event that is not valid was answered 201")

    def on_answer(self, request, status, rests_on, body):
        now = time.time()
        self.pending -= 1
        self.answers.requests.append(now - request.sent)
        kind = f"{status} {rests_on}".strip()
        self.answers.statuses[kind] = self.answers.statuses.get(kind, 0) + 1
        if now - request.sent > self.deadline:
            self.answers.late.append((request.sent, now - request.sent, status))
        numbers = range(request.first, request.first + request.count)
        if status in (201, 202):
            if (status == 202) != request.is_hasty:
                self.answers.find(f"status {status} for a request that was {'' if request.is_hasty else 'not '}hasty")
            for number in numbers:
                self.set_answer(number, ACKED if status == 201 else HASTY, now)
            return
        failed = self.failures(status, body, request)
        for number in numbers:
            self.set_answer(number, failed.get(number, ACKED if status == 207 else FAILED), now)

    def failures(self, status, body, request):
        """Number -> answer of the events that the body names."""
        if status == 408:  # its body came while the daemon was frozen for longer than limits.body_timeout
            return {}
        if status not in (207, 400, 500, 503):
            self.answers.find(f"status {status}: {body[:200]!r}")
        try:
            lists = json.loads(body)
            rows = [("validation_failed", row) for row in lists.get("invalid", [])]
            rows += [(row["context"].get("code", ""), row) for row in lists.get("error", [])]
        except (ValueError, KeyError, TypeError, AttributeError):
            self.answers.find(f"status {status} with a body that is none: {body[:200]!r}")
            return {}
        failed = {}
        for code, row in rows:
            self.answers.reasons[code] = self.answers.reasons.get(code, 0) + 1
            answer = REFUSED if code in REFUSALS else FAILED
            if code in ("internal", ""):
                self.answers.find(f"status {status}, code {code!r}: {row.get('context')}")
            event = row.get("event") or {}
            parts = str(event.get("meta", {}).get("id", "")).split(".") if isinstance(event, dict) else []
            if len(parts) == 4:
                failed[int(parts[2])] = answer
            elif len(rows) == 1:  # the whole request
                failed.update((request.first + i, answer) for i in range(request.count))
        if status == 400 and len(failed) < request.count:
            self.answers.find(f"status 400 names {len(failed)} of {request.count} events: {body[:200]!r}")
        return failed

    def on_cut(self, request):
        self.pending -= 1
        now = time.time()
        self.answers.statuses["cut"] = self.answers.statuses.get("cut", 0) + 1
        for number in range(request.first, request.first + request.count):
            self.set_answer(number, UNKNOWN, now)

    async def connect(self):
        self.opening += 1
        try:
            await asyncio.get_running_loop().create_connection(lambda: Connection(self), self.host, self.port)
        except OSError:
            self.opening -= 1
            self.retry_at = time.time() + RETRY_SECONDS

    def take_idle(self):
        while self.idle:
            connection = self.idle.pop()
            if not connection.transport.is_closing():
                return connection
        return None

    def tick(self, due):
        """Sends what is due; the events that were sent. What finds no connection is not sent at all."""
        sent = 0
        while sent < due:
            connection = self.take_idle()
            if connection is None:
                now = time.time()
                room = self.max_connections - len(self.open) - self.opening
                if now >= self.retry_at and self.opening < 16 and room > 0:
                    asyncio.ensure_future(self.connect())
                return due
            request = self.compose()
            self.pending += 1
            sent += request.count
            connection.send(request)
        return sent

    def give_up(self, now):
        for connection in list(self.open):
            if connection.request is not None and now - connection.request.sent > GIVE_UP_SECONDS:
                self.answers.find(f"no answer within {GIVE_UP_SECONDS} s")
                connection.transport.abort()

    async def drive(self, stop):
        last, credit, next_look = time.time(), 0.0, 0.0
        while not (stop.is_set() and self.pending == 0):
            now = time.time()
            if now - last > 1:
                self.answers.lags.append((last, now - last))
            self.moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03}Z"
            if not stop.is_set():
                credit = min(credit + (now - last) * self.rate, self.rate / 4)
                credit -= self.tick(credit)
            last = now
            if now > next_look:
                self.give_up(now)
                next_look = now + 1
            await asyncio.sleep(TICK_SECONDS)
        for connection in list(self.open):
            connection.transport.abort()


def _run(options, worker, stop, path):
    load = Load(options, worker)
    asyncio.run(load.drive(stop))
    with open(path, "wb") as file:
        pickle.dump(load.answers, file)


class Workers:
    """`options`: host, port, run (bytes-safe name), seed, rate (events a second, of all), deadline (seconds),
    hasty_share, connections (of all)."""

    def __init__(self, options, count, folder):
        each = {**options, "rate": options["rate"] / count, "connections": options["connections"] // count}
        self._stop = multiprocessing.Event()
        self._paths = [Path(folder) / f"answers-{worker}" for worker in range(count)]
        self._processes = [multiprocessing.Process(target=_run, args=(each, worker, self._stop, path), daemon=True)
                           for worker, path in enumerate(self._paths)]
        for process in self._processes:
            process.start()

    def stop(self, seconds):
        """No more requests; the answers of each worker once all have come."""
        self._stop.set()
        for process in self._processes:
            process.join(seconds)
        return [pickle.loads(path.read_bytes()) for path in self._paths]

    def kill(self):
        for process in self._processes:
            if process.is_alive():
                process.kill()
