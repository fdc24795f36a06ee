# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Every URL of a gateway, with the parameters it takes.

A question is a method, a path, parameters and headers. How many of its parameters are wrong is drawn: a quarter of
all questions are right, about half have one wrong value, the others have many.
"""

import json
import re

import values

ROOT = "/arcgis/rest"
PINS = f"{ROOT}/services/Pins"
WORLD = f"{ROOT}/services/World"
JOBS = f"{ROOT}/services/Jobs/GPServer"
LAYERS = 3


class Question:
    def __init__(self, kind, method, path, parameters, headers=(), body=None, is_right=False):
        self.kind, self.method, self.path = kind, method, path
        self.parameters, self.headers, self.body, self.is_right = list(parameters), list(headers), body, is_right

    def with_parameters(self, parameters):
        return Question(self.kind, self.method, self.path, parameters, self.headers, self.body)

    @property
    def seconds(self):
        """How long an answer may take by what the gateway says of itself."""
        for name, value in self.parameters:
            if name.lower() == "timeout" and isinstance(value, str):
                try:
                    return min(60.0, max(0.0, float(value))) if float(value) == float(value) else 15.0
                except ValueError:
                    return 15.0
        return 15.0

    def bytes(self):
        form = b"&".join(quoted(name) + b"=" + quoted(value) for name, value in self.parameters)
        path, body, headers = self.path.encode("utf-8", "surrogatepass"), self.body, list(self.headers)
        if self.method == "POST" and body is None:
            body = form
            if not any(name.lower() == "content-type" for name, _ in headers):
                headers.append(("Content-Type", "application/x-www-form-urlencoded"))
        elif form:
            path += b"?" + form
        lines = [self.method.encode() + b" " + path + b" HTTP/1.1", b"Host: localhost"]
        lines += [name.encode() + b": " + (value if isinstance(value, bytes) else value.encode()) for name, value in headers]
        if body is not None:
            lines.append(b"Content-Length: %d" % len(body))
        return b"\r\n".join(lines) + b"\r\n\r\n" + (body or b"")


def quoted(value):
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    return UNSAFE.sub(lambda found: b"%%%02X" % found.group()[0], value)


UNSAFE = re.compile(rb"[^A-Za-z0-9_.~/,:*()\[\]{}'-]")


# ---------------------------------------------------------------- types of parameters: (right, wrong)


def pick(*choices):
    return (lambda rng: rng.choice(choices), lambda rng: rng.choice([values.any_text(rng), rng.choice(choices).upper(), rng.choice(choices) + "x"]))


def decimal(low, high):
    return (lambda rng: values.number(rng, low, high), values.any_number)


def whole(low, high):
    return (lambda rng: str(rng.randint(low, high)), lambda rng: rng.choice([str(low - 1), str(high + 1), values.any_number(rng), values.any_number(rng)]))


def shaped(right):
    return (right, lambda rng: rng.choice([values.any_text, values.any_number, values.any_json])(rng))


FLAG = pick("true", "false")
TEXT = (lambda rng: rng.choice(["Paris", "San Jos", "10 Rue", "Tokyo, Japan", "New York", "Zürich", "北京"]), values.any_text)
SR = (lambda rng: rng.choice(["4326", "3857", "102100", '{"wkid":4326}', "{wkid:3857}", "3035"]),
      lambda rng: rng.choice([values.any_number, values.any_text, values.any_json])(rng))
WHERE = (lambda rng: rng.choice(values.RIGHT_CLAUSES), values.any_clause)
GEOMETRY = (lambda rng: values.shape(rng)[1], values.any_shape)
TYPES = pick(*["esriGeometry" + word for word in ("Point", "Multipoint", "Polyline", "Polygon", "Envelope")])
BOX = (lambda rng: values.numbers(values.box(rng)), values.any_shape)
POINT = (lambda rng: values.numbers(values.place(rng)), values.any_shape)
NAMES = (lambda rng: rng.choice(["*", "name", "name,population", "NAME", "OBJECTID"]),
         lambda rng: rng.choice([values.any_text(rng), ",".join(["name"] * 20_000), "nosuch", "name;population", ","]))
IDS = (lambda rng: ",".join(str(rng.randint(1, 240)) for _ in range(rng.randint(1, 30))),
       lambda rng: rng.choice([",".join(map(str, range(rng.choice([1000, 99_999, 100_001])))), values.any_number(rng), "1,,2", values.any_text(rng), "[1,2]"]))
SIZE = (lambda rng: f"{rng.randint(1, 600)},{rng.randint(1, 400)}",
        lambda rng: rng.choice(["4096,4096", "4097,1", "0,0", "-1,5", "1e9,1e9", "1,1", "4096,1", "1.5,2", "100", "1,2,3", values.any_number(rng), values.any_text(rng)]))
TIME = (lambda rng: rng.choice(["1700000000000", "1500000000000,1700000000000", "null,1700000000000", "0,null"]),
        lambda rng: rng.choice(["9223372036854775807,-1", "null,null", "5,4", values.any_number(rng), values.any_text(rng), "1,2,3"]))
AT = (lambda rng: rng.choice(["", "20", "2026-05-01T00:00:00Z"]), lambda rng: rng.choice([values.any_number(rng), values.any_text(rng), "9999-99-99", "-1", "0"]))
DEFINITIONS = (lambda rng: rng.choice(["0:population > 5", '{"0":"name LIKE \'A%\'"}', "1:name='Bayern';2:population>1000"]),
               lambda rng: rng.choice([lambda: "0:" + str(values.any_clause(rng)), lambda: json.dumps({"0": "(" * 9000}), lambda: values.any_json(rng), lambda: values.any_text(rng), lambda: ";".join(["0:1=1"] * 9000)])())
STATISTICS = (lambda rng: json.dumps([{"statisticType": rng.choice(["count", "sum", "min", "max", "avg", "stddev", "var"]), "onStatisticField": "population", "outStatisticFieldName": "a"}]),
              lambda rng: rng.choice([lambda: json.dumps([{"statisticType": "sum", "onStatisticField": "name"}] * 3000), lambda: values.any_json(rng), lambda: json.dumps([{"statisticType": values.TEXTS[9], "onStatisticField": "nosuch"}])])())
FORMAT = (lambda rng: rng.choice(["json", "json", "pjson", "html"]), values.any_text)


def features(rng, with_ids=False):
    edits = []
    for _ in range(rng.randint(1, 5)):
        x, y = values.place(rng)
        feature = {"attributes": {"name": rng.choice(["a", "ü", "<b>", "x" * 200]), "population": rng.randint(-5, 10 ** 6)}, "geometry": {"x": x, "y": y, "spatialReference": {"wkid": 4326}}}
        if with_ids:
            feature["attributes"]["OBJECTID"] = rng.randint(1, 300)
        edits.append(feature)
    return json.dumps(edits)


def any_features(rng):
    x, y = values.place(rng)
    attributes = rng.choice([
        {"name": "x" * 70_000}, {"population": 10 ** 30}, {"population": "a"}, {"population": 1.5}, {"nosuch": 1}, {"OBJECTID": -1}, {"OBJECTID": 2 ** 63}, {"name": None, "population": None},
        {"name": {"a": [1]}}, {"name": "\x00\x01"}, {"when": 10 ** 18}, {"when": "yesterday"}, {}, None, [], 5,
    ])
    geometry = rng.choice([{"x": x, "y": y}, {"x": 1e308, "y": 1e308}, {"x": None, "y": None}, {"rings": [[[0, 0], [1, 1], [1, 0], [0, 0]]]}, {"points": [[1, 2]]}, None, [], "1,2", {"x": "1", "y": "2"},
                           {"x": 500, "y": 500}, {"x": 1, "y": 1, "spatialReference": {"wkid": 999999}}, {"x": 1, "y": 1, "z": 1, "m": 2}])
    count = rng.choice([1, 1, 1, 3, 2000, 2001])
    return rng.choice([lambda: json.dumps([{"attributes": attributes, "geometry": geometry}] * min(count, 9 if attributes and "x" * 70_000 in str(attributes) else count)),
                       lambda: values.any_json(rng), lambda: values.any_text(rng)])()


ADDED = (lambda rng: features(rng), any_features)
UPDATED = (lambda rng: features(rng, True), any_features)
EDITS = (lambda rng: json.dumps([{"id": 0, "adds": json.loads(features(rng)), "deletes": [rng.randint(1, 300)]}]),
         lambda rng: rng.choice([lambda: json.dumps([{"id": rng.choice([0, -1, 99, 2 ** 40, "0", None]), "adds": [], "updates": {}, "deletes": "x"}]), lambda: json.dumps([{"id": 0}] * 5000), lambda: values.any_json(rng)])())
GRID = (lambda rng: rng.choice(['{"mode":"view","tolerance":0.01}', "{}", '{"originPosition":"lowerLeft","extent":{"xmin":0,"ymin":0,"xmax":9,"ymax":9}}']),
        lambda rng: rng.choice([lambda: '{"tolerance":1e-300}', lambda: '{"tolerance":1e308}', lambda: '{"tolerance":-1,"extent":[]}', lambda: '{"extent":{"xmin":"NaN"}}', lambda: values.any_json(rng)])())
EVERY = {"f": FORMAT, "at": AT, "minSequence": whole(1, 20), "historicMoment": whole(1_600_000_000_000, 4_000_000_000_000), "callback": TEXT, "token": shaped(lambda rng: "")}
TIMEOUT = {"timeout": (lambda rng: rng.choice(["0.5", "5", "15"]), lambda rng: rng.choice(["0", "0.0001", "60", "61", values.any_number(rng), values.any_number(rng)]))}
IDENTIFY = {
    "geometry!": GEOMETRY, "geometryType": TYPES, "sr": SR, "layers": (lambda rng: rng.choice(["all", "top", "visible", "all:0,1", "top:2"]), values.any_text), "tolerance!": decimal(0, 20),
    "mapExtent!": BOX, "imageDisplay!": (lambda rng: "800,600,96", SIZE[1]), "returnGeometry": FLAG, "maxAllowableOffset": decimal(0, 5), "geometryPrecision": whole(0, 15), "layerDefs": DEFINITIONS,
    "time": TIME, "timeRelation": pick("esriTimeRelationOverlaps", "esriTimeRelationWithin"), "layerTimeOptions": shaped(lambda rng: '{"0":{"useTime":true}}'), "returnZ": FLAG, "returnM": FLAG,
    "returnFieldName": FLAG, "maximumResultsPerLayer": whole(1, 1000), "returnPopupsOnly": FLAG, "explain": FLAG, "returnUnformattedValues": FLAG, "dynamicLayers": shaped(lambda rng: ""), **EVERY, **TIMEOUT}
QUERY = {
    "where": WHERE, "objectIds": IDS, "geometry": GEOMETRY, "geometryType": TYPES, "inSR": SR, "outSR": SR, "spatialRel": pick("esriSpatialRelIntersects", "esriSpatialRelContains", "esriSpatialRelWithin", "esriSpatialRelCrosses", "esriSpatialRelTouches", "esriSpatialRelOverlaps", "esriSpatialRelEnvelopeIntersects"), "relationParam": pick("T********", "FF*FF****", "FFFTTT***"),
    "distance": decimal(0, 100_000), "units": pick("esriSRUnit_Meter", "esriSRUnit_Foot"), "time": TIME, "outFields": NAMES, "returnGeometry": FLAG, "maxAllowableOffset": decimal(0, 2), "geometryPrecision": whole(0, 15),
    "returnCentroid": FLAG, "quantizationParameters": GRID, "returnIdsOnly": FLAG, "returnCountOnly": FLAG, "returnExtentOnly": FLAG, "returnDistinctValues": FLAG, "orderByFields": (lambda rng: rng.choice(["name", "name DESC", "population ASC,name"]), NAMES[1]),
    "outStatistics": STATISTICS, "groupByFieldsForStatistics": NAMES, "having": (lambda rng: rng.choice(["COUNT(*) > 1", "SUM(population) > 1000000", "AVG(population) BETWEEN 1 AND 5"]), WHERE[1]), "resultOffset": whole(0, 5000), "resultRecordCount": whole(1, 2000), "resultType": pick("none", "standard", "tile"), "text": TEXT,
    **EVERY, "f": (lambda rng: rng.choice(["json", "geojson", "pjson", "html", "pbf"]), values.any_text), **TIMEOUT}
EXPORT = {
    "bbox!": BOX, "bboxSR": SR, "imageSR": SR, "size": SIZE, "dpi": whole(1, 2400), "mapScale": decimal(1000, 1e8), "format": pick("png", "png8", "png24", "png32", "jpg"), "transparent": FLAG,
    "layers": (lambda rng: rng.choice(["show:0,2", "hide:1", "show:", "include:0", "exclude:2"]), values.any_text), "layerDefs": DEFINITIONS, "time": TIME, "rotation": decimal(0, 360), "dynamicLayers": shaped(lambda rng: ""),
    **EVERY, "f": (lambda rng: rng.choice(["image", "image", "json", "html"]), values.any_text), **TIMEOUT}
FIND = {"searchText!": TEXT, "contains": FLAG, "searchFields": NAMES, "layers!": (lambda rng: rng.choice(["0", "0,1,2", "2"]), values.any_text), "sr": SR, "layerDefs": DEFINITIONS, "returnGeometry": FLAG, "maxAllowableOffset": decimal(0, 2), **EVERY, **TIMEOUT}
LAYERS_QUERY = {"layerDefs": DEFINITIONS, **{name: QUERY[name] for name in (
    "geometry", "geometryType", "inSR", "outSR", "spatialRel", "distance", "time", "outFields", "returnGeometry", "geometryPrecision", "returnIdsOnly", "returnCountOnly", "where", "timeout")}, **EVERY}
SELECT = {name: QUERY[name] for name in ("where", "objectIds", "geometry", "geometryType", "inSR", "spatialRel")}
PLACES = {"outFields": NAMES, "outSR": SR, "searchExtent": BOX, "location": POINT, "sourceCountry": TEXT, "magicKey": TEXT, "category": TEXT, **EVERY, **TIMEOUT}
ADDRESSES = (lambda rng: json.dumps({"records": [{"attributes": {"OBJECTID": i, "SingleLine": "Paris"}} for i in range(rng.randint(1, 20))]}),
             lambda rng: rng.choice([lambda: json.dumps({"records": [{"attributes": {"OBJECTID": 1, "SingleLine": values.TEXTS[9]}}] * 5000}), lambda: values.any_json(rng)])())
TOKEN = {"username!": (lambda rng: "anna", values.any_text), "password!": (lambda rng: "not it", values.any_text), "client": pick("referer", "ip", "requestip"), "referer": TEXT, "ip": TEXT, "expiration": whole(1, 20_160), "f": FORMAT}
ITEMS = {
    "bbox": BOX, "bbox-crs": (lambda rng: "http://www.opengis.net/def/crs/EPSG/0/3857", values.any_text), "crs": (lambda rng: "http://www.opengis.net/def/crs/OGC/1.3/CRS84", values.any_text),
    "datetime": (lambda rng: rng.choice(["2024-02-29T13:00:00Z", "../2024-01-01", "2020-01-01/.."]), values.any_text), "limit": whole(1, 2000), "offset": whole(0, 5000), "name": TEXT,
    "f": (lambda rng: rng.choice(["json", "html"]), values.any_text), "at": AT, "minSequence": whole(1, 20), **TIMEOUT}


class Kind:
    """One kind of URL: its paths, its parameters (`!` after a name: needed), how often it is asked."""

    def __init__(self, name, paths, parameters, weight=2, posts=True, may_never_answer=False):
        self.name, self.paths, self.parameters = name, paths, parameters
        self.weight, self.posts, self.may_never_answer = weight, posts, may_never_answer


def layers(root, rest):
    return [f"{root}/{layer}{rest}" for layer in range(LAYERS)]


def kinds(tasks):
    """All kinds; `tasks` are those of the geoprocessing service, each with its parameters' names."""
    services = [WORLD, PINS]
    every = [
        Kind("services", [f"{ROOT}/services", f"{ROOT}/info", f"{ROOT}/services/"], EVERY),
        Kind("community", ["/sharing/rest/community/self"], {"token": TEXT, "f": FORMAT}, 1, may_never_answer=True),
        Kind("portal", [f"/arcgis/sharing/rest{rest}" for rest in ("", "/info", "/portals/self", "/community/users/cairn", "/content/users/cairn", f"/content/items/{'0' * 32}", "/content/items/x/data", "/content/items/%ff/info/thumbnail")], EVERY, 1),
        Kind("search", ["/arcgis/sharing/rest/search"], {"q": TEXT, "num": whole(0, 200), "start": whole(-1, 50), "sortField": TEXT, "sortOrder": TEXT, **EVERY}, 2),
        Kind("generateToken", [f"{ROOT}/generateToken", "/sharing/rest/generateToken", "/arcgis/tokens/generateToken"], TOKEN, 1, may_never_answer=True),
        Kind("healthz", ["/healthz"], EVERY, 1), Kind("readyz", ["/readyz"], EVERY, 1), Kind("metrics", ["/metrics"], EVERY, 1),
        Kind("map", [f"{root}/MapServer{rest}" for root in services for rest in ("", "/layers", "/legend", "/0")], EVERY, 4),
        Kind("identify", [f"{root}/MapServer/identify" for root in services], IDENTIFY, 14),
        Kind("identify/changes", [f"{WORLD}/MapServer/identify/changes"], IDENTIFY),
        Kind("query", [f"{root}{rest}" for rest in ("/0/query", "/1/query", "/2/query") for root in (f"{WORLD}/MapServer", f"{WORLD}/FeatureServer")] + [f"{PINS}/FeatureServer/0/query"] * 2, QUERY, 18),
        Kind("feature", [f"{root}/{layer}/{name}" for root in (f"{WORLD}/MapServer", f"{WORLD}/FeatureServer", f"{PINS}/FeatureServer") for layer in (0, 2)
                         for name in ("1", "5", "0", "-1", "2147483648", "9223372036854775808", "x", "1e3", "%ff")],
             {name: QUERY[name] for name in ("outFields", "returnGeometry", "outSR", "maxAllowableOffset", "geometryPrecision", "f")} | {**EVERY, **TIMEOUT}, 3),
        Kind("layers/query", [f"{root}/FeatureServer/query" for root in services], LAYERS_QUERY, 4),
        Kind("export", [f"{root}/MapServer/export" for root in services], EXPORT, 6),
        Kind("tile", [f"{WORLD}/MapServer/tile/{z}/{y}/{x}" for z, y, x in ((0, 0, 0), (3, 2, 4), (99, 0, 0), (5, -1, 2), (3, 8, 8), (2 ** 40, 1, 1))], {**EVERY, "blankTile": FLAG}, 3),
        Kind("pages", [f"/pages/{name}" for name in ("style.css", "map.js", "leaflet.js", "leaflet.css", "..%2f..%2f..%2fetc%2fpasswd", "images/..%2f..%2fleaflet.js", "%00", "..", "/etc/passwd", "%ff")], {}, 2, posts=False),
        Kind("find", [f"{WORLD}/MapServer/find"], FIND, 4, may_never_answer=True),
        Kind("features", [f"{root}/FeatureServer{rest}" for root in services for rest in ("", "/layers", "/0")], EVERY, 3),
        Kind("addFeatures", [f"{PINS}/FeatureServer/0/addFeatures"], {"features!": ADDED, "rollbackOnFailure": FLAG, **EVERY}, 3),
        Kind("updateFeatures", [f"{PINS}/FeatureServer/0/updateFeatures"], {"features!": UPDATED, "rollbackOnFailure": FLAG, **EVERY}, 2),
        Kind("deleteFeatures", [f"{PINS}/FeatureServer/0/deleteFeatures"], {**SELECT, "rollbackOnFailure": FLAG, **EVERY}, 2),
        Kind("applyEdits", [f"{PINS}/FeatureServer/0/applyEdits", f"{PINS}/FeatureServer/applyEdits", f"{WORLD}/FeatureServer/0/applyEdits"],
             {"adds": ADDED, "updates": UPDATED, "deletes": IDS, "edits": EDITS, "rollbackOnFailure": FLAG, "useGlobalIds": FLAG, **EVERY}, 2),
        Kind("changes", [f"{PINS}/FeatureServer/changes", f"{PINS}/FeatureServer/0/changes", f"{WORLD}/MapServer/changes"], {**SELECT, **EVERY}, 1, may_never_answer=True),
        Kind("locator", [f"{WORLD}/GeocodeServer"], EVERY, 1),
        Kind("findAddressCandidates", [f"{WORLD}/GeocodeServer/findAddressCandidates"], {"singleLine": TEXT, "Address": TEXT, "City": TEXT, "Region": TEXT, "Postal": TEXT, "maxLocations": whole(1, 50), **PLACES}, 5),
        Kind("suggest", [f"{WORLD}/GeocodeServer/suggest"], {"text!": TEXT, "maxSuggestions": whole(1, 15), "countryCode": TEXT, **PLACES}, 4),
        Kind("reverseGeocode", [f"{WORLD}/GeocodeServer/reverseGeocode"], {"location!": POINT, "distance": decimal(1, 50_000), **PLACES}, 4),
        Kind("geocodeAddresses", [f"{WORLD}/GeocodeServer/geocodeAddresses"], {"addresses!": ADDRESSES, **PLACES}, 2),
        Kind("jobs", [JOBS] + [f"{JOBS}/{task}" for task in tasks] + [f"{JOBS}/Nothing"], EVERY, 2),
        Kind("jobs/all", [f"{JOBS}/jobs"], {name: QUERY[name] for name in ("resultOffset", "resultRecordCount")} | EVERY, 1),
        Kind("job", [f"{JOBS}/BatchIdentify/jobs/{job}{rest}" for job in ("j0190", "j01900000000070008000000000000000", "..", "%00", "x" * 500)
                     for rest in ("", "/cancel", "/changes", "/results/output", "/results/output/file", "/inputs/map")], EVERY, 2, may_never_answer=True),
        Kind("ogc", ["/ogc", "/ogc/conformance", "/ogc/api", "/ogc/collections", "/ogc/collections/World.0", "/ogc/collections/Pins.0", "/ogc/collections/Nothing.9"], {"f": ITEMS["f"]}, 3, posts=False),
        Kind("items", [f"/ogc/collections/{name}/items" for name in ("World.0", "World.1", "World.2", "Pins.0")], ITEMS, 6, posts=False),
        Kind("item", [f"/ogc/collections/World.2/items/{name}" for name in ("1", "5", "0", "-1", "9223372036854775808", "x", "1e3", "%ff")], {"f": ITEMS["f"], "crs": ITEMS["crs"]}, 2, posts=False),
    ]
    for task, names in tasks.items():
        given = {name: TEXT for name in names}
        given.update({name: value for name, value in {
            "map": (lambda rng: rng.choice(["World", "Pins"]), values.any_text), "input": shaped(lambda rng: "0" * 64), "locator": (lambda rng: "World", values.any_text)}.items() if name in given})
        every.append(Kind("submitJob", [f"{JOBS}/{task}/submitJob"], {**given, **EVERY}, 0.15, may_never_answer=True))
    return every


# ---------------------------------------------------------------- drawing one

STRANGE_HEADERS = [
    ("Accept", "text/html"), ("Accept", "*/*;q=nan"), ("Accept", "image/webp," * 2000), ("Accept-Encoding", "gzip, br"), ("Range", "bytes=0-0"), ("If-None-Match", "*"),
    ("Authorization", "Bearer " + "x" * 9000), ("Authorization", "Basic YTpi"), ("X-Esri-Authorization", "Bearer \u00ff"), ("Referer", "\x01"), ("Origin", "null"), ("Origin", "https://a.example"),
    ("Cookie", "a=b; " * 2000), ("X-Forwarded-Proto", "https"), ("X-Forwarded-For", "1.2.3.4"), ("Last-Event-ID", "9223372036854775807"), ("Last-Event-ID", "-5"), ("Last-Event-ID", "x"),
    ("Content-Type", "application/json"), ("Content-Type", "multipart/form-data"), ("Content-Type", "text/plain; charset=\xff"), ("Expect", "100-continue"), ("Upgrade", "h2c"), ("TE", "trailers"), ("X", "y" * 60_000),
]


def path_noise(rng, path):
    return rng.choice([
        lambda: path + "/", lambda: path.replace("/", "//"), lambda: path.lower(), lambda: path.upper(), lambda: path + "/..%2f..%2f..%2fetc%2fpasswd", lambda: path + "/../../../../etc/passwd",
        lambda: path.replace("World", "..").replace("Pins", "%2e%2e"), lambda: path.replace("World", "%ff%fe"), lambda: path + "%00", lambda: path + ";a=b", lambda: path.replace("/0", "/-1"),
        lambda: path.replace("/0", "/99999999999999999999"), lambda: path.replace("/0", "/2147483648"), lambda: path + "/" + "a/" * 3000, lambda: path + "/" + "%61" * 3000, lambda: path.replace("World", "<script>alert(1)</script>".replace(" ", "")),
        lambda: path + "/%0d%0aX-Injected:%20yes", lambda: path.replace("Server", "Serve%72"), lambda: path + "%", lambda: path + "%zz",
    ])()


class Questions:
    """Draws questions from a generator, so that the same generator gives the same ones."""

    def __init__(self, rng, tasks):
        self.rng = rng
        self.kinds = kinds(tasks)
        self.weights = [kind.weight for kind in self.kinds]

    def next(self):
        rng = self.rng
        kind = rng.choices(self.kinds, self.weights)[0]
        how = rng.choices(["right", "one", "some", "all"], [25, 50, 18, 7])[0]
        needed = [name for name in kind.parameters if name.endswith("!")]
        free = [name for name in kind.parameters if not name.endswith("!") and (how != "right" or name not in ("at", "historicMoment", "callback", "token", "having", "text", "rotation", "dynamicLayers", "magicKey"))]
        chosen = needed + rng.sample(free, min(len(free), rng.choice([0, 1, 2, 4, 8] if how != "all" else [5, 30])))
        if how != "right" and rng.random() < 0.1 and chosen:
            chosen.remove(rng.choice(chosen))
        wrong = {"right": 0, "one": 1, "some": rng.randint(1, 4), "all": len(chosen)}[how]
        wrong = set(rng.sample(chosen, min(wrong, len(chosen))))
        parameters = [(name.rstrip("!"), kind.parameters[name][name in wrong](rng)) for name in chosen]
        if kind.name in ("identify", "query") and not wrong:
            parameters = consistent(rng, parameters)
        path, headers, method, body = rng.choice(kind.paths), [], "GET", None
        size = sum(len(value) for _, value in parameters)
        if kind.name.endswith("Features") or kind.name in ("applyEdits", "submitJob") or (kind.posts and (size > 30_000 or rng.random() < 0.2)):
            method = "POST"
        if how in ("some", "all"):
            if rng.random() < 0.3:
                path = path_noise(rng, path)
            if rng.random() < 0.3:
                headers = rng.sample(STRANGE_HEADERS, rng.randint(1, 3))
            if rng.random() < 0.15:
                method = rng.choice(["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "POST"])
            if rng.random() < 0.1 and parameters:
                parameters += [parameters[0]] * rng.choice([1, 5, 300 if size < 1000 else 1])
            if rng.random() < 0.05:
                parameters += [(values.any_text(rng), values.any_text(rng))]
        return Question(kind.name, method, path, parameters, headers, body, is_right=how == "right")


def consistent(rng, parameters):
    """A geometry with its own type, a pattern with the relation that has one."""
    found = dict(parameters)
    if "relationParam" in found:
        found["spatialRel"] = "esriSpatialRelRelation"
    if "geometry" in found:
        found["geometryType"], found["geometry"] = values.shape(rng)
    else:
        found.pop("geometryType", None)
    return list(found.items())
