#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Asks a running site's World locator through geopy's ArcGIS geocoder, unmodified.

usage: geopy_geocode.py HOST:PORT

Exits 1 with the first answer that is wrong. The site's locator holds deploy/sample/gazetteer.
"""

import sys

from geopy.exc import GeocoderServiceError
from geopy.geocoders import ArcGIS


def check(condition, what, found):
    """Ends the script unless the condition holds."""
    if not condition:
        sys.exit(f"geopy: {what}: found {found!r}")
    print(f"geopy: {what}: {found}")


def is_near(place, latitude, longitude):
    """Whether a place lies within a tenth of a degree."""
    return abs(place.latitude - latitude) < 0.1 and abs(place.longitude - longitude) < 0.1


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    geocoder = ArcGIS(domain=sys.argv[1], scheme="http", timeout=20)

    place = geocoder.geocode("Paris, France")
    check(place is not None and is_near(place, 48.85, 2.35), "Paris is in France", place)
    check("Paris" in place.address, "its label says so", place.address)

    places = geocoder.geocode("Toledo", exactly_one=False, out_fields=["Match_addr", "Addr_type"])
    check(places is not None and len(places) > 1, "there is more than one Toledo",
          [one.address for one in places or []])
    check(all("Match_addr" in one.raw["attributes"] for one in places),
          "the attributes asked for are there", places[0].raw["attributes"])
    scores = [one.raw["score"] for one in places]
    check(scores == sorted(scores, reverse=True), "the best comes first", scores)

    place = geocoder.geocode("São Paulo", out_fields="*")
    check(place is not None and is_near(place, -23.55, -46.63), "accents are understood", place)

    place = geocoder.geocode("blargfoobar")
    check(place is None, "nonsense is no place", place)

    place = geocoder.reverse((52.52437, 13.41053), distance=5000)
    check(place is not None and "Berlin" in place.address, "Berlin is found by its place", place)

    place = geocoder.reverse((0.0, -150.0), distance=500)
    check(place is None, "the ocean has no address", place)

    try:
        place = geocoder.reverse((52.52437, 13.41053), distance=-5)
        sys.exit(f"geopy: a negative distance was answered with {place!r}")
    except GeocoderServiceError as error:
        check("distance" in str(error), "a negative distance is refused by name", str(error))


if __name__ == "__main__":
    main()
