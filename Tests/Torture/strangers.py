# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Peers that no protocol foresees: random bytes, and a subscriber that never reads."""

import os
import socket

GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL" + bytes(16) + b"\x00" + bytes(31)


def endpoints(site):
    folder = f"{site}/run"
    return sorted(
        name for name in os.listdir(folder)
        if name.split("-")[0] in ("log.req", "log.tail", "map.req", "sup.req", "sup.sink",
                                  "sup.live", "lane") and not name.endswith(".lock"))


def connect(path):
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    peer.settimeout(1)
    peer.connect(path)
    return peer


def rubbish(random):
    size = random.choice([1, 12, 64, 1024, 20_000])
    noise = random.randbytes(size)
    return random.choice([
        noise, GREETING + noise, GREETING + ready(b"DEALER") + b"\x00" + noise[:200],
        GREETING + ready(b"PUSH") + message(noise), b"CRN1" + noise,
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + noise,
    ])


def ready(socket_type):
    body = b"\x05READY\x0bSocket-Type" + len(socket_type).to_bytes(4, "big") + socket_type
    return b"\x04" + bytes([len(body)]) + body


def message(body):
    return b"\x02" + len(body).to_bytes(8, "big") + body


def say_rubbish(site, port, random):
    """Connects somewhere, says something, leaves; whether anybody listened."""
    names = endpoints(site)
    try:
        if not names or random.random() < 0.2:
            peer = socket.create_connection(("127.0.0.1", port), 1)
        else:
            peer = connect(f"{site}/run/{random.choice(names)}")
        with peer:
            peer.sendall(rubbish(random))
        return True
    except OSError:
        return False


class StalledReader:
    """A well-formed subscriber to everything the log publishes that never reads a byte of it."""

    def __init__(self, site):
        self.peer = None
        try:
            peer = connect(f"{site}/run/log.tail")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            # A ZMTP 3.0 handshake without waiting for the other side, then "subscribe to all".
            peer.sendall(GREETING + ready(b"SUB") + b"\x00\x01\x01")
            self.peer = peer
        except OSError:
            pass

    def close(self):
        if self.peer is not None:
            self.peer.close()
