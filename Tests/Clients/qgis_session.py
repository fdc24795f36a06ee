# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""QGIS without a window, as the clients' scripts use it: how it starts, opens layers, draws and ends."""

import json
import os
import sys
import urllib.request

from qgis.core import (
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsDataSourceUri,
    QgsMapRendererSequentialJob,
    QgsMapSettings,
    QgsPointXY,
    QgsRasterLayer,
    QgsRectangle,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor

SIZE = (800, 600)
RED = (255, 0, 0)


def check(condition, what, found=""):
    """Ends the script unless the condition holds."""
    if not condition:
        print(f"QGIS: {what}: found {found!r}", file=sys.stderr, flush=True)
        # QGIS' objects are not torn down in order by the interpreter: leave at once.
        os._exit(1)
    print(f"QGIS: {what}: {found}")


def start():
    """QGIS with widgets; the caller keeps what is returned."""
    application = QgsApplication([], True)
    application.initQgis()
    return application


def finish(application):
    """Ends the script, well; what `start` returned has been kept until now."""
    application.processEvents()
    sys.stdout.flush()
    os._exit(0)


def fetch(url):
    """The JSON of a resource, by Python's own HTTP."""
    with urllib.request.urlopen(url + "?f=json", timeout=20) as answer:
        return json.load(answer)


def map_layer(url, number=None, authcfg=None):
    """A layer of QGIS' ArcGIS map server provider, valid or not: one of the service, or all of it."""
    uri = QgsDataSourceUri()
    uri.setParam("url", url)
    if number is not None:
        uri.setParam("layer", str(number))
    uri.setParam("format", "PNG32")
    if authcfg:
        uri.setAuthConfigId(authcfg)
    return QgsRasterLayer(uri.uri(False), "World", "arcgismapserver")


def feature_layer(url, authcfg=None):
    """A layer of QGIS' ArcGIS feature server provider, valid or not."""
    uri = QgsDataSourceUri()
    uri.setParam("url", url)
    if authcfg:
        uri.setAuthConfigId(authcfg)
    return QgsVectorLayer(uri.uri(False), "World", "arcgisfeatureserver")


def render(layer, crs, window):
    """Has QGIS draw the layer on a red canvas of SIZE; the job that has ended, and its settings."""
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setBackgroundColor(QColor(*RED))
    settings.setOutputSize(QSize(*SIZE))
    settings.setDestinationCrs(QgsCoordinateReferenceSystem(crs))
    settings.setExtent(QgsRectangle(*window))
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    return job, settings


def drawn(layer, crs, window):
    """What QGIS puts on the canvas, as a function from a place in the window to a colour."""
    job, settings = render(layer, crs, window)
    check(not job.errors(), "QGIS draws without an error", [error.message for error in job.errors()])
    image, pixels = job.renderedImage(), settings.mapToPixel()

    def color(place):
        pixel = pixels.transform(QgsPointXY(*place))
        return image.pixelColor(int(pixel.x()), int(pixel.y())).getRgb()[:3]

    return color
