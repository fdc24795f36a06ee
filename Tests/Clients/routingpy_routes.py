#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Asks a running site's first network through routingpy's OSRM router, unmodified.

usage: routingpy_routes.py HOST:PORT
       routingpy_routes.py make FILE

With make, FILE becomes the extract of OpenStreetMap that the network is built from. Exits 1 with
the first answer that is wrong.
"""

import sys


def check(condition, what, found):
    """Ends the script unless the condition holds."""
    if not condition:
        sys.exit(f"routingpy: {what}: found {found!r}")
    print(f"routingpy: {what}: {found}")


def make(path):
    """Writes a grid of nine crossings, a hundredth of a degree apart."""
    with open(path, "w", encoding="utf-8") as file:
        file.write('<osm version="0.6">\n')
        for row in range(3):
            for column in range(3):
                file.write(f'<node id="{3 * row + column + 1}" lat="{42.5 + row / 100:.2f}"'
                           f' lon="{1.5 + column / 100:.2f}"/>\n')
        for number in range(3):
            across = [3 * number + place + 1 for place in range(3)]
            upward = [3 * place + number + 1 for place in range(3)]
            for way, nodes, name in ((10 + number, across, f"Row {number}"),
                                     (20 + number, upward, f"Column {number}")):
                refs = "".join(f'<nd ref="{node}"/>' for node in nodes)
                file.write(f'<way id="{way}">{refs}<tag k="highway" v="residential"/>'
                           f'<tag k="name" v="{name}"/></way>\n')
        file.write("</osm>\n")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "make":
        return make(sys.argv[2])
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    from routingpy import OSRM
    from routingpy.exceptions import RouterApiError

    router = OSRM(base_url=f"http://{sys.argv[1]}/osrm")
    corners = [[1.5, 42.5], [1.52, 42.52]]

    route = router.directions(corners, profile="driving")
    # Two hundredths of a degree north and as many east.
    check(3800 < route.distance < 3950, "the route is as long as the streets", route.distance)
    check(route.duration > 0, "it takes time", route.duration)
    ends = (route.geometry[0], route.geometry[-1])
    check(all(abs(end[axis] - corner[axis]) < 1e-4
              for end, corner in zip(ends, corners) for axis in (0, 1)),
          "its line ends at the places", ends)

    for form in ("polyline", "polyline6", "geojson"):
        again = router.directions(corners, profile="driving", geometries=form, overview="full",
                                  steps=True, annotations=True, continue_straight=True)
        check(again.distance == route.distance, f"it is the same as {form}", again.distance)

    several = list(router.directions(corners, profile="driving", alternatives=True))
    check(1 <= len(several) <= 2, "alternatives are one or two routes", len(several))
    check(all(one.distance >= route.distance - 1 for one in several), "none is shorter",
          [one.distance for one in several])

    walk = router.directions(corners, profile="foot", radiuses=[50, 50], bearings=[[0, 180]] * 2)
    check(walk.duration > route.duration, "walking takes longer", walk.duration)

    places = corners + [[1.51, 42.51]]
    matrix = router.matrix(places, profile="driving", sources=[0, 1], destinations=[0, 1, 2])
    check(len(matrix.durations) == 2 and len(matrix.durations[0]) == 3,
          "a table has a row for each source", matrix.durations)
    check(abs(matrix.distances[0][1] - route.distance) < 0.2, "its cells are routes",
          matrix.distances[0][1])
    check(matrix.durations[0][0] == 0, "nothing costs nothing", matrix.durations[0][0])

    try:
        lost = router.directions([[1.5, 42.5], [-30.0, 0.0]], profile="driving")
        sys.exit(f"routingpy: a place in the sea was answered with {lost!r}")
    except RouterApiError as error:
        check(error.status == 400 and "NoSegment" in str(error.message),
              "a place in the sea is refused", error.message)


if __name__ == "__main__":
    main()
