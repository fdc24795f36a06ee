#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Logs in at a gateway that speaks TLS and asks with the token, through GDAL and Python's own HTTP.

usage: tokens.py https://HOST:PORT CERTIFICATE USER PASSWORD OTHERMAP

The user may query the map World, and nothing else; nobody may do anything without a token. Exits 1 with the first answer
that is wrong.
"""

import json
import os
import ssl
import sys
import urllib.parse
import urllib.request

from osgeo import gdal, ogr


def check(condition, what, found=""):
    """Ends the script unless the condition holds."""
    if not condition:
        sys.exit(f"tokens: {what}: found {found!r}")
    print(f"tokens: {what}")


def main(root, certificate, user, password, other):
    context = ssl.create_default_context(cafile=certificate)

    def fetch(path, form=None, headers=None):
        data = urllib.parse.urlencode(form).encode() if form else None
        request = urllib.request.Request(root + path, data, headers or {})
        with urllib.request.urlopen(request, timeout=20, context=context) as answer:
            return json.load(answer)

    services = "/arcgis/rest/services"
    info = fetch("/arcgis/rest/info?f=json")["authInfo"]
    check(info["isTokenBasedSecurity"], "info says that tokens are needed", info)
    url = urllib.parse.urlparse(info["tokenServicesUrl"])
    check(url.scheme == "https", "tokens are had over https", info)
    wrong = fetch(url.path, {"username": user, "password": password + "x", "f": "json"})
    check(wrong["error"]["code"] == 400, "a wrong password gets none", wrong)
    answer = fetch(url.path, {
        "username": user, "password": password, "client": "requestip", "expiration": "60", "f": "json"})
    token = answer["token"]
    check(answer["ssl"] and answer["expires"] > 0, "a token says when it ends", answer)

    check(fetch(services + "?f=json")["services"] == [], "without it the catalog is empty")
    listed = fetch(services + "?f=json&token=" + token)["services"]
    check({one["name"] for one in listed} == {"World"}, "with it, it holds what may be seen", listed)
    layer = f"{services}/World/MapServer/0"
    for headers, code in [
            ({}, 499), ({"X-Esri-Authorization": "Bearer x"}, 498),
            ({"X-Esri-Authorization": f"Bearer {token} "}, None),
            ({"Authorization": f"Bearer {token}"}, None)]:
        found = fetch(layer + "?f=json", headers=headers)
        check(found.get("error", {}).get("code") == code, f"{list(headers)} is answered with {code}", found)
    found = fetch(f"{services}/{other}/MapServer?f=json&token={token}")
    check(found["error"]["code"] == 403, "another map is refused", found)

    gdal.UseExceptions()
    os.environ["CURL_CA_BUNDLE"] = certificate
    query = f"ESRIJSON:{root}{layer}/query?where=OBJECTID%3E0&outFields=*&f=json&resultRecordCount=500"
    source = ogr.Open(f"{query}&token={token}")
    count = source.GetLayer(0).GetFeatureCount()
    check(count > 0, f"GDAL reads {count} features with it")
    try:
        source = ogr.Open(query)
    except RuntimeError:
        source = None
    check(source is None, "GDAL reads none without it")


if __name__ == "__main__":
    main(*sys.argv[1:])
