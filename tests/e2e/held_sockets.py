"""Listening sockets that outlive daemons, as a service manager holds them."""
import contextlib
import fcntl
import os
import socket


class HeldSockets:
    """Named sockets on free ports of the loopback: HeldSockets("events", "admin")."""

    def __init__(self, *names, backlog=4096):
        self.names, self.sockets, self._high = names, [], []
        for _ in names:
            held = socket.socket()
            held.bind(("127.0.0.1", 0))
            held.listen(backlog)
            self.sockets.append(held)
            self._high.append(fcntl.fcntl(held.fileno(), fcntl.F_DUPFD, 50))  # clear of 3, 4, …

    def port(self, name):
        return self.sockets[self.names.index(name)].getsockname()[1]

    def prefix(self):
        """What stands before a command that is to get them as systemd gives them (sd_listen_fds(3))."""
        moves = " ".join(f"{3 + i}<&{high} {high}<&-" for i, high in enumerate(self._high))
        return ["bash", "-c", f'LISTEN_PID=$$ LISTEN_FDS={len(self.names)} LISTEN_FDNAMES={":".join(self.names)} '
                f'exec "$0" "$@" {moves}']

    def options(self):
        """For subprocess.Popen."""
        return {"pass_fds": self._high}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for held in self.sockets:
            held.close()
        for high in self._high:
            with contextlib.suppress(OSError):
                os.close(high)
