#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Asks every URL of a gateway what clients ask and what nobody should, and checks each answer.

usage: fuzz.py --bin DIR [--minutes N] [--seed N] [--clients N] [--keep]

One JSON summary on standard output; exit code 1 when anything was found. Docs/faults.md says what is checked.
"""

import argparse
import collections
import json
import os
import random
import resource
import shutil
import socket
import sqlite3
import sys
import tempfile
import threading
import time

import rude
from answers import Broken, Reader, fault
from fuzzed_site import FuzzedSite
from questions import JOBS, WORLD, Questions

SLACK_SECONDS = 15
CROWD = 10_000
SLOW = 300
FOLLOWERS, FOLLOWER_MIB = 1000, 100
# A process may grow after the first third of the run by a quarter and so many MiB.
GROWTH = (1.25, 64)
REPRODUCTION_BYTES = 1500


class Findings:
    """Each kind of fault once, with the shortest request that led to it."""

    def __init__(self):
        self.lock, self.found = threading.Lock(), {}

    def add(self, kind, problem, data=b"", question=None):
        short = "".join(letter for letter in problem if not letter.isdigit())[:70]
        with self.lock:
            entry = self.found.setdefault((kind, short), {"kind": kind, "problem": problem, "count": 0, "bytes": data, "question": question})
            entry["count"] += 1
            if len(data) < len(entry["bytes"]):
                entry.update(bytes=data, question=question, problem=problem)
            if entry["count"] == 1:
                print(f"fuzz: {kind}: {problem}", file=sys.stderr, flush=True)


class Fuzz:
    def __init__(self, site, options):
        self.site, self.options = site, options
        self.findings = Findings()
        self.lock = threading.Lock()
        self.counts = collections.defaultdict(collections.Counter)
        self.rights = collections.defaultdict(lambda: [0, 0])
        self.canary = collections.Counter()
        self.slowest = {}
        self.bytes_sent = 0
        self.is_over = threading.Event()
        self.samples = []

    # ------------------------------------------------------------ asking

    def ask(self, data, method="GET", seconds=60.0, connection=None):
        """The answer and how long it took; raises `Broken` or `OSError`."""
        start = time.monotonic()
        own = connection or socket.create_connection(("127.0.0.1", self.site.port), timeout=seconds)
        try:
            own.settimeout(seconds)
            try:
                own.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # It may have refused before it had read all.
            reader = Reader(own)
            answer = reader.answer(method)
            answer.is_last = reader.is_ended or bool(reader.bytes) or answer.headers.get("connection", "").lower() == "close"
            return answer, time.monotonic() - start
        finally:
            if connection is None:
                own.close()

    def question(self, question, connection=None):
        """Asks and checks: what is wrong, or None; and the answer."""
        data, limit = question.bytes(), question.seconds
        try:
            answer, seconds = self.ask(data, question.method, limit + 3 * SLACK_SECONDS, connection)
        except socket.timeout:
            return f"no answer within {limit:g} s and {3 * SLACK_SECONDS} more", None, limit
        except (Broken, OSError, ValueError) as error:
            return f"no answer: {error}", None, 0
        problem = fault(answer, question.method)
        if problem is None and seconds > limit + SLACK_SECONDS and question.kind != "identify/changes":
            problem = f"an answer after {seconds:.1f} s where {limit:g} were stated"
        return problem, answer, seconds

    def client(self, number):
        questions = Questions(random.Random(f"{self.options.seed} {number}"), self.tasks)
        rng = random.Random(f"{self.options.seed} {number} how")
        connection = None
        while not self.is_over.is_set():
            try:
                if rng.random() < 0.08:
                    self.be_rude(rng)
                    continue
                question = questions.next()
                kept = rng.random() < 0.5
                if kept and connection is None:
                    connection = socket.create_connection(("127.0.0.1", self.site.port), timeout=60)
                problem, answer, seconds = self.question(question, connection if kept else None)
                if kept and answer is None and problem.startswith("no answer:"):
                    # A connection that was idle may have been closed meanwhile: once more on a new one.
                    problem, answer, seconds = self.question(question)
                if kept and (answer is None or answer.is_last):
                    connection.close()
                    connection = None
            except OSError as error:
                problem, answer, seconds, connection = f"no connection: {error}", None, 0, None
            self.note(question, problem, answer, seconds)
        if connection:
            connection.close()

    def note(self, question, problem, answer, seconds):
        code = self.code(answer)
        with self.lock:
            self.counts[question.kind][str(code)] += 1
            self.bytes_sent += sum(len(value) for _, value in question.parameters)
            self.slowest[question.kind] = max(self.slowest.get(question.kind, 0), seconds)
            if question.is_right:
                self.rights[question.kind][0] += 1
                self.rights[question.kind][1] += code == 200
        if problem:
            self.findings.add(question.kind, problem, question.bytes(), question)

    @staticmethod
    def code(answer):
        try:
            return answer.code if answer else "none"
        except (ValueError, RecursionError):
            return "unreadable"

    def be_rude(self, rng):
        try:
            name, statuses, problem, data = rude.run(self.site.port, rng)
        except OSError as error:
            name, statuses, problem, data = "connect", ["none"], f"no connection: {error}", b""
        with self.lock:
            for status in statuses:
                self.counts["rude"][str(status)] += 1
        if problem:
            self.findings.add(f"rude: {name}", problem, data)

    # ------------------------------------------------------------ what must go on meanwhile

    def expectations(self):
        """Right answers, read from the sample file by SQLite."""
        with sqlite3.connect(f"file:{self.site.sample}/world.gpkg?mode=ro", uri=True) as file:
            count = lambda sql: file.execute(sql).fetchone()[0]
            self.expected = {
                "countries": count("SELECT count(*) FROM countries"),
                "cities": count("SELECT count(*) FROM cities WHERE population > 1000000"),
                "capital": count("SELECT capital FROM countries WHERE name = 'France'"),
            }
        layers = json.loads(self.text(f"{WORLD}/MapServer?f=json"))["layers"]
        self.ids = {layer["name"]: layer["id"] for layer in layers}

    def text(self, path):
        return self.ask(rude.get(path.encode()))[0].body.decode()

    def sing(self):
        """Asks the canary's questions: what is wrong, or None."""
        identify = (f"{WORLD}/MapServer/identify?geometry=2,47&geometryType=esriGeometryPoint&sr=4326&tolerance=0&mapExtent=0,40,10,50"
                    f"&imageDisplay=400,400,96&returnGeometry=false&layers=all:{self.ids['countries']}&f=json")
        questions = [
            (identify, lambda found: found["results"][0]["attributes"]["capital"], self.expected["capital"]),
            (f"{WORLD}/FeatureServer/{self.ids['countries']}/query?returnCountOnly=true&f=json", lambda found: found["count"], self.expected["countries"]),
            (f"{WORLD}/FeatureServer/{self.ids['cities']}/query?where=population%20%3E%201000000&returnCountOnly=true&f=json", lambda found: found["count"], self.expected["cities"]),
        ]
        refused = None
        for path, read, expected in questions:
            try:
                answer, _ = self.ask(rude.get(path.encode()))
            except (OSError, Broken) as error:
                return f"the canary was not answered: {error}"
            problem = fault(answer, "GET")
            if problem:
                return f"the canary: {problem}"
            if answer.code in (503, 504):
                refused = answer.error["message"]
                continue
            try:
                found = read(answer.json)
            except (KeyError, IndexError, TypeError):
                return f"the canary was answered {answer.body[:200]!r}"
            if found != expected:
                return f"the canary was answered {found!r}, and {expected!r} is right"
        with self.lock:
            self.canary["refused" if refused else "right"] += 1
            self.last_refusal = refused
        return None

    def watch(self):
        last_right = time.monotonic()
        while not self.is_over.wait(1):
            problem = self.sing()
            if problem:
                self.findings.add("canary", problem)
            if not self.last_refusal:
                last_right = time.monotonic()
            elif time.monotonic() - last_right > 60:
                self.findings.add("canary", f"refused for a minute: {self.last_refusal}")
            for name, code in self.site.dead().items():
                self.findings.add("process", f"{name} ended with {code}: {self.site.last_words(name)[-600:]}")
            self.samples.append((time.monotonic(), self.site.memory()))
            if self.site.dead():
                self.is_over.set()

    # ------------------------------------------------------------ many at once

    def crowd(self):
        """Ten thousand connections at once, some of them half a request, and what others hear meanwhile."""
        connections, refused = [], 0
        for number in range(CROWD):
            connection = socket.socket()
            connection.settimeout(5)
            try:
                connection.connect(("127.0.0.1", self.site.port))
                if number % (CROWD // SLOW) == 0:
                    connection.send(b"GET /healthz HTTP/1.1\r\nHo")
                connections.append(connection)
            except OSError:
                refused += 1
                connection.close()
        problem = self.sing()
        if problem:
            self.findings.add("crowd", problem)
        # Whoever asks now is answered, however many stand around.
        answered = 0
        asking = [connection for number, connection in enumerate(connections) if number % 100 == 1]
        for connection in asking:
            try:
                answer, _ = self.ask(rude.get(rude.IDENTIFY), connection=connection)
                answered += answer.code == 200
            except (OSError, Broken):
                pass  # Idle connections give way.
        figures = {"opened": len(connections), "refused": refused, "asked": len(asking), "answered": answered,
                   "gatewayMiB": self.site.memory().get("gateway", (0, 0))[0]}
        for connection in connections:
            connection.close()
        return figures

    def drip(self):
        """Heads that come a byte in two seconds: each is cut, and nobody waits for it."""
        slow = []
        for _ in range(SLOW):
            connection = socket.create_connection(("127.0.0.1", self.site.port), timeout=5)
            connection.setblocking(False)
            slow.append(connection)
        start, cut, text = time.monotonic(), 0, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA: " + b"x" * 100
        for letter in range(30):
            for connection in list(slow):
                try:
                    connection.send(text[letter:letter + 1])
                    if connection.recv(1 << 16) == b"":
                        raise ConnectionResetError
                except BlockingIOError:
                    pass
                except OSError:
                    connection.close()
                    slow.remove(connection)
                    cut += 1
            problem = self.sing()
            if problem:
                self.findings.add("slow heads", problem)
            if not slow:
                break
            time.sleep(2)
        seconds = time.monotonic() - start
        for connection in slow:
            connection.close()
        if slow:
            self.findings.add("slow heads", f"{len(slow)} of {SLOW} were still connected after {seconds:.0f} s; 15 s are stated")
        return {"cut": cut, "of": SLOW, "seconds": round(seconds, 1)}

    def follow(self):
        """A thousand clients follow an answer: each hears the first, what they cost, and each hears of a change."""
        path = ("/arcgis/rest/services/Pins/MapServer/identify/changes?geometry=-100.5,55.5&geometryType=esriGeometryPoint&sr=4326&tolerance=0"
                "&mapExtent=-110,50,-90,60&imageDisplay=400,400,96&layers=all:0")
        before, followers, heard, figures = self.site.memory()["gateway"][0], [], 0, {}
        for _ in range(FOLLOWERS):
            connection = socket.create_connection(("127.0.0.1", self.site.port), timeout=120)
            connection.sendall(rude.get(path.encode()))
            followers.append(Reader(connection))

        def hear(mark):
            count = 0
            for reader in followers:
                try:
                    reader.until(mark)
                    count += b"\n\n" in reader.until(b"\n") + b"\n\n"
                except (OSError, Broken):
                    pass
            return count

        figures["heardFirst"] = hear(b"event: change\n")
        time.sleep(2)
        after = self.site.memory()["gateway"][0]
        figures.update(of=FOLLOWERS, beforeMiB=before, afterMiB=after)
        added = json.dumps([{"attributes": {"name": "followed"}, "geometry": {"x": -100.5, "y": 55.5, "spatialReference": {"wkid": 4326}}}]).encode()
        start = time.monotonic()
        answer, _ = self.ask(rude.post(b"/arcgis/rest/services/Pins/FeatureServer/0/addFeatures", b"f=json&features=" + added))
        figures["change"] = answer.body[:100].decode("utf-8", "replace")
        figures["heardChange"] = hear(b"followed")
        figures["changeSeconds"] = round(time.monotonic() - start, 1)
        for reader in followers:
            reader.connection.close()
        if figures["heardFirst"] != FOLLOWERS or figures["heardChange"] != FOLLOWERS:
            self.findings.add("followers", f"not everybody heard: {figures}")
        if after - before > FOLLOWER_MIB:
            self.findings.add("followers", f"{FOLLOWERS} followers took {after - before:.0f} MiB")
        return figures

    def settle(self):
        """After all clients have gone: what is left of them."""
        end = time.monotonic() + 120
        while True:
            lines = dict(line.rsplit(" ", 1) for line in self.text("/metrics").splitlines() if not line.startswith("#"))
            left = {name: int(float(lines[f"cairn_gateway_{name}"])) for name in ("connections", "followers", "requests_in_flight")}
            now = self.site.descriptors()
            more = {name: (self.before.get(name, 0), count) for name, count in now.items() if count > self.before.get(name, 0) + 16}
            if left == {"connections": 1, "followers": 0, "requests_in_flight": 1} and not more:
                break
            if time.monotonic() > end:
                self.findings.add("left over", f"{left}, descriptors before and now {more}")
                break
            time.sleep(1)
        return {"gateway": left, "descriptors": {name: [self.before.get(name, 0), count] for name, count in now.items()}}

    def memory_table(self, start, end):
        """For each process: its most in the first third of the run, the median of the last tenth, and its peak."""
        table = {}
        warm_end = start + (end - start) / 3
        for name in self.site.processes:
            warm = [sample[name][0] for at, sample in self.samples if start <= at <= warm_end and name in sample]
            late = [sample[name][0] for at, sample in self.samples if end - (end - start) / 10 <= at <= end and name in sample]
            peaks = [sample[name][1] for _, sample in self.samples if name in sample]
            if not warm or not late:
                continue
            late.sort()
            bound = max(warm) * GROWTH[0] + GROWTH[1]
            table[name] = {"warmMiB": max(warm), "endMiB": late[len(late) // 2], "peakMiB": max(peaks), "boundMiB": round(bound, 1)}
            if table[name]["endMiB"] > bound:
                self.findings.add("memory", f"{name} has {table[name]['endMiB']} MiB, {max(warm)} after the first third")
        return table

    # ------------------------------------------------------------ the shortest request

    def shorten(self, entry):
        """Leaves out parameters, headers and halves of values for as long as the same fault comes."""
        question, tries = entry["question"], 0
        if question is None or entry["problem"].startswith("no ") or self.site.dead():
            return
        wanted = entry["problem"][:25]

        def is_wrong(other):
            problem, _, _ = self.question(other)
            return problem is not None and problem[:25] == wanted

        is_shorter = is_wrong(question)
        entry["again"] = is_shorter
        while is_shorter and tries < 150:
            is_shorter = False
            for place, (name, value) in enumerate(question.parameters):
                rest = question.parameters[:place] + question.parameters[place + 1:]
                for parameters in [rest] + [rest[:place] + [(name, part)] + rest[place:] for part in (value[:len(value) // 2], value[len(value) // 2:]) if len(value) > 1]:
                    tries += 1
                    other = question.with_parameters(parameters)
                    if is_wrong(other):
                        question, is_shorter = other, True
                        break
                if is_shorter or tries >= 150:
                    break
        entry["bytes"] = question.bytes()

    # ------------------------------------------------------------ the run

    def run(self):
        # Permissions are heard of within a second.
        limit = time.monotonic() + 30
        while "tasks" not in self.text(f"{JOBS}?f=json") and time.monotonic() < limit:
            time.sleep(0.1)
        tasks = {}
        for task in json.loads(self.text(f"{JOBS}?f=json"))["tasks"]:
            found = json.loads(self.text(f"{JOBS}/{task}?f=json"))
            tasks[task] = [parameter["name"] for parameter in found["parameters"] if parameter["direction"].endswith("Input")]
        self.tasks = tasks
        self.expectations()
        self.last_refusal = None
        problem = self.sing()
        if problem:
            raise SystemExit(f"fuzz: before it began: {problem}")
        # The largest picture there may be: what a process needs for it is no growth later.
        self.ask(rude.get(f"{WORLD}/MapServer/export?bbox=-180,-90,180,90&bboxSR=4326&size=4096,2048&f=image&format=jpg&timeout=60".encode()), seconds=90)
        # From its sixteenth task on the gateway is answered by sockets of its own: what is opened once is no growth either.
        for _ in range(20):
            self.ask(rude.get(f"{WORLD}/MapServer/export?bbox=0,40,10,50&bboxSR=4326&size=20,20&f=image".encode()))
        self.before = self.site.descriptors()
        followers = self.follow()
        start = time.monotonic()
        threads = [threading.Thread(target=self.watch)] + [threading.Thread(target=self.client, args=(number,)) for number in range(self.options.clients)]
        for thread in threads:
            thread.start()
        self.is_over.wait(self.options.minutes * 60)
        self.is_over.set()
        for thread in threads:
            thread.join()
        end = time.monotonic()
        summary = {"seed": self.options.seed, "minutes": round((end - start) / 60, 1), "clients": self.options.clients, "followers": followers}
        if not self.site.dead():
            summary["crowd"] = self.crowd()
            summary["slowHeads"] = self.drip()
            summary["leftOver"] = self.settle()
            for entry in list(self.findings.found.values()):
                self.shorten(entry)
        summary["memory"] = self.memory_table(start, end)
        for kind, (asked, answered) in self.rights.items():
            if asked >= 30 and not answered and not self.kind(kind).may_never_answer:
                self.findings.add(kind, f"{asked} right questions, and none was answered")
        summary["requests"] = sum(sum(counter.values()) for counter in self.counts.values())
        summary["sentMiB"] = self.bytes_sent >> 20
        summary["byKind"] = {kind: dict(sorted(counter.items())) for kind, counter in sorted(self.counts.items())}
        summary["rightQuestions"] = {kind: {"asked": asked, "answered": answered} for kind, (asked, answered) in sorted(self.rights.items())}
        summary["slowestSeconds"] = {kind: round(seconds, 2) for kind, seconds in sorted(self.slowest.items())}
        summary["canary"] = dict(self.canary)
        return summary

    def kind(self, name):
        return next(kind for kind in Questions(random.Random(0), self.tasks).kinds if kind.name == name)


def main():
    parser = argparse.ArgumentParser(prog="deploy/fuzz", description="Asks every URL of a gateway what nobody should, and checks each answer. "
                                     "With --imports it has 'cairn import' read broken and hostile files instead: deploy/fuzz --imports --help.")
    parser.add_argument("--bin", required=True, help="the folder with the programs")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=None, help="a number; drawn and printed unless given")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--keep", action="store_true", help="leave the site there")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    print(f"fuzz: seed {options.seed}", file=sys.stderr, flush=True)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = CROWD + 2000
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folder = tempfile.mkdtemp(prefix="cairn-fuzz.")
    site = FuzzedSite(folder, os.path.abspath(options.bin), f"{root}/deploy/sample")
    fuzz = Fuzz(site, options)
    try:
        site.start()
        summary = fuzz.run()
    finally:
        for problem in site.stop():
            fuzz.findings.add("end", problem)
        if options.keep:
            print(f"fuzz: the site is {site.path}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    summary["findings"] = [
        {"kind": entry["kind"], "problem": entry["problem"], "count": entry["count"], "again": entry.get("again"),
         "requestBytes": len(entry["bytes"]), "request": entry["bytes"][:REPRODUCTION_BYTES].decode("latin-1")}
        for entry in fuzz.findings.found.values()]
    summary["verdict"] = "FAILED" if summary["findings"] else "PASSED"
    print(json.dumps(summary, ensure_ascii=True))
    sys.exit(1 if summary["findings"] else 0)


if __name__ == "__main__":
    main()
