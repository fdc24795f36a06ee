# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""The processes of a site, each started, hurt and watched by itself."""

import ctypes
import os
import signal
import subprocess
import time

PR_SET_PDEATHSIG = 1


def die_with_parent():
    """In a child before exec: SIGKILL when the torture itself ends, however it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Slot:
    """One place in the fleet: a program, and the process that fills it now."""

    def __init__(self, name, program, arguments=()):
        self.name, self.program, self.arguments = name, program, list(arguments)
        self.further = []  # arguments for a while
        self.process = None
        self.is_stopped = False
        self.was_hurt = set()  # the signals it was sent so that it ends: "KILL", "TERM"
        self.failpoint = None
        self.kind = name.split("-")[0]
        self.spared_until = 0  # until when a storm leaves it alone

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None


class Fleet:
    def __init__(self, site, folder, port, fired, older=None):
        self.site, self.folder, self.older = site, folder, older
        self.fired = fired  # failpoint: how many processes it has killed
        self.counts = {"started": 0, "killed": 0, "stopped": 0, "terminated": 0,
                       "killedBySupervisor": 0, "older": 0, "endedOnFullDisk": 0}
        self.faults = []
        self.may_be_full = False
        self.slots = [
            Slot("logd", "cairn-logd"), Slot("mapstate", "cairn-mapstate"),
            Slot("supervisor", "cairn-supervisor"),
            *(Slot(name, "cairn-worker", ["--pool", name.split("-")[0]])
              for name in ("identify-1", "identify-2", "locator-1", "locator-2", "work")),
            Slot("gateway", "cairn-gateway", ["--port", str(port)]),
        ]

    def slot(self, name):
        return next(slot for slot in self.slots if slot.name == name)

    def environment(self, failpoint=None, clock_offset=0):
        environment = dict(
            os.environ, CAIRN_SITE=self.site, CAIRN_LOG="notice", CAIRN_SNAPSHOT_EVENTS="200",
            CAIRN_COMPACTION_FEATURES="100")
        environment.pop("CAIRN_FAILPOINT", None)
        if failpoint:
            environment["CAIRN_FAILPOINT"] = failpoint
        if clock_offset:
            environment["CAIRN_CLOCK_OFFSET"] = str(clock_offset)
        return environment

    def spawn(self, program, arguments=(), log=None, **environment):
        folder = self.folder
        if environment.pop("is_older", False) and self.older:
            folder = self.older
            self.counts["older"] += 1
        with open(log or os.devnull, "ab") as output:
            return subprocess.Popen(
                [f"{folder}/{program}", "--site", self.site, *arguments],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=self.environment(**environment), preexec_fn=die_with_parent)

    def log_path(self, slot):
        return f"{self.site}/run/torture-{slot.name}.log"

    def start(self, slot, failpoint=None, clock_offset=0, is_older=False):
        self.look(slot)
        if slot.is_running:
            return
        slot.process = self.spawn(
            slot.program, slot.arguments + slot.further, self.log_path(slot), failpoint=failpoint,
            clock_offset=clock_offset, is_older=is_older)
        slot.failpoint, slot.was_hurt, slot.is_stopped = failpoint, set(), False
        self.counts["started"] += 1

    def look(self, slot):
        """Has its process ended, and did it have a reason to?  Takes note once."""
        if slot.process is None or slot.process.poll() is None:
            return
        status, slot.process = slot.process.returncode, None
        if status == -signal.SIGKILL and "KILL" in slot.was_hurt:
            return
        if status == -signal.SIGKILL and slot.failpoint:
            place = slot.failpoint.split(":")[0]
            self.fired[place] += 1
            return
        if status == -signal.SIGKILL and slot.program == "cairn-worker":
            self.counts["killedBySupervisor"] += 1
            return
        # A process that has only just begun does not know of the signal yet.
        if status in (0, -signal.SIGTERM) and "TERM" in slot.was_hurt:
            return
        words = self.last_words(slot)
        if self.may_be_full and slot.program == "cairn-logd" and "full" in words:
            self.counts["endedOnFullDisk"] += 1  # it cannot even open its file; it says so
            return
        self.faults.append(f"{slot.name} ended by itself with status {status}: {words}")

    def is_locked_by(self, slot):
        """Whether the slot's process runs and is the one of its program that serves the site."""
        try:
            with open(f"{self.site}/run/{slot.program}.lock") as lock:
                return slot.is_running and lock.read().strip() == str(slot.process.pid)
        except OSError:
            return False

    def look_at_all(self):
        for slot in self.slots:
            self.look(slot)

    def last_words(self, slot):
        try:
            with open(self.log_path(slot), "rb") as log:
                return log.read()[-1500:].decode(errors="replace")
        except OSError:
            return ""

    def kill(self, slot):
        if slot.is_running:
            slot.was_hurt.add("KILL")
            slot.process.kill()
            slot.process.wait()
            self.counts["killed"] += 1
        self.look(slot)

    def stop(self, slot):
        if slot.is_running and not slot.is_stopped and not slot.was_hurt:
            slot.process.send_signal(signal.SIGSTOP)
            slot.is_stopped = True
            self.counts["stopped"] += 1

    def resume(self, slot):
        if slot.is_running and slot.is_stopped:
            slot.process.send_signal(signal.SIGCONT)
        slot.is_stopped = False

    def terminate(self, slot):
        if slot.is_running and not slot.is_stopped and not slot.was_hurt:
            slot.was_hurt.add("TERM")
            slot.ends_by = time.monotonic() + 40
            slot.process.terminate()
            self.counts["terminated"] += 1

    def check_terminations(self):
        """A process that was asked to end has 40 s (the machine is busy), or is at fault."""
        for slot in self.slots:
            if slot.is_running and "TERM" in slot.was_hurt and time.monotonic() > slot.ends_by:
                self.faults.append(f"{slot.name} did not end in 40 s after SIGTERM")
                self.kill(slot)

    def end_alone(self, slot):
        """SIGTERM where every peer has just been killed; returns how many seconds it took to end."""
        for other in self.slots:
            if other is not slot:
                self.kill(other)
        began = time.monotonic()
        self.terminate(slot)
        while slot.is_running and time.monotonic() < slot.ends_by:
            time.sleep(0.005)
        seconds = time.monotonic() - began
        self.check_terminations()
        self.look(slot)
        return seconds

    def calm(self):
        """Everything runs, as it should, with the right time and no failpoint."""
        for slot in self.slots:
            self.resume(slot)
        for slot in self.slots:
            if slot.is_running and "TERM" in slot.was_hurt:
                try:
                    slot.process.wait(40)
                except subprocess.TimeoutExpired:
                    self.faults.append(f"{slot.name} did not end in 40 s after SIGTERM")
                    self.kill(slot)
            if slot.is_running and slot.failpoint:
                self.kill(slot)
            self.start(slot)

    def end(self):
        for slot in self.slots:
            self.resume(slot)
            if slot.process is not None and slot.process.poll() is None:
                slot.was_hurt.add("KILL")
                slot.process.kill()
                slot.process.wait()
