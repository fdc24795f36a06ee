# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Asks trigram indexes of PostgreSQL and SQLite the queries that bench-locator asked, and writes a JSON
line for each kind with the figures of all. What a line says is in Docs/performance.md.

usage: peers.py --cairn LINES --queries QUERIES [--postgres DSN] TABLE…

TABLEs are BANO's; QUERIES has a JSON object a line: kind, text, number, latitude, longitude.
"""

import argparse
import csv
import gzip
import json
import math
import sqlite3
import sys
import time
import unicodedata


def plain(text):
    text = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in text if not unicodedata.combining(letter)).replace("œ", "oe")


def rows(paths):
    """Text, number, latitude and longitude of every address."""
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                if len(row) == 8:
                    yield plain(f"{row[1]} {row[2]} {row[3]} {row[4]}"), row[1], float(row[6]), float(row[7])


class SQLite:
    """FTS5's trigram index in memory: the address that shares the most and rarest trigrams (bm25)."""

    name = "SQLite FTS5 trigram"

    def __init__(self, addresses):
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute("CREATE VIRTUAL TABLE a USING fts5("
                                "text, number UNINDEXED, lat UNINDEXED, lon UNINDEXED, tokenize='trigram')")
        self.connection.executemany("INSERT INTO a VALUES (?, ?, ?, ?)", addresses)

    def find(self, text):
        text = plain(text)
        trigrams = {text[index:index + 3] for index in range(len(text) - 2)}
        query = " OR ".join('"' + trigram.replace('"', '""') + '"' for trigram in sorted(trigrams))
        return self.connection.execute(
            "SELECT number, lat, lon FROM a WHERE a MATCH ? ORDER BY rank LIMIT 1", (query,)).fetchone()


class Postgres:
    """pg_trgm: the nearest text by a GiST index."""

    name = "PostgreSQL pg_trgm"

    def __init__(self, addresses, dsn):
        import psycopg2
        import psycopg2.extras
        connection = psycopg2.connect(dsn)
        connection.autocommit = True
        self.cursor = connection.cursor()
        self.cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm; DROP TABLE IF EXISTS a;"
                            "CREATE TABLE a (text text, number text, lat float8, lon float8)")
        psycopg2.extras.execute_values(self.cursor, "INSERT INTO a VALUES %s", addresses, page_size=5000)
        self.cursor.execute("CREATE INDEX ON a USING gist (text gist_trgm_ops(siglen=64)); ANALYZE a;"
                            "PREPARE near AS SELECT number, lat, lon FROM a ORDER BY text <-> $1 LIMIT 1")

    def find(self, text):
        self.cursor.execute("EXECUTE near (%s)", (plain(text),))
        return self.cursor.fetchone()


def is_meant(found, query):
    if found is None:
        return False
    number, latitude, longitude = found
    dy = (latitude - query["latitude"]) * 111195
    dx = (longitude - query["longitude"]) * 111195 * math.cos(math.radians(query["latitude"]))
    same = number.replace(" ", "").lower() == query["number"].replace(" ", "").lower()
    return same and math.hypot(dx, dy) <= 75


def asked(peer, queries):
    times, right = [], 0
    for query in queries:
        start = time.perf_counter()
        found = peer.find(query["text"])
        times.append((time.perf_counter() - start) * 1000)
        right += is_meant(found, query)
    times.sort()
    return {"right": right, "of": len(times), "p50Ms": round(times[len(times) // 2], 3),
            "p99Ms": round(times[int(0.99 * (len(times) - 1))], 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--queries", required=True)
    parser.add_argument("--postgres")
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
        peers.append(Postgres(addresses, options.postgres))
    with open(options.cairn, encoding="utf-8") as file:
        for line in file:
            own = json.loads(line)
            kind = own.pop("case")
            if kind not in queries:
                print(json.dumps({"case": kind, **own}), flush=True)
                continue
            figures = {"cairn": own}
            for peer in peers:
                figures[peer.name] = asked(peer, queries[kind][:options.at_most])
                print(f"{kind}: {peer.name} is done", file=sys.stderr)
            ratios = {name: round(figure["p50Ms"] / own["p50Ms"], 1)
                      for name, figure in figures.items() if name != "cairn"}
            print(json.dumps({"case": kind, "figures": figures, "ratios": ratios}), flush=True)


if __name__ == "__main__":
    main()
