#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""The load of `deploy/bench tiles`: exports of a site's map Earth beside tippecanoe and QGIS, live vector tiles beside
PostGIS, two workers beside one. Prints JSON Lines; processor times are of whole process trees."""

import argparse
import glob
import json
import multiprocessing
import os
import resource
import socket
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

TICKS = os.sysconf("SC_CLK_TCK")
# Drawn by Cairn and QGIS alike: a part of the layers, areas below points.
DRAWN = ["ne_50m_admin_0_countries", "ne_50m_admin_1_states_provinces", "ne_50m_lakes", "ne_10m_populated_places"]
QGIS = """
import sys, time
from qgis.core import (QgsApplication, QgsCoordinateReferenceSystem, QgsMapRendererCustomPainterJob, QgsMapSettings,
                       QgsRectangle, QgsVectorLayer)
from qgis.PyQt.QtCore import QBuffer, QByteArray, QIODevice, QSize
from qgis.PyQt.QtGui import QColor, QImage, QPainter
path, last, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
application = QgsApplication([], False)
application.initQgis()
layers = [QgsVectorLayer(f"{path}|layername={name}", name, "ogr") for name in reversed(names)]
assert all(layer.isValid() for layer in layers)
settings = QgsMapSettings()
settings.setLayers(layers)
settings.setDestinationCrs(QgsCoordinateReferenceSystem("EPSG:3857"))
settings.setBackgroundColor(QColor(0, 0, 0, 0))
half, count, size = 20037508.342789244, 0, 0
began, wall = time.process_time(), time.monotonic()
for level in range(last + 1):
    side, block = 2 * half / 2 ** level, min(4, 2 ** level)
    for row in range(0, 2 ** level, block):
        for column in range(0, 2 ** level, block):
            image = QImage(256 * block, 256 * block, QImage.Format_ARGB32_Premultiplied)
            image.fill(0)
            settings.setOutputSize(QSize(256 * block, 256 * block))
            settings.setExtent(QgsRectangle(
                column * side - half, half - (row + block) * side, (column + block) * side - half, half - row * side))
            painter = QPainter(image)
            job = QgsMapRendererCustomPainterJob(settings, painter)
            job.renderSynchronously()
            painter.end()
            for y in range(block):
                for x in range(block):
                    bytes = QByteArray()
                    buffer = QBuffer(bytes)
                    buffer.open(QIODevice.WriteOnly)
                    image.copy(256 * x, 256 * y, 256, 256).save(buffer, "PNG")
                    size += bytes.size()
                    count += 1
print(count, time.process_time() - began, time.monotonic() - wall, size, flush=True)
import os
os._exit(0)
"""


FAILED = []


def say(**line):
    """A line; with `asked`, the least or most of its figure by name, it says too whether it `passes`."""
    if "asked" in line:
        line["passes"] = all(
            figure in line and (line[figure] >= bound if kind == "atLeast" else line[figure] <= bound)
            for kind, bounds in line["asked"].items() for figure, bound in bounds.items())
        if not line["passes"]:
            FAILED.append(line["case"])
    print(json.dumps(line), flush=True)


class Site:
    def __init__(self, options):
        self.options = options

    def cairn(self, *arguments):
        done = subprocess.run([self.options.program, *arguments], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"tiles: cairn {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def up(self, workers):
        self.cairn("up", "--detach", "--port", str(self.options.port), "--identify-workers", str(workers),
                   "--locators", "1")

    def down(self):
        self.cairn("down")

    def processes(self, name=""):
        """Of the site: pid and command line."""
        found = {}
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path) as file:
                    line = file.read().replace("\0", " ")
            except OSError:
                continue
            if f"--site {self.options.site}" in line and "cairn-" in line.split(" ")[0] and name in line:
                found[path.split("/")[2]] = line
        return found

    def seconds(self):
        """Of all processes of the site."""
        total = 0
        for pid in self.processes():
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total / TICKS

    def export(self, kind, **parameters):
        """Processor and wall seconds of an export, and where its package is."""
        path = f"{self.options.work}/{kind}"
        before, began = self.seconds(), time.monotonic()
        job = json.loads(self.cairn(
            "job", "submit", kind, "--json", *(f"--param={name}={value}" for name, value in parameters.items())))["id"]
        subprocess.run([self.options.program, "job", "watch", job], check=True, capture_output=True)
        wall, cpu = time.monotonic() - began, self.seconds() - before
        if os.path.exists(path):
            os.remove(path)
        self.cairn("job", "result", job, "--output", path)
        return cpu, wall, path


def rows(path):
    """The addresses of an MBTiles file."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        return set(database.execute("SELECT zoom_level, tile_column, tile_row FROM tiles"))


def tippecanoe(options):
    """Processor seconds and the file of tippecanoe on the same layers, everything kept."""
    path = f"{options.work}/tippecanoe.mbtiles"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [options.tippecanoe, "-q", "-f", "-o", path, "-Z0", f"-z{options.vector_level}", "-r1", "--no-feature-limit",
         "--no-tile-size-limit", *(f"-L{name}:{options.work}/layers/{name}.geojsonl" for name in options.layers)],
        check=True, stderr=subprocess.DEVNULL, env=dict(os.environ, TIPPECANOE_MAX_THREADS="2"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, path


def load():
    return round(os.getloadavg()[0], 1)


class Client:
    """One connection that is kept, with nothing between a request and the socket."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, path):
        """The body, and the milliseconds until it was there."""
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        began = time.perf_counter()
        self.socket.sendall(request)
        data = self.socket.recv(1 << 20)
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.socket.recv(1 << 20)
        length = data[:end].lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        missing = int(length or 0) - (len(data) - end - 4)
        parts = [data[end + 4:]]
        while missing > 0:
            parts.append(self.socket.recv(1 << 20))
            if not parts[-1]:
                sys.exit(f"tiles: the answer to {path} broke off")
            missing -= len(parts[-1])
        spent = (time.perf_counter() - began) * 1000
        if not data.startswith((b"HTTP/1.1 200", b"HTTP/1.1 204")):
            sys.exit(f"tiles: {path}: {data[:80]!r}")
        return b"".join(parts), spent


def thin(listener, database, statement):
    """PostGIS behind the thinnest HTTP: `/level/row/column` is a tile, by one statement made once."""
    import psycopg2

    def serve(client):
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = psycopg2.connect(database)
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute(statement)
        data = b""
        with client, connection:
            while True:
                end = data.find(b"\r\n\r\n")
                if end < 0:
                    more = client.recv(65536)
                    if not more:
                        return
                    data += more
                    continue
                level, row, column = data[:end].split(b" ", 2)[1].decode().strip("/").split("/")
                data = data[end + 4:]
                cursor.execute("EXECUTE tile (%s, %s, %s)", (level, column, row))
                body = cursor.fetchone()[0]
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.mapbox-vector-tile\r\n"
                               b"Content-Length: %d\r\n\r\n" % len(body) + bytes(body))

    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client,), daemon=True).start()


def statement(options):
    """The prepared statement of a tile of all layers."""
    import psycopg2
    connection = psycopg2.connect(options.postgis)
    cursor = connection.cursor()
    parts = []
    for name in options.layers:
        cursor.execute("SELECT column_name FROM information_schema.columns WHERE table_name = %s "
                       "AND column_name NOT IN ('geom')", (name,))
        columns = ", ".join(f'"{column}"' for (column,) in cursor.fetchall())
        parts.append(
            f"(SELECT ST_AsMVT(part, '{name}', 4096, 'place', 'row') FROM (SELECT {columns}, "
            f"ST_AsMVTGeom(geom, box, 4096, 64) AS place FROM \"{name}\" WHERE geom && "
            "ST_Expand(box, (ST_XMax(box) - ST_XMin(box)) * 64 / 4096)) AS part WHERE place IS NOT NULL)")
    connection.close()
    return ("PREPARE tile (int, int, int) AS SELECT " + " || ".join(f"coalesce({part}, '')" for part in parts)
            + " FROM (SELECT ST_TileEnvelope($1, $2, $3) AS box) AS place")


def live(options):
    """Vector tiles over HTTP, the first time and the next ones, beside PostGIS, in turns."""
    root = "/arcgis/rest/services/Earth/VectorTileServer/tile"
    places = [(level, row, column) for level in (2, 4, 6) for row in range(2 ** level) for column in range(2 ** level)]
    places = [place for place in places[:: 1 + len(places) // 400]]
    paths = {place: f"{root}/{place[0]}/{place[1]}/{place[2]}.pbf" for place in places}
    ours = Client(options.port)
    first = {place: ours.ask(paths[place]) for place in places}
    places = [place for place in places if first[place][0]]
    theirs, server = None, None
    if options.postgis:
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        server = multiprocessing.Process(
            target=thin, args=(listener, options.postgis, statement(options)), daemon=True)
        server.start()
        theirs = Client(listener.getsockname()[1])
    spent = {"warm": [], "postgis": []}
    # The first round of the peer warms it.
    for turn in range(4):
        for place in places:
            body, time_spent = ours.ask(paths[place])
            if body != first[place][0]:
                sys.exit(f"tiles: {paths[place]} is another tile the second time")
            spent["warm"].append(time_spent)
        if theirs:
            answers = [theirs.ask("/%d/%d/%d" % place)[1] for place in places]
            if turn:
                spent["postgis"] += answers
    line = {"tiles": len(places), "madeMilliseconds": round(statistics.median(first[place][1] for place in places), 3),
            "warmMilliseconds": round(statistics.median(spent["warm"]), 3)}
    if theirs:
        postgis = statistics.median(spent["postgis"])
        line |= {"postgisMilliseconds": round(postgis, 3),
                 "madeRatio": round(postgis / line["madeMilliseconds"], 2),
                 "ratio": round(postgis / line["warmMilliseconds"], 2), "asked": {"atLeast": {"ratio": 5}}}
        server.terminate()
    say(case="live", load=load(), **line)


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "site", "work"):
        parser.add_argument("--" + name, required=True)
    for name in ("port", "vector-level", "raster-level"):
        parser.add_argument("--" + name, required=True, type=int)
    for name in ("tippecanoe", "qgis", "postgis"):
        parser.add_argument("--" + name)
    parser.add_argument("layers", nargs="+")
    options = parser.parse_args()
    site = Site(options)
    site.up(1)
    # Layers are loaded, files are in memory.
    site.export("ExportVectorTiles", map="Earth", levels="0", format="mbtiles")

    cpu, one, path = site.export("ExportVectorTiles", map="Earth", levels=f"0-{options.vector_level}", format="mbtiles")
    ours = rows(path)
    line = {"levels": f"0-{options.vector_level}", "tiles": len(ours), "seconds": round(cpu, 2),
            "millisecondsPerTile": round(cpu / len(ours) * 1000, 3)}
    if options.tippecanoe:
        theirs, path = tippecanoe(options)
        other = rows(path)
        line |= {"tippecanoeTiles": len(other), "common": len(ours & other), "tippecanoeSeconds": round(theirs, 2),
                 "tippecanoeMillisecondsPerTile": round(theirs / len(other) * 1000, 3),
                 "ratio": round(theirs / len(other) / (cpu / len(ours)), 2),
                 "otherAddresses": len(ours ^ other),
                 "asked": {"atLeast": {"ratio": 1}, "atMost": {"otherAddresses": 0}}}
        for place in sorted(ours ^ other)[:5]:
            print(f"tile {place} is {'ours' if place in ours else 'of tippecanoe'} alone", file=sys.stderr)
    say(case="vector", load=load(), **line)

    numbers = {layer["name"]: layer["id"] for layer in json.load(urllib.request.urlopen(
        f"http://127.0.0.1:{options.port}/arcgis/rest/services/Earth/MapServer?f=json"))["layers"]}
    cpu, _, path = site.export(
        "ExportTiles", map="Earth", levels=f"0-{options.raster_level}", format="mbtiles",
        layers=",".join(str(numbers[name]) for name in DRAWN))
    count = sum(4 ** level for level in range(options.raster_level + 1))
    line = {"levels": f"0-{options.raster_level}", "tiles": count, "seconds": round(cpu, 2),
            "perSecond": round(count / cpu, 1)}
    if options.qgis:
        said = subprocess.run(
            [options.qgis, "-c", QGIS, f"{options.work}/ne.gpkg", str(options.raster_level), *DRAWN], check=True,
            capture_output=True, text=True, env=dict(os.environ, QT_QPA_PLATFORM="offscreen", HOME=options.work)).stdout
        drawn, theirs = said.split()[:2]
        line |= {"qgisSeconds": round(float(theirs), 2), "qgisPerSecond": round(int(drawn) / float(theirs), 1),
                 "ratio": round(count / cpu / (int(drawn) / float(theirs)), 2), "asked": {"atLeast": {"ratio": 4}}}
    say(case="raster", load=load(), **line)

    memory = {}
    for pid, command in site.processes("cairn-worker").items():
        with open(f"/proc/{pid}/status") as file:
            text = file.read()
        memory[command.split("--pool ")[1].split(" ")[0]] = int(text.split("VmHWM:")[1].split()[0])
    say(case="memory", mostKilobytes=memory, most=max(memory.values()), asked={"atMost": {"most": 300 << 10}})

    site.down()
    site.up(2)
    site.export("ExportVectorTiles", map="Earth", levels="0", format="mbtiles")
    _, two, _ = site.export("ExportVectorTiles", map="Earth", levels=f"0-{options.vector_level}", format="mbtiles")
    say(case="workers", load=load(), oneSeconds=round(one, 2), twoSeconds=round(two, 2), ratio=round(one / two, 2),
        asked={"atLeast": {"ratio": 1.7}})
    live(options)
    site.down()
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
