#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Reads the tiles of a running site's map World as WMTS through GDAL and QGIS, and by OGC API - Tiles through GDAL,
unmodified, and compares them with the tiles of the map service, pixel by pixel.

usage: QT_QPA_PLATFORM=offscreen tile_faces.py http://HOST:PORT

Exits 1 with the first answer that is wrong.
"""

import json
import sys
import tempfile
import urllib.request

from osgeo import gdal
from qgis.core import QgsRasterLayer

from qgis_session import RED, SIZE, check, finish, render, start

LEVEL, ROW, COLUMN = 3, 2, 4
# Of that tile, in metres of EPSG:3857.
HALF = 20037508.342789244
SIDE = 2 * HALF / 2 ** LEVEL
WEST, NORTH = COLUMN * SIDE - HALF, HALF - ROW * SIDE


def pixels(body):
    """The bands of a picture."""
    gdal.FileFromMemBuffer("/vsimem/tile", body)
    return gdal.Open("/vsimem/tile").ReadRaster()


def read(url):
    """The body at an address."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = sys.argv[1].rstrip("/")
    service = root + "/arcgis/rest/services/World/MapServer"
    own = read(f"{service}/tile/{LEVEL}/{ROW}/{COLUMN}")

    gdal.UseExceptions()
    cache = tempfile.TemporaryDirectory()
    gdal.SetConfigOption("GDAL_DEFAULT_WMS_CACHE_PATH", cache.name)
    for address in ("/WMTS/1.0.0/WMTSCapabilities.xml", "/WMTS?service=WMTS&request=GetCapabilities"):
        dataset = gdal.OpenEx("WMTS:" + service + address, open_options=[
            f"ZOOM_LEVEL={LEVEL}", "EXTENT_METHOD=MOST_PRECISE_TILE_MATRIX"])
        check(dataset.RasterXSize == 256 * 2 ** LEVEL, "GDAL opens the WMTS at a level", dataset.RasterXSize)
        window = dataset.ReadRaster(256 * COLUMN, 256 * ROW, 256, 256)
        check(window == pixels(own), "GDAL's window of the WMTS is the map's tile", len(window))
    # Without the extent in metres GDAL 3.6 takes that of the map, which is in degrees, for metres.
    dataset = gdal.OpenEx(f"OGCAPI:{root}/ogc/World/map", gdal.OF_RASTER, open_options=[
        f"TILEMATRIX={LEVEL}", "CACHE=NO", f"MINX={-HALF}", f"MINY={-HALF}", f"MAXX={HALF}", f"MAXY={HALF}"])
    check(dataset.RasterXSize == 256 * 2 ** LEVEL, "GDAL opens the OGC tileset at a level", dataset.RasterXSize)
    window = dataset.ReadRaster(256 * COLUMN, 256 * ROW, 256, 256)
    check(window == pixels(own), "GDAL's window of the OGC tileset is the map's tile", len(window))
    dataset = None

    for document in (service + "/tilejson.json", root + "/ogc/World/map/tiles/WebMercatorQuad?f=tilejson"):
        template = json.loads(read(document))["tiles"][0]
        url = template.replace("{z}", str(LEVEL)).replace("{y}", str(ROW)).replace("{x}", str(COLUMN))
        check(read(url) == own, "TileJSON leads to the map's tile", template)

    application = start()
    layer = QgsRasterLayer(
        # Interpolated between pixels, as QGIS does with XYZ unasked: no window here has a tile's resolution.
        "SmoothPixmapTransform=1"
        "&crs=EPSG:3857&format=image/png&layers=World&styles=default&tileMatrixSet=GoogleMapsCompatible"
        f"&url={service}/WMTS/1.0.0/WMTSCapabilities.xml", "wmts", "wms")
    check(layer.isValid(), "QGIS opens the WMTS", layer.crs().authid())
    box = (WEST, NORTH - SIDE, WEST + SIDE, NORTH)
    tiles = QgsRasterLayer(
        f"type=xyz&zmin=0&zmax=23&url={service}/tile/{{z}}/{{y}}/{{x}}", "tiles", "wms")
    job, _ = render(layer, "EPSG:3857", box)
    expected, _ = render(tiles, "EPSG:3857", box)
    check(not job.errors() and not expected.errors(), "QGIS draws without an error",
          [error.message for error in job.errors()])
    picture, expected = job.renderedImage(), expected.renderedImage()
    colors = {picture.pixelColor(x, y).getRgb()[:3] for x in range(0, SIZE[0], 50) for y in range(0, SIZE[1], 50)}
    check(len(colors) > 3 and RED in colors, "QGIS draws something of the WMTS", len(colors))
    check(picture == expected, "QGIS draws the WMTS as the map's tiles, pixel by pixel", SIZE)
    cache.cleanup()
    finish(application)


if __name__ == "__main__":
    main()
