#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Replays what outside clients were seen to send, byte for byte but for names and places.

usage: captured_requests.py HOST:PORT

The site has the map World (deploy/sample/world.gpkg), the locator World and the network Streets that
routingpy_routes.py makes, a grid of nine crossings. Each line of the table is a
request and what its answer must have; exits 1 when one has not, after all have been tried.
"""

import http.client
import json
import re
import sys
import urllib.parse

SERVICES = "/arcgis/rest/services"
MAP = SERVICES + "/World/MapServer"
FEATURES = SERVICES + "/World/FeatureServer"
PLACES = SERVICES + "/World/GeocodeServer"
ROADS = SERVICES + "/Streets/NAServer"
AGENTS = {
    "geopy": {"User-Agent": "geopy/2.5.0", "Accept": "*/*"},
    "GDAL": {"Accept": "text/plain, application/json"},
    "QGIS": {"User-Agent": "Mozilla/5.0 QGIS/32216"},
    "esridump": {"User-Agent": "python-requests/2.32", "Accept": "*/*"},
    "esri-leaflet": {"Origin": "http://localhost", "Accept": "*/*"},
    "arcgis-rest-js": {"referer": "@esri/arcgis-rest-js", "Accept": "*/*"},
    "leaflet-routing-machine": {"Origin": "http://localhost", "Accept": "*/*"},
}

# Paris, in both references, and a screen around it.
X, Y, LON, LAT = 261600.0, 6250600.0, 2.35, 48.857
SCREEN = f"{X - 60000},{Y - 60000},{X + 60000},{Y + 60000}"
DEGREES = f"{LON - 0.5},{LAT - 0.4},{LON + 0.5},{LAT + 0.4}"


def q(text):
    """Percent-encoded, spaces as clients' libraries write them."""
    return urllib.parse.quote_plus(text)


def rows(answer):
    """The attributes of an answer's features."""
    return [feature["attributes"] for feature in answer["features"]]


def is_image(answer):
    """Whether the answer is a picture."""
    return answer.kind.startswith("image/")


def is_identify(answer):
    """Whether it has results in the form that clients read."""
    found = answer.json["results"]
    return all({"layerId", "layerName", "displayFieldName", "value", "attributes"} <= set(one)
               for one in found) and bool(found)


def decompressed(text):
    """The positions of a compressed geometry, as arcgis-rest-js reads them: signed numbers to the base 32."""
    numbers = [int(number, 32) for number in re.findall(r"[+-][^+-]+", text)]
    x, y, positions = 0, 0, []
    for dx, dy in zip(numbers[1::2], numbers[2::2]):
        x, y = x + dx, y + dy
        positions.append((x / numbers[0], y / numbers[0]))
    return positions


def is_solved(answer):
    """Whether arcgis-rest-js makes lines of all directions, which join to the route's own."""
    answer.json["routes"]["spatialReference"]["wkid"]  # Read from every answer.
    route = answer.json["routes"]["features"][0]["geometry"]["paths"][0]
    parts = [decompressed(feature["compressedGeometry"])
             for feature in answer.json["directions"][0]["features"]]
    ends = [(parts[0][0], route[0]), (parts[-1][-1], route[-1])]
    ends += [(first[-1], second[0]) for first, second in zip(parts, parts[1:])]
    return all(abs(one[axis] - other[axis]) < 1e-4 for one, other in ends for axis in (0, 1))


def polyline(text, places):
    """Latitudes and longitudes of an encoded polyline."""
    values, number, shift = [], 0, 0
    for letter in text:
        number |= (ord(letter) - 63 & 31) << shift
        shift += 5
        if ord(letter) - 63 < 32:
            values.append(~(number >> 1) if number & 1 else number >> 1)
            number, shift = 0, 0
    x, y, positions = 0, 0, []
    for dx, dy in zip(values[::2], values[1::2]):
        x, y = x + dx, y + dy
        positions.append((x / 10 ** places, y / 10 ** places))
    return positions


def is_itinerary(answer):
    """Whether leaflet-routing-machine makes an itinerary of the first route: its steps join from the first place to
    the last."""
    route, (first, last) = answer.json["routes"][0], answer.json["waypoints"]
    steps = [step for leg in route["legs"] for step in leg["steps"]]
    lines = [polyline(step["geometry"], 5) for step in steps]
    return (answer.json["code"] == "Ok" and first["hint"] and last["hint"] and route["legs"][0]["summary"]
            and lines[0][0] == (42.5, 1.5) and lines[-1][-1] == (42.52, 1.52)
            and all(one[-1] == other[0] for one, other in zip(lines, lines[1:]))
            and [step["maneuver"]["type"] for step in (steps[0], steps[-1])] == ["depart", "arrive"]
            and abs(sum(step["distance"] for step in steps) - route["distance"]) < 1)


def places(*positions):
    """Positions as arcgis-rest-js sends them."""
    return q(json.dumps({"type": "features", "features": [
        {"geometry": {"x": x, "y": y, "spatialReference": {"wkid": 4326}}} for x, y in positions]}))


def table(cities, countries):
    """Client, method, path and query, form, and what must hold of the answer."""
    layer, first = f"{FEATURES}/{cities}", f"{MAP}/{cities}"
    ids = ",".join(str(number) for number in range(1, 101))
    many = q("geoname_id IN (" + ",".join(str(number) for number in range(600)) + ")")
    box = json.dumps({"xmin": LON - 1, "ymin": LAT - 1, "xmax": LON + 1, "ymax": LAT + 1,
                      "spatialReference": {"wkid": 4326}})
    point = json.dumps({"x": LON, "y": LAT, "spatialReference": {"wkid": 4326}})
    statistics = json.dumps([
        {"statisticType": "min", "onStatisticField": "OBJECTID", "outStatisticFieldName": "THE_MIN"},
        {"statisticType": "max", "onStatisticField": "OBJECTID", "outStatisticFieldName": "THE_MAX"}])
    batch = json.dumps({"records": [
        {"attributes": {"OBJECTID": 1, "address": "12 rue", "city": "Paris"}},
        {"attributes": {"OBJECTID": 2, "SingleLine": "blargfoobar"}},
        {"attributes": {"OBJECTID": 3, "SingleLine": "Berlin, Germany"}}]})
    return [
        # geopy 2.5.0
        ("geopy", "GET", PLACES + "/findAddressCandidates?singleLine=12+rue+de+la+paix+paris&f=json&maxLocations=1",
         None, lambda a: len(a.json["candidates"]) == 1),
        ("geopy", "GET", PLACES + "/findAddressCandidates?singleLine=paris&f=json&outFields=Match_addr%2CAddr_type",
         None, lambda a: len(a.json["candidates"]) > 1
         and all(set(c["attributes"]) == {"Match_addr", "Addr_type"} for c in a.json["candidates"])),
        ("geopy", "GET", PLACES + "/findAddressCandidates?singleLine=paris&f=json&maxLocations=1&outFields=%2A",
         None, lambda a: a.json["candidates"][0]["attributes"]["Country"] == "FRA"),
        ("geopy", "GET", PLACES + f"/reverseGeocode?location={LON}%2C{LAT}&f=json&outSR=4326&distance=500",
         None, lambda a: {"Address", "City", "Region", "Postal", "CountryCode", "LongLabel"}
         <= set(a.json["address"])),
        ("geopy", "GET", PLACES + "/reverseGeocode?location=-150.0%2C0.0&f=json&outSR=4326&distance=500",
         None, lambda a: "Unable to find" in a.json["error"]["details"][0]),
        # GDAL 3.6
        ("GDAL", "GET", layer + "/query?where=1%3D1&outFields=*&f=json", None,
         lambda a: len(rows(a.json)) == 2000 and a.json["exceededTransferLimit"] is True),
        ("GDAL", "GET", layer + "/query?where=1%3D1&outFields=*&f=json&returnCountOnly=true", None,
         lambda a: a.json == {"count": 4361}),
        ("GDAL", "GET", layer + "/query?where=1%3D1&outFields=*&f=geojson&returnExtentOnly=true", None,
         lambda a: '"bbox":[' in a.text and len(a.json["bbox"]) == 4),
        ("GDAL", "GET", layer + "/query?where=OBJECTID%3E0&outFields=*&orderByFields=OBJECTID+ASC&f=json"
         "&resultRecordCount=500&resultOffset=500", None,
         lambda a: [r["OBJECTID"] for r in rows(a.json)] == list(range(501, 1001))),
        ("GDAL", "GET", MAP + f"/export?f=image&bbox={q(SCREEN)}&size=256%2C256&imageSR=3857&bboxSR=3857"
         f"&format=png32&layers=show%3A{countries},{cities}&transparent=true&time=", None, is_image),
        ("GDAL", "GET", MAP + "/identify?f=json&geometryType=esriGeometryPoint&returnGeometry=false&layerdefs="
         f"&time=&layerTimeOptions=&maxAllowableOffset=&geometry={X}%2C{Y}&sr=3857&layers=all:{countries},{cities}"
         f"&tolerance=5&mapExtent={q(SCREEN)}&imageDisplay=256%2C256%2C96", None, is_identify),
        ("GDAL", "GET", MAP + "?f=json&pretty=true", None, lambda a: a.json["layers"]),
        # QGIS 3.22
        ("QGIS", "GET", layer + "?f=json", None, lambda a: a.json["objectIdField"] == "OBJECTID"),
        ("QGIS", "GET", layer + "/query?f=json&where=1%3D1&returnIdsOnly=true", None,
         lambda a: len(a.json["objectIds"]) == 4361),
        ("QGIS", "GET", layer + f"/query?f=json&objectIds={ids}&inSR=3857&outSR=3857&returnGeometry=true&outFields=*"
         "&returnM=false&returnZ=false", None,
         lambda a: len(rows(a.json)) == 100 and a.json["spatialReference"]["latestWkid"] == 3857),
        ("QGIS", "GET", layer + f"/query?f=json&objectIds={ids}&inSR&outSR&returnGeometry=true&outFields=*"
         "&returnM=false&returnZ=false", None, lambda a: len(rows(a.json)) == 100),
        ("QGIS", "GET", layer + f"/query?f=json&where=1%3D1&returnIdsOnly=true&geometry={DEGREES}"
         "&geometryType=esriGeometryEnvelope&spatialRel=esriSpatialRelEnvelopeIntersects", None,
         lambda a: 0 < len(a.json["objectIds"]) < 4361),
        ("QGIS", "GET", MAP + f"/export?bbox={DEGREES}&size=800,600&format=PNG32&layers=show:{cities}"
         "&transparent=true&f=image", None, is_image),
        ("QGIS", "GET", MAP + f"/export?bbox={DEGREES}&size=800,600&format=PNG32&layers=show:&transparent=true&f=image",
         None, is_image),
        ("QGIS", "GET", MAP + f"/identify?f=json&geometryType=esriGeometryPoint&geometry=%7Bx:%20{LON},%20y:%20{LAT}%7D"
         f"&layers=all:{countries}&imageDisplay=800,600,96&mapExtent={DEGREES}&tolerance=10", None,
         lambda a: is_identify(a) and "spatialReference" in a.json["results"][0]["geometry"]),
        ("QGIS", "GET", MAP + f"/identify?f=json&geometryType=esriGeometryPoint&geometry=%7Bx:%20{LON},%20y:%20{LAT}%7D"
         f"&layers=all:&imageDisplay=1,1,96&mapExtent={LON - 0.001},{LAT - 0.001},{LON + 0.001},{LAT + 0.001}"
         "&tolerance=10", None, is_identify),
        ("QGIS", "GET", MAP + "/legend?f=json", None, lambda a: a.json["layers"][0]["legend"][0]["imageData"]),
        # esridump 1.13.0
        ("esridump", "GET", layer + "/query?where=1%3D1&returnCountOnly=true&f=json", None,
         lambda a: a.json["count"] == 4361),
        ("esridump", "POST", layer + "/query", "resultOffset=0&resultRecordCount=1000&where=1%3D1&geometryPrecision=7"
         "&returnGeometry=True&outSR=4326&outFields=%2A&f=json",
         lambda a: len(rows(a.json)) == 1000 and a.json["exceededTransferLimit"] is True),
        ("esridump", "GET", layer + "/query?f=json&outFields=&outStatistics=" + q(statistics), None,
         lambda a: rows(a.json) == [{"THE_MIN": 1, "THE_MAX": 4361}]),
        ("esridump", "GET", layer + "/query?where=%28OBJECTID+%3D+1+OR+OBJECTID+%3D+250%29+AND+%28OBJECTID%3E100%29"
         "&returnIdsOnly=true&f=json", None, lambda a: a.json["objectIds"] == [250]),
        ("esridump", "POST", layer + "/query", "where=%28OBJECTID+%3E+0+AND+OBJECTID+%3C%3D+250%29+AND+%28OBJECTID%3E100%29"
         "&geometryPrecision=7&returnGeometry=True&outSR=4326&outFields=%2A&f=json",
         lambda a: len(rows(a.json)) == 150),
        # esri-leaflet and its geocoder
        ("esri-leaflet", "GET", MAP + f"/export?bbox={X - 60000},{Y + 60000},{X + 60000},{Y - 60000}&size=800,600&dpi=96"
         f"&format=png32&transparent=true&bboxSR=3857&imageSR=3857&layers=show:{cities}&layerDefs="
         + q('{"%d":"population>10"}' % cities) + "&f=json", None, lambda a: a.json["href"] and a.json["width"] == 800),
        ("esri-leaflet", "GET", MAP + f"/identify?sr=4326&layers=visible:{cities}&tolerance=5&returnGeometry=true"
         f"&imageDisplay=800,600,96&mapExtent={DEGREES}&geometry={q(point)}&geometryType=esriGeometryPoint"
         f"&layerDefs={cities}:population%3E0&maxAllowableOffset=0.0009155273437500002&f=json", None,
         lambda a: "results" in a.json),
        ("esri-leaflet", "GET", MAP + "/identify?sr=4326&layers=all&tolerance=3&returnGeometry=false&imageDisplay=800,600,96"
         f"&mapExtent={DEGREES}&geometry={q(box)}&geometryType=esriGeometryEnvelope&f=json", None, is_identify),
        ("esri-leaflet", "GET", first + "/query?returnGeometry=true&where=1%3D1&outSR=4326&outFields=*"
         f"&geometry={LON},{LAT}&geometryType=esriGeometryPoint&spatialRel=esriSpatialRelIntersects"
         "&units=esriSRUnit_Meter&distance=50000&inSR=4326&f=json", None,
         lambda a: any(r["name"] == "Paris" for r in rows(a.json))),
        ("esri-leaflet", "GET", layer + f"/query?returnGeometry=true&where=1%3D1&outSR=4326&outFields=*&inSR=4326"
         f"&geometry={q(box)}&geometryType=esriGeometryEnvelope&spatialRel=esriSpatialRelIntersects"
         "&geometryPrecision=6&resultType=tile&maxAllowableOffset=0.00064&f=geojson", None,
         lambda a: a.json["type"] == "FeatureCollection" and a.json["features"]),
        ("esri-leaflet", "GET", MAP + f"/find?sr=4326&contains=true&returnGeometry=true&returnZ=true&returnM=false"
         f"&layers={cities}&searchText=par&searchFields=name&f=json", None,
         lambda a: is_identify(a) and all(
             r["foundFieldName"] == "name" and "par" in r["value"].lower() for r in a.json["results"])),
        ("esri-leaflet", "GET", MAP + f"/find?contains=false&layers={cities}&searchText=Paris&searchFields=name&f=json",
         None, lambda a: {r["value"] for r in a.json["results"]} == {"Paris"}),
        ("esri-leaflet", "GET", PLACES + "/?f=json", None,
         lambda a: "Suggest" in a.json["capabilities"] and a.json["singleLineAddressField"]["name"] == "SingleLine"),
        ("esri-leaflet", "GET", PLACES + f"/findAddressCandidates?outSr=4326&forStorage=false&outFields=*&maxLocations=20"
         f"&searchExtent={q(box)}&SingleLine=paris&f=json", None,
         lambda a: all("extent" in c for c in a.json["candidates"])
         and all(abs(c["location"]["x"] - LON) <= 1 for c in a.json["candidates"]) and a.json["candidates"]),
        ("esri-leaflet", "GET", PLACES + "/findAddressCandidates?outSr=4326&forStorage=false&outFields=*&maxLocations=20"
         "&address=12%20rue&city=Paris&postal=75002&SingleLine=undefined&f=json", None,
         lambda a: "Paris" in a.json["candidates"][0]["address"]),
        ("esri-leaflet", "GET", PLACES + f"/suggest?text=par&location={LON},{LAT}&distance=5000&f=json", None,
         lambda a: all(s["isCollection"] is False and "," not in s["magicKey"] for s in a.json["suggestions"])
         and a.json["suggestions"][0]["text"].startswith("Paris")),
        ("esri-leaflet", "GET", PLACES + f"/reverseGeocode?outSR=4326&returnIntersection=false&location={LON},{LAT}"
         "&distance=2000&f=json", None, lambda a: a.json["address"]["City"] == "Paris"),
        # arcgis-rest-js
        ("arcgis-rest-js", "POST", PLACES + "/geocodeAddresses", "f=json&addresses=" + q(batch),
         lambda a: [(one["attributes"]["ResultID"], one["attributes"]["Status"] == "U", "location" in one)
                    for one in a.json["locations"]] == [(1, False, True), (2, True, False), (3, False, True)]),
        ("arcgis-rest-js", "POST", PLACES + "/findAddressCandidates", "f=json&singleLine=Berlin",
         lambda a: a.json["spatialReference"]["wkid"] == 4326 and a.json["candidates"]),
        ("arcgis-rest-js", "POST", layer, "f=json", lambda a: a.json["fields"]),
        ("arcgis-rest-js", "POST", SERVICES + "/Jobs/GPServer/BatchIdentify/jobs/j0", "f=json",
         lambda a: a.json["error"]["code"] == 404),
        ("arcgis-rest-js", "GET", f"{layer}/query?f=json&where={many}", None, lambda a: "features" in a.json),
        ("arcgis-rest-js", "POST", ROADS + "/Route/solve", "f=json&returnDirections=true&returnRoutes=true"
         "&returnStops=true&returnBarriers=true&returnPolygonBarriers=true&returnPolylineBarriers=true"
         "&preserveObjectID=true&stops=" + q("1.5,42.5;1.52,42.52"), is_solved),
        ("arcgis-rest-js", "POST", ROADS + "/Route/solve", "f=json&stops=" + q("1.5,42.5;1.52,42.52")
         + "&directionsOutputType=esriDOTInstructionsOnly", is_solved),
        ("arcgis-rest-js", "POST", ROADS + "/ClosestFacility/solveClosestFacility",
         "f=json&returnCFRoutes=true&returnDirections=true&returnFacilities=true&returnIncidents=true"
         "&returnBarriers=true&returnPolylineBarriers=true&returnPolygonBarriers=true&preserveObjectID=true"
         "&travelDirection=esriNATravelDirectionToFacility&defaultTargetFacilityCount=2"
         f"&incidents={places((1.5, 42.5))}&facilities={places((1.52, 42.52), (1.51, 42.5))}",
         lambda a: a.json["routes"]["spatialReference"]["wkid"] == 4326
         and [row["FacilityID"] for row in rows(a.json["routes"])] == [2, 1]
         and all(decompressed(feature["compressedGeometry"]) for one in a.json["directions"]
                 for feature in one["features"])),
        ("arcgis-rest-js", "POST", ROADS + "/ServiceArea/solveServiceArea",
         "f=json&returnFacilities=true&returnBarriers=true&returnPolylineBarriers=true&returnPolygonBarriers=true"
         "&preserveObjectID=true&travelDirection=esriNATravelDirectionFromFacility&defaultBreaks=1,2"
         f"&facilities={places((1.51, 42.51))}",
         lambda a: a.json["saPolygons"]["spatialReference"]["wkid"] == 4326
         and [row["ToBreak"] for row in rows(a.json["saPolygons"])] == [2, 1]
         and rows(a.json["facilities"])),
        ("arcgis-rest-js", "POST", ROADS + "/ODCostMatrix/solveODCostMatrix",
         "f=json&outputType=esriNAODOutputSparseMatrix&returnOrigins=true&returnDestinations=true"
         "&returnBarriers=true&returnPolylineBarriers=true&returnPolygonBarriers=true&preserveObjectID=true"
         f"&origins={places((1.5, 42.5), (1.51, 42.5))}&destinations={places((1.5, 42.5), (1.52, 42.52))}",
         lambda a: a.json["odCostMatrix"]["1"]["1"][0] == 0
         and 0 < a.json["odCostMatrix"]["2"]["2"][0] < a.json["odCostMatrix"]["1"]["2"][0]
         and len(a.json["odCostMatrix"]["costAttributeNames"]) == len(a.json["odCostMatrix"]["1"]["1"])),
        ("arcgis-rest-js", "POST", ROADS + "/Route/solve", "f=json&stops=" + q("1.5,42.5"),
         lambda a: a.json["error"]["code"] == 400 and "Need at least 2 valid stops." in a.json["error"]["details"]),
        # leaflet-routing-machine
        ("leaflet-routing-machine", "GET", "/osrm/route/v1/driving/1.5,42.5;1.52,42.52?overview=false"
         "&alternatives=true&steps=true&hints=;", None, is_itinerary),
        # Bad input, as servers are seen to refuse it.
        ("esri-leaflet", "GET", layer + "/query?where=name+LIKE&f=json", None,
         lambda a: a.json["error"]["code"] == 400 and isinstance(a.json["error"]["details"], list)),
    ]


class Answer:
    """One answer: status, media type, text and, where it is JSON, the value."""

    def __init__(self, response):
        body = response.read()
        self.status = response.status
        self.kind = response.headers["Content-Type"] or ""
        self.origin = response.headers["Access-Control-Allow-Origin"]
        self.cache = response.headers["Cache-Control"]
        self.text = body.decode("utf-8", "replace")
        self.json = json.loads(self.text) if "json" in self.kind else None


def send(address, client, method, path, form):
    """Sends one request on a connection of its own."""
    connection = http.client.HTTPConnection(address, timeout=60)
    headers = dict(AGENTS[client])
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        connection.request(method, path, body=form, headers=headers)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    address = sys.argv[1]
    layers = send(address, "QGIS", "GET", FEATURES + "?f=json", None).json["layers"]
    numbers = {layer["name"]: layer["id"] for layer in layers}
    requests = table(numbers["cities"], numbers["countries"])
    failed = 0
    for client, method, path, form, is_right in requests:
        answer = send(address, client, method, path, form)
        try:
            # Every answer, errors included, has status 200 and may be read by pages of other servers.
            right = answer.status == 200 and answer.origin == "*" and bool(is_right(answer))
        except (KeyError, IndexError, TypeError) as error:
            right = False
            print(f"captured: {error!r}", file=sys.stderr)
        if not right:
            failed += 1
            print(f"captured: {client}: {method} {path[:300]} {form or ''}: {answer.status} "
                  f"{answer.text[:600]}", file=sys.stderr)
    if failed:
        sys.exit(f"captured: {failed} of {len(requests)} requests were not answered as they must be")
    print(f"captured: {len(requests)} requests of {len(AGENTS)} clients were answered as they must be")


if __name__ == "__main__":
    main()
