# SPDX-License-Identifier: Apache-2.0
"""Routes and matched traces of Cairn beside OSRM's and Valhalla's: how far they differ, and why.

Prints a JSON line for each figure; with --show also each of the greatest differences.
"""
import argparse
import collections
import http.client
import json
import math
import random
import socket
import subprocess
import time
import urllib.parse

parser = argparse.ArgumentParser()
parser.add_argument("--pairs", type=int)
parser.add_argument("--traces", type=int)
parser.add_argument("--show", type=int)
parser.add_argument("--site")
parser.add_argument("--program")
parser.add_argument("--seed", type=int, default=11)
for name in ("cairn", "osrm", "valhalla"):
    parser.add_argument("--" + name, type=int)
options = parser.parse_args()
PORTS = {"cairn": options.cairn, "osrm": options.osrm, "valhalla": options.valhalla}
PREFIX = {"cairn": "/osrm/Roads", "osrm": ""}
METRES = 6_371_008.8 * math.pi / 180
# Two snapped places further apart than this are different roads, or different ends of one.
SNAP = 5
# A line is on another where it is so near: digits of coordinates, and simplification.
NEAR = 2


def show(**line):
    print(json.dumps({"subject": "route", **line}), flush=True)


def ready(port):
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}")


for port in PORTS.values():
    ready(port)
connections = {
    name: http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    for name, port in PORTS.items()}


def ask(name, path):
    for attempt in (1, 2):
        try:
            connections[name].request("GET", path)
            return json.loads(connections[name].getresponse().read())
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            # OSRM ends a connection after 512 requests.
            connections[name].close()
            if attempt == 2:
                raise


shown = subprocess.run(
    [options.program, "network", "show", "Roads", "--json", "--site", options.site],
    capture_output=True, text=True, check=True)
corners = json.loads(shown.stdout)["extent"]
seeded = random.Random(options.seed)
EAST = METRES * math.cos(math.radians((corners["ymin"] + corners["ymax"]) / 2))


def text(place):
    return f"{place[0]:.6f},{place[1]:.6f}"


def distance(one, other):
    return math.hypot((one[0] - other[0]) * EAST, (one[1] - other[1]) * METRES)


def nearest(name, place):
    """The nearest road's place and the metres to it; for Valhalla of those at most 100 m off."""
    if name == "valhalla":
        query = {"locations": [{"lon": place[0], "lat": place[1], "radius": 5}], "costing": "auto"}
        found = ask(name, "/locate?json=" + urllib.parse.quote(json.dumps(query)))
        edges = found[0].get("edges") if isinstance(found, list) else None
        if not edges:
            return None
        where = (edges[0]["correlated_lon"], edges[0]["correlated_lat"])
        return where, distance(place, where)
    found = ask(name, f"{PREFIX[name]}/nearest/v1/driving/{text(place)}")
    if found.get("code") != "Ok":
        return None
    return found["waypoints"][0]["location"], found["waypoints"][0]["distance"]


def by_road(name):
    """A random place some metres off a road of a server."""
    while True:
        place = (seeded.uniform(corners["xmin"], corners["xmax"]),
                 seeded.uniform(corners["ymin"], corners["ymax"]))
        found = nearest(name, place)
        if found and found[1] < 300:
            return (round(found[0][0] + seeded.gauss(0, 8) / EAST, 6),
                    round(found[0][1] + seeded.gauss(0, 8) / METRES, 6))


def decoded(line):
    """The positions of a polyline with six decimals."""
    places, at, last = [], 0, [0, 0]
    while at < len(line):
        for axis in (0, 1):
            value, shift = 0, 0
            while True:
                byte = ord(line[at]) - 63
                at += 1
                value |= (byte & 31) << shift
                shift += 5
                if byte < 32:
                    break
            last[axis] += ~(value >> 1) if value & 1 else value >> 1
        places.append((last[1] / 1e6, last[0] / 1e6))
    return places


def route(name, start, end, network=None):
    """A route's time, length, line, places on roads, modes and seconds of turns; None for none."""
    if name == "valhalla":
        query = {
            "locations": [{"lon": x, "lat": y} for x, y in (start, end)], "costing": "auto",
            "format": "osrm", "shape_match": "map_snap"}
        found = ask(name, "/route?json=" + urllib.parse.quote(json.dumps(query)))
    else:
        prefix = PREFIX[name] if network is None else "/osrm/" + network
        found = ask(name, f"{prefix}/route/v1/driving/{text(start)};{text(end)}?overview=full"
                          "&geometries=geojson&steps=true&annotations=duration")
    if found.get("code") != "Ok":
        return None
    best = found["routes"][0]
    line = best["geometry"]
    leg = best["legs"][0]
    return {
        "time": best["duration"], "length": best["distance"],
        "line": decoded(line) if isinstance(line, str) else line["coordinates"],
        "ends": [point["location"] for point in found["waypoints"]],
        "modes": {step["mode"] for step in leg["steps"]},
        "driven": sum(leg["annotation"]["duration"]) if name == "osrm" else None}


class Line:
    """A line whose distance to places is asked for often."""

    CELL = 100

    def __init__(self, lines):
        self.cells = collections.defaultdict(list)
        for line in lines:
            points = [(x * EAST, y * METRES) for x, y in line]
            for piece in zip(points, points[1:]):
                (x, y), (u, v) = piece
                for column in range(int(min(x, u) // self.CELL), int(max(x, u) // self.CELL) + 1):
                    for row in range(int(min(y, v) // self.CELL), int(max(y, v) // self.CELL) + 1):
                        self.cells[column, row].append(piece)

    def is_near(self, place, metres):
        x, y = place[0] * EAST, place[1] * METRES
        for column in (int((x - metres) // self.CELL), int((x + metres) // self.CELL)):
            for row in (int((y - metres) // self.CELL), int((y + metres) // self.CELL)):
                for (a, b), (c, d) in self.cells.get((column, row), ()):
                    length = (c - a) ** 2 + (d - b) ** 2
                    share = ((x - a) * (c - a) + (y - b) * (d - b)) / length if length else 0
                    share = min(1, max(0, share))
                    if math.hypot(x - a - share * (c - a), y - b - share * (d - b)) <= metres:
                        return True
        return False


def spaced(line, step):
    """Places on a line every so many metres, the first one included."""
    places, left = [], 0.0
    for one, other in zip(line, line[1:]):
        length = distance(one, other)
        while left < length:
            share = left / length
            places.append((one[0] + share * (other[0] - one[0]),
                           one[1] + share * (other[1] - one[1])))
            left += step
        left -= length
    return places


def share_on(line, lines, metres=NEAR):
    """The share of a line's length that is on others."""
    near, places = Line(lines), spaced(line, 10)
    return sum(near.is_near(place, metres) for place in places) / max(1, len(places))


def apart(line, other):
    """The middles of the stretches of a line that are more than 20 m from another."""
    near, stretch, middles = Line([other]), [], []
    for place in spaced(line, 10) + [None]:
        if place is not None and not near.is_near(place, 20):
            stretch.append(place)
            continue
        if len(stretch) >= 5:
            middles.append((len(stretch), stretch[len(stretch) // 2]))
        stretch = []
    return [place for _, place in sorted(middles, reverse=True)]


def misses(name, places):
    """The first of some places that is not on a road of a server."""
    for place in places[:4]:
        found = nearest(name, place)
        if found is None or found[1] > SNAP:
            return place
    return None


def reason(ours, theirs, peer, start, end):
    """Why two routes differ."""
    if ours is None or theirs is None:
        return "none" if ours is theirs else f"no route: {'Cairn' if ours is None else peer}"
    if any(distance(*pair) > SNAP for pair in zip(ours["ends"], theirs["ends"])):
        return "snapping"
    if share_on(ours["line"], [theirs["line"]]) > 0.99 and \
            share_on(theirs["line"], [ours["line"]]) > 0.99:
        flat = route("cairn", start, end, "Flat")
        if peer == "osrm" and flat and abs(flat["length"] - ours["length"]) < 1:
            turns = abs(ours["time"] - flat["time"] - theirs["time"] + theirs["driven"])
            roads = abs(flat["time"] - theirs["driven"])
            return "same way: turns" if turns > roads else "same way: speeds"
        return "same way: speeds or turns"
    if "ferry" in ours["modes"] | theirs["modes"]:
        return "ferry"
    if misses(peer, apart(ours["line"], theirs["line"])):
        return f"access: closed for {peer}"
    if misses("cairn", apart(theirs["line"], ours["line"])):
        return "access: closed for Cairn"
    return "other way: costs"


def quantiles(values):
    values = sorted(values)
    return {f"{round(100 * share)}": round(values[min(len(values) - 1, int(share * len(values)))], 3)
            for share in (0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1)}


answers = []
for number in range(options.pairs):
    names = ("cairn", "osrm") if number % 2 else ("osrm", "cairn")
    start, end = by_road(names[0]), by_road(names[1])
    answers.append((start, end, {name: route(name, start, end) for name in PORTS}))
for peer in ("osrm", "valhalla"):
    reasons = collections.defaultdict(list)
    rows = []
    for start, end, found in answers:
        ours, theirs = found["cairn"], found[peer]
        why = reason(ours, theirs, peer, start, end)
        is_pair = ours is not None and theirs is not None and theirs["time"] > 0
        ratio = ours["time"] / theirs["time"] if is_pair else None
        reasons[why].append(ratio)
        rows.append((start, end, why, ours, theirs, ratio))
    pairs = [row for row in rows if row[5] is not None and row[4]["length"] > 0]
    show(case="quality", peer=peer, pairs=len(rows), both=len(pairs),
         none=sum(row[3] is None and row[4] is None for row in rows))
    for measure in ("time", "length"):
        show(case="quality", peer=peer, measure=measure,
             ratio=quantiles([row[3][measure] / row[4][measure] for row in pairs]))
    for why, ratios in sorted(reasons.items(), key=lambda item: -len(item[1])):
        known = [ratio for ratio in ratios if ratio is not None]
        line = {"case": "quality", "peer": peer, "reason": why, "pairs": len(ratios)}
        show(**line, **({"time": quantiles(known)} if known else {}))
    # Of the pairs whose times differ most, a tenth of all.
    rows = sorted(pairs, key=lambda row: -abs(math.log(row[5])))[:len(pairs) // 10]
    greatest = collections.Counter(row[2] for row in rows)
    show(case="quality", peer=peer, greatest=dict(greatest.most_common()))
    for start, end, why, ours, theirs, ratio in rows[:options.show]:
        show(case="quality", peer=peer, pair=f"{text(start)};{text(end)}", reason=why,
             time=[ours["time"], theirs["time"]], length=[ours["length"], theirs["length"]])
    for start, end, found in answers:
        if options.show and (found["cairn"] is None) != (found[peer] is None):
            show(case="quality", peer=peer, pair=f"{text(start)};{text(end)}",
                 only="cairn" if found[peer] is None else peer)

# Traces of routes that either of the two found.
for interval, scatter in ((5, 5), (5, 10), (10, 5), (10, 10)):
    sums = {name: [0.0, 0.0, 0.0, 0.0] for name in ("cairn", "osrm")}
    count = 0
    for number, (_, _, found) in enumerate(answers):
        drive = found["cairn" if number % 2 else "osrm"]
        if count == options.traces:
            break
        if drive is None or drive["time"] < 120 or "ferry" in drive["modes"]:
            continue
        count += 1
        places = spaced(drive["line"], interval * drive["length"] / drive["time"])[:90]
        last, line = places[-1], []
        for place in spaced(drive["line"], 2):
            line.append(place)
            if distance(place, last) < 2:
                break
        trace = ";".join(
            text((x + seeded.gauss(0, scatter) / EAST, y + seeded.gauss(0, scatter) / METRES))
            for x, y in places)
        times = ";".join(str(1_700_000_000 + interval * number) for number in range(len(places)))
        for name, total in sums.items():
            answer = ask(name, f"{PREFIX[name]}/match/v1/driving/{trace}?timestamps={times}"
                               "&overview=full&geometries=geojson")
            lines = [one["geometry"]["coordinates"] for one in answer.get("matchings", [])]
            length = 10 * len(spaced(line, 10))
            total[0] += length
            total[1] += length * share_on(line, lines)
            for matched in lines:
                length = 10 * len(spaced(matched, 10))
                total[2] += length
                total[3] += length * (1 - share_on(matched, [line]))
    show(case="traces", traces=count, interval=interval, scatter=scatter,
         **{name: {"found": round(total[1] / total[0], 4),
                   "wrong": round(total[3] / max(1, total[2]), 4)}
            for name, total in sums.items()})
