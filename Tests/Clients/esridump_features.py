#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Dumps a layer of a running site's map World with pyesridump's esri2geojson, unmodified.

usage: esridump_features.py ESRI2GEOJSON http://HOST:PORT/arcgis/rest/services SOURCE

Runs with GDAL's Python; ESRI2GEOJSON is the program. Exits 1 with the first answer that is wrong. SOURCE
is what the map holds, deploy/sample/world.gpkg.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import urllib.request

from osgeo import ogr


def check(condition, what, found=""):
    """Ends the script unless the condition holds."""
    if not condition:
        sys.exit(f"esridump: {what}: found {found!r}")
    print(f"esridump: {what}: {found}")


def source_cities(path):
    """Name, country, population and place of every city, sorted."""
    source = ogr.Open(path)
    return sorted(
        (f.GetField("name") or "", f.GetField("country") or "", f.GetField("population") or 0,
         f.GetGeometryRef().GetX(), f.GetGeometryRef().GetY())
        for f in source.GetLayerByName("cities"))


def dumped(program, url, *options):
    """The same of what the program writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.geojson")
        subprocess.run([program, *options, url, path], check=True, timeout=300,
                       stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            features = json.load(file)["features"]
    return sorted(
        (f["properties"]["name"] or "", f["properties"]["country"] or "",
         f["properties"]["population"] or 0, *f["geometry"]["coordinates"]) for f in features)


def is_same(found, expected):
    """Whether both hold the same features; the program asks for seven decimals."""
    return len(found) == len(expected) and all(
        one[:3] == other[:3] and math.dist(one[3:], other[3:]) < 1e-6
        for one, other in zip(found, expected))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    program, root, path = sys.argv[1], sys.argv[2].rstrip("/"), sys.argv[3]
    with urllib.request.urlopen(root + "/World/FeatureServer?f=json", timeout=20) as answer:
        numbers = {layer["name"]: layer["id"] for layer in json.load(answer)["layers"]}
    expected = source_cities(path)
    large = [city for city in expected if city[2] > 1_000_000]
    check(len(large) > 100, "the filter leaves some and not all", len(large))
    for service in ["FeatureServer", "MapServer"]:
        url = f"{root}/World/{service}/{numbers['cities']}"
        found = dumped(program, url)
        check(is_same(found, expected), f"{service}, by offset: all are dumped", len(found))
        found = dumped(program, url, "--paginate-oid")
        check(is_same(found, expected), f"{service}, by object id: all are dumped", len(found))
        for options in [[], ["--paginate-oid"]]:
            found = dumped(program, url, "-p", "where=population>1000000", *options)
            check(is_same(found, large), f"{service}, filtered {options}: those are dumped",
                  len(found))


if __name__ == "__main__":
    main()
