#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Asks a site that has users through QGIS with its own way to send Esri's tokens, unmodified.

usage: QT_QPA_PLATFORM=offscreen qgis_tokens.py http://127.0.0.1:PORT USER PASSWORD OTHERMAP

The user may query the map World, and nothing else; nobody may do anything without a token. Exits 1 with the
first answer that is wrong.
"""

import json
import sys
import urllib.parse
import urllib.request

from qgis.core import QgsApplication, QgsAuthMethodConfig, QgsPointXY, QgsRaster, QgsRectangle

from qgis_session import (
    RED, SIZE, check, drawn, feature_layer, fetch, finish, map_layer, render, start)

PARIS = (2.3488, 48.8534)
WINDOW = (-5.0, 41.0, 10.0, 52.0)


def generate_token(root, user, password):
    """A token, had as any client has it."""
    form = {"username": user, "password": password, "client": "requestip", "f": "json"}
    data = urllib.parse.urlencode(form).encode()
    with urllib.request.urlopen(root + "/arcgis/tokens/generateToken", data, timeout=20) as answer:
        return json.load(answer)["token"]


def stored(token):
    """QGIS' own record of a token, by its id."""
    config = QgsAuthMethodConfig("EsriToken")
    config.setName("Cairn")
    config.setConfig("token", token)
    done = QgsApplication.authManager().storeAuthenticationConfig(config)
    # A flag alone, or with the record: QGIS' versions differ.
    check(done[0] if isinstance(done, tuple) else done, "QGIS keeps the token", config.id())
    return config.id()


def names(service):
    """What the map service says is in Paris."""
    answer = service.dataProvider().identify(
        QgsPointXY(*PARIS), QgsRaster.IdentifyFormatFeature, QgsRectangle(*WINDOW), *SIZE, 96)
    return [str(feature.attribute("name")) for stores in answer.results().values()
            for store in stores for feature in store.features()]


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    root, user, password, other = sys.argv[1].rstrip("/"), *sys.argv[2:]
    services = root + "/arcgis/rest/services"
    features, pictures = services + "/World/FeatureServer/0", services + "/World/MapServer"

    application = start()
    manager = QgsApplication.authManager()
    check(manager.setMasterPassword("a master password", True), "QGIS opens its store of secrets")

    found = fetch(features)
    check(found["error"]["code"] == 499, "without a token the answer is 499", found["error"])
    check(not feature_layer(features).isValid(), "QGIS opens no layer without one")
    # QGIS 3.22 takes a map service for open whatever it answered; nothing comes from it.
    check(names(map_layer(pictures)) == [], "nor does a map service say what is there")
    check(not feature_layer(features, stored("not.a.token")).isValid(), "nor with a wrong one")

    authcfg = stored(generate_token(root, user, password))
    layer = feature_layer(features, authcfg)
    check(layer.isValid(), "QGIS opens the layer with the token", layer.crs().authid())
    read = [feature.attribute("name") for feature in layer.getFeatures()]
    check(len(read) == layer.featureCount() > 200 and "France" in read, "and reads its features",
          (len(read), layer.featureCount()))

    service = map_layer(pictures, authcfg=authcfg)
    check("France" in names(service), "identify carries the token", names(service))
    color = drawn(service, "EPSG:4326", WINDOW)
    check(color((2.0, 47.6)) != RED, "pictures carry it", color((2.0, 47.6)))
    job, _ = render(map_layer(f"{services}/{other}/MapServer", authcfg=authcfg), "EPSG:4326", WINDOW)
    errors = [error.message for error in job.errors()]
    check(len(errors) == 1 and "403" in errors[0], "QGIS says why another map stays closed", errors)
    finish(application)


if __name__ == "__main__":
    main()
