# SPDX-License-Identifier: Apache-2.0
"""Asks Cairn and OSRM the same routes, and prints a JSON line for each case."""
import argparse
import http.client
import json
import os
import random
import socket
import subprocess
import time

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int)
parser.add_argument("--extract")
parser.add_argument("--site")
parser.add_argument("--program")
parser.add_argument("--osrm-files")
parser.add_argument("--build", nargs=4, type=float)
for name in ("cairn", "ch", "mld"):
    parser.add_argument("--" + name, type=int)
options = parser.parse_args()
PORTS = {"cairn": options.cairn, "ch": options.ch, "mld": options.mld}
PREFIX = {"cairn": "/osrm", "ch": "", "mld": ""}


def show(**line):
    print(json.dumps({"subject": "route", **line}), flush=True)


def ready(port):
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}")


for port in PORTS.values():
    ready(port)

shown = subprocess.run(
    [options.program, "network", "show", "Roads", "--json", "--site", options.site],
    capture_output=True, text=True, check=True)
corners = json.loads(shown.stdout)["extent"]
seeded = random.Random(7)


def place():
    x = seeded.uniform(corners["xmin"], corners["xmax"])
    y = seeded.uniform(corners["ymin"], corners["ymax"])
    return f"{x:.6f},{y:.6f}"


def ask(connection, path):
    for attempt in (1, 2):
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (http.client.RemoteDisconnected, BrokenPipeError):
            # OSRM ends a connection after 512 requests.
            connection.close()
            if attempt == 2:
                raise


# Pairs that every server finds a route for.
connections = {
    name: http.client.HTTPConnection("127.0.0.1", port, timeout=60) for name, port in PORTS.items()}
pairs = []
while len(pairs) < 200:
    pair = f"{place()};{place()}"
    path = f"/route/v1/driving/{pair}?overview=false"
    if all(ask(connections[name], PREFIX[name] + path)[0] == 200 for name in PORTS):
        pairs.append(pair)


def latencies(name, paths, count):
    connection = connections[name]
    taken = []
    for number in range(count):
        path = PREFIX[name] + paths[number % len(paths)]
        began = time.perf_counter()
        status, _ = ask(connection, path)
        taken.append((time.perf_counter() - began) * 1000)
        if status != 200:
            raise SystemExit(f"{name} answers {status} to {path}")
    taken.sort()
    return taken[len(taken) // 2], taken[int(len(taken) * 0.99)]


def throughput(name, paths, seconds):
    """Requests a second by 8 connections of wrk."""
    script = f"/tmp/route-{os.getpid()}.lua"
    listed = ",".join(json.dumps(PREFIX[name] + path) for path in paths)
    with open(script, "w") as file:
        file.write(
            f"local paths = {{{listed}}}\nlocal n = 0\n"
            "request = function() n = n + 1; return wrk.format('GET', paths[n % #paths + 1]) end\n")
    try:
        output = subprocess.run(
            ["wrk", "-t1", "-c8", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{PORTS[name]}"],
            capture_output=True, text=True, check=True).stdout
    finally:
        os.remove(script)
    return float(next(line.split()[1] for line in output.splitlines() if "Requests/sec" in line))


cases = {
    "bare": [f"/route/v1/driving/{pair}?overview=false" for pair in pairs],
    "steps": [
        f"/route/v1/driving/{pair}?steps=true&overview=full&geometries=geojson" for pair in pairs],
}
places = []
for pair in pairs:
    places += pair.split(";")
table = ";".join(places[:100])
cases["table100"] = [f"/table/v1/driving/{table}?annotations=duration"]
for case, paths in cases.items():
    count = options.rounds if case != "table100" else max(5, options.rounds // 50)
    figures = {}
    for name in PORTS:
        latencies(name, paths, max(3, count // 10))
        figures[name] = latencies(name, paths, count)
    line = {f"{name}_{part}_ms": round(value, 3) for name, pair in figures.items()
            for part, value in zip(("p50", "p99"), pair)}
    line["p50_ratio"] = round(figures["ch"][0] / figures["cairn"][0], 3)
    if case != "table100":
        seconds = 1 if options.rounds < 500 else 5
        rates = {name: throughput(name, paths, seconds) for name in PORTS}
        line.update({f"{name}_per_second": round(value) for name, value in rates.items()})
        line["rate_ratio"] = round(rates["cairn"] / rates["ch"], 3)
    show(case=case, peer="OSRM CH", **line)

cairn_build, extract, contract, customize = options.build
show(case="build", peer="OSRM CH", cairn_cpu_s=cairn_build, osrm_cpu_s=extract + contract,
     ratio=round(cairn_build / (extract + contract), 3))


def run(*arguments):
    return subprocess.run(
        [options.program, *arguments, "--site", options.site], capture_output=True, text=True,
        check=True).stdout


# A closure, from the answer of the command to the answer of a route that knows it.
first, second = pairs[0].split(";")
taken = []
for number in range(10 if options.rounds < 500 else 60):
    where = pairs[number % len(pairs)].split(";")[0]
    try:
        closed = json.loads(run("road", "close", "Roads", "--at", where, "--json"))
    except subprocess.CalledProcessError:
        continue
    began = time.perf_counter()
    status, _ = ask(
        connections["cairn"],
        f"/osrm/route/v1/driving/{pairs[(number + 1) % len(pairs)]}?overview=false")
    taken.append((time.perf_counter() - began) * 1000)
    run("road", "undo", "Roads", str(closed["number"]))
if taken:
    taken.sort()
    show(case="closure", peer="OSRM MLD customize", cairn_p50_ms=round(taken[len(taken) // 2], 3),
         cairn_most_ms=round(taken[-1], 3), osrm_cpu_s=customize,
         ratio=round(taken[len(taken) // 2] / 1000 / customize, 4))


def bytes_below(folder, names=None):
    total = 0
    for base, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(base, name)
            if not os.path.islink(path) and (names is None or name.startswith(names)):
                total += os.path.getsize(path)
    return total


ours = bytes_below(os.path.join(options.site, "networks"))
theirs = bytes_below(options.osrm_files, "map.osrm")
show(case="files", peer="OSRM CH", cairn_bytes=ours, osrm_bytes=theirs,
     ratio=round(ours / theirs, 3))


def resident(*patterns):
    """Bytes of the processes of some patterns, of a page that others map too its share (PSS)."""
    total = 0
    for pattern in patterns:
        found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True)
        for pid in found.stdout.split():
            try:
                with open(f"/proc/{pid}/smaps_rollup") as file:
                    total += next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
            except (OSError, StopIteration):
                continue
    return total * 1024


# All that answers routes: the gateway with all it does, and the router.
at = f"--site {options.site}"
ours = resident(f"cairn-gateway {at}", f"pool router {at}")
theirs = resident("osrm-routed --algorithm ch")
if ours and theirs:
    show(case="resident", peer="OSRM CH", cairn_bytes=ours, osrm_bytes=theirs,
         ratio=round(ours / theirs, 3))
