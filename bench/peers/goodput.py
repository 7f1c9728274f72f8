"""goodput.py listen ADDRESS | send ADDRESS SECONDS - what one plain TCP stream gets through a link.

The listener prints bytes a second, counted from a quarter of the time on, and ends with its sender.
"""
import socket
import sys
import time

PORT, PIECE = 7000, 1 << 20


def listen(address):
    with socket.create_server((address, PORT)) as server:
        print("ready", flush=True)
        stream, _ = server.accept()
        seconds = float(stream.recv(16).split()[0])
        room, start, count, began = bytearray(PIECE), time.monotonic(), 0, None
        while got := stream.recv_into(room):
            now = time.monotonic()
            if began:
                count, last = count + got, now
            elif now - start >= seconds / 4:
                began = last = now
        print(count / (last - began), flush=True)


def send(address, seconds):
    with socket.create_connection((address, PORT)) as stream:
        stream.sendall(f"{seconds} ".encode().ljust(16))
        piece, end = bytes(PIECE), time.monotonic() + seconds
        while time.monotonic() < end:
            stream.sendall(piece)


if __name__ == "__main__":
    if sys.argv[1] == "listen":
        listen(sys.argv[2])
    else:
        send(sys.argv[2], float(sys.argv[3]))
