#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Reads a running site's map World as features, through GDAL and QGIS, unmodified.

usage: QT_QPA_PLATFORM=offscreen qgis_features.py http://HOST:PORT/arcgis/rest/services SOURCE

Exits 1 with the first answer that is wrong. SOURCE is what the map holds, deploy/sample/world.gpkg.
"""

import sys

from osgeo import gdal, ogr
from qgis.core import QgsFeatureRequest, QgsPointXY, QgsRectangle

from qgis_session import check, feature_layer, fetch, finish, start


def source_names(path, name):
    """The values of `name` in a layer of the file, sorted."""
    source = ogr.Open(path)
    return sorted(feature.GetField("name") or "" for feature in source.GetLayerByName(name))


def through_gdal(service, number, expected):
    """Pages of 500 by GDAL's driver for Esri's JSON, which joins them."""
    url = (f"ESRIJSON:{service}/{number}/query?where=OBJECTID%3E0&outFields=*"
           "&orderByFields=OBJECTID+ASC&f=json&resultRecordCount=500")
    source = gdal.OpenEx(url, gdal.OF_VECTOR)
    check(source is not None, "GDAL opens the layer", url)
    layer = source.GetLayer(0)
    count = layer.GetFeatureCount()
    check(count == len(expected), "GDAL asks for the number", count)
    features = [feature.Clone() for feature in layer]
    names = sorted(feature.GetField("name") or "" for feature in features)
    check(names == expected, "GDAL's pages joined are the whole layer", len(names))
    check(all(feature.GetGeometryRef() is not None for feature in features),
          "each has its geometry", len(features))
    west, east, south, north = layer.GetExtent()
    check(-180 <= west < east <= 180 and -90 <= south < north <= 90, "GDAL asks for the extent",
          (west, east, south, north))


def open_layer(service, number):
    """A layer of QGIS' ArcGIS feature server provider."""
    layer = feature_layer(f"{service}/{number}")
    check(layer.isValid(), f"QGIS opens {service.rsplit('/', 1)[1]}/{number}", layer.crs().authid())
    return layer


def through_qgis(service, countries, cities, expected):
    """What QGIS' provider reads: all of it, and what lies in a rectangle."""
    layer = open_layer(service, cities)
    check(layer.featureCount() == len(expected), "QGIS counts", layer.featureCount())
    names = sorted(str(feature.attribute("name") or "") for feature in layer.getFeatures())
    check(names == expected, "QGIS reads every feature", len(names))
    window = QgsRectangle(2.0, 48.5, 2.7, 49.2)
    inside = [str(feature.attribute("name"))
              for feature in layer.getFeatures(QgsFeatureRequest().setFilterRect(window))]
    check("Paris" in inside and len(inside) < 20, "QGIS reads what lies in a rectangle", inside)

    polygons = open_layer(service, countries)
    paris = QgsPointXY(2.3488, 48.8534)
    holders = [str(feature.attribute("name")) for feature in polygons.getFeatures()
               if feature.geometry().contains(paris)]
    check(holders == ["France"], "QGIS reads polygons, and one of them holds Paris", holders)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, path = sys.argv[1].rstrip("/"), sys.argv[2]
    service = root + "/World/FeatureServer"
    catalog = fetch(root)
    check({"name": "World", "type": "FeatureServer"} in catalog["services"],
          "the catalog lists the features", catalog["services"])
    numbers = {layer["name"]: layer["id"] for layer in fetch(service)["layers"]}
    cities = source_names(path, "cities")

    through_gdal(service, numbers["cities"], cities)

    application = start()
    through_qgis(service, numbers["countries"], numbers["cities"], cities)
    through_qgis(root + "/World/MapServer", numbers["countries"], numbers["cities"], cities)

    finish(application)


if __name__ == "__main__":
    main()
