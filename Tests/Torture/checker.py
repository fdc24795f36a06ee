# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""What clients were told, held against the log itself.

The log's file is read with Python's own SQLite and folded here, by rules written for this purpose:
no code of Cairn's takes part, except that `cairn log verify` is asked for its opinion too.
"""

import collections
import json
import re
import sqlite3
import uuid

# Refusals that the tortured clients ask for: they change graphics that somebody removed.
EXPECTED_REFUSALS = {("command", "notFound"), ("command", "conflict"), ("job command", "conflict")}
ENDS = {"job.succeeded": "succeeded", "job.failed": "failed", "job.cancelled": "cancelled",
        "job.timedOut": "timedOut"}
ATTEMPT_ENDS = {"job.chunk.completed", "job.chunk.lost", "job.chunk.failed", "job.chunk.released"}


class Job:
    def __init__(self):
        self.leases, self.ended, self.completed = set(), collections.Counter(), collections.Counter()
        self.lost = collections.Counter()
        self.quarantined, self.end, self.result = set(), None, None
        self.is_cancel_requested = self.after_the_end = False

    def apply(self, kind, data):
        if self.end:
            self.after_the_end = True
        attempt = data.get("attempt", {})
        if kind == "job.chunk.leased":
            self.leases.add(attempt["lease"])
        if kind in ATTEMPT_ENDS:
            self.ended[attempt["lease"]] += 1
        if kind == "job.chunk.completed":
            self.completed[attempt["chunk"]] += 1
        if kind == "job.chunk.lost":
            self.lost[attempt["chunk"]] += 1
        if kind == "job.chunk.quarantined":
            self.quarantined.add(data["chunk"])
        if kind == "job.cancelRequested":
            self.is_cancel_requested = True
        if kind in ENDS:
            self.end = ENDS[kind]
            self.result = (data.get("result") or {}).get("id", "")

    def faults(self, name):
        if self.end is None:
            yield f"job {name} has not ended"
        if self.after_the_end:
            yield f"job {name}: events after its end"
        for chunk, count in self.completed.items():
            if count != 1:
                yield f"job {name}: chunk {chunk} was completed {count} times"
        for lease, count in self.ended.items():
            if count != 1 or lease not in self.leases:
                yield f"job {name}: attempt {lease} ended {count} times"
        if self.end == "succeeded" and self.leases != set(self.ended):
            yield f"job {name}: attempts never ended: {self.leases - set(self.ended)}"
        if self.end == "failed" and not any(self.lost[chunk] >= 3 for chunk in self.quarantined):
            yield f"job {name} failed, though none of its chunks had lost three workers"
        if self.end == "cancelled" and not self.is_cancel_requested:
            yield f"job {name} was cancelled by nobody"


class Checker:
    def __init__(self, log_file):
        self.log_file = log_file
        self.head = 0
        self.indexed = 0  # up to where the log's indexes have been checked
        self.positions = {}  # event id: global position
        self.streams = {}  # stream: last position in it
        self.caused = {}  # command id: global positions of its events
        self.graphics = {}  # (map, graphic): [(global position, value or None when removed)]
        self.features = {}  # map: {object id: [(global position, value or None when deleted)]}
        self.cities = {}  # object id: value of the sample's cities, which every edited map begins with
        self.datasets = set()  # what events of maps name by its hash
        self.loaded = {}  # map: global position at which its first layer had been loaded
        self.loads = collections.Counter()  # (map, layer): how often it was recorded as loaded
        self.jobs = collections.defaultdict(Job)
        self.products = {}  # input table of a job: hash of its product
        self.places = {}  # what was asked of the locator: what it answered
        self.counts = collections.Counter()
        self.faults = []

    # The log

    def read_log(self):
        """Folds in what the log holds beyond what was read before."""
        connection = sqlite3.connect(
            f"file:{self.log_file}?mode=ro", uri=True, timeout=60, isolation_level=None)
        try:
            connection.execute("BEGIN")  # One moment for all that is read.
            rows = connection.execute(
                "SELECT position, name, stream_position, id, type, metadata, data FROM event JOIN"
                " stream ON stream.number = event.stream WHERE position > ? ORDER BY position",
                (self.head,))
            for row in rows:
                self.read_event(*row)
            count, floor, head = connection.execute(
                "SELECT count(*), min(position) - 1, max(position) FROM event").fetchone()
            self.check_indexes(connection)
        finally:
            connection.close()
        if head is not None and count != head - floor:
            self.faults.append(f"{count} events lie between {floor} and {head}")

    def check_indexes(self, connection):
        """The rows that say where events lie, against the events; only what was not there before."""
        if connection.execute("PRAGMA user_version").fetchone()[0] != 4:
            return
        (through,) = connection.execute("SELECT through FROM indexed").fetchone()
        (floor,) = connection.execute("SELECT coalesce(max(last), 0) FROM archive").fetchone()
        after = max(floor, self.indexed)
        for kind in ("stream", "category"):
            said = {}
            for number, first, count in connection.execute(
                    f"SELECT {kind}, first, count FROM {kind}_run WHERE first + count - 1 > ?",
                    (after,)):
                for position in range(max(first, after + 1), first + count):
                    if position in said:
                        self.faults.append(f"event {position} is in two rows of {kind}_run")
                    said[position] = number
            lies = dict(connection.execute(
                f"SELECT position, {kind} FROM event WHERE position > ? AND position <= ?",
                (after, through)))
            if said != lies:
                wrong = sorted(p for p in said.keys() | lies.keys() if said.get(p) != lies.get(p))
                self.faults.append(
                    f"{kind}_run is wrong about {len(wrong)} events, the first of them {wrong[0]}")
        (unknown,) = connection.execute(
            "SELECT count(*) FROM event LEFT JOIN event_id USING (id) WHERE event.position > ?"
            " AND event.position <= ? AND event_id.position IS NOT event.position",
            (after, through)).fetchone()
        if unknown:
            self.faults.append(f"event_id does not have {unknown} events up to {through}")
        self.counts["indexed"] += max(0, through - after)
        self.indexed = max(self.indexed, through)

    def read_event(self, position, stream, stream_position, event_id, kind, metadata, data):
        if position != self.head + 1:
            self.faults.append(f"after event {self.head} comes {position}")
        self.head = position
        if stream_position != self.streams.get(stream, -1) + 1:
            self.faults.append(f"event {position}: place {stream_position} in {stream}")
        self.streams[stream] = stream_position
        event_id = str(uuid.UUID(bytes=bytes(event_id)))
        if event_id in self.positions:
            self.faults.append(f"event {position} has the id of {self.positions[event_id]}")
        self.positions[event_id] = position
        self.counts["events"] += 1
        if kind == "torture.noted":
            if data.decode() != event_id:
                self.faults.append(f"event {position} has other bytes than were appended")
            return
        causation = json.loads(metadata).get("causation")
        if causation:
            self.caused.setdefault(causation.lower(), []).append(position)
        category, _, name = stream.partition("-")
        if category == "map":
            text = data.decode() if isinstance(data, bytes) else data
            self.datasets.update(re.findall(r'"dataset":"([0-9a-f]{64})"', text))
        data = json.loads(data)
        if category == "job":
            self.jobs[name].apply(kind, data)
        if kind == "map.layer.loaded":
            self.loaded.setdefault(name, position)
            self.loads[name, data["layer"]] += 1
        if kind in ("map.graphic.added", "map.graphic.changed"):
            graphic = data["graphic"]
            value = next((e["value"] for e in graphic["attributes"]["entries"]
                          if e["name"] == "v"), None)
            self.graphics.setdefault((name, graphic["id"]), []).append((position, value))
        if kind == "map.features.edited":
            edited = self.features.setdefault(name, {})
            for feature in data["added"] + data["changed"]:
                value = next(e["value"] for e in feature["attributes"]["entries"]
                             if e["name"] == "population")
                edited.setdefault(feature["id"], []).append((position, value))
            for feature in data["deleted"]:
                edited.setdefault(feature, []).append((position, None))
        self.counts["compactions"] += kind == "map.layer.compacted"
        if kind == "map.graphic.removed":
            self.graphics.setdefault((name, data["graphic"]), []).append((position, None))

    def value_at(self, map_name, graphic, sequence):
        value = None
        for position, later in self.graphics.get((map_name, graphic), []):
            if position > sequence:
                break
            value = later
        return value

    def features_at(self, map_name, sequence):
        """Every feature of an edited layer then: object id and value."""
        there = dict(self.cities)
        for feature, changes in self.features.get(map_name, {}).items():
            for position, value in changes:
                if position > sequence:
                    break
                there[feature] = value
        return {feature: value for feature, value in there.items() if value is not None}

    def maps(self):
        """The fold's end: by map, the value of every graphic that is there."""
        folded = collections.defaultdict(dict)
        for (map_name, graphic), changes in self.graphics.items():
            if changes[-1][1] is not None:
                folded[map_name][graphic] = changes[-1][1]
        return folded

    # What clients were told

    def check(self, line, may_be_full=False):
        what = line["what"]
        self.counts[what] += 1
        getattr(self, "check_" + what)(line) if what != "failure" else self.check_failure(
            line, may_be_full)

    def check_loaded(self, line):
        count = self.loads[line["map"], line["layer"]]
        if count != 1:
            self.faults.append(
                f"layer {line['layer']} of {line['map']} was shown as loaded, and is recorded so "
                f"{count} times")

    def check_append(self, line):
        self.counts["appendedEvents"] += len(line["ids"]) * (not line["again"])
        for offset, event_id in enumerate(line["ids"]):
            if self.positions.get(event_id) != line["position"] + offset:
                self.faults.append(
                    f"event {event_id} was acknowledged at {line['position'] + offset}, and is at "
                    f"{self.positions.get(event_id)}")
        if line["again"] and not line["isRepeat"]:
            self.faults.append(f"the same append again was new, at {line['position']}")

    def check_command(self, line):
        found = self.caused.get(line["id"], [])
        # A change that changes nothing has no event of its own.
        if found and found[-1] != line["sequence"]:
            self.faults.append(
                f"command {line['id']} was acknowledged at {line['sequence']}, and is at {found}")
        if line["sequence"] > self.head:
            self.faults.append(f"command {line['id']} was acknowledged at {line['sequence']}")
        if line["graphic"] and not found:
            self.faults.append(f"command {line['id']} drew {line['graphic']}, which is nowhere")
        self.counts["commandsAgain"] += line["again"]

    def check_edited(self, line):
        changes = self.features.get(line["map"], {})
        for features, value in ((line["set"], line["value"]), (line["deleted"], None)):
            for feature in features:
                if (line["sequence"], value) not in changes.get(feature, []):
                    self.faults.append(
                        f"feature {feature} of {line['map']} was set to {value} at "
                        f"{line['sequence']}, and is {changes.get(feature)}")
        if [len(line["set"]), len(line["deleted"])] != [sum(line["asked"][:2]), line["asked"][2]]:
            self.faults.append(f"an edit was done in part: {line}")
        self.counts["editedFeatures"] += sum(line["asked"])

    def check_found(self, line):
        there = self.features_at(line["map"], line["sequence"])
        expected = sorted(feature for feature, value in there.items() if value == line["value"])
        if line["ids"] != expected or not line["least"] <= line["sequence"] <= self.head:
            self.faults.append(f"a query should have found {expected}: {line}")

    def check_features(self, line):
        found = dict(zip(line["ids"], line["values"]))
        if found != self.features_at(line["map"], line["sequence"]) or line["sequence"] > self.head:
            self.faults.append(
                f"map {line['map']} at {line['sequence']} has not the features its edits left")

    def check_refused(self, line):
        if self.caused.get(line["id"]):
            self.faults.append(f"command {line['id']} was refused, and carried out")

    def check_givenUp(self, line):
        self.faults.append(f"nothing was answered for three minutes: {line}")

    def check_identify(self, line):
        value = self.value_at(line["map"], line["graphic"], line["sequence"])
        # A layer that has not been loaded yet is not searched.
        is_there = value is not None and line["sequence"] >= self.loaded.get(
            line["map"], line["sequence"] + 1)
        expected = [[line["graphic"], value]] if is_there else []
        if line["found"] != expected or line["sequence"] > self.head:
            self.faults.append(
                f"identify as of {line['sequence']} found {line['found']}, expected {expected}: "
                f"{line}")
        if line["sequence"] < line["least"]:
            self.faults.append(f"identify did not read its own writes: {line}")
        self.counts["staleAnswers"] += line["isStale"]

    def check_geocode(self, line):
        if self.places.setdefault(line["asked"], line["found"]) != line["found"]:
            self.faults.append(f"geocode answered differently: {line}")

    def check_submitted(self, line):
        job = line["job"]
        if self.stream_of(job) not in self.jobs or line["sequence"] > self.head:
            self.faults.append(f"job {job} was accepted, and is not in the log")

    def check_jobCommand(self, line):
        pass

    def check_ended(self, line):
        job = self.jobs[self.stream_of(line["job"])]
        self.counts["job." + line["status"]] += 1
        self.counts["attemptsLost"] += line["lost"]
        if job.end != line["status"] or (job.result or "") != line["result"]:
            self.faults.append(f"a job ended as {job.end} with {job.result}; told: {line}")
        if line["status"] == "succeeded":
            product = self.products.setdefault(line["table"], line["result"])
            if product != line["result"]:
                self.faults.append(f"the same input made another product: {line}, not {product}")

    def check_notEnded(self, line):
        self.faults.append(f"a job did not end in four minutes: {line}")

    def check_progressFell(self, line):
        self.faults.append(f"a job's progress fell: {line}")

    def check_followed(self, line):
        if line["fault"] or line["position"] < line["head"]:
            self.faults.append(f"a follower of the log did not get every event once: {line}")
        self.counts["followedEvents"] += line["count"]

    def check_failure(self, line, may_be_full):
        code, operation = line["code"], line["operation"]
        self.counts["failure." + code] += 1
        if line["isRetriable"] or (operation, code) in EXPECTED_REFUSALS:
            return
        if code == "noSpace" and may_be_full:
            return
        if code == "internal" and "is not tried again" in line["message"]:
            return  # three workers were killed under one question
        self.faults.append(f"{operation} was answered with {code}: {line['message']}")

    def check_jobs(self):
        for name, job in self.jobs.items():
            self.faults.extend(job.faults(name))

    @staticmethod
    def stream_of(job):
        return str(uuid.UUID(job.removeprefix("j")))
