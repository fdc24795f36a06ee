#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Opens packages of tiles of a running site's map World through Debian's GDAL and QGIS, unmodified, and compares them
with the tiles that the site serves, pixel by pixel, and with the features that the map was made of.

usage: QT_QPA_PLATFORM=offscreen tile_packages.py http://HOST:PORT FOLDER world.gpkg

FOLDER holds pictures.mbtiles, pictures.gpkg (levels 0 to 3), vector.mbtiles (levels 0 to 4). Exits 1 with the first
answer that is wrong.
"""

import sys
import urllib.request

from osgeo import gdal, ogr, osr
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsMapRendererSequentialJob,
    QgsMapSettings,
    QgsRasterLayer,
    QgsRectangle,
    QgsVectorTileBasicRenderer,
    QgsVectorTileLayer,
    QgsWkbTypes,
)
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor

from qgis_session import check, finish, start

PICTURE_LEVEL, VECTOR_LEVEL = 3, 4
HALF = 20037508.342789244
# Half the diagonal of a step of 2/4096 of a tile, in metres, and a little.
STEP = 1.01 * 2 ** 0.5 * 2 * HALF / 2 ** VECTOR_LEVEL / 4096
# Attributes that are compared, by layer.
ATTRIBUTES = {
    "countries": ["name", "iso_a3", "continent", "population"],
    "cities": ["name", "country", "population", "timezone"],
}


def read(url):
    """The body at an address; empty where there is none."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def pixels(body):
    """The four bands of a picture; a colour without opacity is none."""
    gdal.FileFromMemBuffer("/vsimem/tile", body)
    return visible(gdal.Open("/vsimem/tile").ReadAsArray())


def visible(bands):
    """The bands with zeroes where nothing is seen."""
    bands[:, bands[3] == 0] = 0
    return bands


def compare_pictures(path, service):
    """Each level of a package of pictures, as GDAL reads it, against the map service's tiles."""
    for level in (0, PICTURE_LEVEL):
        dataset = gdal.OpenEx(path, gdal.OF_RASTER, open_options=[f"ZOOM_LEVEL={level}"])
        name = dataset.GetDriver().ShortName
        check((dataset.RasterXSize, dataset.RasterCount) == (256 << level, 4),
              f"GDAL opens level {level} as {name}", dataset.RasterXSize)
        check(osr.SpatialReference(dataset.GetProjection()).GetAuthorityCode(None) == "3857",
              "its reference", 3857)
        tiles = [(row, column) for row in range(1 << level) for column in range(1 << level)]
        same = sum(
            (visible(dataset.ReadAsArray(256 * column, 256 * row, 256, 256))
             == pixels(read(f"{service}/tile/{level}/{row}/{column}"))).all()
            for row, column in tiles)
        check(same == len(tiles), f"tiles of level {level} as they are served", same)


def sources(path, name):
    """A layer of the map's source in metres, by feature id: attributes and geometry."""
    dataset = ogr.Open(path)
    layer = dataset.GetLayer(name)
    features = {}
    for feature in layer:
        features[feature.GetFID()] = (
            [feature.GetField(field) for field in ATTRIBUTES[name]], feature.geometry().Clone())
    return features


def projected(geometry):
    """In metres of EPSG:3857, inside its square."""
    degrees, metres = osr.SpatialReference(), osr.SpatialReference()
    degrees.ImportFromEPSG(4326)
    metres.ImportFromEPSG(3857)
    for reference in (degrees, metres):
        reference.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    square = ogr.CreateGeometryFromWkt(
        "POLYGON((-180 -85.0511287,180 -85.0511287,180 85.0511287,-180 85.0511287,-180 -85.0511287))")
    geometry = geometry.Intersection(square)
    geometry.Transform(osr.CoordinateTransformation(degrees, metres))
    return geometry


def area(geometry):
    """Of its surfaces: what is clipped to a tile may be a line as well."""
    kind = ogr.GT_Flatten(geometry.GetGeometryType())
    if kind in (ogr.wkbMultiPolygon, ogr.wkbGeometryCollection):
        return sum(area(part) for part in geometry)
    return geometry.GetArea() if kind == ogr.wkbPolygon else 0


def compare_features(path, source):
    """The features of a package of vector tiles, as GDAL reads it, against the map's source."""
    dataset = gdal.OpenEx(path, gdal.OF_VECTOR, open_options=[f"ZOOM_LEVEL={VECTOR_LEVEL}"])
    check(dataset.GetLayerCount() == 3, f"GDAL opens it as {dataset.GetDriver().ShortName}",
          [dataset.GetLayer(number).GetName() for number in range(3)])
    for name, fields in ATTRIBUTES.items():
        expected = sources(source, name)
        found, areas, far = {}, {}, 0.0
        for feature in dataset.GetLayerByName(name):
            number = feature.GetField("mvt_id")
            values = [feature.GetField(field) for field in fields]
            if values != expected[number][0]:
                check(False, f"{name} {number} of the source is {expected[number][0]}", values)
            found[number] = values
            areas[number] = areas.get(number, 0) + area(feature.geometry())
            if name == "cities":
                place = feature.geometry().GetGeometryRef(0) or feature.geometry()
                far = max(far, place.Distance(projected(expected[number][1])))
        if name == "cities":
            check(set(found) == set(expected), "every city with its attributes", len(found))
            check(0 < far <= STEP, f"metres beside its source, at most {STEP:.0f}", round(far, 1))
            continue
        for number, (values, geometry) in expected.items():
            whole = area(projected(geometry))
            # An area smaller than this may lose much of itself to the steps of the grid.
            if whole > (100 * STEP) ** 2:
                ratio = areas.get(number, 0) / whole
                if not 0.97 < ratio < 1.03:
                    check(False, f"the area of {values[0]} against its source's", ratio)
        check(len(found) > 150, "countries with attributes and areas of the source", len(found))


def render(layer, size, window):
    """What QGIS draws of a layer on white."""
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setBackgroundColor(QColor("white"))
    settings.setOutputSize(QSize(size, size))
    settings.setDestinationCrs(QgsCoordinateReferenceSystem("EPSG:3857"))
    settings.setExtent(QgsRectangle(*window))
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    check(not job.errors(), "QGIS draws without an error", [error.message for error in job.errors()])
    return job.renderedImage()


def colors(image):
    """Number of colours in a picture."""
    return len({image.pixel(x, y) for x in range(image.width()) for y in range(image.height())})


def styled(uri):
    """A layer of vector tiles, each kind of geometry in one style."""
    layer = QgsVectorTileLayer(uri, "vector")
    check(layer.isValid(), "QGIS opens the vector tiles", uri.split("&")[0])
    styles = []
    for kind, color in ((QgsWkbTypes.PolygonGeometry, "green"), (QgsWkbTypes.PointGeometry, "blue")):
        # Fill, outline, its width, line, its width, marker, its outline, its size.
        style = QgsVectorTileBasicRenderer.simpleStyle(
            QColor(color), QColor("black"), 0.2, QColor(color), 0.2, QColor(color), QColor("black"), 1)
        styles += [one for one in style if one.geometryType() == kind]
    renderer = QgsVectorTileBasicRenderer()
    renderer.setStyles(styles)
    layer.setRenderer(renderer)
    return layer


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    root, folder, source = sys.argv[1].rstrip("/"), sys.argv[2], sys.argv[3]
    service = root + "/arcgis/rest/services/World/MapServer"
    vectors = root + "/arcgis/rest/services/World/VectorTileServer"
    gdal.UseExceptions()

    for name in ("pictures.mbtiles", "pictures.gpkg"):
        compare_pictures(f"{folder}/{name}", service)
    compare_features(f"{folder}/vector.mbtiles", source)

    application = start()
    # As many pixels as the tiles have, so that nothing is resampled: all of level 2.
    window, size = (-HALF, -HALF, HALF, HALF), 1024
    served = QgsRasterLayer(f"type=xyz&zmin=0&zmax=23&url={service}/tile/{{z}}/{{y}}/{{x}}", "served", "wms")
    package = QgsRasterLayer(f"type=mbtiles&url=file://{folder}/pictures.mbtiles", "package", "wms")
    check(package.isValid() and served.isValid(), "QGIS opens the pictures", package.crs().authid())
    expected, found = render(served, size, window), render(package, size, window)
    check(colors(expected) > 3, "colours of the pictures that are served", colors(expected))
    check(found == expected, "QGIS draws the package as what is served, pixel by pixel", size)

    package = styled(f"type=mbtiles&url={folder}/vector.mbtiles")
    live = styled(f"type=xyz&zmin=0&zmax={VECTOR_LEVEL}&url={vectors}/tile/{{z}}/{{y}}/{{x}}.pbf")
    check((package.sourceMinZoom(), package.sourceMaxZoom()) == (0, VECTOR_LEVEL),
          "QGIS reads the levels", package.sourceMaxZoom())
    expected, found = render(live, size, window), render(package, size, window)
    check(colors(expected) > 3, "colours of the vector tiles that are served", colors(expected))
    check(found == expected, "QGIS draws the package as what is served, pixel by pixel", size)
    # Brazil without a city, and the Atlantic; a pixel is the square's side through its size.
    for place, color in (((-6200000, -900000), "green"), ((-3000000, 3000000), "white")):
        x = int((place[0] + HALF) / (2 * HALF) * size)
        y = int((HALF - place[1]) / (2 * HALF) * size)
        check(found.pixelColor(x, y) == QColor(color), f"QGIS draws {place} {color}",
              found.pixelColor(x, y).name())
    finish(application)


if __name__ == "__main__":
    main()
