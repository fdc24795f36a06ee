#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Has `cairn import` read broken and hostile files on a site that is down, and checks what became of each.

usage: imports.py --bin DIR [--seconds N] [--seed N] [--keep]

One JSON summary on standard output; exit code 1 when anything was found. Docs/faults.md says what is checked.
"""

import argparse
import collections
import ctypes
import gzip
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

LIMIT_SECONDS = 60
RENEWED_AFTER = 100
IN_OPEN = 0x20

TABLE = """WKT,name,number,when
"POINT (1 2)",own,1,2024-02-29
"POINT (3 4)",other,2,2024-03-01
"POINT (-71.1 42.37)",third,3,2024-03-02
"""
SHAPES = """WKT,name
"POLYGON ((0 0,4 0,4 4,0 4,0 0),(1 1,2 1,2 2,1 2,1 1))",square
"MULTIPOLYGON (((10 10,12 10,12 12,10 10)),((20 20,22 20,22 22,20 20)))",two
"""
LINES = """WKT,name
"LINESTRING (0 0,1 1,2 0)",road
"LINESTRING (5 5,6 6)",path
"""
# Files of `made` that lead nowhere, by their formats.
PLAIN = {"esri.json": "ESRIJSON", "topo.topojson": "TopoJSON", "streets.osm": "OSM", "stops.x10": "VDV"}
KINDS = {"points": "POINT", "shapes": "MULTIPOLYGON", "lines": "LINESTRING"}
# Driver, ending, options of ogr2ogr.
WRITTEN = [
    ("CSV", "csv", ["-lco", "GEOMETRY=AS_WKT"]), ("DGN", "dgn", []), ("DXF", "dxf", []), ("ESRI Shapefile", "shp", []),
    ("FlatGeobuf", "fgb", []), ("GML", "gml", []), ("GPKG", "gpkg", []), ("GPX", "gpx", ["-dsco", "GPX_USE_EXTENSIONS=YES"]),
    ("GeoJSON", "geojson", []), ("GeoJSONSeq", "geojsonl", []), ("GeoRSS", "xml", ["-dsco", "USE_EXTENSIONS=YES"]), ("JML", "jml", []),
    ("KML", "kml", []), ("LIBKML", "kml", []), ("LIBKML", "kmz", []), ("MBTiles", "mbtiles", []), ("MapInfo File", "tab", []),
    ("MapInfo File", "mif", []), ("OGR_GMT", "gmt", []), ("OpenFileGDB", "gdb", []), ("SQLite", "sqlite", []),
    ("SQLite", "sqlite", ["-dsco", "SPATIALITE=YES"]),
]


def made(folder, canary, port):
    """Seeds that no driver writes, and files that lead elsewhere on their own: name and content."""
    entity = f'<!DOCTYPE a [<!ENTITY led SYSTEM "file://{canary}">]>'
    xml = '<?xml version="1.0" encoding="UTF-8"?>'
    kml = f'<kml xmlns="http://www.opengis.net/kml/2.2"><Document><NetworkLink><Link><href>%s</href></Link></NetworkLink>' \
        "<Placemark><name>&led;</name><Point><coordinates>1,2</coordinates></Point></Placemark></Document></kml>"
    return {
        "esri.json": json.dumps({"geometryType": "esriGeometryPoint", "spatialReference": {"wkid": 4326}, "fields": [
            {"name": "name", "type": "esriFieldTypeString"}], "features": [{"attributes": {"name": "own"}, "geometry": {"x": 1, "y": 2}}]}),
        "topo.topojson": json.dumps({"type": "Topology", "arcs": [[[0, 0], [1, 1], [2, 0]]], "objects": {"road": {
            "type": "GeometryCollection", "geometries": [{"type": "LineString", "arcs": [0], "properties": {"name": "road"}}]}}}),
        "streets.osm": f'{xml}<osm version="0.6"><node id="1" lat="1" lon="2" version="1"><tag k="name" v="own"/></node><node id="2" lat="2" '
                       'lon="2" version="1"/><way id="1" version="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way></osm>',
        "stops.x10": 'mod; DD.MM.YYYY; HH:MM:SS; free\nsrc; "a"; "28.11.2026"; "10.00.00"\nchs; "ISO8859-1"\nver; "1.4"\nifv; "1.4"\ndve; "1.4"\n'
                     'fft; ""\ntbl; REC_ORT\natr; ORT_NR; ORT_NAME; ORT_POS_LAENGE; ORT_POS_BREITE\nfrm; num[6.0]; char[40]; num[10.0]; num[10.0]\n'
                     'rec; 1; "own"; 110000000; 480000000\nend; 1\neof; 1\n',
        "hostile.vrt": f'<OGRVRTDataSource><OGRVRTLayer name="canary"><SrcDataSource>{canary}</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>',
        "label.xml": f'{xml}<Product_Observational xmlns="http://pds.nasa.gov/pds4/pds/v1"><File_Area_Observational><File><file_name>{canary}'
                     "</file_name></File></File_Area_Observational></Product_Observational>",
        "api.moaw": json.dumps({"links": [{"rel": "self", "href": f"http://127.0.0.1:{port}/"}], "id": "a", "extent": {}}),
        "hostile.kml": xml + entity + kml % canary,
        "linked.kml": xml + (kml % f"http://127.0.0.1:{port}/a.kml").replace("&led;", "own"),
        "view.tab": f'!Table\n!Version 100\nOpen Table "{canary[:-4]}" Hide\nOpen Table "b" Hide\n\nCreate View view As\nSelect name\nFrom canary, b\n',
        "server.wfs": f"<OGRWFSDataSource><URL>http://127.0.0.1:{port}/wfs</URL></OGRWFSDataSource>",
        "linked.geojson": json.dumps({"type": "FeatureCollection", "crs": {"type": "link", "properties": {
            "href": f"http://127.0.0.1:{port}/", "type": "proj4"}}, "features": [
                {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [1, 2]}}]}),
    }


class Outside:
    """Files and a server that no import may touch."""

    def __init__(self, folder):
        self.text = f"canary{random.SystemRandom().randrange(1 << 64):016x}"
        self.folder = f"{folder}/outside"
        os.mkdir(self.folder)
        self.canary = f"{self.folder}/canary.csv"
        with open(self.canary, "w", encoding="utf-8") as file:
            file.write(f'WKT,name\n"POINT (1 2)",{self.text}\n')
        for driver, ending in [("ESRI Shapefile", "shp"), ("MapInfo File", "tab"), ("KML", "kml"), ("GML", "gml"), ("GPKG", "gpkg")]:
            written(driver, f"{self.folder}/canary.{ending}", self.canary, [])
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        libc = ctypes.CDLL(None, use_errno=True)
        self.watch = libc.inotify_init1(os.O_NONBLOCK)
        if self.watch < 0 or libc.inotify_add_watch(self.watch, self.folder.encode(), IN_OPEN) < 0:
            raise SystemExit("fuzz: no inotify")

    def touched(self):
        """What was touched since the last call, or None."""
        found = None
        try:
            names = os.read(self.watch, 65536)
            found = f"opened below the outside: {names[16:64]!r}"
        except BlockingIOError:
            pass
        try:
            connection, _ = self.listener.accept()
            connection.close()
            found = "a connection to the server"
        except BlockingIOError:
            pass
        return found

    def holds(self, folder):
        """The first file below a folder with the canary's text, or None."""
        for directory, _, names in os.walk(folder):
            for name in names:
                with open(f"{directory}/{name}", "rb") as file:
                    if self.text.encode() in file.read():
                        return f"{directory}/{name}"
        return None


def written(driver, path, table, options):
    """Whether ogr2ogr has made a file."""
    done = subprocess.run(
        ["ogr2ogr", "-f", driver, "-a_srs", "EPSG:4326", "-oo", "KEEP_GEOM_COLUMNS=NO", *options, path, table],
        capture_output=True, check=False)
    return done.returncode == 0 and os.path.exists(path)


def seeds(folder, outside):
    """Folders with a source each, by format: the folder and the name in it to import."""
    found = collections.defaultdict(list)
    tables = {"points": TABLE, "shapes": SHAPES, "lines": LINES}
    for name, text in tables.items():
        with open(f"{folder}/{name}.csv", "w", encoding="utf-8") as file:
            file.write(text)
    for number, (driver, ending, options) in enumerate(WRITTEN):
        for name in tables:
            if driver == "GeoRSS" and name == "shapes":
                continue  # It has no polygons with holes.
            home = f"{folder}/{number}-{name}"
            os.mkdir(home)
            if written(driver, f"{home}/{name}.{ending}", f"{folder}/{name}.csv", ["-nlt", KINDS[name], *options]):
                found[driver].append((home, f"{name}.{ending}"))
    for name, text in made(folder, outside.canary, outside.port).items():
        home = f"{folder}/made-{name}"
        os.mkdir(home)
        with open(f"{home}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
        found[PLAIN.get(name, f"made: {name}")].append((home, name))
    for module in [f"VirtualText('{outside.canary}', 'UTF-8', 1, POINT, DOUBLEQUOTE, ',')", f"VirtualShape('{outside.canary[:-4]}', 'UTF-8', 4326)",
                   f"VirtualOGR('{outside.canary}')"]:
        name = module.split("(")[0].lower() + ".sqlite"
        home = f"{folder}/made-{name}"
        os.mkdir(home)
        database = sqlite3.connect(f"{home}/{name}")
        database.executescript("CREATE TABLE own(id INTEGER PRIMARY KEY); PRAGMA writable_schema = ON")
        database.execute("INSERT INTO sqlite_schema VALUES('table', 'led', 'led', 0, ?)", (f"CREATE VIRTUAL TABLE led USING {module}",))
        database.commit()
        database.close()
        found[f"made: {name}"].append((home, name))
    return found


class Mutator:
    def __init__(self, rng, outside):
        self.rng = rng
        self.paths = [
            outside.canary, "../outside/canary.csv", "../../outside/canary.shp", f"file://{outside.canary}", f"http://127.0.0.1:{outside.port}/a.gml",
            f"/vsicurl/http://127.0.0.1:{outside.port}/a.csv", f"/vsizip/{outside.folder}", f"PG:host=127.0.0.1 port={outside.port}",
            f"/vsisubfile/0_100,{outside.canary}", f"GPKG:{outside.folder}/canary.gpkg:canary", f'<!DOCTYPE a [<!ENTITY b SYSTEM "{outside.canary}">]>',
            f' xlink:href="file://{outside.folder}/canary.gml#a"', f'Open Table "{outside.folder}/canary.tab" Hide\nCreate View a As Select * From b, c\n',
        ]

    def mutated(self, data):
        """Bytes made wrong, and how."""
        if not data:
            return data, "empty"
        rng = self.rng
        how = rng.choice(["nothing", "bytes", "bytes", "cut", "splice", "splice", "quoted", "twice", "borders"])
        bytes_ = bytearray(data)
        if how == "bytes":
            for _ in range(rng.choice([1, 1, 3, 20, 200])):
                bytes_[rng.randrange(len(bytes_))] = rng.randrange(256)
        elif how == "cut":
            del bytes_[rng.randrange(len(bytes_)):]
        elif how == "splice":
            place = rng.randrange(len(bytes_))
            path = rng.choice(self.paths).encode()
            # In a binary file lengths stay as they are.
            end = place if rng.random() < 0.5 else place + len(path)
            bytes_[place:end] = path
        elif how == "quoted":
            marks = [index for index, byte in enumerate(bytes_) if byte in b"\"'>"]
            if len(marks) > 1:
                index = rng.randrange(len(marks) - 1)
                bytes_[marks[index] + 1:marks[index + 1]] = rng.choice(self.paths).encode()
        elif how == "twice":
            start = rng.randrange(len(bytes_))
            piece = bytes_[start:start + rng.randrange(1, 4096)]
            bytes_[start:start] = piece * rng.choice([1, 2, 50])
        elif how == "borders":
            width = rng.choice([1, 2, 4, 8])
            place = rng.randrange(max(1, len(bytes_) - width))
            bytes_[place:place + width] = rng.choice([b"\0", b"\xff", b"\x7f", b"\x80"]) * width
        return bytes(bytes_), how

    def change(self, home, name):
        """Changes one of the files of a source, or puts one beside it; how."""
        files = sorted(f"{directory}/{file}" for directory, _, files in os.walk(home) for file in files)
        path = self.rng.choice(files if self.rng.random() < 0.4 else [f"{home}/{name}"])
        if os.path.isdir(path):
            path = self.rng.choice(files)
        with open(path, "rb") as file:
            data, how = self.mutated(file.read())
        with open(path, "wb") as file:
            file.write(data)
        return f"{how} {os.path.basename(path)}"

    def packed(self, home, name):
        """Perhaps an archive of it: the path to import."""
        form = self.rng.choice(["", "", "", "", "zip", "tar", "tgz", "gz"])
        target = f"{home}.{form}" if form else f"{home}/{name}"
        if form == "zip":
            with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
                for directory, _, files in os.walk(home):
                    for file in files:
                        archive.write(f"{directory}/{file}", os.path.relpath(f"{directory}/{file}", home))
                if self.rng.random() < 0.2:
                    archive.writestr("../" * self.rng.randrange(1, 5) + "outside/led.csv", TABLE)
        elif form in ("tar", "tgz"):
            with tarfile.open(target, "w:gz" if form == "tgz" else "w") as archive:
                archive.add(home, "source")
                if self.rng.random() < 0.2:
                    link = tarfile.TarInfo("source/led.csv")
                    link.type, link.linkname = tarfile.SYMTYPE, self.paths[0]
                    archive.addfile(link)
        elif form == "gz":
            if os.path.isdir(f"{home}/{name}"):
                return f"{home}/{name}"
            target = f"{home}/{name}.gz"
            with open(f"{home}/{name}", "rb") as file, gzip.open(target, "wb") as packed:
                packed.write(file.read())
        if form and self.rng.random() < 0.3:
            with open(target, "rb") as file:
                data, _ = self.mutated(file.read())
            with open(target, "wb") as file:
                file.write(data)
        return target


class Imports:
    def __init__(self, programs, folder, options):
        self.folder, self.options, self.programs = folder, options, programs
        self.outside = Outside(folder)
        seeded = f"{folder}/seeds"
        os.mkdir(seeded)
        self.seeds = seeds(seeded, self.outside)
        self.rng = random.Random(options.seed)
        self.mutator = Mutator(self.rng, self.outside)
        self.counts = collections.defaultdict(lambda: [0, 0])
        self.findings, self.slowest, self.files = [], 0.0, 0
        self.site, self.said = None, ""

    def renew(self):
        if self.site:
            shutil.rmtree(self.site, ignore_errors=True)
        self.site = f"{self.folder}/site-{self.files}"
        os.mkdir(self.site)

    def run(self):
        order = sorted(self.seeds)
        self.renew()
        self.check_seeds(order)
        end = time.monotonic() + self.options.seconds
        while time.monotonic() < end:
            kind = order[self.files % len(order)]
            self.one(kind, *self.rng.choice(self.seeds[kind]))
            if self.files % RENEWED_AFTER == 0:
                self.renew()
        return {
            "seed": self.options.seed, "seeds": sum(len(sources) for sources in self.seeds.values()), "seconds": self.options.seconds, "files": self.files,
            "imported": sum(taken for taken, _ in self.counts.values()), "refused": sum(refused for _, refused in self.counts.values()),
            "slowestSeconds": round(self.slowest, 1), "formats": {kind: self.counts[kind] for kind in order},
            "findings": self.findings, "verdict": "FAILED" if self.findings else "PASSED",
        }

    def check_seeds(self, order):
        """What a driver has written is imported as it is: else the run would show nothing of the format."""
        for kind in order:
            for home, name in self.seeds[kind]:
                taken = self.counts[kind][0]
                problem = self.imported(kind, f"{home}/{name}")
                # A line a layer: its kind, a sign and the number of its features.
                features = sum(int(count) for count in re.findall(r", \w+ × (\d+)", self.said))
                if not problem and not kind.startswith("made: ") and (self.counts[kind][0] == taken or features == 0):
                    problem = "nothing of it is imported as it was made"
                if problem:
                    self.add(kind, f"{home}/{name}", "nothing", problem)
        self.counts.clear()

    def add(self, kind, path, how, problem):
        self.findings.append({"format": kind, "file": path, "how": how, "number": self.files, "problem": problem})
        print(f"fuzz: {kind}: {how}: {problem}: {path}", file=sys.stderr, flush=True)

    def one(self, kind, home, name):
        self.files += 1
        room = f"{self.folder}/room-{self.files}"
        os.mkdir(room)
        own = f"{room}/source"
        shutil.copytree(home, own)
        how = self.mutator.change(own, name)
        path = self.mutator.packed(own, name)
        self.outside.touched()
        problem = self.imported(kind, path)
        if problem:
            self.add(kind, path, how, problem)
        else:
            shutil.rmtree(room)

    def imported(self, kind, path):
        """Imports a file; what is wrong, or None."""
        before = self.hidden()
        start = time.monotonic()
        process = subprocess.Popen(
            [f"{self.programs}/cairn", "import", path, "--map", "Fuzz"], env=dict(os.environ, CAIRN_SITE=self.site, SWIFT_BACKTRACE="enable=no"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            output, errors = process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return f"it has not ended after {LIMIT_SECONDS} s"
        self.slowest = max(self.slowest, time.monotonic() - start)
        text = errors.decode("utf-8", "replace")
        self.said = output.decode("utf-8", "replace")
        self.counts[kind][1 if process.returncode else 0] += 1
        if process.returncode not in (0, 1):
            return f"it ended with {process.returncode}: {text[-600:]}"
        if process.returncode == 1 and os.path.basename(path) not in text:
            return f"the error does not name the file: {text[-600:]}"
        if self.outside.text in text:
            return f"the error has the canary's text: {text[-600:]}"
        touched = self.outside.touched()
        if touched:
            return touched
        held = self.outside.holds(self.site)
        if held:
            return f"the canary's text is in {held}"
        left = self.hidden() - before
        return f"left behind: {sorted(left)}" if left else None

    def hidden(self):
        """Names of directories in which imports work."""
        return {name for home in ["datasets", "rasters"] if os.path.isdir(f"{self.site}/{home}")
                for name in os.listdir(f"{self.site}/{home}") if name.startswith(".")}


def main():
    parser = argparse.ArgumentParser(prog="deploy/fuzz --imports", description="Imports broken and hostile files, and checks what became of each.")
    parser.add_argument("--bin", required=True, help="the folder with the programs")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=None, help="a number; drawn and printed unless given")
    parser.add_argument("--keep", action="store_true", help="leave all files there; those of a finding stay anyway")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    print(f"fuzz: seed {options.seed}", file=sys.stderr, flush=True)
    folder = tempfile.mkdtemp(prefix="cairn-fuzz.")
    imports = Imports(os.path.abspath(options.bin), folder, options)
    summary = None
    try:
        summary = imports.run()
    finally:
        if options.keep or (summary and summary["findings"]):
            print(f"fuzz: the files are in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(summary, ensure_ascii=True))
    sys.exit(1 if summary["findings"] else 0)


if __name__ == "__main__":
    main()
