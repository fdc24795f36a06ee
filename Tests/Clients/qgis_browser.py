#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Opens a running site in the browser tree of QGIS, unmodified: the services of the catalog, their layers.

usage: QT_QPA_PLATFORM=offscreen qgis_browser.py http://HOST:PORT/arcgis/rest/services

Exits 1 with the first answer that is wrong.
"""

import sys

from qgis.core import QgsApplication, QgsDataItem, QgsLayerItem, QgsSettings, QgsVectorLayer

from qgis_session import check, fetch, finish, start

PROVIDER = "AFS"
KEPT = []


def children(item):
    """The items below one, once QGIS has fetched them."""
    item.populate(True)
    check(item.state() == QgsDataItem.Populated, f"'{item.name()}' is opened", item.path())
    below = item.children()
    # What Python forgets is deleted below QGIS, which goes on asking it.
    KEPT.extend([item, *below])
    errors = [child.name() for child in below if child.type() == QgsDataItem.Error]
    check(not errors, f"'{item.name()}' is opened without an error", errors)
    return below


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = sys.argv[1].rstrip("/")
    catalog = fetch(root)
    maps = {one["name"] for one in catalog["services"] if one["type"] == "MapServer"}
    folders = set(catalog["folders"])
    check(folders, "the catalog has a folder", catalog)

    application = start()
    QgsSettings().setValue("qgis/connections-arcgisfeatureserver/Cairn/url", root)
    providers = {one.name(): one for one in QgsApplication.dataItemProviderRegistry().providers()}
    tree = providers[PROVIDER].createDataItem("", None)
    connections = {item.name(): item for item in children(tree)}
    check(list(connections) == ["Cairn"], "the connection is in the tree", list(connections))

    services = {}
    for item in children(connections["Cairn"]):
        services.setdefault(item.name(), []).append(item)
    check(set(services) == maps | folders, "each map and folder of the catalog is in it", sorted(services))

    for folder in folders:
        inside = {one["name"] for one in fetch(f"{root}/{folder}")["services"] if one["type"] == "MapServer"}
        found = children(services[folder][0])
        names = {item.name() for item in found}
        check(names == {name.rpartition("/")[2] for name in inside}, f"each map of {folder} is in it", sorted(names))
        layers = {item.name() for item in found[:1] for item in children(item)}
        check("cities" in layers, "and has its layers", sorted(layers))

    expected = {layer["name"] for layer in fetch(root + "/World/FeatureServer")["layers"]}
    found = []
    for service in services["World"]:
        for item in children(service):
            found.append((item.name(), type(item).__name__, item))
    names = {name for name, _, _ in found}
    check(expected <= names, "each layer of the map World is in it", sorted(names))

    layers = [item for name, _, item in found if name == "cities" and isinstance(item, QgsLayerItem)]
    opened = [item for item in layers if item.providerKey() == "arcgisfeatureserver"]
    check(opened, "the cities are a layer of features", [item.uri() for item in layers])
    layer = QgsVectorLayer(opened[0].uri(), "cities", opened[0].providerKey())
    check(layer.isValid() and layer.featureCount() > 1_000, "and open from there", layer.featureCount())
    finish(application)


if __name__ == "__main__":
    main()
