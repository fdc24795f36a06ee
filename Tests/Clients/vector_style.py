#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Reads the style of a running site's map World, its glyphs, symbols and tiles by readers of its own, and has QGIS and
MapLibre, in headless Chromium, both unmodified, draw the map by them.

usage: QT_QPA_PLATFORM=offscreen vector_style.py http://HOST:PORT [--maplibre FOLDER] [--pictures FOLDER]

The first folder has maplibre-gl.js and maplibre-gl.css; without it MapLibre is not asked. Exits 1 with the first answer that is wrong. The map holds
deploy/sample/world.gpkg, its countries and cities drawn by deploy/sample/drawings, its provinces hidden. The second
folder is for what MapLibre, QGIS and the map service draw of the same ground.
"""

import argparse
import http.server
import json
import math
import re
import struct
import threading
import urllib.error
import urllib.parse
import urllib.request

from osgeo import gdal, ogr
from qgis.core import (
    QgsMapBoxGlStyleConversionContext,
    QgsMapBoxGlStyleConverter,
    QgsRectangle,
    QgsVectorTileLayer,
)
from qgis.PyQt.QtGui import QColor, QImage, QPainter

from qgis_session import RED, SIZE, check, finish, render, start

# Europe, in degrees, and a zoom of tiles of 512 pixels.
CENTER, ZOOM = (10, 50), 4
# In the middle of a country of each continent, without a city.
CONTINENTS = {"EU": (101.0, 66.5), "AS": (96.5, 36.0), "AF": (2.6, 27.4), "NA": (-105.9, 42.9), "SA": (-55.5, -12.5),
              "OC": (134.5, -24.9)}
SEA = (-30.0, 30.0)
CAPITAL, CITY = (2.333, 48.869), (-1.538, 47.210)

# The style specification 8, as far as the styles of a site use it: what layers may have, and of which form.
COLOR, NUMBER, TEXT, BOOL, ANY = "color", (int, float), str, bool, None
LAYOUT = {
    "symbol": {
        "icon-image": TEXT, "icon-allow-overlap": BOOL, "icon-ignore-placement": BOOL, "text-field": ANY,
        "text-font": [TEXT], "text-size": NUMBER, "text-max-width": NUMBER, "text-line-height": NUMBER,
        "text-anchor": {"center", "left", "right", "top", "bottom", "top-left", "top-right", "bottom-left",
                        "bottom-right"},
        "text-variable-anchor": [TEXT], "text-radial-offset": NUMBER, "text-offset": [NUMBER],
        "text-justify": {"auto", "left", "center", "right"}, "symbol-placement": {"point", "line", "line-center"},
    },
}
PAINT = {
    "fill": {"fill-color": COLOR, "fill-opacity": NUMBER, "fill-pattern": TEXT},
    "line": {"line-color": COLOR, "line-width": NUMBER, "line-opacity": NUMBER, "line-dasharray": [NUMBER]},
    "circle": {"circle-radius": NUMBER, "circle-color": COLOR, "circle-opacity": NUMBER,
               "circle-stroke-width": NUMBER, "circle-stroke-color": COLOR, "circle-stroke-opacity": NUMBER},
    "symbol": {"icon-opacity": NUMBER, "text-color": COLOR, "text-halo-color": COLOR, "text-halo-width": NUMBER},
}
OPERATORS = {
    "all": (0, 99), "any": (0, 99), "!": (1, 1), "==": (2, 2), "!=": (2, 2), "<": (2, 2), "<=": (2, 2), ">": (2, 2),
    ">=": (2, 2), "get": (1, 1), "has": (1, 1), "id": (0, 0), "in": (2, 2), "slice": (2, 3), "case": (3, 99),
    "concat": (1, 99), "to-string": (1, 1), "match": (4, 4),
}


def get(url):
    """Status, headers and bytes of a resource, by Python's own HTTP."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def is_expression(tree):
    """Whether it is an expression of known operators."""
    if not isinstance(tree, list):
        return isinstance(tree, (str, int, float, bool))
    low, high = OPERATORS.get(tree[0], (1, 0))
    if not low <= len(tree) - 1 <= high:
        return False
    if tree[0] == "match":
        return is_expression(tree[1]) and len(tree[2]) == len(set(tree[2])) > 0
    return all(is_expression(each) for each in tree[1:])


def has_form(value, form):
    """Whether a property has the form that the specification wants."""
    if form is ANY:
        return is_expression(value)
    if form == COLOR:
        return isinstance(value, str) and value.startswith(("rgb(", "rgba("))
    if isinstance(form, set):
        return value in form
    if isinstance(form, list):
        return isinstance(value, list) and value and all(has_form(each, form[0]) for each in value)
    return isinstance(value, form) and (form is bool or not isinstance(value, bool))


def check_style(style):
    """Ends the script unless the style follows the specification."""
    check(style["version"] == 8 and set(style["sources"]) == {"esri"}, "the style has version 8 and a source")
    check("{fontstack}" in style["glyphs"] and "{range}" in style["glyphs"], "glyphs have their parts", style["glyphs"])
    known = {"version", "name", "metadata", "sprite", "glyphs", "sources", "layers"}
    check(set(style) <= known, "the style has known members", sorted(style))
    ids = [layer["id"] for layer in style["layers"]]
    check(len(ids) == len(set(ids)), "layers have ids of their own", len(ids))
    for layer in style["layers"]:
        name, kind = layer["id"], layer["type"]
        allowed = {"id", "type", "source", "source-layer", "minzoom", "maxzoom", "filter", "layout", "paint"}
        if not set(layer) <= allowed or kind not in PAINT or layer["source"] != "esri":
            check(False, f"the layer {name} is one of the specification", layer)
        if not 0 <= layer["minzoom"] <= layer["maxzoom"] <= 24:
            check(False, f"the layer {name} has zooms", layer)
        if "filter" in layer and not (isinstance(layer["filter"], list) and is_expression(layer["filter"])):
            check(False, f"the layer {name} has a filter of expressions", layer["filter"])
        for part, forms in (("layout", LAYOUT.get(kind, {})), ("paint", PAINT[kind])):
            for member, value in layer.get(part, {}).items():
                if member not in forms or not has_form(value, forms[member]):
                    check(False, f"{part} of {name} has properties of the specification", (member, value))
    check(True, "layers follow the specification", len(ids))


def fields(data):
    """The fields of a protocol buffer: number, number or bytes."""
    place = 0

    def varint():
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            length = varint()
            if place + length > len(data):
                check(False, "a field ends inside of its message", length)
            yield key >> 3, data[place:place + length]
            place += length
        else:
            check(False, "glyphs have fields of numbers and bytes", key & 7)


def glyphs(data):
    """Name, range and glyphs of a file of glyphs, each checked."""
    ((number, stack),) = list(fields(data))
    check(number == 1, "a file of glyphs has one list of fonts", number)
    name = first = None
    found = {}
    for number, value in fields(stack):
        if number == 1:
            name = value.decode()
        elif number == 2:
            first = value.decode()
        else:
            glyph = dict(fields(value))
            width, height = glyph[3], glyph[4]
            bitmap = glyph.get(2, b"")
            wanted = (width + 6) * (height + 6) if bitmap else 0
            if len(bitmap) != wanted or not {1, 3, 4, 5, 6, 7} <= set(glyph) <= set(range(1, 8)):
                check(False, "a glyph has a byte for each pixel with 3 around it", glyph)
            # The edge is at 191: ink inside, none at the corners.
            if bitmap and (max(bitmap) < 191 or bitmap[0] > 191):
                check(False, "a glyph has its border at 191", (glyph[1], max(bitmap), bitmap[0]))
            found[glyph[1]] = glyph
    return name, first, found


def check_glyphs(style):
    """The fonts of every label have their glyphs."""
    stacks = {",".join(layer["layout"]["text-font"]) for layer in style["layers"]
              if "text-field" in layer.get("layout", {})}
    check(stacks, "labels have fonts", sorted(stacks))
    for stack in sorted(stacks) + ["No Such Font"]:
        for wanted in ("0-255", "256-511"):
            url = style["glyphs"].replace("{fontstack}", urllib.parse.quote(stack)).replace("{range}", wanted)
            status, headers, data = get(url)
            check(status == 200 and headers["ETag"], f"glyphs of {stack}", (status, headers["Content-Type"]))
            name, first, found = glyphs(data)
            check((name, first) == (stack, wanted), "they are of these fonts and this range", (name, first))
            low = int(wanted.split("-")[0])
            inside = all(low <= each < low + 256 for each in found)
            check(inside and len(found) > 100, "they are of the range", len(found))
            if low == 0:
                check(5 < found[0x41][7] < 30 and found[0x41][4] > found[0x61][4], "A is higher than a",
                      (found[0x41][4], found[0x61][4]))
    for wrong in ("0-254", "1-256", "65536-65791", "x"):
        url = style["glyphs"].replace("{fontstack}", "DejaVu%20Sans").replace("{range}", wrong)
        check(get(url)[0] == 400, f"the range {wrong} is a bad request", get(url)[0])


def check_sprites(style):
    """The pictures of symbols are where the index says."""
    names = {layer["layout"]["icon-image"] for layer in style["layers"] if "icon-image" in layer.get("layout", {})}
    sheets = {}
    for suffix, ratio in (("", 1), ("@2x", 2)):
        index = json.loads(get(style["sprite"] + suffix + ".json")[2])
        data = get(style["sprite"] + suffix + ".png")[2]
        check(data[:8] == b"\x89PNG\r\n\x1a\n", f"sprite{suffix} is a PNG", len(data))
        width, height = struct.unpack(">II", data[16:24])
        for name, place in index.items():
            if (place["x"] + place["width"] > width or place["y"] + place["height"] > height
                    or place["pixelRatio"] != ratio):
                check(False, f"{name} is inside of sprite{suffix}", place)
        check(set(index) == names and names, f"sprite{suffix} has the symbols of the style", sorted(index))
        sheets[ratio] = (index, data)
    return sheets


def check_tile(root, style):
    """A tile has the attributes of its labels, and a level has each country's label once."""
    data = get(f"{root}/tile/2/1/2.pbf")[2]
    gdal.FileFromMemBuffer("/vsimem/tile.pbf", data)
    tile = ogr.Open("MVT:/vsimem/tile.pbf")

    def keys(tree):
        if isinstance(tree, str):
            return set(re.findall("{([^{}]+)}", tree))
        if not isinstance(tree, list):
            return set()
        return {tree[1]} if tree[0] == "get" else set().union(*map(keys, tree[1:]))

    for layer in style["layers"]:
        if "text-field" not in layer.get("layout", {}):
            continue
        source = tile.GetLayerByName(layer["source-layer"])
        check(source is not None, f"tiles have the source of {layer['id']}", layer["source-layer"])
        definition = source.GetLayerDefn()
        names = {definition.GetFieldDefn(each).GetName() for each in range(definition.GetFieldCount())}
        wanted = keys(layer["layout"]["text-field"]) | keys(layer.get("filter"))
        check(wanted <= names, f"tiles have what {layer['id']} shows", sorted(wanted))


    countries, labels = set(), []
    for row in range(8):
        for column in range(8):
            gdal.FileFromMemBuffer("/vsimem/tile.pbf", get(f"{root}/tile/3/{row}/{column}.pbf")[2])
            tile = ogr.Open("MVT:/vsimem/tile.pbf")
            for name, found in (("countries", countries.add), ("countries/label", labels.append)):
                source = tile and tile.GetLayerByName(name)
                for feature in source or []:
                    found(feature.GetField("mvt_id"))
    check(len(labels) == len(set(labels)) > 100, "a level has a country's label once", len(labels))
    # A group of islands can be wide enough for a label whose islands are too small to be drawn.
    check(len(set(labels) - countries) < 3, "labels are of countries", set(labels) - countries)


class Page(http.server.SimpleHTTPRequestHandler):
    """MapLibre's own files, and a page with a map of the style."""

    page = b""

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path != "/":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.page)


def draw_with_maplibre(folder, url, center, path):
    """A picture of the style in Chromium, without an error; how many features of each layer are drawn."""
    Page.page = f"""<!doctype html><link rel="stylesheet" href="maplibre-gl.css">
<style>body {{ margin: 0 }} #map {{ width: {SIZE[0]}px; height: {SIZE[1]}px }}</style><div id="map"></div>
<script src="maplibre-gl.js"></script><script>
window.errors = [];
const map = new maplibregl.Map({{container: "map", style: "{url}", center: {list(center)}, zoom: {ZOOM},
    attributionControl: false, fadeDuration: 0, preserveDrawingBuffer: true}});
map.on("error", (event) => window.errors.push(String(event.error && event.error.message)));
map.on("styleimagemissing", (event) => window.errors.push("no image " + event.id));
map.once("idle", () => {{ document.body.dataset.idle = "yes"; }});
</script>""".encode()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *given: Page(*given, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    from chromium_map import Browser
    browser = Browser()
    try:
        browser.open(f"http://127.0.0.1:{server.server_address[1]}/")
        browser.wait('document.body.dataset.idle === "yes"', "MapLibre has drawn the map")
        check(browser.say("window.errors") == [], "MapLibre takes the style without an error",
              browser.say("window.errors"))
        if path:
            browser.picture(path)
        return json.loads(browser.say(
            "JSON.stringify(map.queryRenderedFeatures().reduce((counts, each) => ("
            "counts[each.layer.id] = (counts[each.layer.id] || 0) + 1, counts), {}))"))
    finally:
        browser.close()
        server.shutdown()


def draw_with_qgis(root, style, sheets, window, path):
    """A picture of the tiles by QGIS' own reading of the style, and the texts of its labels."""
    context = QgsMapBoxGlStyleConversionContext()
    index, data = sheets[1]
    context.setSprites(QImage.fromData(data), index)
    converter = QgsMapBoxGlStyleConverter()
    result = converter.convert(style, context)
    check(result == QgsMapBoxGlStyleConverter.Success, "QGIS converts the style", converter.errorMessage())
    check(converter.warnings() == [], "QGIS converts all of it", converter.warnings())
    symbols = [layer for layer in style["layers"] if "text-field" not in layer.get("layout", {})]
    texts = [layer for layer in style["layers"] if "text-field" in layer.get("layout", {})]
    drawn, labels = converter.renderer().styles(), converter.labeling().styles()
    check((len(drawn), len(labels)) == (len(symbols), len(texts)), "QGIS has every layer of the style",
          (len(drawn), len(labels)))
    for given, taken in zip(symbols + texts, drawn + labels):
        # What QGIS cannot read it leaves out: the layer would have every feature.
        if (taken.filterExpression() != "") != ("filter" in given):
            check(False, f"QGIS reads the filter of {given['id']}", (given.get("filter"), taken.filterExpression()))
    layer = QgsVectorTileLayer("type=xyz&zmin=0&zmax=14&url=" + root + "/tile/{z}/{y}/{x}.pbf", "World")
    check(layer.isValid(), "QGIS opens the tiles", layer.name())
    layer.setRenderer(converter.renderer())
    layer.setLabeling(converter.labeling())
    job, _ = render(layer, "EPSG:3857", window)
    check(not job.errors(), "QGIS draws without an error", [error.message for error in job.errors()])
    image = job.renderedImage()
    if path:
        image.save(path)
    found = job.takeLabelingResults().labelsWithinRect(QgsRectangle(*window))
    return image, [label.labelText for label in found]


def meters(place):
    """EPSG:3857 of degrees."""
    return (math.radians(place[0]) * 6378137, math.log(math.tan(math.pi / 4 + math.radians(place[1]) / 2)) * 6378137)


def window_around(center, zoom):
    """The rectangle of a picture in metres; 512 pixels are a tile of the zoom."""
    pixel = 2 * 20037508.342787 / 2 ** zoom / 512
    x, y = meters(center)
    return (x - SIZE[0] / 2 * pixel, y - SIZE[1] / 2 * pixel, x + SIZE[0] / 2 * pixel, y + SIZE[1] / 2 * pixel)


def own_picture(origin, window, path):
    """What the map service draws of a window, on the canvas' ground."""
    box = ",".join(map(str, window))
    data = get(f"{origin}/arcgis/rest/services/World/MapServer/export?bbox={box}&bboxSR=3857&imageSR=3857"
               f"&size={SIZE[0]},{SIZE[1]}&dpi=96&format=png&transparent=true&f=image")[2]
    picture = QImage.fromData(data)
    check((picture.width(), picture.height()) == SIZE, "the map service draws the same ground", len(data))
    if path:
        picture.save(path)
    image = QImage(picture.size(), QImage.Format_RGB32)
    image.fill(QColor(*RED))
    painter = QPainter(image)
    painter.drawImage(0, 0, picture)
    painter.end()
    return image


def colors(image, window, place, reach):
    """The colours of the pixels around a place, the commonest first."""
    x, y = meters(place)
    column = int((x - window[0]) / (window[2] - window[0]) * SIZE[0])
    row = int((window[3] - y) / (window[3] - window[1]) * SIZE[1])
    counts = {}
    for dx in range(-reach, reach + 1):
        for dy in range(-reach, reach + 1):
            color = image.pixelColor(column + dx, row + dy).getRgb()[:3]
            counts[color] = counts.get(color, 0) + 1
    return sorted(counts, key=lambda color: -counts[color])


def near(one, two, far=8):
    """Whether two colours are the same, but for how programs mix them."""
    return all(abs(a - b) <= far for a, b in zip(one, two))


def share(one, two, classes):
    """The share of the ground in a class' colour that has the same in the other picture."""
    same = count = 0
    for row in range(0, SIZE[1], 2):
        for column in range(0, SIZE[0], 2):
            color = one.pixelColor(column, row).getRgb()[:3]
            if color in classes:
                count += 1
                same += near(color, two.pixelColor(column, row).getRgb()[:3])
    return same / count


def check_qgis(origin, root, style, sheets, pictures):
    """QGIS shows each class in its colour, as the map service does, and the labels."""
    def path(name):
        return f"{pictures}/{name}.png" if pictures else None

    drawing = json.loads(get(f"{origin}/arcgis/rest/services/World/MapServer/0?f=json")[2])["drawingInfo"]
    wanted = {info["value"]: tuple(info["symbol"]["color"][:3]) for info in drawing["renderer"]["uniqueValueInfos"]}
    world = window_around((15, 25), 1)
    own = own_picture(origin, world, path("own-world"))
    theirs, _ = draw_with_qgis(root, style, sheets, world, path("qgis-world"))
    for continent, place in CONTINENTS.items():
        both = (colors(own, world, place, 6)[0], colors(theirs, world, place, 6)[0])
        check(all(near(each, wanted[continent]) for each in both), f"{continent} has its colour, in QGIS too", both)
    sea = (colors(own, world, SEA, 2)[0], colors(theirs, world, SEA, 2)[0])
    check(sea == (RED, RED), "the sea is clear, in QGIS too", sea)

    window = window_around(CENTER, ZOOM)
    own = own_picture(origin, window, path("own"))
    theirs, texts = draw_with_qgis(root, style, sheets, window, path("qgis"))
    same = share(own, theirs, set(wanted.values()))
    check(same > 0.9, "QGIS fills the same ground with the same colours", same)
    for image in (own, theirs):
        capital, city = colors(image, window, CAPITAL, 3), colors(image, window, CITY, 3)
        check(any(near(each, (200, 40, 40), 40) for each in capital), "a capital is red", capital[:3])
        dark = [each for each in city if max(each) < 150]
        check(dark and not any(near(each, (200, 40, 40), 40) for each in city), "another city has a dark edge", dark[:3])
    for name in ("Germany", "Paris", "Prague"):
        check(name in texts, f"QGIS labels {name}", len(texts))
    names = [text for text in texts if text in ("Germany", "Poland", "Spain", "Italy", "Romania")]
    check(len(names) == len(set(names)), "QGIS labels a country once", names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("origin")
    parser.add_argument("--maplibre")
    parser.add_argument("--pictures")
    given = parser.parse_args()
    origin, pictures = given.origin.rstrip("/"), given.pictures
    root = f"{origin}/arcgis/rest/services/World/VectorTileServer"
    application = start()
    style = json.loads(get(root + "/style.json")[2])
    check_style(style)
    relative = json.loads(get(root + "/resources/styles/root.json")[2])
    check_style(relative)
    check(relative["layers"] == style["layers"], "both styles have the same layers", len(style["layers"]))
    check_glyphs(style)
    sheets = check_sprites(style)
    check_tile(root, style)
    left_out = style["metadata"]["cairn:labelClassesLeftOut"]
    check(left_out == 0, "every class of labels is in the style", left_out)
    check_qgis(origin, root, relative, sheets, pictures)

    if given.maplibre:
        drawn = draw_with_maplibre(
            given.maplibre, root + "/style.json", CENTER, pictures and pictures + "/maplibre.jpg")
        labels = sum(count for name, count in drawn.items() if "/label" in name)
        check(labels > 20, "MapLibre draws labels", labels)
        icons = {layer["id"] for layer in style["layers"] if "icon-image" in layer.get("layout", {})}
        check(sum(drawn.get(name, 0) for name in icons) > 10, "MapLibre draws symbols",
              {name: drawn.get(name, 0) for name in icons})
    finish(application)


if __name__ == "__main__":
    main()
