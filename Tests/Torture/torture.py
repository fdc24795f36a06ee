#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Breaks a busy site on purpose, with real processes on a real disk, and checks what it said.

`deploy/torture --help` says how; `Docs/faults.md` what must hold.
"""

import argparse
import ctypes
import gzip
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
import threading
import time
import urllib.error
import urllib.request

from checker import Checker
from fleet import Fleet, die_with_parent
from soak import Soak
from storm import HERE, Stillness, Storm, failpoints

SAMPLE = f"{HERE}/../../deploy/sample"
QUESTION = ("/arcgis/rest/services/World/MapServer/identify?f=json&geometry={x},{y}&sr=4326&"
            "layers=all&tolerance=4&mapExtent=-5,41,10,52&imageDisplay=800,600,96&"
            "returnGeometry=false")
# How long a process may wait for what it owes, after SIGTERM; see `Docs/faults.md`.
DRAINS = {"cairn-supervisor": 30, "cairn-worker": 5}
# What the lines of the clients say that ask all the time.
CLIENTS = {"append", "command", "edited", "geocode", "identify", "loaded"}
# The kinds of processes that record what they are asked.
RECORDERS = {"gateway", "identify", "locator"}
TOWNS = [(2.3488, 48.8534), (13.4, 52.5), (-3.7, 40.4), (10.75, 59.9)]


class Torture:
    def __init__(self, options, fired=None):
        self.options = options
        # How many processes each failpoint has killed, in a site before this one too.
        self.fired = {place: 0 for place in failpoints()} if fired is None else fired
        self.bin = options.bin
        self.site = None
        self.towns = {}
        self.web_faults = []
        self.web_counts = {"answered": 0, "failed": 0}

    def say(self, **line):
        print(json.dumps(line, sort_keys=True), flush=True)

    # A site

    def make_site(self, folder):
        self.site = f"{folder}/site"
        places = f"{folder}/cities.tsv"
        with gzip.open(f"{SAMPLE}/gazetteer/cities.tsv.gz", "rt") as source, open(
                places, "w") as kept:
            for line in source:
                population = line.split("\t")[8]
                if not population.isdigit() or int(population) >= 1_000_000:
                    kept.write(line)
        self.cairn("import", f"{SAMPLE}/world.gpkg", "--map", "World")
        self.cairn("locator", "build", "World", places)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.fleet = Fleet(
            self.site, self.bin, self.port, self.fired, self.options.older)
        self.checker = Checker(f"{self.site}/log/events.sqlite")
        sample = sqlite3.connect(f"file:{SAMPLE}/world.gpkg?mode=ro", uri=True)
        self.checker.cities = dict(sample.execute("SELECT fid, population FROM cities"))
        sample.close()

    def cairn(self, *arguments):
        done = subprocess.run(
            [f"{self.bin}/cairn", *arguments, "--site", self.site], capture_output=True, text=True,
            preexec_fn=die_with_parent)
        if done.returncode:
            raise SystemExit(f"torture: cairn {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def load(self, history, *arguments):
        return subprocess.Popen(
            [f"{self.bin}/torture-load", "--site", self.site, *arguments], stdout=history,
            preexec_fn=die_with_parent)

    # HTTP

    def ask_web(self, x, y, seconds):
        url = f"http://127.0.0.1:{self.port}" + QUESTION.format(x=x, y=y)
        with urllib.request.urlopen(url, timeout=seconds) as answer:
            return json.load(answer)

    def web_client(self, is_over):
        """Asks over HTTP; the map World never changes, so an answer is right or none."""
        while not is_over.is_set():
            for town in TOWNS:
                try:
                    answer = self.ask_web(*town, 20)
                except (OSError, urllib.error.URLError, json.JSONDecodeError, ValueError):
                    self.web_counts["failed"] += 1
                    time.sleep(0.05)
                    continue
                except Exception as error:  # a connection cut in the middle of an answer
                    self.web_counts["failed"] += 1
                    self.web_counts["last"] = type(error).__name__
                    continue
                if "error" in answer:
                    self.web_counts["failed"] += 1
                elif answer["results"] != self.towns[town]:
                    self.web_faults.append(f"HTTP identify at {town} answered {answer}")
                else:
                    self.web_counts["answered"] += 1
            time.sleep(0.01)

    # Rounds

    def begin(self):
        """Undisturbed answers and products, to compare with."""
        self.fleet.calm()
        self.wait_until_up()
        history = f"{self.site}/../baseline.jsonl"
        with open(history, "w") as output:
            self.load(output, "--baseline").wait()
        self.towns = {town: self.ask_web(*town, 60)["results"] for town in TOWNS}
        self.checker.read_log()
        self.read_history(history)
        if len(self.checker.products) == 0:
            raise SystemExit("torture: no job succeeded even undisturbed")

    def wait_until_up(self):
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                if "results" in self.ask_web(*TOWNS[0], 5):
                    return
            except (OSError, ValueError):
                pass
            time.sleep(0.2)
        raise SystemExit("torture: the site does not answer: " + "".join(
            self.fleet.last_words(slot) for slot in self.fleet.slots))

    def read_history(self, path, may_be_full=False):
        with open(path) as history:
            for line in history:
                self.checker.check(json.loads(line), may_be_full)

    def round(self, number, seconds, full_disks=(), kind=Storm):
        chance = random.Random(f"{self.options.seed}/{number}")
        seed = str(chance.getrandbits(48))
        history = f"{self.site}/../round-{number}.jsonl"
        is_over = threading.Event()
        web = threading.Thread(target=self.web_client, args=(is_over,), daemon=True)
        storm = kind(self.fleet, chance, self.port, full_disks)
        with open(history, "w") as output:
            load = self.load(output, "--seed", seed, "--after", str(self.checker.head))
            web.start()
            storm.blow(seconds)
            self.fleet.calm()
            self.await_clients(load, history)
            load.send_signal(signal.SIGTERM)
            try:
                load.wait(420)
            except subprocess.TimeoutExpired:
                self.checker.faults.append("clients were not answered seven minutes after calm")
                load.kill()
                load.wait()
        is_over.set()
        web.join(60)
        if load.returncode not in (0, -signal.SIGKILL):
            self.checker.faults.append(f"the clients ended with status {load.returncode}")
        self.check_round(history, bool(full_disks))
        os.remove(history) if not self.faults() else None
        return storm

    def await_clients(self, load, history):
        """In the calm after a storm clients of every kind are answered, those that were not yet as well."""
        end = time.monotonic() + 120
        while load.poll() is None:
            with open(history) as lines:
                missing = CLIENTS - {json.loads(line)["what"] for line in lines if line[-1] == "\n"}
            if not missing:
                return
            if time.monotonic() > end:
                self.checker.faults.append(
                    f"two minutes after calm nobody had been told of {sorted(missing)}")
                return
            time.sleep(0.2)

    def check_round(self, history, may_be_full):
        checker = self.checker
        checker.read_log()
        end = time.monotonic() + 180
        # Jobs whose submission was never acknowledged may be there, and go on.
        while time.monotonic() < end and any(job.end is None for job in checker.jobs.values()):
            time.sleep(0.5)
            checker.read_log()
        self.fleet.look_at_all()
        self.read_history(history, may_be_full)
        checker.check_jobs()
        self.check_live_state()
        self.check_state_hash()
        self.check_datasets()
        verified = subprocess.run(
            [f"{self.bin}/cairn", "log", "verify", "--site", self.site], capture_output=True,
            text=True)
        if verified.returncode:
            checker.faults.append(f"cairn log verify: {verified.stdout} {verified.stderr}")

    def check_state_hash(self):
        """What the services hold in memory, against the fold of the log: Cairn's own opinion."""
        asked = subprocess.run(
            [f"{self.bin}/cairn", "log", "state-hash", "--live", "--site", self.site],
            capture_output=True, text=True)
        if asked.returncode == 1:
            self.checker.faults.append(f"cairn log state-hash: {asked.stdout} {asked.stderr}")
        self.checker.counts["stateHashes"] += asked.returncode == 0

    def check_datasets(self):
        """Every dataset is one that the log names, or will: no compaction leaves one behind."""
        folder = f"{self.site}/datasets"
        # A compaction that could not be recorded is recorded a minute later.
        end = time.monotonic() + 100
        while not self.options.older:
            there = {name for name in os.listdir(folder) if not name.startswith(".")}
            self.checker.read_log()
            nameless = there - self.checker.datasets
            if not nameless:
                return
            if time.monotonic() > end:
                self.checker.faults.append(f"no event names the datasets {sorted(nameless)}")
                return
            time.sleep(0.2)

    def check_live_state(self):
        """What the site says its maps are, against the checker's own fold."""
        for name, expected in self.checker.maps().items():
            if name == "World":
                continue
            shown = json.loads(self.cairn("map", "show", name, "--json"))
            found = {
                graphic["id"]: value_of(graphic) for layer in shown["layers"]
                for graphic in layer.get("graphics") or []}
            if found != expected:
                self.checker.faults.append(f"map {name} is not the fold of its events")

    def faults(self):
        return self.checker.faults + self.fleet.faults + self.web_faults

    # Runs

    def run(self, folder, label, full_disks=(), minutes=None, rounds=None):
        """Rounds until the time is over; whether nothing was found."""
        self.make_site(folder)
        for disk in full_disks:
            mount_small_disk(f"{self.site}/{disk}", 96)
        disks = [f"{self.site}/{disk}" for disk in full_disks]
        self.fleet.may_be_full = bool(disks)
        try:
            self.begin()
            end = time.monotonic() + 60 * (minutes or 0)
            if self.options.stalled and not disks:
                still = self.round("stalled", self.options.stalled, kind=Stillness)
                self.report("stalledReaders", "stalled", still)
            if self.options.soak and not disks and not self.faults():
                self.soak(self.options.soak)
            number = self.options.first_round
            last = number + (rounds or 1_000_000)
            while number < last and (rounds or time.monotonic() < end) and not self.faults():
                left = self.options.seconds
                if not rounds:
                    left = max(5, min(left, end - time.monotonic()))
                storm = self.round(number, left, disks)
                self.report(label, number, storm)
                number += 1
            if not disks and not self.faults():
                self.end_each_alone()
            return not self.faults()
        finally:
            self.fleet.end()
            for disk in disks:
                unmount_small_disk(disk, is_kept=self.options.keep or bool(self.faults()))

    def soak(self, seconds):
        """Nothing but questions, each of which is recorded as well."""
        asked = [slot for slot in self.fleet.slots if slot.kind in RECORDERS]
        self.restart(asked, ["--record", "all"])
        report = Soak(self.fleet, self.port).run(seconds)
        self.say(case="soak", **report, faults=len(self.faults()))
        self.restart(asked, [])

    def restart(self, slots, more):
        """Anew, with arguments beside their own."""
        for slot in slots:
            self.fleet.kill(slot)
            slot.further = more
        self.fleet.calm()
        self.wait_until_up()

    def end_each_alone(self):
        """How long each kind of process takes to end when there is nobody left to say goodbye to."""
        seconds, late = {}, []
        for slot in self.fleet.slots:
            if slot.kind in seconds:
                continue
            self.fleet.calm()
            self.wait_until_up()
            seconds[slot.kind] = round(self.fleet.end_alone(slot), 2)
            if seconds[slot.kind] > DRAINS.get(slot.program, 0) + 2:
                late.append(slot.kind)
        self.say(case="endAlone", seconds=seconds, drains=DRAINS, asked="drain + 2 s", late=late,
                 faults=len(self.faults()))

    def report(self, label, number, storm):
        self.totals = {"processes": dict(self.fleet.counts), "storm": storm.counts,
                       "told": dict(self.checker.counts), "http": dict(self.web_counts)}
        fired = self.fired
        fewest = min(fired.values())
        self.say(case=label, round=number, head=self.checker.head, **self.totals,
                 failpoints={"fired": sum(fired.values()),
                             "places": sum(count > 0 for count in fired.values()),
                             "fewest": fewest,
                             "rarest": sorted(p for p in fired if fired[p] == fewest)},
                 faults=len(self.faults()))


def value_of(graphic):
    return next((e["value"] for e in graphic["attributes"]["entries"] if e["name"] == "v"), None)


def mount_small_disk(folder, mebibytes):
    """Puts a small disk in the folder's place, with what was in it."""
    aside = folder + ".aside"
    os.rename(folder, aside)
    os.mkdir(folder, 0o700)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=0700", "tmpfs", folder], check=True)
    for name in os.listdir(aside):
        shutil.move(f"{aside}/{name}", folder)
    os.rmdir(aside)


def unmount_small_disk(folder, is_kept):
    """Takes it away again; where `is_kept`, what is on it stays in the folder, which outlives our mounts."""
    aside = folder + ".aside"
    if is_kept:
        shutil.copytree(folder, aside)
    subprocess.run(["umount", "--lazy", folder], check=True)
    if is_kept:
        os.rmdir(folder)
        os.rename(aside, folder)


def enter_own_mounts():
    """A mount namespace of our own, if we may; its small disks vanish with us."""
    CLONE_NEWNS = 0x20000
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        return False
    return subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser(prog="deploy/torture", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=5, help="how long; default 5")
    parser.add_argument("--seed", type=int, default=random.getrandbits(32),
                        help="chooses the faults, but for what their timing decides; printed with "
                        "the verdict")
    parser.add_argument("--site", metavar="DIR", help="a new folder on the disk to be tried; "
                        "default one in the system's temporary folder")
    parser.add_argument("--older", metavar="DIR", help="programs of another build, from which a "
                        "part of the processes is started")
    parser.add_argument("--seconds", type=float, default=30, help="of faults in a round; default 30")
    parser.add_argument("--rounds", type=int, help="so many rounds instead of minutes")
    parser.add_argument("--first-round", type=int, default=0, help="begin with this round's faults")
    parser.add_argument("--stalled", type=float, metavar="S", help="seconds in which readers stand "
                        "still and nothing else happens; default 60 where minutes are 5 or more")
    parser.add_argument("--soak", type=float, metavar="S", help="seconds of nothing but questions, as "
                        "many as are answered; default a tenth of the time where minutes are 5 or more")
    parser.add_argument("--no-full-disk", action="store_true", help="leave out the small disks")
    parser.add_argument("--keep", action="store_true", help="leave the site where it is")
    parser.add_argument("--bin", metavar="DIR", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stalled is None:
        options.stalled = 60 if options.minutes >= 5 and not options.rounds else 0
    if options.soak is None:
        options.soak = options.minutes * 6 if options.stalled else 0
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: sys.exit(130))
    may_mount = not options.no_full_disk and enter_own_mounts()
    if options.site and os.path.exists(options.site):
        raise SystemExit(f"torture: '{options.site}' exists; name a new folder")
    folder = options.site or tempfile.mkdtemp(prefix="cairn-torture.")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    began, faults, torture = time.monotonic(), [], Torture(options)
    try:
        minutes = options.minutes * (0.8 if may_mount else 1)
        torture.run(folder, "faults", minutes=minutes, rounds=options.rounds)
        faults = torture.faults()
        if not options.older:
            torture.say(case="versionSkew", skipped="no other build was named with --older")
        if options.no_full_disk or not may_mount:
            torture.say(case="fullDisk", skipped="not asked for" if options.no_full_disk
                        else "no right to mount a small disk")
        elif not faults:
            full = Torture(options, torture.fired)
            os.mkdir(f"{folder}/full")
            full.run(f"{folder}/full", "fullDisk", ["log", "blobs"], options.minutes * 0.2,
                     options.rounds and max(1, options.rounds // 4))
            faults = full.faults()
    finally:
        if not options.keep and not faults:
            shutil.rmtree(folder, ignore_errors=True)
    for fault in faults[:20]:
        torture.say(fault=fault)
    minutes = (time.monotonic() - began) / 60
    if faults:
        print(f"torture: FAILED after {minutes:.1f} minutes, seed {options.seed}: {len(faults)} "
              f"faults; the site is in {folder}. Again: deploy/torture --seed {options.seed} "
              f"--minutes {options.minutes:g}")
        return 1
    print(f"torture: PASSED, {minutes:.1f} minutes, seed {options.seed}: nothing lost, nothing "
          "doubled, no wrong answer")
    return 0


if __name__ == "__main__":
    sys.exit(main())
