"""Loads of events over keep-alive connections, each with at most one request on its way."""
import asyncio
import json
import time


class Connection(asyncio.Protocol):
    def __init__(self, load):
        self.load, self.id, self.buffer, self.transport, self.sent_at = load, None, b"", None, 0.0

    def connection_made(self, transport):
        self.transport = transport
        self.load.opened(self)

    def send(self, event_id):
        self.id, self.sent_at = event_id, time.monotonic()
        self.transport.write(self.load.request(event_id))

    def data_received(self, data):
        self.buffer += data
        head, end, rest = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return
        lines = head.decode("latin-1").lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        event_id, self.id = self.id, None
        self.load.answered(self, event_id, int(lines[0].split()[1]), headers)

    def connection_lost(self, error):
        if self in self.load.idle:  # ended while it had nothing on its way: anybody may do so
            self.load.idle.remove(self)
        self.load.lost(self, error)


class Load:
    """What connections report to; `meta`, `opened`, `answered` and `lost` are there to be extended."""

    def __init__(self, host, port, stream, name, rate):
        self.host, self.port, self.stream, self.name, self.rate = host, port, stream, name, rate
        self.idle, self.acknowledged, self.answers, self.sent = [], [], {}, 0

    def meta(self, event_id):
        return {"stream": self.stream, "id": event_id}

    def request(self, event_id):
        body = json.dumps({"$schema": "/library/loan/1.0.0", "meta": self.meta(event_id), "action": "lend",
                           "book": {"isbn": "9780141439518"}, "reader_id": "r-1"}).encode()
        return (f"POST /v1/events HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body

    async def connect(self):
        await asyncio.get_running_loop().create_connection(lambda: Connection(self), self.host, self.port)

    def send(self, connection):
        """The next event, unless the connection is at its end; whether it was sent."""
        if not connection.transport.is_closing():
            connection.send(f"{self.name}-{self.sent}")
            return True
        return False

    def opened(self, connection):
        self.idle.append(connection)

    def answered(self, connection, event_id, status, headers):
        self.answers[status] = self.answers.get(status, 0) + 1
        if status == 201:
            self.acknowledged.append(event_id)

    def lost(self, connection, error):
        pass
