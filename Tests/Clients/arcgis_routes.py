#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Solves routes over TLS through Esri's ArcGIS API for Python, unmodified.

usage: SSL_CERT_FILE=CA arcgis_routes.py https://HOST:PORT PASSWORD

The network Town is built from deploy/sample/town.osm, a town with a bridge in its middle. anna may query it, carl has
no grant of his own; both have that password. Exits 1 with the first answer that is wrong.
"""

import csv
import json
import math
import os
import sys
import tempfile

from arcgis.features import Feature, FeatureSet
from arcgis.geoprocessing import DataFile, import_toolbox
from arcgis.geoprocessing._uploads import Uploads
from arcgis.gis import GIS
from arcgis.network import (ClosestFacilityLayer, NetworkDataset, ODCostMatrixLayer, RouteLayer,
                            ServiceAreaLayer, analysis)

# The corners of the town, longitude and latitude.
SOUTH_WEST, NORTH_EAST, MIDDLE = "13.0,51.0", "13.015,51.009", "13.006,51.0018"


def check(condition, what, found=""):
    """Ends the script unless the condition holds."""
    if not condition:
        sys.exit(f"arcgis: {what}: found {found!r}")
    print(f"arcgis: {what}", flush=True)


def rows(answer, name):
    """The attributes of the features of a class."""
    return [feature["attributes"] for feature in answer[name]["features"]]


def services(gis, root):
    """The network is an item, and named as the portal's services."""
    items = gis.content.search('type:"Network Analysis Service"')
    check([(item.title, item.url) for item in items] == [("Town", root)],
          "the network is an item with its URL", items)
    check(gis.properties.helperServices.route.url == root + "/Route",
          "the portal names it for routes", gis.properties.helperServices)
    found = NetworkDataset(root, gis=gis)
    kinds = [len(layers) for layers in (found.route_layers, found.service_area_layers,
                                        found.closest_facility_layers, found.od_cost_matrix_layers)]
    check(kinds == [1, 1, 1, 1], "a network has a layer for each analysis", kinds)


def routes(gis, root):
    """A route, its directions, and the way round a barrier; the length of the route in kilometres."""
    layer = RouteLayer(root + "/Route", gis=gis)
    modes = [mode["name"] for mode in layer.retrieve_travel_modes()["supportedTravelModes"]]
    check({"Driving Time", "Walking Distance"} <= set(modes), "the travel modes are listed", modes)
    stops = f"{SOUTH_WEST};{NORTH_EAST}"

    def solve(**other):
        return layer.solve(stops=stops, travel_mode="Driving Time", return_routes=True, return_stops=True,
                           directions_language="de", directions_length_units="esriNAUKilometers", **other)

    answer = solve()
    route = rows(answer, "routes")[0]
    # Along a grid the way is as long as its sides: 15 thousandths of a degree east, 9 north.
    check(1.95 < route["Total_Kilometers"] < 2.15, "the route is as long as the streets", route)
    texts = [row["attributes"]["text"] for row in answer["directions"][0]["features"]]
    check(any("Bridge" in text for text in texts) and any("abbiegen" in text for text in texts),
          "the directions name the bridge, in German", texts)
    lengths = sum(row["attributes"]["length"] for row in answer["directions"][0]["features"])
    check(abs(lengths - route["Total_Kilometers"]) < 1e-3, "they are as long as the route", lengths)
    check([row["Status"] for row in rows(answer, "stops")] == [0, 0], "both stops have a road", rows(answer, "stops"))

    line = answer["routes"]["features"][0]["geometry"]["paths"][0]
    middle = line[len(line) // 2]
    here = {"features": [{"geometry": {"x": middle[0], "y": middle[1], "spatialReference": {"wkid": 4326}},
                          "attributes": {"BarrierType": 0}}]}
    around = rows(solve(barriers=json.dumps(here)), "routes")[0]
    check(around["Total_TravelTime"] > route["Total_TravelTime"], "the way round a barrier takes longer", around)
    return route


def others(gis, root, route):
    """Areas nest, facilities are ranked, tables agree with the route."""
    mode = "Driving Time"
    answer = ServiceAreaLayer(root + "/ServiceArea", gis=gis).solve_service_area(
        facilities=SOUTH_WEST, default_breaks=[1, 2], travel_mode=mode,
        trim_outer_polygon=False, overlap_polygons=True, split_polygons_at_breaks=False)
    areas = {row["ToBreak"]: row["Shape_Area"] for row in rows(answer, "saPolygons")}
    check(set(areas) == {1, 2} and 0 < areas[1] < areas[2], "the area of two minutes is larger than that of one", areas)

    answer = ClosestFacilityLayer(root + "/ClosestFacility", gis=gis).solve_closest_facility(
        incidents=SOUTH_WEST, facilities=f"{NORTH_EAST};{MIDDLE}", travel_mode=mode,
        default_target_facility_count=2)
    ranked = [(row["FacilityRank"], row["FacilityID"]) for row in rows(answer, "routes")]
    check(ranked == [(1, 2), (2, 1)], "the nearer facility comes first", ranked)
    far = rows(answer, "routes")[1]
    check(abs(far["Total_TravelTime"] - route["Total_TravelTime"]) < 1e-9, "its route costs what the route did", far)

    answer = ODCostMatrixLayer(root + "/ODCostMatrix", gis=gis).solve_od_cost_matrix(
        origins=f"{SOUTH_WEST};{MIDDLE}", destinations=f"{MIDDLE};{NORTH_EAST}", travel_mode=mode)
    matrix = answer["odCostMatrix"]
    cost = matrix["1"]["2"][matrix["costAttributeNames"].index("TravelTime")]
    check(abs(cost - route["Total_TravelTime"]) < 1e-9, "a cell of a table costs what the route did", matrix)
    check(matrix["2"]["1"][0] == 0, "the way from a place to itself costs nothing", matrix["2"])


def jobs(gis, url, route, folder):
    """Whole tables of routes, costs and areas as jobs, which agree with the single answers."""
    service = url + "/rest/services/Jobs/GPServer"
    tools = import_toolbox(service, gis=gis)
    kinds = {name for name in dir(tools) if name in ("batch_route", "od_matrix", "service_areas")}
    check(len(kinds) == 3, "import_toolbox has a function for each kind of job on a network", dir(tools))

    def table(name, *lines):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        upload = Uploads(service, gis).upload(path)
        return DataFile(item_id=upload.url.rsplit("/", 1)[1])

    def product(result):
        with open(result.output.download(folder), encoding="utf-8", newline="") as file:
            return file.read()

    trips = table("trips.csv", "trip,fromX,fromY,toX,toY", f"far,{SOUTH_WEST},{NORTH_EAST}",
                  f"near,{SOUTH_WEST},{MIDDLE}")
    rows_ = list(csv.DictReader(product(tools.batch_route(
        input=trips, network="Town", travel_mode="Driving Time", gis=gis)).splitlines()))
    check([row["trip"] for row in rows_] == ["far", "near"] and {row["Status"] for row in rows_} == {"ok"},
          "each row of a table has a route", rows_)
    check(abs(float(rows_[0]["Duration"]) / 60 - route["Total_TravelTime"]) < 1e-4,
          "it takes as long as the route did", rows_[0])
    lines = json.loads(product(tools.batch_route(
        input=trips, network="Town", travel_mode="Driving Time", output_format="geojson", gis=gis)))
    check([feature["geometry"]["type"] for feature in lines["features"]] == ["LineString"] * 2,
          "and its line", lines)

    places = table("places.csv", "id,x,y,role", f"home,{SOUTH_WEST},origin", f"work,{NORTH_EAST},destination",
                   f"shop,{MIDDLE},destination")
    cells = {row["destination"]: row for row in csv.DictReader(product(tools.od_matrix(
        input=places, network="Town", travel_mode="Driving Time", gis=gis)).splitlines())}
    check(set(cells) == {"work", "shop"} and
          abs(float(cells["work"]["duration"]) / 60 - route["Total_TravelTime"]) < 1e-4,
          "a table of costs agrees with the route", cells)

    areas = json.loads(product(tools.service_areas(
        input=table("facilities.csv", "id,x,y", f"home,{SOUTH_WEST}"), network="Town", breaks="60,120",
        travel_mode="Driving Time", gis=gis)))
    check([feature["properties"]["to"] for feature in areas["features"]] == [120, 60],
          "a facility has an area for each break", areas)
    feature_jobs(gis, tools, route)
    try:
        tools.batch_route(input=trips, network="Town", travel_mode="Flying", gis=gis)
        refusal = None
    except Exception as error:  # pylint: disable=broad-except
        refusal = str(error)
    # The server names the travel modes that there are; this client makes an error of its own of any refusal.
    check(refusal is not None, "an unknown travel mode is refused", refusal)


def points(reference, *rows):
    """A FeatureSet of points, each a place as x,y in degrees with its attributes."""
    def place(text):
        x, y = map(float, text.split(","))
        if reference == 3857:
            radius = 6378137
            return {"x": math.radians(x) * radius,
                    "y": math.log(math.tan(math.pi / 4 + math.radians(y) / 2)) * radius}
        return {"x": x, "y": y}
    return FeatureSet([Feature(geometry={**place(text), "spatialReference": {"wkid": reference}},
                               attributes=attributes) for text, attributes in rows],
                      spatial_reference={"wkid": reference}, geometry_type="esriGeometryPoint")


def feature_jobs(gis, tools, route):
    """The same jobs with features in, and out."""
    mode = {"network": "Town", "travel_mode": "Driving Time", "gis": gis}
    minutes = route["Total_TravelTime"]
    for reference in (4326, 3857):
        stops = points(reference, (NORTH_EAST, {"RouteName": "far", "Sequence": 2, "load": 5}),
                       (SOUTH_WEST, {"RouteName": "far", "Sequence": 1, "load": 5}))
        found = tools.batch_route(stops=stops, output_format="geojson", **mode).output_features
        row = found.features[0]
        check(len(found.features) == 1 and row.attributes["RouteName"] == "far" and row.attributes["load"] == 5
              and abs(row.attributes["Duration"] / 60 - minutes) < 1e-3,
              f"points of one RouteName in {reference} are a route with their attributes", row)
        check(len(row.geometry["paths"][0]) > 2, "and a line", row.geometry)
        matrix = tools.od_matrix(
            origins=points(reference, (SOUTH_WEST, {"OBJECTID": 11, "home": "h"})),
            destinations=points(reference, (NORTH_EAST, {"OBJECTID": 21, "clinic": 3}),
                                (MIDDLE, {"OBJECTID": 22, "clinic": 4})), **mode).output_features
        cells = {cell.attributes["destination"]: cell.attributes for cell in matrix.features}
        check(set(cells) == {"21", "22"} and abs(cells["21"]["duration"] / 60 - minutes) < 1e-3
              and cells["22"]["origin_home"] == "h" and cells["22"]["destination_clinic"] == "4",
              f"a table of features in {reference} has their ids and attributes", cells)
    areas = tools.service_areas(facilities=points(4326, (SOUTH_WEST, {"beds": 12})), breaks="60,120",
                                **mode).output_features
    check([(area.attributes["to"], area.attributes["beds"]) for area in areas.features] == [(120, 12), (60, 12)]
          and all(area.geometry["rings"] for area in areas.features), "areas are polygons with attributes",
          areas.features[0].attributes)
    try:
        tools.od_matrix(origins=points(4326, (SOUTH_WEST, {})), **mode)
        refusal = None
    except Exception as error:  # pylint: disable=broad-except
        refusal = str(error)
    check(refusal is not None, "origins without destinations are refused", refusal)


def tasks(gis, root, route):
    """Esri's asynchronous analyses, found by the portal, which agree with the single answers."""
    mode = json.dumps(next(mode for mode in RouteLayer(root + "/Route", gis=gis).retrieve_travel_modes()
                           ["supportedTravelModes"] if mode["name"] == "Driving Time"))
    minutes = route["Total_TravelTime"]
    ends = points(4326, (SOUTH_WEST, {"Name": "home"}), (NORTH_EAST, {"Name": "work"}))
    found = analysis.find_routes(ends, travel_mode=mode, directions_language="de", gis=gis)
    row = found.output_routes.features[0].attributes
    check(found.solve_succeeded and row["Name"] == "home - work" and abs(row["Total_Minutes"] - minutes) < 1e-9,
          "find_routes has the route's time", row)
    texts = [step.attributes["Text"] for step in found.output_directions.features]
    check(any("abbiegen" in text for text in texts), "and its directions", texts)
    check([stop.attributes["Status"] for stop in found.output_stops.features] == [0, 0], "and its stops")
    check(len(found) == 12, "and all of Esri's results", found._fields)
    others_ = points(4326, (NORTH_EAST, {"OBJECTID": 1}), (MIDDLE, {"OBJECTID": 2}))
    home = points(4326, (SOUTH_WEST, {"OBJECTID": 1}))
    near = analysis.find_closest_facilities(home, others_, number_of_facilities_to_find=2, travel_mode=mode, gis=gis)
    ranked = [line.attributes for line in near.output_routes.features]
    check([line["FacilityOID"] for line in ranked] == [2, 1] and abs(ranked[1]["Total_Minutes"] - minutes) < 1e-9,
          "find_closest_facilities ranks the facilities", ranked)
    areas = analysis.generate_service_areas(home, break_values="1 2", travel_mode=mode, gis=gis)
    check([area.attributes["ToBreak"] for area in areas.service_areas.features] == [2, 1],
          "generate_service_areas has an area for each break")
    matrix = analysis.generate_origin_destination_cost_matrix(home, others_, travel_mode=mode, gis=gis)
    cells = {cell.attributes["DestinationOID"]: cell.attributes
             for cell in matrix.output_origin_destination_lines.features}
    check(abs(cells[1]["Total_Time"] - minutes) < 1e-9 and cells[2]["DestinationRank"] == 1,
          "generate_origin_destination_cost_matrix agrees with the route", cells)
    try:
        analysis.find_routes(ends, travel_mode="Flying", gis=gis)
        refusal = None
    except Exception as error:  # pylint: disable=broad-except
        refusal = str(error)
    check(refusal is not None, "find_routes with an unknown travel mode is refused", refusal)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    url, password = sys.argv[1] + "/arcgis", sys.argv[2]
    root = url + "/rest/services/Town/NAServer"
    gis = GIS(url, "anna", password, use_gen_token=True)
    services(gis, root)
    route = routes(gis, root)
    others(gis, root, route)
    with tempfile.TemporaryDirectory() as folder:
        jobs(gis, url, route, folder)
    tasks(gis, root, route)

    carl = GIS(url, "carl", password, use_gen_token=True)
    check(carl.content.search('type:"Network Analysis Service"') == [], "a user without a grant finds no network")
    try:
        RouteLayer(root + "/Route", gis=carl).solve(stops=f"{SOUTH_WEST};{NORTH_EAST}")
        refusal = None
    except Exception as error:  # pylint: disable=broad-except
        refusal = str(error)
    check(refusal is not None and "permission" in refusal.lower(), "and gets no route", refusal)


if __name__ == "__main__":
    main()
