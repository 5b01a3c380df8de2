"""A slow, lossy, breakable network between the daemon and the brokers: TCP on this machine, in a process of its own.

What a lost packet does to a TCP connection is what is imitated: the bytes behind it wait until it was sent again,
200 ms later, or 400 ms if that was lost too, and so on. `cut` ends every connection at once, wherever it is in a request.
"""
import asyncio
import collections
import multiprocessing
import random
import socket
import struct

CHUNK_BYTES = 65536
PACKET_BYTES = 16384  # of one loss: the loopback's packets are about as large
RESENT_AFTER = 0.2
READ_AHEAD_BYTES = 4 << 20


class Direction(asyncio.Protocol):
    """One end of a connection: what comes in goes out at the other end, later."""

    def __init__(self, network):
        self.network, self.other, self.transport = network, None, None
        self.waiting, self.last_due, self.timer, self.held = collections.deque(), 0.0, None, 0

    def connection_made(self, transport):
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.network.open.add(self)

    def data_received(self, data):
        delay = self.network.delay(len(data))
        now = self.network.loop.time()
        if delay == 0 and not self.waiting:
            self.pass_on(data)
            return
        self.last_due = max(self.last_due, now + delay)
        self.waiting.append((self.last_due, data))
        self.held += len(data)
        if self.held > READ_AHEAD_BYTES:
            self.transport.pause_reading()
        if self.timer is None:
            self.timer = self.network.loop.call_at(self.waiting[0][0], self.release)

    def pass_on(self, data):
        if not self.other.transport.is_closing():
            self.other.transport.write(data)

    def release(self):
        self.timer = None
        now = self.network.loop.time() + 0.001
        while self.waiting and self.waiting[0][0] <= now:
            data = self.waiting.popleft()[1]
            self.held -= len(data)
            self.pass_on(data)
        if self.waiting:
            self.timer = self.network.loop.call_at(self.waiting[0][0], self.release)
        if self.held <= READ_AHEAD_BYTES and not self.transport.is_closing():
            self.transport.resume_reading()

    def connection_lost(self, error):
        self.network.open.discard(self)
        if self.timer is not None:
            self.timer.cancel()
        if self.other is not None and self.other.transport is not None:
            for _, data in self.waiting:
                self.pass_on(data)
            self.other.transport.close()

    def reset(self):
        linger = struct.pack("ii", 1, 0)  # RST, and what was on its way is gone
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.waiting.clear()
        self.transport.abort()


class Network:
    def __init__(self, control, seed):
        self.control, self.loop, self.open = control, None, set()
        self.latency, self.loss, self.random = 0.0, 0.0, random.Random(seed)

    def delay(self, size):
        delay = self.latency / 2  # one way of a round trip
        if self.loss > 0:
            for _ in range(1 + size // PACKET_BYTES):
                resend = RESENT_AFTER
                while self.random.random() < self.loss:
                    delay += resend
                    resend *= 2
        return delay


    def front(self, port):
        """The protocol of a connection that came in; opens the one to the broker's port."""
        network = self

        class Front(Direction):
            def connection_made(self, transport):
                super().connection_made(transport)
                transport.pause_reading()
                network.loop.create_task(self.connect())

            async def connect(self):
                back = Direction(network)
                back.other, self.other = self, back
                try:
                    await network.loop.create_connection(lambda: back, "127.0.0.1", port)
                except OSError:
                    self.transport.abort()
                    return
                if self.transport.is_closing():
                    back.transport.abort()
                    return
                self.transport.resume_reading()

        return Front(network)

    def obey(self):
        try:
            name, value = self.control.recv()
        except EOFError:
            self.loop.stop()
            return
        if name == "cut":
            for direction in list(self.open):
                direction.reset()
        else:
            setattr(self, name, value)

    async def serve(self, ports):
        self.loop = asyncio.get_running_loop()
        self.loop.add_reader(self.control.fileno(), self.obey)
        for listen, connect in ports.items():
            await self.loop.create_server(lambda port=connect: self.front(port), "127.0.0.1", listen)
        await asyncio.Event().wait()


def _run(control, seed, ports):
    asyncio.run(Network(control, seed).serve(ports))


class Proxy:
    """Listens at the keys of `ports`, forwards to the values."""

    def __init__(self, ports, seed):
        self._control, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=_run, args=(theirs, seed, ports), daemon=True)
        self._process.start()

    def set(self, latency=0.0, loss=0.0):
        self._control.send(("latency", latency))
        self._control.send(("loss", loss))

    def cut(self):
        self._control.send(("cut", None))

    def close(self):
        self._process.kill()
        self._process.join()
