#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Reads layers that lie on another server through a running site, by GDAL and QGIS, unmodified.

usage: QT_QPA_PLATFORM=offscreen remote_features.py http://HOST:PORT http://FAR:PORT

The map World lies on both; the near site's map Mirror has its layers cities and countries from the far one.
Exits 1 with the first answer in which Mirror differs from the near site's own World.
"""

import sys
import time

from osgeo import gdal
from qgis.core import QgsFeatureRequest, QgsRectangle, QgsVectorLayer

from qgis_session import check, feature_layer, fetch, finish, start

LAYERS = ("cities", "countries")
PAGE = 300
WINDOW = (-5.0, 36.0, 20.0, 55.0)


def numbers(root, name):
    """The layers of a map's feature service by name."""
    layers = fetch(f"{root}/arcgis/rest/services/{name}/FeatureServer")["layers"]
    return {layer["name"]: layer["id"] for layer in layers}


def rows_of(layer):
    """Every feature that GDAL reads of a layer: its attributes by name, and its geometry to the bit."""
    rows = []
    for feature in layer:
        geometry = feature.GetGeometryRef()
        rows.append((sorted(feature.items().items(), key=lambda item: item[0]),
                     geometry.ExportToIsoWkb().hex() if geometry else None))
    return sorted(rows, key=repr)


def compare(what, local, remote, least=1):
    """Checks that two lists hold the same, and something."""
    different = next(((a, b) for a, b in zip(local, remote) if a != b), None)
    check(different is None and len(local) == len(remote) >= least, what,
          len(remote) if different is None else repr(different)[:600])


def esri_layer(root, name, number, clause):
    """A layer as GDAL's driver for Esri's JSON opens it; it asks page after page."""
    url = (f"ESRIJSON:{root}/arcgis/rest/services/{name}/FeatureServer/{number}/query?where={clause}"
           f"&outFields=*&orderByFields=OBJECTID+ASC&f=json&resultRecordCount={PAGE}")
    source = gdal.OpenEx(url, gdal.OF_VECTOR)
    check(source is not None, "GDAL opens Esri's JSON", url)
    return source


def through_esri_json(root, local, remote):
    """GDAL's driver ESRIJSON."""
    for layer in LAYERS:
        for clause in ("OBJECTID%3E0", "name+LIKE+%27S%25%27"):
            sources = [esri_layer(root, name, ids[layer], clause)
                       for name, ids in (("World", local), ("Mirror", remote))]
            near, far = (source.GetLayer(0) for source in sources)
            check(near.GetFeatureCount() == far.GetFeatureCount(), f"ESRIJSON counts {layer}",
                  (near.GetFeatureCount(), far.GetFeatureCount()))
            compare(f"ESRIJSON reads {layer} where {clause}", rows_of(near), rows_of(far))
            check(near.GetExtent() == far.GetExtent(), f"ESRIJSON asks for the extent of {layer}",
                  far.GetExtent())


def through_oapif(root, local, remote):
    """GDAL's driver for OGC API - Features."""
    source = gdal.OpenEx(f"OAPIF:{root}/ogc", gdal.OF_VECTOR, open_options=[f"PAGE_SIZE={PAGE}"])
    check(source is not None, "GDAL opens the landing page", root)
    for layer in LAYERS:
        near = source.GetLayerByName(f"World.{local[layer]}")
        far = source.GetLayerByName(f"Mirror.{remote[layer]}")
        check(near.GetFeatureCount() == far.GetFeatureCount() > 100, f"OAPIF counts {layer}",
              far.GetFeatureCount())
        compare(f"OAPIF reads {layer}", rows_of(near), rows_of(far), near.GetFeatureCount())
        for each in (near, far):
            each.SetSpatialFilterRect(*WINDOW)
        compare(f"OAPIF reads {layer} by extent", rows_of(near), rows_of(far))
        for each in (near, far):
            each.SetSpatialFilter(None)
            each.SetAttributeFilter("name = 'Luxembourg'")
        compare(f"OAPIF reads {layer} by a filter", rows_of(near), rows_of(far))


def qgis_rows(layer, request=None):
    """Every feature that QGIS reads of a layer: its attributes in order, and its geometry."""
    request = request or QgsFeatureRequest()
    return sorted(([repr(value) for value in feature.attributes()],
                   bytes(feature.geometry().asWkb()).hex()) for feature in layer.getFeatures(request))


def through_qgis(root, local, remote):
    """QGIS' providers for ArcGIS feature services and OGC API - Features."""
    def esri(name, number):
        return feature_layer(f"{root}/arcgis/rest/services/{name}/FeatureServer/{number}")

    def ogc(name, number):
        uri = f"url='{root}/ogc' typename='{name}.{number}' pageSize='{PAGE}'"
        return QgsVectorLayer(uri, name, "OAPIF")

    for layer in LAYERS:
        for provider, opened in (("feature service", esri), ("OAPIF", ogc)):
            near, far = opened("World", local[layer]), opened("Mirror", remote[layer])
            check(near.isValid() and far.isValid(), f"QGIS opens {layer}, {provider}",
                  far.crs().authid())
            check([field.name() for field in near.fields()]
                  == [field.name() for field in far.fields()],
                  f"QGIS sees the fields of {layer}, {provider}",
                  [field.name() for field in far.fields()])
            compare(f"QGIS reads {layer}, {provider}", qgis_rows(near), qgis_rows(far), 100)
            check(near.featureCount() == far.featureCount(), f"QGIS counts {layer}, {provider}",
                  (near.featureCount(), far.featureCount()))
            window = QgsFeatureRequest().setFilterRect(QgsRectangle(*WINDOW))
            # Layers of their own: what was read above is kept by the others.
            compare(f"QGIS reads {layer} by extent, {provider}",
                    qgis_rows(opened("World", local[layer]), window),
                    qgis_rows(opened("Mirror", remote[layer]), window))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, far = (argument.rstrip("/") for argument in sys.argv[1:])
    local, remote = numbers(root, "World"), numbers(root, "Mirror")
    end = time.monotonic() + 30
    while not set(LAYERS) <= set(remote) and time.monotonic() < end:
        # A layer is listed once it has been loaded.
        time.sleep(0.1)
        remote = numbers(root, "Mirror")
    check(set(LAYERS) <= set(remote), "the catalog of Mirror has both layers", sorted(remote))
    # What makes them remote: the far server is asked.
    before = requests(far)

    through_esri_json(root, local, remote)
    through_oapif(root, local, remote)
    application = start()
    through_qgis(root, local, remote)

    check(requests(far) > before + 10, "the far server was asked", requests(far) - before)
    finish(application)


def requests(far):
    """How many queries a gateway has answered so far."""
    query = fetch(far + "/healthz")["query"]
    return query["answeredAtOnce"] + query["sentToWorkers"]


if __name__ == "__main__":
    main()
