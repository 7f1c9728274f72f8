"""plain.py all|ring BYTES ITERATIONS RANK ADDRESS... - bytes through plain TCP, and nothing else.

A rank sends as many bytes as it must when P ranks sum BYTES each, 2(P-1)/P of them, from one large piece
of memory into another; nothing is added, checked or waited for on the way.

all     each sends the same to each other, as Poseidon's owners of parameters do
ring    each sends all to the next one, as Gloo and Open MPI do

A program that uses sockets can hardly do less, so this shows what of a system's processor time is the
kernel's price for its bytes. That it is Python costs little, as a call moves 100 KB and more.
"""
import json
import select
import socket
import sys

import rank

PORT = 29600
WINDOW = 128 << 10  # of a stream; the kernel doubles it, and its own choice is slower (docs/net.md)
MOST = 256 << 10  # bytes of a call
WAKE = 128 << 10  # bytes that must be there before a rank is woken to read
LINE = 4096  # bytes of what a rank tells rank 0 in the end


class Way:
    """What goes one way of a stream: a piece of memory, again and again, until all bytes are there."""

    def __init__(self, memory, first, size):
        self.memory, self.first, self.size = memory, first, size

    def start(self, count):
        self.left, self.at = count, 0

    def place(self):
        begin = self.first + self.at
        return self.memory[begin:begin + min(MOST, self.left, self.size - self.at)]

    def advance(self, count):
        self.left -= count
        self.at = (self.at + count) % self.size


def wanted(receive, send):
    return ((select.EPOLLIN if receive and receive.left else 0)
            | (select.EPOLLOUT if send and send.left else 0))


def expect(stream, receive):
    """What comes after all is done is a word of another rank."""
    if receive and (receive.left < WAKE or receive.at == 0):
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, max(1, min(WAKE, receive.left)))


class Mesh:
    """A stream to each other rank."""

    def __init__(self, mine, addresses):
        self.mine, self.ranks, self.streams = mine, len(addresses), {}
        with socket.create_server((addresses[mine], PORT)) as server:
            for other in range(mine):
                self.keep(other, self.call(addresses[other]))
                self.streams[other].sendall(bytes([mine]))
            for _ in range(mine + 1, self.ranks):
                stream, _ = server.accept()
                self.keep(stream.recv(1)[0], stream)

    def call(self, address):
        while True:
            try:
                return socket.create_connection((address, PORT))
            except ConnectionRefusedError:
                select.select([], [], [], 0.1)

    def keep(self, other, stream):
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WINDOW)
        self.streams[other] = stream

    def tell(self, line):
        """All lines, at rank 0, which answers everybody; the others get none."""
        if self.mine:
            self.streams[0].sendall(line.ljust(LINE))
            self.streams[0].recv(1)
            return []
        lines = [line] + [self.streams[other].recv(LINE, socket.MSG_WAITALL)
                          for other in range(1, self.ranks)]
        for stream in self.streams.values():
            stream.sendall(b".")
        return lines

    def exchange(self, sends, receives):
        """Runs the ways, by rank, until all are done."""
        with select.epoll() as poll:
            ways = {}
            for other in sends.keys() | receives.keys():
                stream, receive, send = self.streams[other], receives.get(other), sends.get(other)
                ways[stream.fileno()] = stream, receive, send
                expect(stream, receive)
                poll.register(stream, wanted(receive, send))
            while any(way.left for way in [*sends.values(), *receives.values()]):
                for number, events in poll.poll():
                    stream, receive, send = ways[number]
                    if events & select.EPOLLIN:
                        receive.advance(stream.recv_into(receive.place()))
                        expect(stream, receive)
                    if events & select.EPOLLOUT:
                        send.advance(stream.send(send.place(), socket.MSG_DONTWAIT))
                    poll.modify(number, wanted(receive, send))


def ways_of(kind, memory, mine, ranks, neighbour):
    """By rank: one way, to the neighbour or from there, or one for each other rank."""
    size, part = len(memory), len(memory) // ranks
    if kind == "ring":
        return {neighbour % ranks: Way(memory, 0, size)}
    return {other: Way(memory, other * part, part) for other in range(ranks) if other != mine}


def main(kind, size, iterations, mine, addresses):
    mesh, ranks = Mesh(mine, addresses), len(addresses)
    from_here, to_here = memoryview(bytearray(size)), memoryview(bytearray(size))
    sends = ways_of(kind, from_here, mine, ranks, mine + 1)
    receives = ways_of(kind, to_here, mine, ranks, mine - 1)
    count = 2 * (ranks - 1) * (size // ranks) // len(sends)  # bytes of a way

    def step():
        for way in [*sends.values(), *receives.values()]:
            way.start(count)
        mesh.exchange(sends, receives)

    def prepare():
        from_here[:] = bytes([mine + 1]) * size
        to_here[:] = bytes(size)

    def check():
        return all(bytes(way.memory[way.first:way.first + way.size]) == bytes([other + 1]) * way.size
                   for other, way in receives.items())

    run = rank.Measurement(step, lambda: mesh.tell(b""), prepare, check)
    run.run(iterations, is_training=False)
    told = mesh.tell(json.dumps([run.begins, run.ends, run.own, run.right]).encode())
    if mine == 0:
        begins, ends, own, right = zip(*map(json.loads, told))
        run.report("plain TCP", map(min, zip(*begins)), map(max, zip(*ends)), sum(own), all(right))
    mesh.tell(b"")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
