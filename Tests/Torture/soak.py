# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""As many questions as a site answers, and nothing else: what each of them costs must not stay."""

import re
import socket
import threading
import time

SERVICES = "/arcgis/rest/services/World"
CLICK = (f"{SERVICES}/MapServer/identify?f=json&geometry={{}}&sr=4326&layers=all&tolerance=4&"
         "mapExtent=-5,41,10,52&imageDisplay=800,600,96&returnGeometry={}")
CHEAP = [
    *(CLICK.format(place, form) for form in ("false", "true")
      for place in ("2.3488,48.8534", "13.4,52.5", "-3.7,40.4", "10.75,59.9")),
    f"{SERVICES}/GeocodeServer/findAddressCandidates?f=json&singleLine=Paris",
    f"{SERVICES}/GeocodeServer/suggest?f=json&text=Lon",
    f"{SERVICES}/GeocodeServer/reverseGeocode?f=json&location=2.35,48.85",
]
DEAR = [
    f"{SERVICES}/MapServer?f=json",
    f"{SERVICES}/MapServer/0/query?f=json&where=1%3D1&resultRecordCount=20&outFields=*",
    f"{SERVICES}/MapServer/export?f=image&bbox=-5,41,10,52&size=200,150",
]
# What each connection asks, again and again.
CONNECTIONS = [CHEAP] * 7 + [DEAR]
AT_ONCE = 16
# How much more a process may have at the end than after a third of the time: caches, and an
# allocator's room, that were not full by then. In less than a minute they are not full at all.
GROWTH, GROWN_PART, JUDGED_SECONDS = 2 << 20, 0.25, 60


class Connection:
    def __init__(self, port):
        self.peer = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.data = b""

    def ask(self, path, count):
        """The same question so many times in one write; the status and body of each answer."""
        request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        self.peer.sendall(request * count)
        return [self.answer() for _ in range(count)]

    def answer(self):
        while (end := self.data.find(b"\r\n\r\n")) < 0:
            self.read()
        head = self.data[:end].decode()
        size = int(re.search(r"(?i)\r\ncontent-length: *(\d+)", head)[1])
        while len(self.data) < end + 4 + size:
            self.read()
        body = self.data[end + 4:end + 4 + size]
        self.data = self.data[end + 4 + size:]
        return int(head.split(" ", 2)[1]), body

    def read(self):
        more = self.peer.recv(1 << 20)
        if not more:
            raise OSError("the connection ended before its answers")
        self.data += more

    def close(self):
        self.peer.close()


class Soak:
    def __init__(self, fleet, port):
        self.fleet, self.port = fleet, port
        self.answered = 0
        self.lock = threading.Lock()
        self.is_over = threading.Event()

    def run(self, seconds):
        """Asks for so long; returns the report, and adds what is wrong to the fleet's faults."""
        first = Connection(self.port)
        expected = {}
        for path in CHEAP + DEAR:
            [(status, expected[path])] = first.ask(path, 1)
            if status != 200:
                self.fleet.faults.append(f"{path} was answered {status}: {expected[path][:200]}")
                return {}
        first.close()
        before = self.processes()
        askers = [threading.Thread(target=self.ask, args=(paths, expected), daemon=True)
                  for paths in CONNECTIONS]
        began = time.monotonic()
        for asker in askers:
            asker.start()
        settled = self.wait(began + seconds / 3)
        self.wait(began + seconds)
        self.is_over.set()
        for asker in askers:
            asker.join(60)
        ended = self.sizes()
        if before != self.processes():
            self.fleet.faults.append(f"under questions alone {before} became {self.processes()}")
        for name, size in ended.items():
            allowed = settled.get(name, 0) * (1 + GROWN_PART) + GROWTH
            if seconds >= JUDGED_SECONDS and size > allowed:
                self.fleet.faults.append(
                    f"{name} had {settled.get(name, 0)} bytes after a third of the questions and {size} "
                    "after all of them")
        return {"seconds": round(seconds), "answered": self.answered,
                "mebibytes": {name: [round(settled.get(name, 0) / 2**20, 1), round(size / 2**20, 1)]
                              for name, size in ended.items()}}

    def ask(self, paths, expected):
        connection = Connection(self.port)
        try:
            while not self.is_over.is_set():
                for path in paths:
                    answers = connection.ask(path, AT_ONCE)
                    wrong = [answer for answer in answers if answer != (200, expected[path])]
                    if wrong:
                        self.fleet.faults.append(f"{path} was answered {wrong[0]}")
                        return
                    with self.lock:
                        self.answered += len(answers)
        except OSError as error:
            self.fleet.faults.append(f"a client that only asks: {error}")
        finally:
            connection.close()

    def wait(self, end):
        while time.monotonic() < end and not self.fleet.faults:
            self.fleet.look_at_all()
            time.sleep(0.05)
        return self.sizes()

    def processes(self):
        return {slot.name: slot.process.pid for slot in self.fleet.slots if slot.is_running}

    def sizes(self):
        """The memory of its own that each process has, in bytes."""
        sizes = {}
        for name, pid in self.processes().items():
            with open(f"/proc/{pid}/status") as status:
                found = re.search(r"RssAnon:\s*(\d+)", status.read())
            if found:  # one that has just ended has no memory
                sizes[name] = int(found[1]) << 10
        return sizes
