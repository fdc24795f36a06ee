#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Kills the processes of a site, again and again, under one export of tiles, and compares its package.

`deploy/torture --tiles --help` says how; `Docs/faults.md` what must hold.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid

from checker import Checker
from fleet import Fleet, Slot, die_with_parent

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = f"{HERE}/../../deploy/sample"
# How much of the work may be done twice; of few chunks as many as there were kills.
TWICE = 0.05
MANY = 500
# Seconds without any progress after which an export hangs.
PATIENCE = 180


class Storm:
    def __init__(self, options, folder):
        self.options = options
        self.site, self.folder = f"{folder}/site", folder
        self.random = random.Random(options.seed)
        self.faults = []
        self.kills = {}
        self.later = {}  # slot: when it starts again
        self.cairn("import", f"{SAMPLE}/world.gpkg", "--map", "World")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.checker = Checker(f"{self.site}/log/events.sqlite")

    def say(self, **line):
        print(json.dumps(line, sort_keys=True), flush=True)

    def cairn(self, *arguments):
        done = subprocess.run(
            [f"{self.options.bin}/cairn", *arguments, "--site", self.site], capture_output=True, text=True,
            preexec_fn=die_with_parent)
        if done.returncode:
            raise SystemExit(f"torture: cairn {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    # A fleet

    def begin(self, workers):
        self.fleet = Fleet(self.site, self.options.bin, self.port, {})
        self.fleet.slots = [
            Slot("logd", "cairn-logd"), Slot("mapstate", "cairn-mapstate"), Slot("supervisor", "cairn-supervisor"),
            *(Slot(f"identify-{number}", "cairn-worker", ["--pool", "identify"]) for number in range(workers)),
            Slot("work", "cairn-worker", ["--pool", "work"]),
            Slot("gateway", "cairn-gateway", ["--port", str(self.port)]),
        ]
        self.fleet.calm()
        end = time.monotonic() + 120
        while not self.answers():
            if time.monotonic() > end:
                raise SystemExit("torture: the site does not answer: " + "".join(
                    self.fleet.last_words(slot) for slot in self.fleet.slots))
            time.sleep(0.1)

    def answers(self):
        """Whether the gateway has a vector tile of the map."""
        url = f"http://127.0.0.1:{self.port}/arcgis/rest/services/World/VectorTileServer/tile/0/0/0.pbf"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return len(answer.read()) > 1000
        except OSError:
            return False

    # An export

    def counts(self, job):
        """What the log has of a job: events by their type."""
        log = sqlite3.connect(f"file:{self.site}/log/events.sqlite?mode=ro", uri=True, timeout=60)
        try:
            rows = log.execute(
                "SELECT type, count(*) FROM event JOIN stream ON stream.number = event.stream "
                "WHERE name = ? GROUP BY type", (f"job-{uuid.UUID(job.removeprefix('j'))}",))
            return dict(rows)
        finally:
            log.close()

    def export(self, at, kills=0):
        """The hash of the package, and what the log has of the job; with so many kills under it."""
        options = self.options
        said = json.loads(self.cairn(
            "job", "submit", options.kind, "--param", "map=World", "--param", f"levels={options.levels}",
            "--param", f"at={at}", "--json"))
        job = said["id"]
        began = moved = time.monotonic()
        done, killed = -1, 0
        # The moments, as shares of the work: one in each of as many equal parts.
        moments = [(number + self.random.random()) / kills for number in range(kills)]
        while True:
            found = self.counts(job)
            completed = found.get("job.chunk.completed", 0)
            if completed != done:
                done, moved = completed, time.monotonic()
            ended = [kind for kind in ("job.succeeded", "job.failed", "job.cancelled", "job.timedOut") if kind in found]
            if ended:
                break
            # Two chunks are planned before the others are known.
            if killed < kills and done >= max(0, moments[killed] * (self.chunks or 1) - 1):
                self.kill_one(job)
                killed += 1
            self.restart_what_is_due()
            if self.fleet.faults:
                return None
            if time.monotonic() - moved > PATIENCE:
                self.faults.append(f"job {job} did not get on for {PATIENCE} s: {found}")
                return None
            time.sleep(0.01)
        seconds = time.monotonic() - began
        for slot in list(self.later):
            self.later[slot] = 0
        self.restart_what_is_due()
        if ended != ["job.succeeded"]:
            self.faults.append(f"job {job} ended with {ended[0]}: {found}")
            return None
        path = f"{self.folder}/package"
        self.cairn("job", "result", job, "--output", path)
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = os.path.getsize(path)
        os.remove(path)
        return {"sha256": digest, "bytes": size, "chunks": done, "seconds": round(seconds, 1), "killed": killed,
                "started": found["job.chunk.leased"], "released": found.get("job.chunk.released", 0)}

    def spared(self, job):
        """The processes that have a chunk of which two have died: the third death ends a job, as it should."""
        log = sqlite3.connect(f"file:{self.site}/log/events.sqlite?mode=ro", uri=True, timeout=60)
        try:
            rows = log.execute(
                "SELECT type, data FROM event JOIN stream ON stream.number = event.stream WHERE name = ? AND type IN "
                "('job.chunk.leased', 'job.chunk.lost') ORDER BY position",
                (f"job-{uuid.UUID(job.removeprefix('j'))}",)).fetchall()
        finally:
            log.close()
        lost, holders = {}, {}
        for kind, data in rows:
            event = json.loads(data)
            chunk = event["attempt"]["chunk"]
            if kind == "job.chunk.lost":
                lost[chunk] = lost.get(chunk, 0) + 1
            else:
                holders[chunk] = event["processID"]
        return {holders[chunk] for chunk, count in lost.items() if count > 1}

    def kill_one(self, job):
        spared = self.spared(job)
        slots = [slot for slot in self.fleet.slots if slot.is_running and slot.process.pid not in spared]
        kinds = sorted({slot.kind for slot in slots})
        if not kinds:
            return
        # Each kind as often as the other; workers of jobs are two kinds.
        kind = self.random.choice(kinds)
        slot = self.random.choice([slot for slot in slots if slot.kind == kind])
        self.fleet.kill(slot)
        self.kills[kind] = self.kills.get(kind, 0) + 1
        self.later[slot] = time.monotonic() + self.random.uniform(0, 0.3)

    def restart_what_is_due(self):
        self.fleet.look_at_all()
        for slot, when in list(self.later.items()):
            if when <= time.monotonic():
                del self.later[slot]
                self.fleet.start(slot)

    # The whole

    def run(self):
        self.chunks = None
        self.begin(1)
        self.checker.read_log()
        at = self.checker.head
        found = {}
        for name, workers, kills in (("one", 1, 0), ("four", 4, 0), ("storm", 2, self.options.kills)):
            if name != "one":
                self.begin(workers)
            found[name] = self.export(at, kills)
            if found[name] is None:
                self.faults += self.fleet.faults
                self.fleet.end()
                return
            self.chunks = found[name]["chunks"]
            if name == "storm":
                self.check_after()
            self.fleet.end()
            self.faults += self.fleet.faults
            self.say(case="export", workers=workers, **found[name])
        storm = found["storm"]
        if len({one["sha256"] for one in found.values()}) != 1:
            self.faults.append(f"the packages differ: {found}")
        if storm["chunks"] != found["one"]["chunks"]:
            self.faults.append(f"{storm['chunks']} chunks of {found['one']['chunks']}")
        if storm["killed"] < self.options.kills:
            self.faults.append(f"the export ended after {storm['killed']} kills of {self.options.kills}")
        # An attempt that was released never reached its worker.
        twice = storm["started"] - storm["released"] - storm["chunks"]
        allowed = TWICE * storm["chunks"] if storm["chunks"] >= MANY else self.options.kills
        if twice > allowed:
            self.faults.append(f"{twice} of {storm['chunks']} chunks were done twice: expected {allowed:.0f}")
        self.say(case="storm", kind=self.options.kind, levels=self.options.levels, kills=self.kills,
                 doneTwice=twice, share=round(twice / storm["chunks"], 4), atMost=TWICE, faults=len(self.faults))

    def check_after(self):
        """After the storm: the site answers, and the log says one thing of each chunk and attempt."""
        self.fleet.calm()
        end = time.monotonic() + 60
        while not self.answers():
            if time.monotonic() > end:
                self.faults.append("the gateway had no tile a minute after the last kill")
                break
            time.sleep(0.1)
        self.checker.read_log()
        self.checker.check_jobs()
        verified = subprocess.run(
            [f"{self.options.bin}/cairn", "log", "verify", "--site", self.site], capture_output=True, text=True)
        if verified.returncode:
            self.faults.append(f"cairn log verify: {verified.stdout} {verified.stderr}")
        self.faults += self.checker.faults


def main():
    parser = argparse.ArgumentParser(prog="deploy/torture --tiles", description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=200, help="how many processes are killed; default 200")
    parser.add_argument("--kind", choices=["ExportVectorTiles", "ExportTiles"], default="ExportVectorTiles")
    parser.add_argument("--levels", default="0-9", help="of the export; default 0-9, 1,028 chunks of vector tiles")
    parser.add_argument("--seed", type=int, default=random.getrandbits(32),
                        help="chooses the victims and their moments, as shares of the work")
    parser.add_argument("--site", metavar="DIR", help="a new folder on the disk to be tried")
    parser.add_argument("--keep", action="store_true", help="leave the site where it is")
    parser.add_argument("--bin", metavar="DIR", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: sys.exit(130))
    if options.site and os.path.exists(options.site):
        raise SystemExit(f"torture: '{options.site}' exists; name a new folder")
    folder = options.site or tempfile.mkdtemp(prefix="cairn-torture.")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    storm = None
    try:
        storm = Storm(options, folder)
        storm.run()
    finally:
        if storm and hasattr(storm, "fleet"):
            storm.fleet.end()
        if not options.keep and not (storm and storm.faults):
            shutil.rmtree(folder, ignore_errors=True)
    for fault in storm.faults[:20]:
        storm.say(fault=fault)
    verdict = f"seed {options.seed}, {options.kills} kills"
    if storm.faults:
        print(f"torture: FAILED, {verdict}: {len(storm.faults)} faults; the site is in {folder}")
        return 1
    print(f"torture: PASSED, {verdict}: the package is that of an undisturbed export")
    return 0


if __name__ == "__main__":
    sys.exit(main())
