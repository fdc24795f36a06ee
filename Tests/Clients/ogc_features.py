#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Reads a running site's map Grid through OGC API - Features, by GDAL and QGIS, unmodified.

usage: ogc_features.py make SOURCE
       QT_QPA_PLATFORM=offscreen ogc_features.py http://HOST:PORT/ogc SOURCE

The first writes what is then imported as the map Grid: 5,000 points in EPSG:3035, whose authority puts
northing first. The second exits 1 with the first answer that is wrong.
"""

import json
import math
import os
import random
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

from osgeo import gdal, ogr, osr

COUNT = 5_000
PREFIX = "http://www.opengis.net/def/crs/"


def check(condition, what, found=""):
    """Ends the script unless the condition holds."""
    if not condition:
        print(f"ogc: {what}: found {found!r}", file=sys.stderr, flush=True)
        # QGIS' objects are not torn down in order by the interpreter: leave at once.
        os._exit(1)
    print(f"ogc: {what}: {found}")


def make(path):
    """Points in Europe with a name, a number and a class."""
    random.seed(5_000)
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(3035)
    source = ogr.GetDriverByName("GPKG").CreateDataSource(path)
    layer = source.CreateLayer("grid", reference, ogr.wkbPoint)
    layer.CreateField(ogr.FieldDefn("name", ogr.OFTString))
    layer.CreateField(ogr.FieldDefn("number", ogr.OFTInteger))
    layer.CreateField(ogr.FieldDefn("class", ogr.OFTString))
    layer.StartTransaction()
    for number in range(COUNT):
        feature = ogr.Feature(layer.GetLayerDefn())
        feature.SetField("name", f"point {number} 'é'")
        feature.SetField("number", number)
        feature.SetField("class", "abcdefg"[random.randrange(7)])
        point = ogr.Geometry(ogr.wkbPoint)
        point.AddPoint_2D(random.uniform(3.0e6, 6.0e6), random.uniform(1.6e6, 4.8e6))
        feature.SetGeometry(point)
        layer.CreateFeature(feature)
    layer.CommitTransaction()


def read_source(path, wkid, order=osr.OAMS_TRADITIONAL_GIS_ORDER):
    """Name to (x, y, class) of every feature, in a reference."""
    source = ogr.Open(path)
    layer = source.GetLayer(0)
    target = osr.SpatialReference()
    target.ImportFromEPSG(wkid)
    target.SetAxisMappingStrategy(order)
    own = layer.GetSpatialRef().Clone()
    own.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    transform = osr.CoordinateTransformation(own, target)
    features = {}
    for feature in layer:
        geometry = feature.GetGeometryRef()
        x, y, _ = transform.TransformPoint(geometry.GetX(), geometry.GetY())
        features[feature.GetField("name")] = (x, y, feature.GetField("class"))
    return features


def is_same(found, expected, tolerance):
    """Whether two sets of features have the same names, places and classes."""
    return found.keys() == expected.keys() and all(
        math.dist(found[name][:2], expected[name][:2]) <= tolerance
        and found[name][2] == expected[name][2] for name in expected)


def inside(features, box):
    """The features in a box, as QGIS and GDAL ask for them."""
    west, south, east, north = box
    return {name: f for name, f in features.items()
            if west <= f[0] <= east and south <= f[1] <= north}


BOX = (8.0, 47.0, 13.5, 51.25)


def fetch(url):
    """Status, headers and JSON of a resource."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.headers, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


def through_links(root, path):
    """Pages joined by following the links alone, in several references."""
    for code, wkid, order, tolerance in [
        ("OGC/1.3/CRS84", 4326, osr.OAMS_TRADITIONAL_GIS_ORDER, 1e-7),
        ("EPSG/0/4326", 4326, osr.OAMS_AUTHORITY_COMPLIANT, 1e-7),
        ("EPSG/0/3857", 3857, osr.OAMS_AUTHORITY_COMPLIANT, 1e-2),
        ("EPSG/0/3035", 3035, osr.OAMS_AUTHORITY_COMPLIANT, 1e-2),
    ]:
        url = (f"{root}/collections/Grid.0/items?limit=1234&crs="
               + urllib.parse.quote(PREFIX + code, safe=""))
        found, pages = {}, 0
        while url:
            status, headers, page = fetch(url)
            if status != 200 or headers["Content-Crs"] != f"<{PREFIX}{code}>":
                check(False, f"{code}: status and Content-Crs", (status, headers["Content-Crs"]))
            if page["numberMatched"] != COUNT or page["numberReturned"] != len(page["features"]):
                check(False, f"{code}: the numbers of the page", page["numberReturned"])
            for feature in page["features"]:
                found[feature["properties"]["name"]] = (
                    *feature["geometry"]["coordinates"], feature["properties"]["class"])
            pages += 1
            url = next((link["href"] for link in page["links"] if link["rel"] == "next"), None)
        check(pages == 5 and is_same(found, read_source(path, wkid, order), tolerance),
              f"{code}: pages joined are the source, axes in the authority's order",
              (pages, len(found)))

    # The same box with its axes in four orders finds the same features.
    corners = read_source(path, 4326)
    expected = set(inside(corners, BOX))
    west, south, east, north = BOX
    for box, code in [((west, south, east, north), None),
                      ((south, west, north, east), "EPSG/0/4326")]:
        query = {"bbox": ",".join(map(str, box)), "limit": "2000"}
        if code:
            query["bbox-crs"] = PREFIX + code
        _, _, page = fetch(f"{root}/collections/Grid.0/items?" + urllib.parse.urlencode(query))
        names = {feature["properties"]["name"] for feature in page["features"]}
        check(names == expected, f"bbox with bbox-crs={code}", len(names))


def through_gdal(root, path):
    """GDAL's driver OAPIF."""
    expected = read_source(path, 4326)
    source = gdal.OpenEx(f"OAPIF:{root}", gdal.OF_VECTOR, open_options=["PAGE_SIZE=700"])
    check(source is not None, "GDAL opens the landing page", root)
    layer = source.GetLayerByName("Grid.0")

    def found():
        return {f.GetField("name"): (f.GetGeometryRef().GetX(), f.GetGeometryRef().GetY(),
                                     f.GetField("class")) for f in layer}

    check(layer.GetFeatureCount() == COUNT, "GDAL counts", layer.GetFeatureCount())
    everything = found()
    check(is_same(everything, expected, 1e-7), "GDAL's pages joined are the source",
          len(everything))
    layer.SetSpatialFilterRect(*BOX)
    some = found()
    check(is_same(some, inside(expected, BOX), 1e-7), "GDAL reads by extent", len(some))
    layer.SetSpatialFilter(None)
    layer.SetAttributeFilter("class = 'c'")
    some = found()
    check(is_same(some, {n: f for n, f in expected.items() if f[2] == "c"}, 1e-7),
          "GDAL reads by a filter", len(some))
    layer.SetAttributeFilter("name = 'point 7 ''é'''")
    check(list(found()) == ["point 7 'é'"], "GDAL filters by a name with quotes", 1)

    said = subprocess.run(["ogrinfo", "-ro", "-so", f"OAPIF:{root}", "Grid.0"], check=True, text=True,
                          capture_output=True).stdout
    check(f"Feature Count: {COUNT}" in said, "ogrinfo counts", COUNT)


def through_qgis(root, path):
    """QGIS' provider OAPIF."""
    from qgis.core import QgsApplication, QgsFeatureRequest, QgsRectangle, QgsVectorLayer

    application = QgsApplication([], True)
    application.initQgis()
    expected = read_source(path, 4326)

    def layer_of(clause=""):
        sql = f" sql={clause}" if clause else ""
        layer = QgsVectorLayer(f"url='{root}' typename='Grid.0' pageSize='700'{sql}", "Grid", "OAPIF")
        check(layer.isValid(), "QGIS opens the collection", layer.crs().authid())
        return layer

    def found(layer, request=None):
        request = request or QgsFeatureRequest()
        return {str(f.attribute("name")): (f.geometry().asPoint().x(), f.geometry().asPoint().y(),
                                           str(f.attribute("class")))
                for f in layer.getFeatures(request)}

    layer = layer_of()
    everything = found(layer)
    check(is_same(everything, expected, 1e-7), "QGIS reads every feature", len(everything))
    some = found(layer_of(), QgsFeatureRequest().setFilterRect(QgsRectangle(*BOX)))
    check(is_same(some, inside(expected, BOX), 1e-7), "QGIS reads by extent", len(some))
    some = found(layer_of(), QgsFeatureRequest().setFilterExpression("\"class\" = 'c'"))
    check(is_same(some, {n: f for n, f in expected.items() if f[2] == "c"}, 1e-7),
          "QGIS reads by a filter", len(some))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[1] == "make":
        return make(sys.argv[2])
    root, path = sys.argv[1].rstrip("/"), sys.argv[2]
    through_links(root, path)
    through_gdal(root, path)
    through_qgis(root, path)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
