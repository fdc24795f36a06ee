# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Asks the gateway and its peers the same, checks that they answer the same, then loads each in turn
with wrk, and writes a JSON line for each case. What a line says is in Docs/performance/lines.md.

usage: gateway.py --help
"""

import argparse
import csv
import http.client
import json
import os
import random
import re
import select
import socket
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from processes import ticks

CLIENTS = 8
WIDTH, HEIGHT = 800, 600


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.getheader("Content-Type"), answer.read()
    finally:
        connection.close()


def memory(pid, what):
    """VmRSS, VmHWM or RssFile of a process in MiB."""
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(rf"{what}:\s+(\d+) kB", file.read()).group(1)) / 1024


class Contender:
    """One server: its name, its port, how a question becomes a path, its processes, and a header."""

    def __init__(self, name, port, path, pids, header=None):
        self.name, self.port, self.path, self.pids = name, port, path, pids
        self.header = header

    def load(self, questions, seconds, clients):
        """Requests a second, p50 and p99 in milliseconds, processor milliseconds a request, failures."""
        paths = [self.path(question) for question in questions]
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
            script.write("local paths = {\n%s}\n" % "".join(
                "  %s,\n" % json.dumps(path) for path in paths))
            script.write("""local next = 0
local headers = HEADERS
request = function()
  next = next %% #paths + 1
  return wrk.format("GET", paths[next], headers)
end
done = function(summary, latency)
  print(string.format("RESULT %%d %%d %%f %%f %%d", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99),
    summary.errors.connect + summary.errors.read + summary.errors.write
    + summary.errors.status + summary.errors.timeout))
end
""".replace("%%", "%").replace("HEADERS", '{["%s"]="%s"}' % self.header if self.header else "nil"))
            script.flush()
            before = ticks(self.pids)
            output = subprocess.run(
                ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "60s", "-s",
                 script.name, f"http://127.0.0.1:{self.port}"],
                check=True, capture_output=True, text=True).stdout
            used = ticks(self.pids) - before
        count, duration, p50, p99, failed = re.search(
            r"RESULT (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+)", output).groups()
        count = max(int(count), 1)
        return {
            "perSecond": round(count / (int(duration) / 1e6), 1),
            "p50ms": round(float(p50) / 1000, 3), "p99ms": round(float(p99) / 1000, 3),
            "cpuMs": round(1000 * used / count, 3), "failed": int(failed),
        }


def contest(case, contenders, questions, seconds, rounds, extra, clients=CLIENTS):
    """Each in turn, rounds times; the median round of each, and what Cairn's is of the others'."""
    runs = {contender.name: [] for contender in contenders}
    for _ in range(rounds):
        for contender in contenders:
            runs[contender.name].append(contender.load(questions, seconds, clients))
    line = {"case": case, "clients": clients, "questions": len(questions), **extra}
    figures = {}
    for name, results in runs.items():
        results.sort(key=lambda result: result["perSecond"])
        figures[name] = results[len(results) // 2]
        figures[name]["failed"] = sum(result["failed"] for result in results)
    line["figures"] = figures
    own = figures["cairn"]
    line["ratios"] = {
        name: round(own["perSecond"] / max(figure["perSecond"], 1e-9), 2)
        for name, figure in figures.items() if name != "cairn"}
    print(json.dumps(line), flush=True)
    return sum(figure["failed"] for figure in figures.values()) == 0


# ---------------------------------------------------------------- questions


class Layer:
    def __init__(self, options):
        self.options = options
        self.root = f"/arcgis/rest/services/{options.map}/MapServer"

    def count(self, box):
        _, body = get(self.options.port, self.query(box) + "&returnCountOnly=true")
        return json.loads(body)["count"]

    def query(self, box):
        return (f"{self.root}/0/query?f=geojson&outFields=*&geometryType=esriGeometryEnvelope"
                f"&inSR=4326&geometry={','.join(map(str, box))}")

    def boxes(self, number, wanted, shape):
        """Rectangles around random places that hold nearly so many features."""
        random.seed(20261122)
        west, south, east, north = self.options.box
        boxes = []
        tries = 0
        while len(boxes) < number and tries < 40 * number:
            tries += 1
            x, y = random.uniform(west, east), random.uniform(south, north)
            low, high = 0.0, max(east - west, north - south)
            for _ in range(24):
                side = (low + high) / 2
                box = (x - side * shape / 2, y - side / 2, x + side * shape / 2, y + side / 2)
                count = self.count(box)
                if 0.97 * wanted <= count <= wanted:
                    boxes.append(tuple(round(ordinate, 9) for ordinate in box))
                    break
                low, high = (side, high) if count < wanted else (low, side)
        return boxes


def mapserver(options, **parameters):
    return "/?" + urllib.parse.urlencode({"map": options.map, **parameters}, safe=",:/")


def feature_queries(options, layer):
    contenders = [Contender("cairn", options.port, layer.query, options.cairn_processes)]
    if options.mapserver_port:
        contenders.append(Contender(
            options.mapserver, options.mapserver_port,
            lambda box: mapserver(
                options, service="WFS", version="1.0.0", request="GetFeature",
                typename=options.layer, outputformat="geojson", bbox=",".join(map(str, box))),
            options.mapserver_processes))
    if options.thin_port:
        contenders.append(Contender(
            "PostGIS", options.thin_port, lambda box: "/?" + ",".join(map(str, box)),
            options.thin_processes))
    boxes = layer.boxes(24, 2000, 1)
    wrong = 0
    names = {}
    for box in boxes:
        answers = {}
        for contender in contenders:
            _, body = get(contender.port, contender.path(box))
            features = json.loads(body)["features"]
            answers[contender.name] = sorted(
                int(feature["properties"].get("id") or feature["id"]) for feature in features)
            names[contender.name] = len(body)
        if len(set(map(tuple, answers.values()))) != 1:
            wrong += 1
            print({name: len(ids) for name, ids in answers.items()}, file=sys.stderr)
    extra = {"features": 2000, "wrong": wrong, "bytes": names}
    return contest("query", contenders, boxes, options.seconds, options.rounds, extra) and not wrong


def pictures(options, layer):
    contenders = [Contender(
        "cairn", options.port,
        lambda box: f"{layer.root}/export?f=image&bboxSR=4326&imageSR=4326&format=png"
        f"&size={WIDTH},{HEIGHT}&bbox={','.join(map(str, box))}", options.cairn_processes)]
    if options.mapserver_port:
        contenders.append(Contender(
            options.mapserver, options.mapserver_port,
            lambda box: mapserver(
                options, service="WMS", version="1.1.1", request="GetMap", layers=options.layer,
                styles="", srs="EPSG:4326", bbox=",".join(map(str, box)), width=WIDTH,
                height=HEIGHT, format="image/png"), options.mapserver_processes))
    boxes = layer.boxes(24, 5000, WIDTH / HEIGHT)
    wrong = 0
    sizes = {}
    for box in boxes:
        for contender in contenders:
            kind, body = get(contender.port, contender.path(box))
            size = (int.from_bytes(body[16:20], "big"), int.from_bytes(body[20:24], "big"))
            if not kind.startswith("image/png") or size != (WIDTH, HEIGHT) or len(body) < 10_000:
                wrong += 1
            sizes[contender.name] = len(body)
    extra = {"polygons": 5000, "wrong": wrong, "bytes": sizes}
    return contest("export", contenders, boxes, options.seconds, options.rounds, extra) and not wrong


def clicks(options, layer):
    random.seed(7)
    west, south, east, north = options.box
    places = [(round(random.uniform(west, east), 7), round(random.uniform(south, north), 7))
              for _ in range(2000)]

    def extent(place):
        x, y = place
        return f"{x - 0.5:.7f},{y - 0.5:.7f},{x + 0.5:.7f},{y + 0.5:.7f}"

    contenders = [Contender(
        "cairn", options.port,
        lambda place: f"{layer.root}/identify?f=json&geometry={place[0]},{place[1]}"
        f"&geometryType=esriGeometryPoint&sr=4326&layers=all&tolerance=0&returnGeometry=false"
        f"&mapExtent={extent(place)}&imageDisplay=101,101,96", options.cairn_processes)]
    if options.mapserver_port:
        contenders.append(Contender(
            options.mapserver, options.mapserver_port,
            lambda place: mapserver(
                options, service="WMS", version="1.1.1", request="GetFeatureInfo",
                layers=options.layer, query_layers=options.layer, styles="", srs="EPSG:4326",
                bbox=extent(place), width=101, height=101, x=50, y=50, feature_count=100,
                info_format="text/plain", format="image/png"), options.mapserver_processes))
    # The same answers on HTTP's general path: a request with TE does not have the ordinary form.
    ways = [contenders[0], Contender(
        "general path", options.port, contenders[0].path, options.cairn_processes,
        ("TE", "trailers"))]
    good = True
    for count in (1, CLIENTS):
        good &= contest(
            "click, both paths", ways, places, options.seconds, options.rounds, {}, count)
    return contest("click", contenders, places, options.seconds, options.rounds, {}) and good


def addresses(options, layer):
    """Names of places of the sample; nobody else to ask."""
    with open(options.names, encoding="utf-8", newline="") as file:
        names = sorted({row["query"] for row in csv.DictReader(file)})
    random.seed(11)
    names = random.sample(names, min(500, len(names)))
    contender = Contender(
        "cairn", options.port,
        lambda name: "/arcgis/rest/services/World/GeocodeServer/findAddressCandidates?"
        + urllib.parse.urlencode(
            {"f": "json", "SingleLine": name, "outFields": "*", "maxLocations": 10}),
        options.cairn_processes)
    wrong = 0
    sizes = []
    for name in names:
        _, body = get(contender.port, contender.path(name))
        wrong += not json.loads(body)["candidates"]
        sizes.append(len(body))
    extra = {"wrong": wrong, "bytes": {"cairn": sum(sizes) // len(sizes)}}
    return contest(
        "geocode", [contender], names, options.seconds, options.rounds, extra) and not wrong


def followers(options, layer):
    """Clients that follow an answer and hear nothing: what they cost the gateway."""
    x, y = (options.box[0] + options.box[2]) / 2, (options.box[1] + options.box[3]) / 2
    path = (f"{layer.root}/identify/changes?geometry={x},{y}&tolerance=0&layers=all"
            f"&mapExtent={x - 1},{y - 1},{x + 1},{y + 1}&imageDisplay=100,100,96"
            "&returnGeometry=false")
    before = memory(options.gateway_process, "VmRSS")
    streams = []
    failed = 0
    for _ in range(options.followers):
        stream = socket.create_connection(("127.0.0.1", options.port))
        stream.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        streams.append(stream)
        answer = b""
        while b"data: " not in answer and b'"error"' not in answer:
            ready, _, _ = select.select([stream], [], [], 30)
            more = stream.recv(65536) if ready else b""
            if not more:
                break
            answer += more
        failed += b"data: " not in answer
    after = memory(options.gateway_process, "VmRSS")
    for stream in streams:
        stream.close()
    print(json.dumps({
        "case": "followers", "clients": options.followers, "failed": failed,
        "gatewayMiB": round(after, 1), "costMiB": round(after - before, 1)}), flush=True)
    return failed == 0


def main():
    def numbers(text):
        return [float(part) for part in text.split(",")]

    def processes(text):
        return [int(part) for part in text.split(",") if part]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--map", required=True)
    parser.add_argument("--layer", required=True, help="the name of its one layer")
    parser.add_argument("--names", required=True, help="CSV whose column query has names of places")
    parser.add_argument("--box", type=numbers, required=True)
    parser.add_argument("--gateway-process", type=int, required=True)
    parser.add_argument("--cairn-processes", type=processes, required=True)
    parser.add_argument("--mapserver", default="MapServer")
    parser.add_argument("--mapserver-port", type=int)
    parser.add_argument("--mapserver-processes", type=processes, default=[])
    parser.add_argument("--thin-port", type=int)
    parser.add_argument("--thin-processes", type=processes, default=[])
    parser.add_argument("--followers", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    layer = Layer(options)
    good = True
    for case in (clicks, feature_queries, pictures, addresses, followers):
        good = case(options, layer) and good
    print(json.dumps({
        "case": "memory",
        "gatewayPeakMiB": round(memory(options.gateway_process, "VmHWM"), 1),
        "filesMiB": round(memory(options.gateway_process, "RssFile"), 1)}), flush=True)
    sys.exit(0 if good else 1)


main()
