#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Uses a site over TLS through Esri's ArcGIS API for Python, unmodified.

usage: SSL_CERT_FILE=CA arcgis_portal.py https://HOST:PORT world.gpkg PASSWORD

The maps World and Planning/Sample are imports of the file; at the bottom of Planning/Sample lie tiles. World is public.
anna may query everything, edit the cities of Planning/Sample and run jobs, berta may query Planning/Sample, carl has no
grant of his own; all have that password. Exits 1 with the first answer that is wrong. What layers hold is read by
SQLite from the file.
"""

import json
import os
import sqlite3
import struct
import sys
import tempfile
import urllib.parse
import urllib.request
import zipfile

from arcgis.features import FeatureLayer, GeoAccessor
from arcgis.geocoding import Geocoder, batch_geocode, geocode, reverse_geocode, suggest
from arcgis.geometry import Point, filters
from arcgis.geoprocessing import DataFile, import_toolbox
from arcgis.geoprocessing._uploads import Uploads
from arcgis.gis import GIS
from arcgis.layers import MapImageLayer, VectorTileLayer
from arcgis.map import Map

PNG = b"\x89PNG\r\n\x1a\n"
WINDOW = {"xmin": -5.0, "ymin": 36.0, "xmax": 20.0, "ymax": 55.0, "spatialReference": {"wkid": 4326}}
KINDS = {"Web Map", "Map Service", "Feature Service"}


def check(condition, what, found=""):
    """Ends the script unless the condition holds."""
    if not condition:
        sys.exit(f"arcgis: {what}: found {found!r}")
    print(f"arcgis: {what}", flush=True)


def failure(body):
    """The text of the error that a call ends with; None of one that ends well."""
    try:
        body()
    except Exception as error:  # pylint: disable=broad-except
        return str(error)
    return None


def point(blob):
    """The coordinates of a point in a GeoPackage without an envelope in its header, or with one."""
    envelope = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}[blob[3] >> 1 & 7]
    return struct.unpack_from("<dd", blob, 8 + envelope + 5)


def sources(path):
    """The rows of the layers cities and countries as SQLite reads them."""
    with sqlite3.connect(path) as database:
        database.row_factory = sqlite3.Row
        column = dict(database.execute("SELECT table_name, column_name FROM gpkg_geometry_columns"))
        rows = {}
        for name in ("cities", "countries"):
            rows[name] = [dict(row) for row in database.execute(f'SELECT * FROM "{name}"')]
        for row in rows["cities"]:
            row["place"] = point(row[column["cities"]])
        return rows


def named(gis, title, kind):
    """The one item of that title and kind."""
    found = [item for item in gis.content.search(f'title:"{title}"', item_type=kind)
             if item.title == title and item.type == kind]
    check(len(found) == 1, f"a search finds the {kind} '{title}'", found)
    return found[0]


def logins(url, password):
    """Users with passwords and tokens, and what each sees."""
    anna = GIS(url, "anna", password, use_gen_token=True)
    check(anna.users.me.username == "anna", "a name and a password log in, with use_gen_token", anna.users.me)
    check(anna.properties.portalName == "Cairn" and anna.properties.isPortal,
          "the portal's properties name it", anna.properties.portalName)
    check(anna.properties.user.username == "anna", "its properties have the user", anna.properties.user)

    form = urllib.parse.urlencode({"username": "anna", "password": password, "client": "requestip", "f": "json"})
    with urllib.request.urlopen(url + "/sharing/rest/generateToken", form.encode(), timeout=20) as answer:
        token = json.load(answer)["token"]
    bearer = GIS(url, token=token)
    check(bearer.users.me.username == "anna", "a token of the site logs in", bearer.users.me)
    check(bearer.content.search("*", max_items=100) == anna.content.search("*", max_items=100),
          "a token finds what its user finds")

    wrong = failure(lambda: GIS(url, "anna", password + "x", use_gen_token=True))
    check(wrong is not None and "Invalid username or password" in wrong, "a wrong password is refused", wrong)

    anonymous = GIS(url)
    check(anonymous.users.me is None, "without either there is no user", anonymous.users.me)
    check(anonymous.groups.search("*") == [], "a search for groups finds none")
    return anna, anonymous


def items_seen(url, password, anna, anonymous):
    """Each caller finds the items of the maps that it may query."""
    def found(gis):
        return {(item.title, item.type) for item in gis.content.search("*", max_items=100)}

    def of(title):
        return {(title, kind) for kind in KINDS}

    berta = GIS(url, "berta", password, use_gen_token=True)
    carl = GIS(url, "carl", password, use_gen_token=True)
    geocoder = {("World", "Geocoding Service")}
    network = {("Town", "Network Analysis Service")}
    check(found(anna) == of("World") | of("Planning/Sample") | geocoder | network,
          "a user with query on everything finds every item", found(anna))
    public = of("World") | geocoder
    check(found(berta) == of("Planning/Sample") | public,
          "a user with query on one map finds its items and what is public", found(berta))
    check(found(carl) == public, "a user without a grant finds no item of a map that is not public", found(carl))
    check(found(anonymous) == public, "without a login what is public is found alone", found(anonymous))

    hidden = named(anna, "Planning/Sample", "Web Map")
    check(hidden.access == "org" and named(anna, "World", "Web Map").access == "public",
          "an item says whether it is public", hidden.access)
    for caller, gis in (("a user without a grant", carl), ("a client without a login", anonymous)):
        check(gis.content.get(hidden.id) is None, f"{caller} gets no item of a hidden map by its id")
        layer = FeatureLayer(url + "/rest/services/Planning/Sample/FeatureServer/0", gis)
        refusal = failure(lambda layer=layer: layer.query(return_count_only=True))
        check(refusal is not None and ("499" in refusal or "403" in refusal or "permissions" in refusal
                                       or "Token Required" in refusal),
              f"{caller} may not query its layers", refusal)
    check(berta.content.get(hidden.id).title == "Planning/Sample", "a user with the grant gets it")


def search(gis):
    """Words, kinds, pages and orders."""
    content = gis.content
    words = content.search("everything drawn", max_items=100)
    check({item.type for item in words} == KINDS and {item.title for item in words} == {"World"},
          "words of a description are found", words)
    check([item.type for item in content.search("World", item_type="Feature Layer")] == ["Feature Service"],
          "item_type 'Feature Layer' finds feature services")
    check([item.title for item in content.search("", item_type="Web Map", sort_field="title", sort_order="desc")]
          == ["World", "Planning/Sample"], "results are sorted")
    total = content.advanced_search("owner:cairn", return_count=True)
    check(total == 8, "an advanced search counts", total)
    pages, start = [], 1
    while start > 0 and len(pages) < 10:
        page = content.advanced_search("owner:cairn", max_items=3, start=start, sort_field="title")
        pages.append([item.id for item in page["results"]])
        start = page["nextStart"]
    flat = [one for page in pages for one in page]
    check([len(page) for page in pages] == [3, 3, 2] and len(set(flat)) == 8,
          "pages by start hold every item once", pages)
    check(set(flat) == {item.id for item in gis.users.me.items()}, "a user's content is the same items")


def item_parts(gis):
    """Items, their data and their pictures."""
    web_map = named(gis, "World", "Web Map")
    again = gis.content.get(web_map.id)
    check(again.title == "World" and again.owner == "cairn" and again.modified >= again.created > 0,
          "an item is had by its id", again)
    data = web_map.get_data()
    check([layer["title"] for layer in data["operationalLayers"]] == ["countries", "states_provinces", "cities"],
          "the data of a web map is its document", data.get("operationalLayers"))
    check(gis.content.get("0" * 32) is None, "an unknown id is no item")
    for kind in ("Web Map", "Map Service", "Feature Service"):
        item = named(gis, "World", kind)
        picture = item.get_thumbnail()
        check(picture.startswith(PNG) and struct.unpack(">II", picture[16:24]) == (200, 133),
              f"the thumbnail of a {kind} is a picture of 200 by 133 pixels", picture[:24])
    for kind in (*sorted(KINDS), "Geocoding Service"):
        item = named(gis, "World", kind)
        check("World" in item._repr_html_(), f"a notebook shows a {kind}")  # pylint: disable=protected-access
        check(item.sharing.shared_with["groups"] == [], f"a {kind} is shared with no group", item.sharing.shared_with)
    layers = named(gis, "World", "Feature Service").layers
    check({layer.properties.name for layer in layers} == {"countries", "states_provinces", "cities"},
          "the item of a feature service has its layers", layers)


def maps(url, gis):
    """Web maps as objects."""
    shown = Map(item=named(gis, "World", "Web Map"))
    layers = shown.content.layers
    check([layer.properties.name for layer in layers] == ["countries", "states_provinces", "cities"]
          and all(layer.url.startswith(url + "/rest/services/World/FeatureServer/") for layer in layers),
          "a Map has the layers of its web map", layers)
    check(shown.basemap.basemap["baseMapLayers"] == [], "a map without a picture below has no basemap layer")
    extent = shown.extent
    check(abs(extent["xmin"] + 179.9) < 0.01 and abs(extent["ymax"] - 83.634) < 0.01
          and extent["spatialReference"]["wkid"] == 4326, "its extent is that of the web map", extent)
    check(layers[0].query(where="name='France'", return_count_only=True) == 1, "its layers are queried")

    based = Map(item=named(gis, "Planning/Sample", "Web Map"))
    below = based.basemap.basemap["baseMapLayers"]
    check(len(below) == 1 and below[0]["url"].startswith(url + "/rest/services/Planning/Sample/MapServer"),
          "a picture at the bottom is the basemap layer", below)
    check([layer.properties.name for layer in based.content.layers] == ["countries", "states_provinces", "cities"],
          "the others are its layers", based.content.layers)

    empty = gis.map()
    check(empty.extent["xmin"] < -20_037_000, "a new map shows the world", empty.extent)
    empty.content.add(FeatureLayer(url + "/rest/services/World/FeatureServer/0", gis))
    empty.content.add(named(gis, "World", "Map Service"))
    check([type(layer).__name__ for layer in empty.content.layers] == ["FeatureLayer", "MapImageLayer"],
          "layers and items are added to a map", empty.content.layers)
    near = gis.map("Paris, France").extent
    check(near["xmin"] < 261_467 < near["xmax"] and near["ymin"] < 6_250_025 < near["ymax"],
          "a new map at a place is found by the site's locator", near)


def features(services, gis, rows):
    """Queries of layers against what the file holds."""
    countries = FeatureLayer(services + "/World/FeatureServer/0", gis)
    cities = FeatureLayer(services + "/World/FeatureServer/2", gis)
    check(countries.properties.name == "countries" and cities.properties.geometryType == "esriGeometryPoint",
          "layers have their properties", (countries.properties.name, cities.properties.geometryType))

    wanted = sorted((row["name"], row["iso_a2"]) for row in rows["countries"] if (row["name"] or "").startswith("S"))
    found = countries.query(where="name LIKE 'S%'", out_fields="name,iso_a2").features
    check(sorted((one.attributes["name"], one.attributes["iso_a2"]) for one in found) == wanted and len(wanted) > 20,
          "a query by where and out_fields gives the rows of the file", len(found))
    check(set(found[0].attributes) <= {"OBJECTID", "name", "iso_a2"}, "it has the fields asked for",
          list(found[0].attributes))

    check(cities.query(return_count_only=True) == len(rows["cities"]), "a layer is counted", len(rows["cities"]))
    everything = cities.query().features
    check(len(everything) == len(rows["cities"]) > cities.properties.maxRecordCount,
          "every page of a layer is read", len(everything))
    places = {one.attributes["geoname_id"]: (one.geometry["x"], one.geometry["y"]) for one in everything}
    check(places == {row["geoname_id"]: row["place"] for row in rows["cities"]},
          "its points are those of the file to the bit")

    def inside(row):
        x, y = row["place"]
        return WINDOW["xmin"] <= x <= WINDOW["xmax"] and WINDOW["ymin"] <= y <= WINDOW["ymax"]

    wanted = {row["geoname_id"] for row in rows["cities"] if inside(row)}
    window = filters.intersects(WINDOW)
    found = {one.attributes["geoname_id"] for one in cities.query(geometry_filter=window).features}
    check(found == wanted and len(wanted) > 100, "a geometry filter gives what lies in it", len(found ^ wanted))
    check(cities.query(geometry_filter=window, return_count_only=True) == len(wanted), "it is counted")
    ids = cities.query(geometry_filter=window, return_ids_only=True)["objectIds"]
    wanted_ids = {one.attributes["OBJECTID"] for one in everything if one.attributes["geoname_id"] in wanted}
    check(set(ids) == wanted_ids and len(ids) == len(wanted), "return_ids_only gives their object ids", len(ids))
    paris = Point({"x": 2.35, "y": 48.85, "spatialReference": {"wkid": 4326}})
    found = countries.query(geometry_filter=filters.intersects(paris), out_fields="name").features
    check([one.attributes["name"] for one in found] == ["France"], "a point lies in one country", found)

    frame = cities.query(where="country_code = 'FR'", out_fields="name,population", as_df=True)
    wanted = sorted((row["name"], row["population"]) for row in rows["cities"] if row["country_code"] == "FR")
    check(sorted(zip(frame["name"], frame["population"])) == wanted and len(wanted) > 10,
          "as_df gives the rows of the file", len(frame))
    check(frame.spatial.sr["wkid"] == 4326 and frame.spatial.geometry_type == ["point"],
          "the frame has its reference and geometries", (frame.spatial.sr, frame.spatial.geometry_type))
    check(len(GeoAccessor.from_layer(countries)) == len(rows["countries"]), "a frame is made from a layer")
    sums = {}
    for row in rows["cities"]:
        sums[row["country_code"]] = sums.get(row["country_code"], 0) + (row["population"] or 0)
    frame = cities.query(
        out_statistics=[{"statisticType": "sum", "onStatisticField": "population", "outStatisticFieldName": "people"}],
        group_by_fields_for_statistics="country_code", as_df=True)
    check(dict(zip(frame["country_code"], frame["people"])) == sums, "sums by group are those of the file", len(frame))


def geocoding(services, gis):
    """The locator."""
    geocoder = Geocoder(services + "/World/GeocodeServer", gis)
    first = geocode("Paris, France", geocoder=geocoder, max_locations=3)[0]
    check(abs(first["location"]["x"] - 2.3488) < 0.01 and abs(first["location"]["y"] - 48.8534) < 0.01
          and first["address"].startswith("Paris"), "geocode finds Paris", first)
    check(geocode("Paris, France")[0]["address"] == first["address"],
          "the portal's own geocoder is the site's locator")
    check(geocode("blargfoobar", geocoder=geocoder) == [], "nonsense is no place")
    spain = {"xmin": -10, "ymin": 35, "xmax": 5, "ymax": 45, "spatialReference": {"wkid": 4326}}
    found = [one["address"] for one in geocode("Toledo", geocoder=geocoder, search_extent=spain)]
    check(found and all("Spain" in one for one in found), "search_extent keeps what lies in it", found)
    place = reverse_geocode([13.41053, 52.52437], geocoder=geocoder)
    check(place["address"]["City"] == "Berlin", "reverse_geocode finds Berlin", place["address"])
    texts = [one["text"] for one in suggest("Pari", geocoder=geocoder)["suggestions"]]
    check(texts and texts[0].startswith("Paris") and all("Pari" in text for text in texts),
          "suggest completes a name", texts)
    found = [one["address"].split(",")[0] for one in batch_geocode(["Paris, France", "Madrid"], geocoder=geocoder)]
    check(found == ["Paris", "Madrid"], "batch_geocode finds every address", found)


def map_service(services, gis, folder):
    """Identify, find, export and legend of a map service."""
    layer = MapImageLayer(services + "/World/MapServer", gis)
    check({one.properties.name for one in layer.layers} == {"countries", "states_provinces", "cities"},
          "a MapImageLayer has its layers", layer.layers)
    found = layer.identify(geometry={"x": 2.3488, "y": 48.8534}, geometry_type="esriGeometryPoint", sr="4326",
                           map_extent="-180,-90,180,90", image_display="800,600,96", layers="all", tolerance=0)
    check({one["value"] for one in found["results"]} >= {"France"}, "identify finds the country", found)
    found = layer.find("France", "0", search_fields="name", sr="4326")["results"]
    check([one["value"] for one in found] == ["France"], "find finds a text", found)
    check({one["layerName"] for one in layer.legend["layers"]} == {"countries", "states_provinces", "cities"},
          "it has a legend", layer.legend)
    view = {"bbox": "-10,35,30,60", "bbox_sr": "4326", "image_sr": "4326", "size": "400,250"}
    answer = layer.export_map(**view, f="json")
    check((answer["width"], answer["height"]) == (400, 250) and answer["extent"]["xmin"] == -10,
          "export_map describes a picture", answer)
    path = layer.export_map(**view, f="image", save_folder=folder, save_file="map.png")
    with open(path, "rb") as file:
        head = file.read(24)
    check(head.startswith(PNG) and struct.unpack(">II", head[16:24]) == (400, 250),
          "export_map saves the picture", head)


def packages(services, gis):
    """Tiles of a map in packages."""
    layer = MapImageLayer(services + "/World/MapServer", gis)
    size = layer.estimate_export_tiles_size("levelId", "0-2", export_extent="DEFAULT", asynchronous=False)
    check(size["totalTilesToExport"] == 21 and size["totalSize"] > 0, "the size of an export is estimated", size)
    paths = layer.export_tiles("1-4", export_extent=json.dumps(WINDOW), storage_format="tpkx")
    check([os.path.basename(path) for path in paths] == ["World.tpkx"], "pictures are exported", paths)
    with zipfile.ZipFile(paths[0]) as package:
        root = json.loads(package.read("root.json"))
        bundles = [name for name in package.namelist() if name.endswith(".bundle")]
    check((root["minLOD"], root["maxLOD"], len(bundles)) == (1, 4, 4), "each level has its tiles", root)
    # A dictionary arrives as the names of its members.
    refusal = failure(lambda: layer.export_tiles("0", area_of_interest={"features": []}))
    check(refusal is not None and "jobId" in refusal, "an area that cannot be read is not the world", refusal)
    paths = VectorTileLayer(services + "/World/VectorTileServer", gis).export_tiles(levels="0-2")
    check([os.path.basename(path) for path in paths] == ["World.vtpk"], "vector tiles are exported", paths)
    with zipfile.ZipFile(paths[0]) as package:
        check("p12/resources/styles/root.json" in package.namelist(), "with their style", package.namelist())


def toolbox(services, gis, rows, folder):
    """Jobs as functions."""
    tools = import_toolbox(services + "/Jobs/GPServer", gis=gis)
    wanted = {"batch", "batch_geocode", "batch_identify", "export_features"}
    check(wanted <= set(dir(tools)), "import_toolbox has a function for each kind of job", dir(tools))
    result = tools.export_features(
        map="World", layer="cities", where="country_code = 'FR'", format="geojson", gis=gis)
    with open(result.download(folder), encoding="utf-8") as file:
        found = {one["properties"]["name"] for one in json.load(file)["features"]}
    check(found == {row["name"] for row in rows["cities"] if row["country_code"] == "FR"},
          "a job's product is downloaded, with the rows of the file", len(found))
    path = os.path.join(folder, "addresses.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write('number,place\n1,"Paris, France"\n2,Madrid\n')
    upload = Uploads(services + "/Jobs/GPServer", gis).upload(path)
    result = tools.batch_geocode(input=DataFile(item_id=upload.url.rsplit("/", 1)[1]), query="place", gis=gis)
    with open(result.download(folder), encoding="utf-8") as file:
        lines = file.read().splitlines()
    check(len(lines) == 3 and "Paris" in lines[1] and "Madrid" in lines[2],
          "an uploaded file is the input of a job", lines)
    refusal = failure(lambda: tools.export_features(map="World", layer="no such layer", gis=gis))
    check(refusal is not None and "expected the number or name of a layer" in refusal,
          "a job that fails says why", refusal)


def edits(services, gis):
    """Features added, changed and deleted."""
    layer = FeatureLayer(services + "/Planning/Sample/FeatureServer/2", gis)
    place = {"x": -150.0, "y": 0.5, "spatialReference": {"wkid": 4326}}
    added = layer.edit_features(adds=[{"attributes": {"name": "Nowhere"}, "geometry": place}])["addResults"][0]
    check(added["success"], "a feature is added", added)
    number = added["objectId"]
    found = layer.query(where="name = 'Nowhere'").features
    check([(one.attributes["OBJECTID"], one.geometry["x"], one.geometry["y"]) for one in found]
          == [(number, -150.0, 0.5)], "it is found at its place", found)
    changed = layer.edit_features(updates=[{"attributes": {"OBJECTID": number, "name": "Elsewhere"}}])
    check(changed["updateResults"][0]["success"], "it is changed", changed)
    check([one.attributes["name"] for one in layer.query(object_ids=str(number)).features] == ["Elsewhere"],
          "its new name is read")
    deleted = layer.edit_features(deletes=str(number))
    check(deleted["deleteResults"][0]["success"], "it is deleted", deleted)
    check(layer.query(object_ids=str(number), return_count_only=True) == 0, "it is gone")
    other = FeatureLayer(services + "/World/FeatureServer/2", gis)
    refusal = failure(lambda: other.edit_features(deletes="1"))
    check(refusal is not None and "permissions" in refusal, "another map may not be edited", refusal)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    url, rows, password = sys.argv[1].rstrip("/") + "/arcgis", sources(sys.argv[2]), sys.argv[3]
    services = url + "/rest/services"
    anna, anonymous = logins(url, password)
    items_seen(url, password, anna, anonymous)
    # The last one that logs in is the one that downloads products, and whose geocoder is asked.
    anna = GIS(url, "anna", password, use_gen_token=True)
    search(anna)
    item_parts(anna)
    features(services, anna, rows)
    geocoding(services, anna)
    maps(url, anna)
    with tempfile.TemporaryDirectory() as folder:
        map_service(services, anna, folder)
        packages(services, anna)
        toolbox(services, anna, rows, folder)
    edits(services, anna)


if __name__ == "__main__":
    main()
