"""The training step with the standard library alone.

For a machine without PyTorch: the all-reduce goes over sockets, by way of the
MASTER_ADDR and MASTER_PORT that torch.distributed would use.
"""

import math
import socket
import struct
import time

from task import BATCH, HIDDEN, INPUTS, LEARNING_RATE, MOMENTUM, initial_parameters, shard
from worker import Lost


class SocketGroup:
    """All-reduce and broadcast over a star of TCP connections with rank 0.

    A star is the slowest shape and the easiest to get right: rank 0 adds in
    rank order, so the sums are the same bits in every run.
    """

    def __init__(self, me, timeout):
        self.me, self.timeout = me, timeout
        self.peers = {}  # rank -> socket; on ranks above 0 only rank 0
        # A stray client, or a rank of another job, must not join the sum.
        self.hello = f"{me.attempt_uuid()}/{me.world}"
        if me.world > 1:
            deadline = time.monotonic() + timeout
            if me.rank == 0:
                self._listen(deadline)
            else:
                self._connect(deadline)

    def _listen(self, deadline):
        family, _, _, _, where = socket.getaddrinfo(
            self.me.address, self.me.port, type=socket.SOCK_STREAM
        )[0]
        if not where[0].startswith("127.") and where[0] != "::1":
            where = ("", self.me.port)  # other machines will come
        with socket.socket(family, socket.SOCK_STREAM) as server:
            # The launcher holds the port bound for us, not listening.
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                server.bind(where)
            except OSError as err:
                raise Lost(f"cannot listen on port {self.me.port}: {err}") from err
            server.listen(self.me.world)
            while len(self.peers) < self.me.world - 1:
                server.settimeout(max(0.001, deadline - time.monotonic()))
                try:
                    peer, _ = server.accept()
                except socket.timeout:
                    raise Lost(f"no connection in time from rank {self._missing()}") from None
                self._admit(peer)

    def _admit(self, peer):
        peer.settimeout(min(5, self.timeout))
        try:
            rank, _, hello = peer.makefile("r").readline().strip().partition(" ")
            rank = int(rank)
        except (OSError, ValueError):
            return peer.close()
        if hello != self.hello or not 0 < rank < self.me.world or rank in self.peers:
            return peer.close()
        self._ready(rank, peer)

    def _connect(self, deadline):
        pause = 0.02
        while True:
            try:
                peer = socket.create_connection(
                    (self.me.address, self.me.port), max(0.001, deadline - time.monotonic())
                )
                break
            except OSError as err:
                # Refused only means that rank 0 is not there yet.
                if time.monotonic() + pause > deadline:
                    raise Lost(f"cannot reach rank 0: {err}") from err
                time.sleep(pause)
                pause = min(0.5, pause * 1.5)
        peer.sendall((f"{self.me.rank} {self.hello}\n").encode())
        self._ready(0, peer)

    def _ready(self, rank, peer):
        peer.settimeout(self.timeout)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.peers[rank] = peer

    def _missing(self):
        return ", ".join(str(r) for r in range(1, self.me.world) if r not in self.peers)

    def _send(self, rank, numbers):
        try:
            self.peers[rank].sendall(struct.pack(f"!{len(numbers)}d", *numbers))
        except OSError as err:
            raise Lost(f"cannot send to rank {rank}: {err}") from err

    def _receive(self, rank, count):
        data = b""
        while len(data) < 8 * count:
            try:
                piece = self.peers[rank].recv(8 * count - len(data))
            except OSError as err:
                raise Lost(f"cannot hear rank {rank}: {err}") from err
            if not piece:
                raise Lost(f"rank {rank} closed its connection")
            data += piece
        return list(struct.unpack(f"!{count}d", data))

    def broadcast(self, numbers):
        """Rank 0's numbers, on every rank; the lengths must agree."""
        if self.me.rank > 0:
            return self._receive(0, len(numbers))
        for rank in self.peers:
            self._send(rank, numbers)
        return numbers

    def mean(self, numbers):
        """The mean over all ranks, element by element, on every rank."""
        if self.me.rank > 0:
            self._send(0, numbers)
            return self._receive(0, len(numbers))
        total = numbers
        for rank in range(1, self.me.world):
            total = [a + b for a, b in zip(total, self._receive(rank, len(numbers)))]
        return self.broadcast([value / self.me.world for value in total])

    def close(self):
        for peer in self.peers.values():
            peer.close()


class PlainTrainer:
    """The network, its gradient and SGD with momentum, written out."""

    name = "standard library, socket all-reduce"

    def __init__(self, me, timeout):
        self.xs, self.ys = shard(me.rank)
        self.parameters = initial_parameters()
        self.velocity = [0.0] * len(self.parameters)
        self.group = SocketGroup(me, timeout)

    def step(self, stop):
        """One step on all ranks: (mean loss, does any rank want to stop)."""
        loss, gradient = self._gradient()
        *gradient, loss, stop = self.group.mean(gradient + [loss, float(stop)])
        for i, slope in enumerate(gradient):
            self.velocity[i] = MOMENTUM * self.velocity[i] + slope
            self.parameters[i] -= LEARNING_RATE * self.velocity[i]
        return loss, stop > 0

    def _gradient(self):
        w1, b1 = 0, HIDDEN * INPUTS
        w2, b2 = b1 + HIDDEN, b1 + 2 * HIDDEN
        p, g, loss = self.parameters, [0.0] * len(self.parameters), 0.0
        for x, y in zip(self.xs, self.ys):
            hidden = [
                math.tanh(p[b1 + h] + sum(p[w1 + h * INPUTS + i] * x[i] for i in range(INPUTS)))
                for h in range(HIDDEN)
            ]
            error = p[b2] + sum(p[w2 + h] * hidden[h] for h in range(HIDDEN)) - y
            loss += error * error / BATCH
            slope = 2 * error / BATCH
            g[b2] += slope
            for h in range(HIDDEN):
                g[w2 + h] += slope * hidden[h]
                inner = slope * p[w2 + h] * (1 - hidden[h] * hidden[h])
                g[b1 + h] += inner
                for i in range(INPUTS):
                    g[w1 + h * INPUTS + i] += inner * x[i]
        return loss, g

    def state(self):
        return self.parameters + self.velocity

    def restore(self, step, state):
        """Give every rank rank 0's state; returns rank 0's step."""
        step, *state = self.group.broadcast([float(step)] + state)
        half = len(state) // 2
        self.parameters, self.velocity = state[:half], state[half:]
        return int(step)

    def close(self):
        self.group.close()
