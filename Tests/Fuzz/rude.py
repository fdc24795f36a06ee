# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""What breaks HTTP itself: each case sends bytes, and says what was wrong with what came back."""

import socket
import struct

from answers import Broken, Reader, fault

UPLOAD = b"POST /arcgis/rest/services/Jobs/GPServer/uploads/upload HTTP/1.1\r\nHost: localhost\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"
MULTIPART = b"Content-Type: multipart/form-data; boundary=x\r\n"
PART = b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\n%s\r\n"
IDENTIFY = (b"/arcgis/rest/services/World/MapServer/identify?geometry=2,47&tolerance=0&mapExtent=0,0,10,10"
            b"&imageDisplay=100,100,96&sr=4326&layers=all:0")


def get(path, more=b""):
    return b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + more + b"\r\n"


def post(path, body, length=None, kind=FORM):
    return b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + kind + b"Content-Length: %d\r\n\r\n" % (len(body) if length is None else length) + body


def cases(rng):
    """The bytes of one case, how many answers it must get (None: any number, or none), and whether we end our side."""
    services = b"/arcgis/rest/services"
    junk = [b"GET ", b"POST ", services, b"?f=json&", b"%", b"\0", b" HTTP/1.1", b"\r\n", b"Host: localhost", b"Content-Length: ", b"9" * 20, b"-1",
            b"Transfer-Encoding: chunked", b"\r\n\r\n", b"f" * 16 + b"\r\n", b"{x:", b"a" * 999, b"\xff\xfe", b"\n", b"HTTP/2.0"]
    name, data, answers, ends = rng.choice([
        lambda: ("noise", rng.randbytes(rng.randint(1, 5000)), None, True),
        lambda: ("words", b"".join(rng.choices(junk, k=rng.randint(1, 20))), None, True),
        lambda: ("pipelined", b"".join(get(rng.choice([IDENTIFY, b"/healthz", services + b"?f=json"])) for _ in range(40)), 40, False),
        lambda: ("pipelined, half closed", get(b"/healthz") * 5, None, True),
        lambda: ("posts in a row", post(services, b"f=json") * 10, 10, False),
        lambda: ("one and a half", get(b"/healthz") + b"GET /heal", 1, False),
        lambda: ("a form that is too short", post(services, b"f=json", 5000), None, True),
        lambda: ("a form that is too long", post(services, b"f=json" + b"&f=json" * 300_000), 1, False),
        lambda: ("a length that is none", b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %s\r\n\r\n" % (services, rng.choice([b"-1", b"1e3", b"9" * 30, b"+5", b"", b"5, 6"])), None, True),
        lambda: ("two lengths", b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nf=json" % services, None, True),
        lambda: ("length and chunks", b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % services, None, True),
        lambda: ("chunks", b"POST %s HTTP/1.1\r\nHost: localhost\r\n" % services + FORM + b"Transfer-Encoding: chunked\r\n\r\n3\r\nf=j\r\n3\r\nson\r\n0\r\n\r\n", 1, False),
        lambda: ("broken chunks", b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n%s" % (services, rng.choice([b"zz\r\n", b"-1\r\n", b"f" * 17 + b"\r\n", b"5\r\nab", b"1\r\nabc"])), None, True),
        lambda: ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + rng.randbytes(50), None, True),
        lambda: ("TLS", bytes.fromhex("16030100c8010000c40303") + rng.randbytes(190), None, True),
        lambda: ("HTTP/1.0", b"GET /healthz HTTP/1.0\r\n\r\n", 1, False),
        lambda: ("HTTP/0.9", b"GET /healthz\r\n", None, True),
        lambda: ("a head of two million bytes", get(services, b"A: " + b"x" * 2_000_000 + b"\r\n"), None, True),
        lambda: ("a thousand headers", get(services, b"".join(b"A%d: 1\r\n" % i for i in range(1000))), None, True),
        lambda: ("folded headers", get(services, b"A: 1\r\n 2\r\n\t3\r\n"), None, True),
        lambda: ("no host", b"GET /healthz HTTP/1.1\r\n\r\n", None, True),
        lambda: ("absolute", b"GET http://elsewhere/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", None, True),
        lambda: ("CONNECT", b"CONNECT elsewhere:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", None, True),
        lambda: ("star", b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", None, True),
        lambda: ("upload", upload(b"--x--", rng), 1, False),
        lambda: ("upload cut short", upload(b"", rng), None, True),
        lambda: ("upload, too few bytes", UPLOAD + MULTIPART + b"Content-Length: 99999\r\n\r\n" + PART % (b"a", b"b"), None, True),
        lambda: ("upload of two thousand parts", body(UPLOAD + MULTIPART, PART % (b"a", b"b") * 2000 + b"--x--"), 1, False),
        lambda: ("upload with strange names", body(UPLOAD + MULTIPART, PART % (rng.choice([b"../../../etc/passwd", b"\0", b"a" * 9000, b"\xff", b"\r\n\r\n", b"a\"; filename=\"b"]), b"b") + b"--x--"), 1, False),
        lambda: ("upload without a boundary", body(UPLOAD + b"Content-Type: multipart/form-data\r\n", b"abc"), 1, False),
        lambda: ("upload of nothing", body(UPLOAD + b"Content-Type: application/octet-stream\r\n", b""), 1, False),
        lambda: ("upload of bytes", body(UPLOAD + b"Content-Type: application/octet-stream\r\n", rng.randbytes(rng.choice([1, 1000, 300_000]))), 1, False),
        lambda: ("a boundary of ten thousand letters", body(UPLOAD + b"Content-Type: multipart/form-data; boundary=" + b"y" * 10_000 + b"\r\n", b"--" + b"y" * 10_000), 1, False),
    ])()
    return name, data, answers, ends


def body(head, bytes_):
    return head + b"Content-Length: %d\r\n\r\n" % len(bytes_) + bytes_


def upload(end, rng):
    return body(UPLOAD + MULTIPART, PART % (b"queries.jsonl", b"{\"x\":1,\"y\":2}\n" * rng.randint(0, 500)) + end)


def run(port, rng):
    """Runs one case: its name, the statuses that came, what was wrong (or None), the bytes that were sent."""
    name, data, wanted, ends = cases(rng)
    leaves = rng.random() < 0.1
    statuses, problem = [], None
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        try:
            cut = rng.randrange(len(data)) if rng.random() < 0.2 else 0
            connection.sendall(data[:cut])
            connection.sendall(data[cut:])
            if leaves:
                # The answer is not waited for: the connection is reset.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return name, ["left"], None, data
            if ends:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        reader = Reader(connection)
        try:
            while wanted is None or len(statuses) < wanted:
                answer = reader.answer()
                statuses.append(answer.code)
                problem = problem or fault(answer, "GET")
        except socket.timeout:
            problem = problem or "neither an answer nor an end within 60 s"
        except (Broken, OSError, ValueError) as error:
            if wanted is not None:
                problem = problem or f"{len(statuses)} answers where {wanted} were due: {error}"
    return name, statuses or ["closed"], problem, data
