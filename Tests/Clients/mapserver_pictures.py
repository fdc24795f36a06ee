#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Serves a dataset by MapServer as a Web Map Service, lays it into a map of a running site, and compares Cairn's
pictures of that layer with MapServer's own of the same ground, pixel by pixel.

usage: mapserver_pictures.py CAIRN http://HOST:PORT/arcgis/rest/services WORLD.gpkg FOLDER

CAIRN is the program of that name; CAIRN_SITE names the site. FOLDER is there and empty. Exits 1 with the first
comparison that fails; says one line, and exits 0, where there is no MapServer.
"""

import http.server
import json
import os
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

from osgeo import gdal

MAPSERV = "/usr/lib/cgi-bin/mapserv"
MAP = """MAP NAME "world" EXTENT -180 -90 180 90 SIZE 100 100 MAXSIZE 4096 IMAGETYPE "png32"
OUTPUTFORMAT NAME "png32" DRIVER "AGG/PNG" MIMETYPE "image/png" IMAGEMODE RGBA EXTENSION "png" TRANSPARENT ON END
PROJECTION "init=epsg:4326" END
WEB METADATA "wms_title" "world" "wms_onlineresource" "%(url)s" "wms_srs" "%(srs)s" "wms_enable_request" "*" END END
LAYER NAME "countries" TYPE POLYGON STATUS ON CONNECTIONTYPE OGR CONNECTION "%(source)s" DATA "countries"
PROJECTION "init=epsg:4326" END METADATA "wms_title" "countries" END
CLASS STYLE COLOR 60 140 90 OUTLINECOLOR 20 40 30 WIDTH 1 END END END
END
"""


class Handler(http.server.BaseHTTPRequestHandler):
    """Runs MapServer as CGI (RFC 3875) for each request; the path is the name of a map file."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        output = subprocess.run(
            [MAPSERV], capture_output=True, check=False, env={
                **os.environ, "REQUEST_METHOD": "GET", "QUERY_STRING": url.query,
                "MAPSERVER_CONFIG_FILE": os.path.join(self.server.folder, "mapserver.conf"),
                "MS_MAPFILE": os.path.join(self.server.folder, url.path.strip("/") + ".map"),
            }).stdout
        head, _, body = output.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        self.send_header("Content-Type", fields.get("Content-Type", "text/plain"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def pixels(url):
    """The picture at an address: red, green, blue and alpha of each pixel, clear ones as zeros."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        missing = answer.headers.get("X-Cairn-Missing")
        if missing:
            sys.exit(f"FAILED: {url} lacks {missing}")
        body = answer.read()
    gdal.FileFromMemBuffer("/vsimem/picture", body)
    picture = gdal.Open("/vsimem/picture")
    if picture is None:
        sys.exit(f"FAILED: {url} is no picture: {body[:200]}")
    bands = [picture.GetRasterBand(band + 1).ReadRaster() for band in range(picture.RasterCount)]
    if len(bands) == 3:
        bands.append(b"\xff" * len(bands[0]))
    return [pixel if pixel[3] else (0, 0, 0, 0) for pixel in zip(*bands)]


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    cairn, root, source, folder = sys.argv[1:]
    if not os.access(MAPSERV, os.X_OK):
        print(f"skipped: there is no MapServer at {MAPSERV}")
        return
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.folder = folder
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    with open(os.path.join(folder, "mapserver.conf"), "w", encoding="utf-8") as file:
        file.write('CONFIG ENV MS_MAP_PATTERN "." END END\n')
    for name, srs in (("both", "EPSG:4326 EPSG:3857"), ("degrees", "EPSG:4326")):
        with open(os.path.join(folder, name + ".map"), "w", encoding="utf-8") as file:
            file.write(MAP % {"url": f"{url}/{name}?", "srs": srs, "source": os.path.abspath(source)})

    def run(*arguments):
        return subprocess.run(
            [cairn, *arguments], check=True, capture_output=True, text=True).stdout

    run("map", "create", "Served")
    for name in ("both", "degrees"):
        run("map", "add-wms", "Served", name, f"{url}/{name}", "--layer", "countries")
    for _ in range(300):
        layers = json.loads(run("map", "show", "Served", "--json"))["layers"]
        if all(layer["loadStatus"] in ("loaded", "failedToLoad") for layer in layers):
            break
        time.sleep(0.1)
    ids = {layer["name"]: layer["id"] for layer in layers if layer["loadStatus"] == "loaded"}
    if set(ids) != {"both", "degrees"}:
        sys.exit(f"FAILED: MapServer's layers are not loaded: {layers}")

    width, height = 640, 480
    # What is asked, of which layer, and the least share of pixels that are the same: all where the server draws
    # them as they are shown, most where Cairn takes a picture in degrees to Web Mercator.
    for name, wkid, box, least in (
            ("both", 3857, (-1500000, 4500000, 3500000, 8250000), 1.0),
            ("both", 4326, (-20, 30, 44, 78), 1.0),
            ("degrees", 3857, (-1500000, 4500000, 3500000, 8250000), 0.9)):
        sides = ",".join(map(str, box))
        own = pixels(
            f"{root}/Served/MapServer/export?f=image&format=png32&transparent=true&bbox={sides}"
            f"&bboxSR={wkid}&imageSR={wkid}&size={width},{height}&layers=show:{ids[name]}&timeout=60")
        theirs = pixels(
            f"{url}/both?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=countries&STYLES=&SRS=EPSG:{wkid}"
            f"&BBOX={sides}&WIDTH={width}&HEIGHT={height}&FORMAT=image/png&TRANSPARENT=TRUE")
        if len(own) != width * height or len(theirs) != len(own) or len(set(theirs)) < 3:
            sys.exit(f"FAILED: pictures of {len(own)} and {len(theirs)} pixels")
        same = sum(map(tuple.__eq__, own, theirs)) / len(own)
        # Where an outline is half clear, colours are rounded once more: by a few of 255.
        near = sum(
            max(abs(a - b) for a, b in zip(one, other)) <= 4
            for one, other in zip(own, theirs)) / len(own)
        print(f"{name} in EPSG:{wkid}: {same:.4f} of the pixels are the same, {near:.4f} nearly")
        if near < least:
            sys.exit(f"FAILED: expected {least}")
    server.shutdown()


main()
