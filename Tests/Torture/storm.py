# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""What is done to a site: a seeded sequence of faults."""

import os
import re
import time

import strangers

HERE = os.path.dirname(os.path.abspath(__file__))
# A failpoint that has killed fewer processes than this is rare: it is armed more often, and who is armed is left alone
# for a while.
ENOUGH = 20
FAILPOINTS_SOURCE = f"{HERE}/../../Sources/Services/Daemon/Failpoints.swift"


def failpoints():
    """Every named failpoint, from the list in the sources."""
    with open(FAILPOINTS_SOURCE) as source:
        listed = source.read().split("let places = [")[1].split("]")[0]
    # What only an operator's command passes, the storm does not.
    return [place for place in re.findall(r'"([^"]+)"', listed)
            if place not in ("log.afterArchiveBeforeFloor", "log.afterFloor",
                             "log.whileEvicting")]


class Storm:
    def __init__(self, fleet, random, port, full_disks=()):
        self.fleet, self.random, self.port, self.full_disks = fleet, random, port, full_disks
        self.counts = {"strangers": 0, "stalledReaders": 0, "secondInstances": 0, "diskFull": 0,
                       "skewedClocks": 0, "everythingKilled": 0}
        self.later = []  # (when, what): restarts, SIGCONTs, freed disks
        self.readers = []
        self.fillers = []
        for slot in fleet.slots:
            slot.is_awaited = False  # what an earlier storm still had to start was started after it

    def blow(self, seconds):
        end = time.monotonic() + seconds
        weights = {self.kill: 9, self.stop: 5, self.terminate: 3, self.arm: 10,
                   self.send_rubbish: 5, self.stall_reader: 2, self.start_second: 1,
                   self.kill_everything: 0.4}
        if self.full_disks:
            weights[self.fill_disk] = 6
        while time.monotonic() < end and not self.fleet.faults:
            self.random.choices(list(weights), list(weights.values()))[0]()
            pause = time.monotonic() + self.random.uniform(0.02, 0.35)
            while time.monotonic() < pause:
                self.do_what_is_due()
                time.sleep(0.01)
        self.free_disks()
        for reader in self.readers:
            reader.close()
        self.later = []

    def do_what_is_due(self):
        self.fleet.look_at_all()
        self.fleet.check_terminations()
        now = time.monotonic()
        due = [what for when, what in self.later if when <= now]
        self.later = [entry for entry in self.later if entry[0] > now]
        for what in due:
            what()
        # Whatever has died, by a failpoint or in order, comes back.
        for slot in self.fleet.slots:
            if slot.process is None and not slot.is_awaited:
                slot.is_awaited = True
                self.after(self.random.uniform(0, 0.4), lambda slot=slot: self.restart(slot))

    def after(self, seconds, what):
        self.later.append((time.monotonic() + seconds, what))

    def restart(self, slot, failpoint=None):
        slot.is_awaited = False
        offset = self.random.choice([0, 0, 0, -3600, 3600, self.random.randint(-3600, 3600)])
        self.counts["skewedClocks"] += offset != 0
        self.fleet.start(slot, failpoint, offset, is_older=self.random.random() < 0.3)

    def victim(self):
        slots = [slot for slot in self.fleet.slots if not self.is_spared(slot)]
        weights = [3 if slot.name in ("logd", "mapstate", "supervisor") else 1 for slot in slots]
        return self.random.choices(slots, weights)[0] if slots else self.fleet.slots[0]

    def is_spared(self, slot):
        """Whether it is on its way to a rare failpoint, and has some seconds left to get there."""
        return slot.is_running and slot.failpoint and time.monotonic() < slot.spared_until

    # Faults

    def kill(self):
        self.fleet.kill(self.victim())

    def kill_everything(self):
        self.counts["everythingKilled"] += 1
        for slot in self.fleet.slots:
            self.fleet.kill(slot)

    def stop(self):
        slot = self.victim()
        self.fleet.stop(slot)
        self.after(self.random.choice([0.05, 0.5, 2, 4, 6]), lambda: self.fleet.resume(slot))

    def terminate(self):
        self.fleet.terminate(self.victim())

    def arm(self):
        """Starts a process anew that kills itself at a failpoint, more often at a rare one."""
        places = failpoints()
        lacks = [max(0, ENOUGH - self.fleet.fired[place]) for place in places]
        place = self.random.choices(places, [1 + lack / 4 for lack in lacks])[0]
        owner = place.split(".")[0]
        name = {
            "log": "logd",
            "worker": self.random.choice(["identify-1", "locator-1", "locator-2", "work"]),
        }.get(owner, owner)
        if place in ("worker.taskTaken", "worker.beforeAnswer") and name == "work":
            name = "identify-2"
        slot = self.fleet.slot(name)
        if self.is_spared(slot):
            return
        self.fleet.kill(slot)
        # Mostly the first pass, for what does not happen often.
        passes = 1 + self.random.choice([0, 0, 0, int(self.random.expovariate(1 / 4))])
        is_rare = self.fleet.fired[place] < ENOUGH
        slot.spared_until = time.monotonic() + is_rare * self.random.uniform(0, 10)
        self.restart(slot, f"{place}:kill@{passes}")

    def send_rubbish(self):
        for _ in range(self.random.randint(1, 5)):
            self.counts["strangers"] += strangers.say_rubbish(
                self.fleet.site, self.port, self.random)

    def stall_reader(self):
        if len(self.readers) > 3:
            self.readers.pop(0).close()
        self.readers.append(strangers.StalledReader(self.fleet.site))
        self.counts["stalledReaders"] += 1

    def start_second(self):
        """A second instance of what may run once ends with status 75, and the first goes on."""
        slot = self.fleet.slot(self.random.choice(["logd", "mapstate", "supervisor"]))
        # One that is still beginning may lose the race for the lock.
        if slot.was_hurt or slot.failpoint or not self.fleet.is_locked_by(slot):
            return
        first = slot.process
        second = self.fleet.spawn(slot.program)
        end = time.monotonic() + 30
        # Where the first ends meanwhile, the second is no second.
        while second.poll() is None and first.poll() is None and time.monotonic() < end:
            # It may wait for a log that has died, and that comes back here.
            self.do_what_is_due()
            time.sleep(0.01)
        status = second.poll()
        if status is None:
            second.kill()
            second.wait()
        self.counts["secondInstances"] += 1
        if status != 75 and first.poll() is None:
            self.fleet.faults.append(
                f"a second {slot.program} ended with status {status}, not 75")

    def fill_disk(self):
        """No space at all on one of the small disks, for a while."""
        folder = self.random.choice(self.full_disks)
        path = f"{folder}/torture-filler"
        if path in self.fillers:
            return
        self.fillers.append(path)
        self.counts["diskFull"] += 1
        try:
            with open(path, "wb", buffering=0) as filler:
                for size in (1 << 20, 4096, 1):
                    try:
                        while filler.write(bytes(size)) == size:
                            pass
                    except OSError:
                        pass
        except OSError:
            pass
        self.after(self.random.uniform(0.3, 3), lambda: self.free_disk(path))

    def free_disk(self, path):
        if path in self.fillers:
            self.fillers.remove(path)
            os.path.exists(path) and os.remove(path)

    def free_disks(self):
        for path in list(self.fillers):
            self.free_disk(path)


class Stillness(Storm):
    """Readers that take nothing for a whole while, in which nothing else happens: it kills nobody."""

    def blow(self, seconds):
        before = {slot.name: slot.process.pid for slot in self.fleet.slots if slot.is_running}
        for _ in range(4):
            self.stall_reader()
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.fleet.faults:
            self.fleet.look_at_all()
            time.sleep(0.05)
        after = {slot.name: slot.process.pid for slot in self.fleet.slots if slot.is_running}
        if before != after or len(before) < len(self.fleet.slots):
            self.fleet.faults.append(f"beside readers that stood still {before} became {after}")
        self.counts["stalledSeconds"] = round(seconds)
        for reader in self.readers:
            reader.close()
