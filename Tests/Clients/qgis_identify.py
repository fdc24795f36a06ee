#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Asks a running site's map World what is in Paris, and for its picture, through QGIS and GDAL, unmodified.

usage: QT_QPA_PLATFORM=offscreen qgis_identify.py http://HOST:PORT/arcgis/rest/services

Exits 1 with the first answer that is wrong. The map holds deploy/sample/world.gpkg.
"""

import base64
import sys

from osgeo import gdal
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsPointXY,
    QgsProject,
    QgsRaster,
    QgsRectangle,
)
from qgis.gui import QgsMapCanvas, QgsMapToolIdentify
from qgis.PyQt.QtGui import QImage

from qgis_session import RED, SIZE, check, drawn, fetch, finish, map_layer, start

PARIS = (2.3488, 48.8534)
WINDOW = (-5.0, 41.0, 10.0, 52.0)
BISCAY = (-3.5, 45.5)


def open_layer(url, number=None):
    """A layer of QGIS' ArcGIS map server provider: one layer of the service, or all of it."""
    layer = map_layer(url, number)
    check(layer.isValid(), f"the service is opened (layer {number})", layer.crs().authid())
    return layer


def names(identified):
    """The values of the field `name` in a provider's answer."""
    found = []
    for stores in identified.results().values():
        for store in stores:
            features = store.features()
            for feature in features:
                found.append(str(feature.attribute("name")))
    return found


def ask(layer, point, window, size):
    """What the provider says is there."""
    answer = layer.dataProvider().identify(
        QgsPointXY(*point), QgsRaster.IdentifyFormatFeature, QgsRectangle(*window), *size, 96)
    check(answer.isValid(), "the provider understands the answer")
    return answer


def through_the_tool(layer, crs, place=PARIS):
    """What the identify tool of the map window shows for a click in the middle of a canvas in a reference.

    The values of `name`, in the order shown.
    """
    canvas = QgsMapCanvas()
    canvas.resize(400, 300)
    reference = QgsCoordinateReferenceSystem(crs)
    canvas.setDestinationCrs(reference)
    canvas.setLayers([layer])
    into = QgsCoordinateTransform(
        QgsCoordinateReferenceSystem("EPSG:4326"), reference, QgsProject.instance())
    canvas.setExtent(into.transformBoundingBox(
        QgsRectangle(place[0] - 2, place[1] - 1.5, place[0] + 2, place[1] + 1.5)))
    tool = QgsMapToolIdentify(canvas)
    click = canvas.getCoordinateTransform().transform(into.transform(QgsPointXY(*place)))
    results = tool.identify(
        int(click.x()), int(click.y()), [layer], QgsMapToolIdentify.TopDownAll)
    return [str(result.mFeature.attribute("name")) for result in results]


def open_gdal(url, numbers):
    """GDAL's ArcGIS driver on the window."""
    shown = ",".join(str(number) for number in numbers)
    document = f"""<GDAL_WMS><Service name="AGS"><ServerUrl>{url}</ServerUrl><BBoxOrder>xyXY</BBoxOrder>
        <SRS>EPSG:4326</SRS><ImageFormat>png32</ImageFormat><Transparent>TRUE</Transparent>
        <Layers>show:{shown}</Layers><IdentificationTolerance>5</IdentificationTolerance></Service>
        <DataWindow><UpperLeftX>-5</UpperLeftX><UpperLeftY>52</UpperLeftY><LowerRightX>10</LowerRightX>
        <LowerRightY>41</LowerRightY><SizeX>1024</SizeX><SizeY>768</SizeY></DataWindow>
        <BandsCount>4</BandsCount></GDAL_WMS>"""
    gdal.UseExceptions()
    return gdal.Open(document)


def gdal_pixel(place):
    """Where a place lies in GDAL's window."""
    return int((place[0] + 5) / 15 * 1024), int((52 - place[1]) / 11 * 768)


def through_gdal(url, numbers):
    """The body that GDAL's ArcGIS driver fetched for Paris."""
    dataset = open_gdal(url, numbers)
    column, row = gdal_pixel(PARIS)
    return dataset.GetRasterBand(1).GetMetadataItem(f"Pixel_{column}_{row}", "LocationInfo") or ""


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = sys.argv[1].rstrip("/")
    url = root + "/World/MapServer"

    catalog = fetch(root)
    check({"name": "World", "type": "MapServer"} in catalog["services"],
          "the catalog lists the map", catalog["services"])
    service = fetch(url)
    numbers = {layer["name"]: layer["id"] for layer in service["layers"]}
    check({"countries", "states_provinces", "cities"} <= set(numbers),
          "the map has its layers", numbers)

    application = start()

    countries = open_layer(url, numbers["countries"])
    check(names(ask(countries, PARIS, WINDOW, SIZE)) == ["France"], "Paris is in France", "France")
    check(names(ask(countries, (-40.0, 30.0), (-45, 25, -35, 35), SIZE)) == [],
          "the ocean is no country")
    pixel = (PARIS[0] - 0.01, PARIS[1] - 0.01, PARIS[0] + 0.01, PARIS[1] + 0.01)
    check(names(ask(countries, PARIS, pixel, (1, 1))) == ["France"],
          "a window of one pixel does not limit the search", "France")

    answer = ask(countries, PARIS, WINDOW, SIZE)
    store = next(iter(answer.results().values()))[0]
    feature = store.features()[0]
    geometry = feature.geometry()
    check(geometry.contains(QgsPointXY(*PARIS)), "the polygon that comes back contains the point",
          f"{geometry.constGet().nCoordinates()} vertices in {store.crs().authid()}")
    check(store.crs().authid() == "EPSG:4326", "the geometry says its reference",
          store.crs().authid())

    whole = open_layer(url)
    found = names(ask(whole, PARIS, WINDOW, SIZE))
    check("Paris" in found and "France" in found, "the whole service answers layer by layer", found)

    # The last is not the map's: QGIS asks in its own way for a canvas that is in another reference.
    for crs in ("EPSG:4326", "EPSG:3857", "EPSG:3035"):
        found = through_the_tool(countries, crs)
        check(found == ["France"], f"the identify tool shows the country on a canvas in {crs}", found)
        found = through_the_tool(whole, crs)
        check(found[0] == "Paris" and found[-1] == "France",
              f"the identify tool goes through the whole service on a canvas in {crs}", found)
        found = through_the_tool(whole, crs, (-40.0, 30.0))
        check(found == [], f"the identify tool shows nothing at sea on a canvas in {crs}", found)

    body = through_gdal(url, numbers.values())
    check('"results"' in body and "France" in body, "GDAL's driver passes the answer on",
          f"{len(body)} characters")

    check("Map" in service["capabilities"].split(","), "the service says that it draws",
          service["capabilities"])
    # A place in France without a city on it.
    land = (2.0, 47.6)
    color = drawn(countries, "EPSG:4326", WINDOW)
    check(color(land) != RED, "QGIS shows a country", color(land))
    check(color(BISCAY) == RED, "the sea is transparent", color(BISCAY))
    whole_color = drawn(whole, "EPSG:4326", WINDOW)
    check(whole_color(land) not in (RED, color(land)), "the whole service shows what lies above, too",
          whole_color(land))
    meters = drawn(countries, "EPSG:3857", (-560000, 5010000, 1110000, 6800000))
    check(meters((222639, 6041551)) != RED, "a canvas in Web Mercator shows the country",
          meters((222639, 6041551)))

    dataset = open_gdal(url, [numbers["countries"]])
    alpha = dataset.GetRasterBand(4)
    found = [alpha.ReadRaster(*gdal_pixel(place), 1, 1)[0] for place in (land, BISCAY)]
    check(found[0] > 0 and found[1] == 0, "GDAL reads the picture's alpha on land and at sea", found)

    for entry in fetch(url + "/legend")["layers"]:
        image = QImage.fromData(base64.b64decode(entry["legend"][0]["imageData"]), "PNG")
        check((image.width(), image.height()) == (20, 20),
              f"the legend of {entry['layerName']} is a picture", "20 x 20")

    finish(application)


if __name__ == "__main__":
    main()
