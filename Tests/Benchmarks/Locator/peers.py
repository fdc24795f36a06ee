# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Asks other geocoders what bench-locator asked, and writes a JSON line for each case with the figures of
all. What a line says is in Docs/performance/lines.md.

usage: peers.py --help

TABLEs are in BANO's form; QUERIES has a JSON object a line: kind, text, number, street, latitude, longitude.
"""

import argparse
import csv
import gzip
import json
import math
import os
import sqlite3
import subprocess
import sys
import time
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from processes import ticks


def plain(text):
    text = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in text if not unicodedata.combining(letter)).replace("œ", "oe")


def rows(paths):
    """Number, street, postcode, town, latitude and longitude of every address."""
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8", newline="") if path.endswith(".gz") else open(
                path, encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                if len(row) == 8:
                    yield row[1], row[2], row[3], row[4], float(row[6]), float(row[7])


def one_line(address):
    return plain(" ".join(address[:4]))


def metres(latitude, longitude, query):
    dy = (latitude - query["latitude"]) * 111195
    dx = (longitude - query["longitude"]) * 111195 * math.cos(math.radians(query["latitude"]))
    return math.hypot(dx, dy)


class SQLite:
    """FTS5's trigram index in memory: the address that shares the most and rarest trigrams (bm25)."""

    name = "SQLite FTS5 trigram"
    pids = ()

    def __init__(self, addresses):
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute("CREATE VIRTUAL TABLE a USING fts5("
                                "text, number UNINDEXED, lat UNINDEXED, lon UNINDEXED, tokenize='trigram')")
        self.connection.executemany(
            "INSERT INTO a VALUES (?, ?, ?, ?)",
            ((one_line(address), address[0], *address[4:]) for address in addresses))

    def find(self, text):
        text = plain(text)
        trigrams = {text[index:index + 3] for index in range(len(text) - 2)}
        query = " OR ".join('"' + trigram.replace('"', '""') + '"' for trigram in sorted(trigrams))
        return self.connection.execute(
            "SELECT number, lat, lon FROM a WHERE a MATCH ? ORDER BY rank LIMIT 1", (query,)).fetchone()


class Postgres:
    """pg_trgm: the nearest text by a GiST index; the nearest point by another."""

    name = "PostgreSQL pg_trgm"

    def __init__(self, addresses, dsn, pid):
        import psycopg2
        import psycopg2.extras
        self.pids = (pid,)
        connection = psycopg2.connect(dsn)
        connection.autocommit = True
        self.cursor = connection.cursor()
        self.cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm; DROP TABLE IF EXISTS a;"
                            "CREATE TABLE a (text text, number text, lat float8, lon float8, geom geometry)")
        psycopg2.extras.execute_values(
            self.cursor, "INSERT INTO a VALUES %s",
            [(one_line(address), address[0], *address[4:]) for address in addresses], page_size=5000)
        self.cursor.execute(
            "UPDATE a SET geom = ST_SetSRID(ST_MakePoint(lon, lat), 4326);"
            "CREATE INDEX ON a USING gist (text gist_trgm_ops(siglen=64));"
            "CREATE INDEX ON a USING gist (geom); ANALYZE a;"
            "PREPARE near AS SELECT number, lat, lon FROM a ORDER BY text <-> $1 LIMIT 1;"
            "PREPARE nearest AS SELECT number, lat, lon FROM a"
            " ORDER BY geom <-> ST_SetSRID(ST_MakePoint($1, $2), 4326) LIMIT 1")

    def find(self, text):
        self.cursor.execute("EXECUTE near (%s)", (plain(text),))
        return self.cursor.fetchone()

    def nearest(self, latitude, longitude):
        self.cursor.execute("EXECUTE nearest (%s, %s)", (longitude, latitude))
        return self.cursor.fetchone()


class Addok:
    """addok over Redis, both in this process's reach, without a web server between."""

    def __init__(self, addresses, directory):
        socket = os.path.join(directory, "redis.sock")
        os.environ["REDIS_SOCKET"] = socket
        os.environ["ADDOK_LOG_DIR"] = directory
        os.environ["ADDOK_CONFIG_MODULE"] = ""
        self.redis = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no"],
            stdout=subprocess.DEVNULL, cwd=directory)
        self.pids = (self.redis.pid,)
        for _ in range(200):
            if os.path.exists(socket):
                break
            if self.redis.poll() is not None:
                raise RuntimeError("redis-server ended before it listened")
            time.sleep(0.05)
        else:
            raise RuntimeError(f"redis-server does not listen at {socket} after 10 s")
        streets = {}
        for number, street, postcode, town, latitude, longitude in addresses:
            document = streets.setdefault((street, postcode, town), {
                "id": str(len(streets)), "type": "street", "name": street, "postcode": postcode, "city": town,
                "lat": latitude, "lon": longitude, "importance": 0.1, "housenumbers": {}})
            document["housenumbers"][number.lower()] = {"lat": latitude, "lon": longitude}
        file = os.path.join(directory, "addok.sjson")
        with open(file, "w", encoding="utf-8") as lines:
            for document in streets.values():
                lines.write(json.dumps(document) + "\n")
        for command in (["batch", file], ["ngrams"]):
            subprocess.run([os.path.join(os.path.dirname(sys.executable), "addok"), *command],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.remove(file)
        # It talks while it loads.
        with open(os.devnull, "w") as nowhere:
            sys.stdout, out = nowhere, sys.stdout
            try:
                from addok.config import config
                config.load()
                from addok import core
            finally:
                sys.stdout = out
        import addok
        import importlib.metadata
        self.core = core
        self.name = "addok " + importlib.metadata.version("addok")

    @staticmethod
    def first(found):
        return (found[0].housenumber or "", float(found[0].lat), float(found[0].lon)) if found else None

    def find(self, text):
        return self.first(self.core.search(text, limit=1, autocomplete=False))

    def suggest(self, text):
        return [str(one) for one in self.core.search(text, limit=5, autocomplete=True)]

    def nearest(self, latitude, longitude):
        return self.first(self.core.reverse(lat=latitude, lon=longitude, limit=1))

    def close(self):
        self.redis.terminate()
        self.redis.wait()


class Nominatim:
    """Nominatim's library on its own database, without a web server between."""

    def __init__(self, directory, pid):
        import importlib.metadata
        import pathlib
        import nominatim_api
        self.api = nominatim_api.NominatimAPI(pathlib.Path(directory))
        self.pids = (pid,)
        self.name = "Nominatim " + importlib.metadata.version("nominatim-api")

    @staticmethod
    def first(found):
        if not found:
            return None
        return found.housenumber or "", found.centroid.lat, found.centroid.lon

    def find(self, text):
        found = self.api.search(text, max_results=1)
        return self.first(found[0]) if found else None

    def nearest(self, latitude, longitude):
        return self.first(self.api.reverse((longitude, latitude)))

    def close(self):
        self.api.close()


def is_meant(found, query):
    if found is None:
        return False
    number, latitude, longitude = found
    same = number.replace(" ", "").lower() == query["number"].replace(" ", "").lower()
    return same and metres(latitude, longitude, query) <= 75


def asked(peer, kind, queries):
    """Right, of how many, and the times and processor time of one call; nil where it has no such call."""
    call = getattr(peer, {"suggest": "suggest", "reverse": "nearest"}.get(kind, "find"), None)
    if call is None:
        return None
    times, right = [], 0

    def timed(*arguments):
        start = time.perf_counter()
        answer = call(*arguments)
        times.append((time.perf_counter() - start) * 1000)
        return answer

    before = ticks(peer.pids) + time.process_time()
    for query in queries:
        if kind == "reverse":
            found = timed(query["latitude"] + 0.00002, query["longitude"])
            right += is_meant(found, query) or found is not None and metres(
                *found[1:], {**query, "latitude": query["latitude"] + 0.00002}) < 2.3
        elif kind == "suggest":
            for length in range(1, len(query["text"]) + 1):
                offered = timed(query["text"][:length])
            wanted = plain(f"{query['number']}{query['street']}").replace(" ", "")
            right += any(plain(one).replace(" ", "").startswith(wanted) for one in offered)
        else:
            right += is_meant(timed(query["text"]), query)
    used = (ticks(peer.pids) + time.process_time() - before) * 1000
    times.sort()
    return {"right": right, "of": len(queries), "p50Ms": round(times[len(times) // 2], 3),
            "p99Ms": round(times[int(0.99 * (len(times) - 1))], 3), "cpuMs": round(used / len(times), 4)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", required=True, help="what the data are called")
    parser.add_argument("--cairn", required=True, help="the lines of bench-locator")
    parser.add_argument("--queries", required=True)
    parser.add_argument("--postgres", help="libpq's words for a database")
    parser.add_argument("--postgres-process", type=int, default=0)
    parser.add_argument("--addok", help="a directory for addok, where it and Redis are there")
    parser.add_argument("--nominatim", help="Nominatim's project directory")
    parser.add_argument("--at-most", type=int, default=500, help="queries a kind")
    parser.add_argument("tables", nargs="+")
    options = parser.parse_args()
    addresses = list(rows(options.tables))
    queries = {}
    with open(options.queries, encoding="utf-8") as file:
        for line in file:
            query = json.loads(line)
            queries.setdefault(query["kind"], []).append(query)
    peers = [SQLite(addresses)]
    if options.postgres:
        peers.append(Postgres(addresses, options.postgres, options.postgres_process))
    if options.addok:
        peers.append(Addok(addresses, options.addok))
    if options.nominatim:
        peers.append(Nominatim(options.nominatim, options.postgres_process))
    with open(options.cairn, encoding="utf-8") as file:
        for line in file:
            own = json.loads(line)
            kind = own.pop("case")
            line = {"set": options.set, "case": kind, "addresses": len(addresses)}
            if kind not in queries:
                print(json.dumps({**line, **own}), flush=True)
                continue
            figures = {"cairn": own}
            for peer in peers:
                figure = asked(peer, kind, queries[kind][:options.at_most])
                if figure is not None:
                    figures[peer.name] = figure
                    print(f"{options.set}, {kind}: {peer.name} is done", file=sys.stderr)
            ratios = {
                name: {"p50": round(figure["p50Ms"] / max(own["p50Ms"], 1e-4), 1),
                       "cpu": round(figure["cpuMs"] / max(own["cpuMs"], 1e-4), 1)}
                for name, figure in figures.items() if name != "cairn"}
            print(json.dumps({**line, "figures": figures, "ratios": ratios}), flush=True)
    for peer in peers:
        if hasattr(peer, "close"):
            peer.close()


if __name__ == "__main__":
    main()
