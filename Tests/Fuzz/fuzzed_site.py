# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""A site on the sample data, each of its processes started here and watched by its pid."""

import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import time

PROGRAMS = [
    ("logd", "cairn-logd"), ("mapstate", "cairn-mapstate"), ("supervisor", "cairn-supervisor"),
    ("identify-1", "cairn-worker", "--pool", "identify"), ("identify-2", "cairn-worker", "--pool", "identify"),
    ("locator", "cairn-worker", "--pool", "locator"), ("worker", "cairn-worker", "--pool", "work"), ("gateway", "cairn-gateway"),
]
PASSWORD = "a good password"


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class FuzzedSite:
    def __init__(self, folder, programs, sample):
        self.folder, self.path, self.programs, self.sample = folder, f"{folder}/site", programs, sample
        self.port = free_port()
        self.environment = dict(os.environ, CAIRN_SITE=self.path, CAIRN_LOG="notice")
        self.processes = {}

    def command(self, *words, text=None):
        done = subprocess.run(
            [f"{self.programs}/cairn", *words], env=self.environment, input=text, capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise SystemExit(f"fuzz: cairn {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def start(self):
        for name, program, *pool in PROGRAMS:
            extra = ["--port", str(self.port), "--request-log", f"{self.folder}/requests.log"] if name == "gateway" else []
            with open(self.log_path(name), "ab") as output:
                self.processes[name] = subprocess.Popen(
                    [f"{self.programs}/{program}", *pool, "--site", self.path, *extra], stdin=subprocess.DEVNULL, stdout=output,
                    stderr=output, env=self.environment, preexec_fn=die_with_parent)
            if name == "logd":
                time.sleep(1)
        self.command("import", f"{self.sample}/world.gpkg", "--map", "World")
        self.command("locator", "build", "World", f"{self.sample}/gazetteer")
        edited = f"{self.folder}/pins.geojson"
        with open(edited, "w", encoding="utf-8") as file:
            json.dump({"type": "FeatureCollection", "features": [
                {"type": "Feature", "properties": {"name": f"pin {i}", "population": i, "when": "2024-02-29T13:00:00Z"},
                 "geometry": {"type": "Point", "coordinates": [i % 60, i % 40]}} for i in range(200)]}, file)
        self.command("import", edited, "--map", "Pins")
        self.command("map", "editable", "Pins", "pins", "on")
        self.command("user", "allow", "anonymous", "query", "edit", "jobs", "metrics")
        self.command("user", "add", "anna", "--allow", "query", text=PASSWORD + "\n")

    def log_path(self, name):
        return f"{self.folder}/{name}.log"

    def dead(self):
        return {name: process.returncode for name, process in self.processes.items() if process.poll() is not None}

    def last_words(self, name):
        with open(self.log_path(name), "rb") as file:
            return file.read()[-2000:].decode("utf-8", "replace")

    def memory(self):
        """VmRSS and VmHWM of every process that lives, in MiB."""
        figures = {}
        for name, process in self.processes.items():
            try:
                with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                    text = file.read()
                figures[name] = tuple(round(int(re.search(rf"{what}:\s+(\d+)", text).group(1)) / 1024, 1) for what in ("VmRSS", "VmHWM"))
            except (OSError, AttributeError):
                pass
        return figures

    def descriptors(self):
        figures = {}
        for name, process in self.processes.items():
            try:
                figures[name] = len(os.listdir(f"/proc/{process.pid}/fd"))
            except OSError:
                pass
        return figures

    def stop(self):
        """Asks everything to end; what had to be killed, and what ended otherwise than asked."""
        faults = [f"{name} ended with {code}: {self.last_words(name)[-600:]}" for name, code in self.dead().items()]
        living = [(name, process) for name, process in reversed(self.processes.items()) if process.poll() is None]
        for name, process in living:
            process.send_signal(signal.SIGTERM)
            try:
                code = process.wait(60)
                if code != 0:
                    faults.append(f"{name} was asked to end, and ended with {code}: {self.last_words(name)[-600:]}")
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                faults.append(f"{name} did not end within 60 s")
        return faults
