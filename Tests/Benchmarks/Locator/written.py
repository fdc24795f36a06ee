#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Addresses as people type them, and places as they stand: cases for `cairn locator evaluate`.

usage: written.py SHARED-DATA DIRECTORY [--seed N] [--count N]

Writes DIRECTORY/SET.jsonl for each set whose data is there, and tables that sets are built from. Each record belongs to
one of two halves by a hash of itself, whatever the seed. Prints SET and its sources, parted by tabs.
"""
import argparse
import csv
import gzip
import hashlib
import json
import math
import os
import random
import re
import shutil
import sqlite3
import struct
import unicodedata

METERS_PER_DEGREE = 111_195


def plain(text):
    """Letters and digits in lower case, without marks."""
    text = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in text if letter.isalnum())


def half(record):
    return "held-out" if hashlib.sha256(str(record).encode()).digest()[0] & 1 else "training"


class Cases:
    def __init__(self, path):
        self.path, self.lines = path, []

    def add(self, category, record, query, *, lat=0.0, lon=0.0, near=75, kind=None, limit=1, case=None, **expected):
        self.lines.append(
            {"id": len(self.lines) + 1, "category": category, "half": half(record), "query": query, "limit": limit}
            | ({"kind": kind} if kind else {}) | (case or {})
            | {"expected": {"lat": lat, "lon": lon, "max_distance_m": near} | expected})

    def write(self):
        with open(self.path, "w", encoding="utf-8") as file:
            for line in self.lines:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def moved(lon, lat, meters, angle):
    dy = meters * math.cos(angle) / METERS_PER_DEGREE
    dx = meters * math.sin(angle) / METERS_PER_DEGREE / math.cos(math.radians(lat))
    return [round(lon + dx, 7), round(lat + dy, 7)]


def meters(one, other):
    dx = (one[0] - other[0]) * math.cos(math.radians(one[1]))
    return math.hypot(dx, one[1] - other[1]) * METERS_PER_DEGREE


def position(geometry):
    """Longitude and latitude of a GeoPackage's point, or of the middle of another shape's envelope."""
    envelope = [0, 32, 48, 48, 64][geometry[3] >> 1 & 7]
    if envelope == 0:
        return struct.unpack_from("<dd", geometry, 8 + 5)
    west, east, south, north = struct.unpack_from("<dddd", geometry, 8)
    return (west + east) / 2, (south + north) / 2


def slipped(word, rng):
    """A word with one slip in its inside: a letter missing, doubled, wrong, or two exchanged."""
    at = rng.randrange(1, len(word) - 1)
    return rng.choice([
        word[:at] + word[at + 1:], word[:at] + word[at] + word[at:],
        word[:at] + rng.choice("aeiorstnl") + word[at + 1:],
        word[:at] + word[at + 1] + word[at] + word[at + 2:]])


TYPES = set("""street avenue road lane drive place court boulevard way terrace rue chemin route impasse allee place
    quai cours avinguda carrer carretera placa cami passatge avenida calle""".split())
LITTLE = set("""de du des la le les l d del dels el els et of the a i""".split())


# ---------------------------------------------------------------- an extract of OpenStreetMap

def extract(cases, database, country, rng, count):
    base = sqlite3.connect(database)
    rows = []
    for geometry, number, street, city, postcode in base.execute(
            "SELECT geom, housenumber, street, city, postcode FROM addresses WHERE street <> ''"):
        if re.fullmatch(r"\d+[A-Za-z]?", number or ""):
            rows.append((*position(geometry), number, street, city or "", postcode or ""))
    addresses = rows[:]
    rng.shuffle(rows)
    streets = {}
    for lon, lat, number, street, city, postcode in addresses:
        streets.setdefault(plain(street), set()).add(number.lower())
    for lon, lat, number, street, city, postcode in rows[:count]:
        at = moved(lon, lat, 15, rng.uniform(0, 2 * math.pi))
        cases.add("reverse, 15 m from a house", (number, street), at, lat=at[1], lon=at[0], near=40, is_house=True)
        cases.add("reverse, PointAddress", (number, street), at, lat=at[1], lon=at[0], near=40,
                  case={"feature_types": ["PointAddress"]}, addr_type="PointAddress")
        cases.add("reverse, StreetName", (number, street), at, lat=at[1], lon=at[0], near=250,
                  case={"feature_types": ["StreetName"], "distance": 250}, addr_type="StreetName")
    whole = [row for row in rows if row[4]]
    seen = set()
    unique = []
    for row in whole:
        if (row[2], row[3], row[4]) not in seen:
            seen.add((row[2], row[3], row[4]))
            unique.append(row)
    forward(cases, unique[:count], streets, rng, comma_first=country in ("US",))
    points(cases, base, country, rng, count)


def line(number, street, postcode, city, first):
    if first:
        return f"{number} {street}, {city}" + (f" {postcode}" if postcode else "")
    return f"{number} {street}, " + (f"{postcode} " if postcode else "") + city


def forward(cases, rows, numbers_of_street, rng, comma_first):
    for lon, lat, number, street, city, postcode in rows:
        record = (number, street, city)
        truth = {"lat": lat, "lon": lon, "housenumber": number, "street": street}
        words = street.split()
        bare = [word for word in words if plain(word) not in TYPES]
        # Words left out.
        if len(bare) < len(words) and any(len(plain(word)) > 3 and plain(word) not in LITTLE for word in bare):
            if plain(bare[0]) in LITTLE:
                bare = bare[1:]
            cases.add("left out: sort of street", record, line(number, " ".join(bare), "", city, comma_first), **truth)
        if postcode:
            cases.add("left out: town", record, f"{number} {street}, {postcode}", **truth)
        cases.add("left out: postcode", record, line(number, street, "", city, comma_first), **truth)
        names = [word for word in words
                 if plain(word) not in TYPES and plain(word) not in LITTLE and len(plain(word)) > 2]
        if len(names) > 1:
            word = rng.choice(names)
            left = [other for other in words if other is not word]
            if not any(plain(" ".join(left)) == other for other in numbers_of_street if other != plain(street)):
                cases.add("left out: a word of the name", record,
                          line(number, " ".join(left), postcode, city, comma_first), **truth)
        little = [word for word in words if plain(word) not in LITTLE]
        if len(little) < len(words):
            cases.add("left out: articles", record, line(number, " ".join(little), postcode, city, comma_first), **truth)
        # Noise before a whole address.
        noise = rng.choice(["c/o Smith", "c/o Smith, 3rd floor", "attn: Ms Brown", "Apt 4", "Suite 210",
                            "John Smith", "Accounts Department", "Flat 3", "2nd floor", "c/o Garcia & Co"]
                           if comma_first else
                           ["c/o Martin", "chez Durand", "2ème étage", "Bât. B", "M. Dupont", "Service comptabilité",
                            "apt 4", "à l'attention de Mme Roux", "Résidence du Parc", "c/o Puig, 3r pis"])
        cases.add("noise before", record, noise + ", " + line(number, street, postcode, city, comma_first), **truth)
        # Slips in several words.
        long = [at for at, word in enumerate(words) if len(word) >= 5 and word.isalpha()]
        if long and len(city) >= 5 and city.split()[0].isalpha():
            wrong = list(words)
            for at in long[-2:]:
                wrong[at] = slipped(wrong[at], rng)
            parts = city.split()
            at = max(range(len(parts)), key=lambda at: len(parts[at]))
            if len(parts[at]) >= 5 and parts[at].isalpha():
                parts[at] = slipped(parts[at], rng)
            cases.add("slips in several words", record,
                      line(number, " ".join(wrong), postcode, " ".join(parts), comma_first), **truth)
        # Joined and parted.
        if len(names) > 1:
            pairs = [at for at in range(len(words) - 1) if words[at].isalpha() and words[at + 1].isalpha()
                     and plain(words[at]) not in TYPES and plain(words[at + 1]) not in TYPES]
            if pairs:
                at = rng.choice(pairs)
                joined = words[:at] + [words[at] + words[at + 1].lower()] + words[at + 2:]
                cases.add("words joined", record, line(number, " ".join(joined), postcode, city, comma_first), **truth)
        long = [at for at, word in enumerate(words) if len(word) >= 8 and word.isalpha() and plain(word) not in TYPES]
        if long:
            at = rng.choice(long)
            cut = rng.randrange(3, len(words[at]) - 2)
            parted = words[:at] + [words[at][:cut], words[at][cut:]] + words[at + 1:]
            cases.add("a word parted", record, line(number, " ".join(parted), postcode, city, comma_first), **truth)
        # A number that only another street has.
        others = [other for key, values in numbers_of_street.items() if key != plain(street) for other in values]
        absent = [other for other in set(others) if other not in numbers_of_street[plain(street)] and other.isdigit()]
        if absent:
            other = rng.choice(sorted(absent))
            cases.add("never another street: absent number", record,
                      line(other, street, postcode, city, comma_first), street=street, is_no_other_house=True)
        kinds = {"street": "Avenue", "avenue": "Street", "rue": "Avenue", "road": "Street", "carrer": "Avinguda",
                 "avinguda": "Carrer", "chemin": "Boulevard", "boulevard": "Rue", "place": "Rue"}
        at = next((at for at, word in enumerate(words) if plain(word) in kinds), None)
        if at is not None:
            wrong = words[:at] + [kinds[plain(words[at])]] + words[at + 1:]
            if plain(" ".join(wrong)) not in numbers_of_street:
                cases.add("never another street: other sort", record,
                          line(number, " ".join(wrong), postcode, city, comma_first),
                          street=" ".join(wrong), is_no_other_house=True)
        invented = list(words)
        at = max(range(len(words)), key=lambda at: (plain(words[at]) not in TYPES, len(words[at])))
        invented[at] = rng.choice(["Quixote", "Vlahović", "Zanzibar", "Oppenheim", "Xylophon", "Wolfram"])
        cases.add("never another street: other name", record,
                  line(number, " ".join(invented), postcode, city, comma_first),
                  street=" ".join(invented), is_no_other_house=True)
        if not number.isdigit():
            cases.add("suggest, a suffix", record, f"{number} {street}", kind="suggest", limit=5, **truth)


# ---------------------------------------------------------------- points of interest

KINDS = {
    "Hotel": ["hotel", "hôtel", "отель", "otel", "szálloda", "ξενοδοχείο", "albergo"],
    "Museum": ["museum", "musée", "museo", "museu", "музей", "muzeum", "müze", "múzeum"],
    "Restaurant": ["restaurant", "ristorante", "ресторан", "restaurante", "restauracja"],
    "Pharmacy": ["pharmacy", "pharmacie", "Apotheke", "farmacia", "apteka", "аптека"],
    "Grocery Store": ["supermarket", "supermarché", "Supermarkt", "supermercado", "супермаркет"],
    "Bank": ["bank", "banque", "banco", "banca", "банк"],
    "School": ["school", "école", "Schule", "escuela", "scuola", "школа", "iskola"],
    "Library": ["library", "bibliothèque", "Bibliothek", "biblioteca", "библиотека"],
    "Park": ["park", "parc", "parque", "парк"],
    "Hospital": ["hospital", "hôpital", "Krankenhaus", "ospedale", "больница"],
}
TAGS = {"Hotel": ("tourism", "hotel"), "Museum": ("tourism", "museum"), "Restaurant": ("amenity", "restaurant"),
        "Pharmacy": ("amenity", "pharmacy"), "Grocery Store": ("shop", "supermarket"), "Bank": ("amenity", "bank"),
        "School": ("amenity", "school"), "Library": ("amenity", "library"), "Park": ("leisure", "park"),
        "Hospital": ("amenity", "hospital")}


def points(cases, base, country, rng, count):
    rows = [(*position(geometry), name, kind, value) for geometry, name, kind, value in base.execute(
        "SELECT geom, name, cls, type FROM pois WHERE name <> ''")]
    towns = {"US": "Baltimore", "AD": "Andorra", "MC": "Monaco"}
    names = {}
    for row in rows:
        names.setdefault(plain(row[2]), []).append(row)
    for kind, (key, value) in TAGS.items():
        known = [row for row in rows if (row[3], row[4]) == (key, value)]
        if not known:
            continue
        for word in KINDS[kind]:
            for text in (f"{word} in {towns[country]}", f"{word} {towns[country]}", f"{word}, {towns[country]}"):
                cases.add("a kind with a place", (kind, word), text, addr_type="POI", type=kind, isAnywhere=True)
        for lon, lat, name, _, _ in rng.sample(known, min(len(known), 12)):
            if len(names[plain(name)]) > 1:
                continue
            word = rng.choice(KINDS[kind])
            saying = [plain(word) for word in KINDS[kind]]
            if any(part in plain(name) for part in saying):
                bare = " ".join(part for part in name.split() if plain(part) not in saying)
                if len(plain(bare)) >= 5:
                    cases.add("a kind in another language", (kind, name), f"{word} {bare}", lat=lat, lon=lon, near=350,
                              limit=3)
                    cases.add("a kind left out", (kind, name), bare, lat=lat, lon=lon, near=350, limit=5)
            else:
                cases.add("a kind added", (kind, name), f"{word} {name}", lat=lat, lon=lon, near=350, limit=3)
                cases.add("a kind added", (kind, name), f"{name} {word}", lat=lat, lon=lon, near=350, limit=3)
    several = [row for row in rows if len(row[2].split()) >= 3 and len(names[plain(row[2])]) == 1]
    rng.shuffle(several)
    for lon, lat, name, _, _ in several[:count // 2]:
        words = name.split()
        longest = max(range(len(words)), key=lambda at: len(words[at]))
        left = [word for at, word in enumerate(words) if at == longest or at in (longest - 1, longest + 1)][:2]
        part = " ".join(left)
        if len(plain(part)) < 8 or sum(plain(part) in other for other in names) > 1:
            continue
        cases.add("part of a point's name", name, part, lat=lat, lon=lon, near=350, limit=5)


# ---------------------------------------------------------------- numbered streets

def ordinal(number):
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}" + {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def numbered(directory, rng):
    """Streets called by numbers, as countries write them, and each as people may write it."""
    def feminine(n):
        return "ère" if n == 1 else "e"
    forms = [
        ("US", "Mesa", "NY", [
            (lambda n: f"West {ordinal(n)} Street", lambda n: [f"W {n} St", f"West {n} Street", f"{n} St W", f"W {n}th St"]),
            (lambda n: f"{ordinal(n)} Avenue", lambda n: [f"{n} Ave", f"{n} Av", f"{n}th Avenue"])]),
        ("CA", "Limoilou", "", [(lambda n: f"{n}{feminine(n)} Avenue", lambda n: [f"{n} Avenue", f"{n} av", f"{n}eme avenue"]),
                                (lambda n: f"{n}{feminine(n)} Rue", lambda n: [f"{n} rue", f"{n}e rue"])]),
        ("DE", "Ludwigshafen", "", [(lambda n: f"{n}. Gartenweg", lambda n: [f"{n} Gartenweg", f"{n}. Gartenweg", f"{n}ter Gartenweg"])]),
        ("AT", "Linz", "", [(lambda n: f"{n}. Landstraße", lambda n: [f"{n} Landstr.", f"{n}. Landstrasse"])]),
        ("NL", "Delft", "", [(lambda n: f"{n}e Kerkstraat", lambda n: [f"{n} Kerkstraat", f"{n}de Kerkstraat", f"{n}ste Kerkstraat"])]),
        ("ES", "Alcorcón", "", [(lambda n: f"Calle {n}ª", lambda n: [f"Calle {n}", f"C/ {n}ª", f"Calle {n}a"])]),
        ("CO", "Bogotá", "", [(lambda n: f"Carrera {n}", lambda n: [f"Cra {n}", f"Carrera {n}a." if n % 2 else f"Carrera {n}ª"])]),
        ("PT", "Almada", "", [(lambda n: f"{n}ª Travessa", lambda n: [f"{n} Travessa", f"Travessa {n}", f"{n}a Travessa"])]),
        ("BR", "Campinas", "", [(lambda n: f"{n}ª Avenida", lambda n: [f"{n} Avenida", f"{n} Av", f"{n}a Av."])]),
        ("IT", "Marghera", "", [(lambda n: f"{n}ª Strada", lambda n: [f"{n} Strada", f"Strada {n}", f"{n}a Strada"])]),
        ("RU", "Тверь", "", [(lambda n: f"{n}-я Садовая улица", lambda n: [f"{n} Садовая ул", f"{n}я Садовая", f"ул. {n}-я Садовая"]),
                             (lambda n: f"{n}-й Речной переулок", lambda n: [f"{n} Речной пер", f"{n}й Речной переулок"])]),
        ("UA", "Полтава", "", [(lambda n: f"{n}-а Лугова вулиця", lambda n: [f"{n} Лугова вул", f"{n}а Лугова"])]),
        ("TR", "Bursa", "", [(lambda n: f"{n}. Sokak", lambda n: [f"{n} Sokak", f"{n} Sk", f"{n}. Sok."])]),
        ("HU", "Pécs", "", [(lambda n: f"{n}. utca", lambda n: [f"{n} utca", f"{n}. u."])]),
        ("DK", "Aarhus", "", [(lambda n: f"{n}. Tværgade", lambda n: [f"{n} Tværgade", f"{n}. Tværg."])]),
        ("FI", "Oulu", "", [(lambda n: f"{n}. poikkikatu", lambda n: [f"{n} poikkikatu", f"{n}. poikkik."])]),
        ("PL", "Toruń", "", [(lambda n: f"{n}. Pułku ulica", lambda n: [f"ul. {n} Pułku", f"{n}-go Pułku", f"{n}. Pułku"])]),
        ("CZ", "Zlín", "", [(lambda n: f"{n}. května" if n < 32 else f"{n}. pluku", lambda n: [f"{n} května" if n < 32 else f"{n} pluku"])]),
        ("RO", "Arad", "", [(lambda n: f"Strada {n}", lambda n: [f"Str. {n}", f"Strada a {n}-a"])]),
        ("GR", "Πάτρα", "", [(lambda n: f"{n}η Οδός", lambda n: [f"{n} Οδός", f"Οδός {n}", f"{n}ης Οδού"[:len(f"{n}ης Οδ")] + "ός"])]),
        ("SE", "Lund", "", [(lambda n: f"{n}:a Tvärgatan", lambda n: [f"{n} Tvärgatan", f"{n}a Tvärgatan"])]),
        ("NO", "Bodø", "", [(lambda n: f"{n}. Tverrgate", lambda n: [f"{n} Tverrgate", f"{n}. tverrgt"])]),
        ("HR", "Osijek", "", [(lambda n: f"{n}. ulica", lambda n: [f"{n} ulica", f"ulica {n}"])]),
        ("SI", "Celje", "", [(lambda n: f"{n}. ulica", lambda n: [f"{n} ulica", f"{n}. ul."])]),
        ("SK", "Martin", "", [(lambda n: f"{n}. mája" if n < 32 else f"{n}. pluku", lambda n: [f"{n} mája" if n < 32 else f"{n} pluku"])]),
        ("CT", "Vic", "", [(lambda n: f"Carrer {n}r", lambda n: [f"Carrer {n}", f"C/ {n}r"])]),
    ]
    cases = Cases(f"{directory}/numbered.jsonl")
    table = f"{directory}/numbered.csv"
    with open(table, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow("LON LAT NUMBER STREET UNIT CITY DISTRICT REGION POSTCODE COUNTRY".split())
        for place, (country, town, region, sorts) in enumerate(forms):
            country = "ES" if country == "CT" else country
            lon, lat = 0.5 + place % 10 * 5, 5 + place // 10 * 10
            for sort, (name, written) in enumerate(sorts):
                numbers = sorted(rng.sample(range(1, 130), 24))
                houses = {number: sorted({rng.randrange(1, 400) for _ in range(8)} | set(rng.sample(numbers, 2)))
                          for number in numbers}
                for at, number in enumerate(numbers):
                    for house in houses[number]:
                        x, y = round(lon + house * 1e-4, 6), round(lat + sort * 0.05 + at * 1e-3, 6)
                        out.writerow([x, y, house, name(number), "", town, "", region, "", country])
                    if number % 3:
                        continue
                    house = rng.choice(houses[number])
                    x, y = round(lon + house * 1e-4, 6), round(lat + sort * 0.05 + at * 1e-3, 6)
                    for text in written(number):
                        behind = country not in ("US", "CA")
                        typed = f"{text}, {house}, {town}" if behind else f"{house} {text}, {town}"
                        truth = {"lat": y, "lon": x, "near": 5, "housenumber": str(house), "street": name(number)}
                        cases.add("numbered streets", (country, number), typed, **truth)
                        if house != number:
                            cases.add("numbered streets, suggest", (country, number),
                                      typed.rsplit(", ", 1)[0], kind="suggest", limit=5, **truth)
                        absent = next(other for other in range(131, 200))
                        cases.add("never another street: absent numbered", (country, number),
                                  typed.replace(text, text.replace(str(number), str(absent), 1)),
                                  street="-", is_no_other_house=True)
    cases.write()
    return [table]


# ---------------------------------------------------------------- names of places

def gazetteer(cases, shared, rng, count):
    with gzip.open(f"{shared}/gazetteer/geonames_cities15000_2026.tsv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        row["population"] = int(row["population"] or 0)
    named = {}
    for row in rows:
        for name in {plain(row["name"])} | {plain(name) for name in row["alternatenames"].split("|")}:
            named.setdefault(name, []).append(row)
    # A bare name that is usual for small places and another name of one far larger.
    found = []
    for row in rows:
        if row["population"] < 300_000:
            continue
        for name in row["alternatenames"].split("|"):
            if len(name) < 4 or not name.isascii() or not name.isalpha() or plain(name) == plain(row["name"]):
                continue
            others = [other for other in named[plain(name)] if other is not row]
            usual = [other for other in others if plain(other["name"]) == plain(name)]
            if usual and max(other["population"] for other in others) * 20 < row["population"]:
                found.append((name, row))
    rng.shuffle(found)
    for name, row in found[:count]:
        truth = {"lat": float(row["latitude"]), "lon": float(row["longitude"]), "near": 15_000}
        cases.add("another name of a large place, first five", name, name, limit=5, **truth)
        cases.add("suggest, another name of a large place", name, name, kind="suggest", limit=5, **truth)
    # Reverse inside a town, without a distance.
    for row in rng.sample(rows, count):
        reach = min(40_000, 1_000 + 12 * math.sqrt(row["population"]))
        lon, lat = float(row["longitude"]), float(row["latitude"])
        at = moved(lon, lat, reach * rng.uniform(0.2, 0.9), rng.uniform(0, 2 * math.pi))
        cases.add("reverse, inside a town", row["geonameid"], at, lat=at[1], lon=at[0], near=45_000,
                  case={"distance": 100}, addr_type="Locality")


def merged(directory, cases):
    """Towns that one source has in a country and the other in its overseas territory."""
    territories = [("GP", "FR", "Pointe-Noire", 16.23, -61.78), ("MQ", "FR", "Le Lamentin", 14.61, -61.0),
                   ("RE", "FR", "Saint-Pierre", -21.34, 55.48), ("PR", "US", "Bayamón", 18.4, -66.15),
                   ("GU", "US", "Dededo", 13.52, 144.84), ("AW", "NL", "Noord", 12.57, -70.04),
                   ("FO", "DK", "Klaksvík", 62.23, -6.58), ("AX", "FI", "Mariehamn", 60.1, 19.94),
                   ("SJ", "NO", "Longyearbyen", 78.22, 15.64), ("HK", "CN", "Sha Tin", 22.38, 114.19),
                   ("GI", "GB", "Catalan Bay", 36.14, -5.34), ("NC", "FR", "Nouméa", -22.27, 166.44)]
    first, second = f"{directory}/merged-towns.csv", f"{directory}/merged-towns-2.csv"
    addresses = f"{directory}/merged-addresses.csv"
    head = "id,name,latitude,longitude,country,population\n"
    with open(first, "w") as one, open(second, "w") as other, open(addresses, "w") as table:
        one.write(head)
        other.write(head)
        table.write("LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,COUNTRY\n")
        for at, (territory, country, name, lat, lon) in enumerate(territories):
            one.write(f"{at + 1},{name},{lat},{lon},{territory},20000\n")
            table.write(f"{lon + 0.005},{lat},7,Rue {at + 11} Alpha,,{name},,,,{country}\n")
    return [first, addresses], territories


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shared")
    parser.add_argument("directory")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    options = parser.parse_args()
    shared, directory = options.shared, options.directory

    rng = random.Random(options.seed)
    print("numbered", *numbered(directory, rng), sep="\t")
    for name, country in [("baltimore", "US"), ("andorra-2025", "AD"), ("monaco-2021", "MC")]:
        packed = f"{shared}/osm/{name}.gpkg.gz"
        if not os.path.exists(packed):
            continue
        database = f"{directory}/{name}.gpkg"
        with gzip.open(packed) as source, open(database, "wb") as target:
            shutil.copyfileobj(source, target)
        cases = Cases(f"{directory}/{name}.jsonl")
        extract(cases, database, country, random.Random(options.seed), options.count)
        cases.write()
        os.remove(database)
        print(name, f"{shared}/osm/{name}.osm.pbf", f"country={country}", sep="\t")
    tables = [f"{shared}/addresses_fr/bano-{number}.csv.gz" for number in ("08", "12", "23", "90")]
    places = [f"{shared}/gazetteer/geonames_{name}.tsv.gz" for name in ("cities15000_2026", "admin1_2026", "countries")]
    if all(map(os.path.exists, tables + places)):
        rng = random.Random(options.seed)
        rows, streets = [], {}
        for table in tables:
            with gzip.open(table, "rt", encoding="utf-8") as file:
                for row in csv.reader(file):
                    number, street, postcode, city, lat, lon = row[1], row[2], row[3], row[4], row[6], row[7]
                    if re.fullmatch(r"\d+( ?(BIS|TER|[A-Z]))?", number) and len(street.split()) > 1:
                        rows.append((float(lon), float(lat), number, street, city, postcode))
        suffixed = [row for row in rows if not row[2].isdigit()]
        sample = rng.sample(rows, options.count) + rng.sample(suffixed, options.count // 3)
        towns = {(row[4], row[5]) for row in sample}
        cases = Cases(f"{directory}/bano.jsonl")
        for row in rows:
            if (row[4], row[5]) in towns:
                streets.setdefault((row[4], row[5]), {}).setdefault(plain(row[3]), set()).add(row[2].lower())
        for row in sample:
            forward(cases, [row], streets[row[4], row[5]], rng, comma_first=False)
        cases.write()
        print("bano", *places, *tables, sep="\t")
        cases = Cases(f"{directory}/places.jsonl")
        gazetteer(cases, shared, random.Random(options.seed), options.count)
        cases.write()
        print("places", *places, sep="\t")


main()
