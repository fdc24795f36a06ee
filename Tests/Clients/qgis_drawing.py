#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Asks a running site's map World how it is drawn, and for its tiles, through QGIS and GDAL, unmodified.

usage: QT_QPA_PLATFORM=offscreen qgis_drawing.py http://HOST:PORT/arcgis/rest/services

Exits 1 with the first answer that is wrong. The map holds deploy/sample/world.gpkg, drawn by
deploy/sample/drawings, its provinces hidden.
"""

import sys
import tempfile

from osgeo import gdal
from qgis.core import QgsRasterLayer, QgsVectorLayer

from qgis_session import RED, check, drawn, fetch, finish, map_layer, start

WINDOW = (-1500000, 4500000, 3500000, 8250000)
# Metres of EPSG:3857: in France without a city, and in the Bay of Biscay.
LAND, SEA = (222639, 6041551), (-389618, 5700582)


def near(one, two):
    """Whether two colours are the same, but for what resampling does."""
    return all(abs(a - b) <= 8 for a, b in zip(one, two))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = sys.argv[1].rstrip("/") + "/World"
    drawing = fetch(root + "/FeatureServer/0")["drawingInfo"]
    infos = drawing["renderer"]["uniqueValueInfos"]

    application = start()

    countries = QgsVectorLayer(
        f"crs='EPSG:4326' url='{root}/FeatureServer/0'", "countries", "arcgisfeatureserver")
    check(countries.isValid(), "the feature layer is opened", countries.crs().authid())
    renderer = countries.renderer()
    check(renderer.type() == "categorizedSymbol", "QGIS takes the renderer", renderer.type())
    categories = {each.value(): each for each in renderer.categories()}
    for info in infos:
        category = categories.get(info["value"])
        color = category and category.symbol().color().getRgb()[:3]
        check(color == tuple(info["symbol"]["color"][:3]) and category.label() == info["label"],
              f"the category {info['value']} has its colour and label", color)
    check(countries.labelsEnabled(), "QGIS takes the labels", countries.labelsEnabled())

    service = map_layer(root + "/MapServer")
    check(service.isValid(), "the map service is opened beside its tiles", service.crs().authid())
    picture = drawn(service, "EPSG:3857", WINDOW)
    europe = next(info["symbol"]["color"][:3] for info in infos if info["value"] == "EU")
    check(near(picture(LAND), europe), "the map service shows the colour of Europe", picture(LAND))
    check(picture(SEA) == RED, "the sea is clear", picture(SEA))

    template = f"type=xyz&zmin=0&zmax=23&url={root}/MapServer/tile/{{z}}/{{y}}/{{x}}"
    tiles = QgsRasterLayer(template, "tiles", "wms")
    check(tiles.isValid(), "the tiles are opened", tiles.crs().authid())
    mosaic = drawn(tiles, "EPSG:3857", WINDOW)
    check(near(mosaic(LAND), europe), "tiles show the colour of Europe", mosaic(LAND))
    check(mosaic(SEA) == RED, "the sea is clear on tiles", mosaic(SEA))

    gdal.UseExceptions()
    cache = tempfile.TemporaryDirectory()
    gdal.SetConfigOption("GDAL_DEFAULT_WMS_CACHE_PATH", cache.name)
    dataset = gdal.Open(root + "/MapServer?f=json&pretty=true")
    check(dataset.GetDriver().ShortName == "WMS" and dataset.RasterXSize > 1 << 20,
          "GDAL opens the map as tiles", dataset.RasterXSize)
    window = gdal.Translate(
        "", dataset, format="MEM", width=512, height=384,
        projWin=(WINDOW[0], WINDOW[3], WINDOW[2], WINDOW[1]))
    column = int((LAND[0] - WINDOW[0]) / (WINDOW[2] - WINDOW[0]) * 512)
    row = int((WINDOW[3] - LAND[1]) / (WINDOW[3] - WINDOW[1]) * 384)
    # The middle of the shades around: borders, markers and letters are thinner than that.
    found = [sorted(window.GetRasterBand(band).ReadRaster(column - 7, row - 7, 15, 15))[112]
             for band in (1, 2, 3)]
    check(near(found, europe), "GDAL reads the colour of Europe from tiles", found)

    dataset = None
    cache.cleanup()
    finish(application)


if __name__ == "__main__":
    main()
