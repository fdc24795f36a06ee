# SPDX-License-Identifier: Apache-2.0
"""A table of addresses of the size of a country, and questions with known answers about it.

The tables of BANO that are given are written COPIES times; in each copy but the first every town has another word
after its name and all lies a little farther north, so that each copy has towns and streets of its own. Every thousandth row has a
column too many. Seeded: the same arguments, the same bytes.
"""
import argparse
import gzip
import json
import os
import random

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("tables", nargs="+")
parser.add_argument("--copies", type=int, default=160)
parser.add_argument("--count", type=int, default=500, help="questions of each sort")
parser.add_argument("--table", required=True)
parser.add_argument("--cases", required=True)
arguments = parser.parse_args()

choose = random.Random(3)
words = []
while len(words) < arguments.copies:
    word = "".join(choose.choice("bcdfglmnprstv") + choose.choice("aeiou") for _ in range(3)).capitalize()
    if word not in words:
        words.append(word)
rows = []
for path in sorted(arguments.tables):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows += [row for row in file.read().splitlines() if row.count(",") == 7]

written = 0
with open(arguments.table, "w", encoding="utf-8") as table:
    for copy, word in enumerate(words):
        for row in rows:
            fields = row.split(",")
            if copy:
                fields[4] += " " + word
            fields[6] = f"{float(fields[6]) + 0.02 * copy / arguments.copies:.6f}"
            written += 1
            table.write(",".join(fields) + (",more" if written % 1000 == 0 else "") + "\n")


def slip(text):
    """One letter less, inside the longest word."""
    parts = text.split(" ")
    longest = max(range(len(parts)), key=lambda at: len(parts[at]))
    word = parts[longest]
    at = choose.randrange(1, len(word) - 1) if len(word) >= 5 else None
    parts[longest] = word if at is None else word[:at] + word[at + 1:]
    return " ".join(parts)


size = os.path.getsize(arguments.table)
with open(arguments.table, "rb") as table, open(arguments.cases, "w", encoding="utf-8") as cases:
    for number in range(arguments.count):
        fields = []
        while len(fields) != 8:
            table.seek(choose.randrange(size - 400))
            table.readline()
            fields = table.readline().decode().strip().split(",")
        _, house, street, postcode, town, _, latitude, longitude = fields
        short = f"{house} {street} {town}"
        sorts = {
            "exact": f"{house} {street}, {postcode} {town}",
            "withoutPostcode": short,
            "cityFirst": f"{postcode} {town} {house} {street}",
            "oneTypo": slip(short),
            "reverse": [float(longitude), float(latitude)],
        }
        for sort, query in sorts.items():
            expected = {"lat": float(latitude), "lon": float(longitude), "max_distance_m": 75, "housenumber": house}
            kind = "reverse" if sort == "reverse" else "search"
            case = {"id": number, "category": sort, "kind": kind, "query": query, "limit": 1, "expected": expected}
            cases.write(json.dumps(case, ensure_ascii=False) + "\n")
