#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Sends a gateway what no client should, and checks that it still answers.

usage: http_strangers.py HOST:PORT [SEED]

Exits 1 with the first thing that went wrong.
"""

import json
import random
import socket
import sys
import urllib.request

LIMIT = 1 << 20


def check(condition, what, found=""):
    """Ends the script unless the condition holds."""
    if not condition:
        sys.exit(f"strangers: {what}: found {found!r}")
    print(f"strangers: {what}")


def send(address, data):
    """Sends bytes and returns the first of the answer; b'' when the connection was just closed."""
    with socket.create_connection(address, timeout=10) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        try:
            return connection.recv(4096)
        except OSError:
            return b""


def error_of(answer):
    """The error object in a raw HTTP answer; None when there is none."""
    _, _, body = answer.partition(b"\r\n\r\n")
    try:
        return json.loads(body).get("error")
    except ValueError:
        return None


def post(length, body, kind="application/x-www-form-urlencoded"):
    """A POST request as bytes."""
    return (f"POST /arcgis/rest/services HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {length}\r\n\r\n").encode() + body


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    host, port = sys.argv[1].split(":")
    address = (host, int(port))
    seed = int(sys.argv[2]) if len(sys.argv) == 3 else 1
    print(f"strangers: seed {seed}")
    generator = random.Random(seed)

    for _ in range(500):
        send(address, generator.randbytes(generator.randint(1, 5000)))
    lines = [b"GET ", b"POST ", b"/arcgis/rest/services", b"?f=json&", b"%", b"\x00", b" HTTP/1.1",
             b"\r\n", b"Host: localhost", b"Content-Length: ", b"99999999999999999999", b"-1",
             b"Transfer-Encoding: chunked", b"\r\n\r\n", b"ffffffffffffffff\r\n", b"{x:", b"a" * 999]
    for _ in range(500):
        send(address, b"".join(generator.choices(lines, k=generator.randint(1, 20))))
    check(True, "1,000 connections of noise were survived")

    error = error_of(send(address, b"GET /?a=" + b"x" * (10 * LIMIT) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    check(error and error["code"] == 400, "a URL of 10 MiB is refused with a sentence", error)
    body = b"a=" + b"x" * (10 * LIMIT)
    error = error_of(send(address, post(len(body), body)))
    check(error and error["code"] == 413, "a body of 10 MiB is refused with a sentence", error)
    error = error_of(send(address, post(9, b"--x\r\nabc", "multipart/form-data; boundary=x")))
    check(error and error["code"] == 400, "a multipart form is refused with a sentence", error)
    deep = "geometry=" + "[" * 100_000
    error = error_of(send(address, (
        "POST /arcgis/rest/services/World/MapServer/identify HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Length: {len(deep)}\r\n\r\n{deep}").encode()))
    check(error and error["code"] == 400, "deep nesting is refused with a sentence", error)

    # Half a request: the connection may wait, the server may not.
    idle = [socket.create_connection(address, timeout=10) for _ in range(50)]
    for connection in idle:
        connection.sendall(b"GET /arcgis/rest/services HTTP/1.1\r\nHost: localhost\r\n")
    with urllib.request.urlopen(f"http://{sys.argv[1]}/healthz", timeout=10) as answer:
        health = json.load(answer)
    check(health["healthy"], "it is healthy beside 50 half requests", health)
    for connection in idle:
        connection.close()


if __name__ == "__main__":
    main()
