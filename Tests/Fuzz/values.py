# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Values of parameters: for each type those that are right, those at a border, and those that nobody should send.

A value is text or bytes; bytes are percent-encoded as they are. Everything comes out of the generator that is given.
"""

import json
import math

NUMBERS = [
    "0", "-0", "-1", "1", "0.5", "-0.000001", "1e-320", "1e308", "1e309", "-1e309", "NaN", "nan", "-nan", "Infinity",
    "-inf", "inf", "2147483647", "2147483648", "-2147483649", "4294967296", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "18446744073709551616", "0x10", "1e", "e", "--1", "+1", "1,5", "1_000",
    " 1 ", "１", "١", "", "null", "true", "9" * 400, "0." + "0" * 400 + "1", "1e" + "9" * 30, "1e-" + "9" * 30,
]
TEXTS = [
    "", " ", "null", "undefined", "*", "%", "'", "\"", "\\", ";", ",", ":", "{", "[", "}", "a\x00b", "\x01\x02\x1b[31m", "\r\nX-Injected: yes",
    "<script>alert('fuzz')</script>", "\"><img src=x onerror=fuzz>", "../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%00", "%n%n%s%s",
    "{{7*7}}", "${jndi:ldap://x}", "$(id)", "`id`", "' OR '1'='1", "1; DROP TABLE features--", "x' UNION SELECT 1,2,3--", "\u202eabc", "e" + "\u0301" * 5000,
    "\ufeff", "𝕏" * 300, "ﷺ" * 300, "a" * 100_000, "a b " * 20_000, b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"caf\xe9", b"\xf4\x90\x80\x80", b"a\xe2\x82",
]


def number(rng, low, high):
    """A right number as text."""
    return repr(round(rng.uniform(low, high), rng.choice([0, 1, 6, 15])))


def any_number(rng):
    return rng.choice(NUMBERS)


def any_text(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return rng.randbytes(rng.choice([1, 3, 30, 3000]))
    if kind == 1:
        return "".join(chr(rng.randrange(0x20, 0x2fff)) for _ in range(rng.choice([1, 10, 1000])))
    return rng.choice(TEXTS)


# ---------------------------------------------------------------- JSON


def deep(rng):
    depth = rng.choice([15, 16, 17, 1000, 10_000, 100_000])
    return rng.choice(["[" * depth + "]" * depth, "{\"a\":" * depth + "1" + "}" * depth, "[" * depth, "{a:" * depth])


def any_json(rng):
    return rng.choice([
        lambda: deep(rng), lambda: "{", lambda: "[]", lambda: "{}", lambda: "[[]]", lambda: "null", lambda: "\"", lambda: "{\"a\":1,\"a\":2}",
        lambda: "{x:NaN,y:Infinity}", lambda: "[" + "1," * 100_000 + "1]", lambda: "{" + ",".join(f"\"k{i}\":{i}" for i in range(20_000)) + "}",
        lambda: "{\"x\":" + "9" * 500 + "}", lambda: "{\"x\":1e99999}", lambda: "[1,2", lambda: "{'a':1}", lambda: "\"\\ud800\"", lambda: "{\"a\":\"\\u0000\"}",
        lambda: "/*" + "*" * 9999, lambda: json.dumps("x" * 100_000), lambda: "[null,true,\"\",{}]",
    ])()


# ---------------------------------------------------------------- shapes

WEST, SOUTH, EAST, NORTH = -170, -60, 170, 70


def place(rng):
    return round(rng.uniform(WEST, EAST), 5), round(rng.uniform(SOUTH, NORTH), 5)


def box(rng):
    x, y = place(rng)
    size = 10 ** rng.uniform(-3, 1.5)
    return [x, y, x + size, y + size]


def numbers(values):
    return ",".join(map(str, values))


def ring(rng, count):
    x, y = place(rng)
    radius = rng.uniform(0.01, 8)
    turns = [math.tau * i / count for i in range(count)]
    points = [[round(x + radius * math.cos(a), 4), round(y - radius * math.sin(a), 4)] for a in turns]
    return points + points[:1]


def shape(rng):
    """A right geometry and its type."""
    kind = rng.randrange(6)
    if kind == 0:
        x, y = place(rng)
        return "esriGeometryPoint", rng.choice([f"{x},{y}", json.dumps({"x": x, "y": y}), "{x:%s,y:%s}" % (x, y)])
    if kind == 1:
        corners = box(rng)
        named = dict(zip(("xmin", "ymin", "xmax", "ymax"), corners))
        return "esriGeometryEnvelope", rng.choice([numbers(corners), json.dumps(named)])
    if kind == 2:
        return "esriGeometryPolygon", json.dumps({"rings": [ring(rng, rng.choice([3, 4, 30, 500]))], "spatialReference": {"wkid": 4326}})
    if kind == 3:
        return "esriGeometryPolyline", json.dumps({"paths": [ring(rng, rng.choice([3, 40]))[:-1]]})
    if kind == 4:
        return "esriGeometryMultipoint", json.dumps({"points": [place(rng) for _ in range(rng.choice([1, 20]))]})
    return "esriGeometryPolygon", json.dumps({"rings": [ring(rng, 12), ring(rng, 5)]})


def any_shape(rng):
    """A geometry that should be refused, or be hard."""
    x, y = place(rng)
    many = rng.choice([49_999, 50_000, 50_001, 100_000])

    def zigzag():
        return ",".join("[%d,%d]" % (i % 97, (i * 31) % 89) for i in range(many))

    return rng.choice([
        lambda: json.dumps({"rings": [[[0, 0], [10, 10], [10, 0], [0, 10], [0, 0]]]}),
        lambda: '{"rings":[[%s]]}' % zigzag(), lambda: '{"paths":[[%s]]}' % zigzag(), lambda: '{"points":[%s]}' % zigzag(),
        lambda: '{"rings":[%s]}' % ",".join(["[[0,0],[0,1],[1,1],[0,0]]"] * 10_000),
        lambda: json.dumps({"rings": [ring(rng, 300)] * 30}),
        lambda: json.dumps({"rings": []}), lambda: json.dumps({"rings": [[]]}), lambda: json.dumps({"rings": [[[0, 0]]]}),
        lambda: json.dumps({"rings": [[[0, 0], [1, 1]]]}), lambda: json.dumps({"rings": [[[x, y]] * 5]}), lambda: json.dumps({"paths": [[[x, y]] * 2]}),
        lambda: '{"x":1e308,"y":-1e308}', lambda: '{"x":NaN,"y":1}', lambda: '{"x":"NaN","y":"NaN"}', lambda: '{"x":null,"y":null}', lambda: '{"x":"a","y":{}}',
        lambda: "1e308,1e308,-1e308,-1e308", lambda: "-180,-90,180,90", lambda: "-1e9,-1e9,1e9,1e9", lambda: "10,10,-10,-10", lambda: "1,2,3", lambda: ",", lambda: "1;2;3",
        lambda: "1,2;3", lambda: ";".join(["1,2"] * 60_000), lambda: '{"xmin":0,"ymin":0,"xmax":0,"ymax":0}', lambda: '{"xmin":"NaN","ymin":0,"xmax":1,"ymax":1}',
        lambda: json.dumps({"x": x, "y": y, "spatialReference": {"wkid": rng.choice([-1, 0, 1, 999999, 2 ** 40, 102100, 3035, 27700])}}),
        lambda: json.dumps({"x": x, "y": y, "spatialReference": {"wkt": "GEOGCS[" * 500}}), lambda: json.dumps({"curveRings": [[[0, 0], {"c": [[1, 1], [2, 2]]}]]}),
        lambda: json.dumps({"rings": [[[0, 0, 1, 2, 3, 4, 5], [1, 0], [1, 1], [0, 0]]], "hasZ": True, "hasM": True}),
        lambda: any_json(rng), lambda: any_text(rng),
    ])()


# ---------------------------------------------------------------- clauses

RIGHT_CLAUSES = [
    "1=1", "population > 1000000", "name LIKE 'P%'", "name = 'Paris' OR name = 'Rome'", "population BETWEEN 1000 AND 5000", "name IN ('Oslo','Lima','Cairo')",
    "NOT (population < 100000)", "name IS NOT NULL", "name IS NULL", "UPPER(name) = 'PARIS'", "population / 2 > 100", "name <> ''", "population <= -1 OR 1=0",
    "MOD(population, 2) = 1 AND ABS(population) > 5", "POSITION('a' IN LOWER(name)) > 1", "SUBSTRING(TRIM(name), 1, 2) || '!' = 'Pa!'", "CURRENT_TIMESTAMP - 3 < CURRENT_DATE",
    "COALESCE(name, '') = CONCAT('Os', 'lo')", "EXTRACT(YEAR FROM CURRENT_DATE) > 2000 AND CAST(population AS VARCHAR) LIKE '1%'",
]


def any_clause(rng):
    column = rng.choice(["name", "population", "OBJECTID", "nosuch", "\"name\"", "[name]", "name.name"])
    return rng.choice([
        lambda: "(" * 10_000 + "1=1" + ")" * 10_000, lambda: "(" * 30_000, lambda: "NOT " * 12_000 + "1=1", lambda: " AND ".join(["1=1"] * 7_000),
        lambda: " OR ".join(f"population={i}" for i in range(3_000)), lambda: f"{column} IN ({','.join(map(str, range(10_000)))})",
        lambda: f"{column} IN ({','.join(repr('x' * 9) for _ in range(5_000))})", lambda: f"name LIKE '{'%a' * rng.choice([20, 60, 3000, 30_000])}'",
        lambda: f"name LIKE '{'%_' * 3000}'", lambda: f"name LIKE '{'_' * 60_000}'", lambda: f"{'-' * 20_000}1=1", lambda: "1" + "+1" * 20_000 + "=1",
        lambda: "population = " + "9" * 400, lambda: "population = 1e99999", lambda: "population / 0 = 1", lambda: "9223372036854775807 + 1 = population",
        lambda: "-9223372036854775808 / -1 = population", lambda: "population % 0 = 1", lambda: "name > 5", lambda: "population LIKE '%'", lambda: "'a' = 'a",
        lambda: "1=1; DROP TABLE features", lambda: "1=1 --", lambda: "1=1 /* x", lambda: "1=1 UNION SELECT * FROM sqlite_master", lambda: "1 IN (SELECT 1)",
        lambda: "pg_sleep(10) IS NULL", lambda: "name = CHAR(0)", lambda: "CAST(name AS INT) = 1", lambda: "CAST(population AS BLOB) = 1",
        lambda: "CURRENT_TIMESTAMP - INTERVAL '3' MONTH < 1", lambda: "ROUND(population, 99999999999999) = 1", lambda: "CHAR_LENGTH(" + "name||" * 9_000 + "name) > 1",
        lambda: "CONCAT(" + "name," * 9_000 + "name) = ''", lambda: "COALESCE(" * 10_000, lambda: f"SUBSTRING({column}, -9223372036854775808, 9223372036854775807) = ''",
        lambda: "date '9999-99-99' < population", lambda: "timestamp 'x' = 1",
        lambda: f"{column} = {column}", lambda: f"{column} BETWEEN 2 AND", lambda: f"{column} IN ()", lambda: f"{column} LIKE", lambda: "=", lambda: "AND", lambda: "()",
        lambda: "name LIKE '%' ESCAPE '%'", lambda: "name LIKE 'a' ESCAPE ''", lambda: "UPPER(" * 10_000 + "name" + ")" * 10_000 + "='A'",
        lambda: "x" * 65_537, lambda: "1=1" + " " * 65_533, lambda: any_text(rng),
    ])()
