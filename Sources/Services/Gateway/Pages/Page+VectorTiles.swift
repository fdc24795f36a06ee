// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

// The vector tiles of a map, drawn as their style says, and how programs take them.
extension Page {
    func vectorTiles(_ name: String, _ page: inout Markup) {
        guard !isRefused else { return }
        let (path, pictures) = (
            Self.service(name, "VectorTileServer"), Self.service(name, "MapServer")
        )
        page.element("p", ["class": "quiet"]) { page in
            page.link(href(pictures), "The map")
            for (part, title) in [
                ("tilejson.json", "TileJSON"), ("style.json", "Style for MapLibre"),
                ("resources/styles/root.json", "Style for Esri's clients"),
            ] {
                page.text(" · ")
                page.link(href(path + "/" + part), title)
            }
        }
        if !hasLeaflet {
            notice(
                "Leaflet is not installed on this server, so the tiles are not drawn here: "
                    + "Debian's package is libjs-leaflet.", &page)
        }
        page.element("div", ["class": "map-view"]) { page in
            page.element("section", ["class": "map-frame", "aria-label": "Map"]) { page in
                page.element(
                    "div",
                    [
                        "id": "map", "role": "region",
                        "aria-label": "Map: arrow keys move it, plus and minus zoom",
                        "data-service": path, "data-pictures": pictures,
                        "data-extent": box(answer["initialExtent"]) ?? "",
                    ]
                ) { _ in }
            }
            page.element("aside", ["class": "panel", "aria-label": "Tiles"]) { page in
                page.element("p") { page in
                    page.element("label", ["class": "check"]) { page in
                        page.void("input", ["type": "checkbox", "id": "pictures"])
                        page.text(" The map's picture instead")
                    }
                }
                page.element("p", ["class": "quiet", "id": "said", "role": "status"], text: "")
                snippets(path, &page)
            }
        }
        page.element("details") { page in
            page.element("summary", text: "About these tiles")
            facts(answer.members, &page)
        }
    }

    /// What to enter in programs.
    private func snippets(_ path: String, _ page: inout Markup) {
        let url = (origin ?? "") + path
        let snippets = [
            ("MapLibre", #"new maplibregl.Map({container: "map", style: "\#(url)/style.json"})"#),
            (
                "Leaflet, with esri-leaflet-vector",
                #"L.esri.Vector.vectorTileLayer("\#(url)").addTo(map)"#
            ),
            (
                "QGIS: Add Vector Tile Layer, a new generic connection",
                "\(url)/tile/{z}/{y}/{x}.pbf\n\(url)/style.json"
            ),
            ("GDAL", "ogrinfo MVT:/vsicurl/\(url)/tile/0/0/0.pbf"),
        ]
        page.element("section", ["aria-label": "In programs"]) { page in
            page.element("h2", text: "In programs")
            for (program, text) in snippets {
                page.element("h3", text: program)
                page.element("pre") { $0.element("code", text: text) }
            }
        }
    }
}
