// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The document of a map that was taken offline.
enum OfflineDocument {
    /// The online map's with the package's files in the place of services; what was not taken is
    /// left out.
    static func document(_ details: JSON, _ files: JSON?) -> JSON {
        var taken: [String: JSON] = [:]
        var tables: [JSON] = []
        for (number, part) in (details["parts"]?.elements ?? []).enumerated() {
            guard let file = files?.member(String(number)) else { continue }
            if part["isTable"]?.flag == true {
                tables.append(
                    .object(of: [
                        "url": file.member("url"), "title": part.member("name"),
                    ]))
            } else if let id = part.text("id") {
                taken[id] = file
            }
        }
        func layers(_ list: JSON?) -> JSON {
            .array(
                (list?.elements ?? []).compactMap { layer in
                    if layer.text("layerType") == "GroupLayer" {
                        let kept = layers(layer["layers"])
                        let members = layer.members.filter { $0.name != "layers" }
                        return kept.elements.isEmpty ? nil : .object(members + [("layers", kept)])
                    }
                    return layer.text("id").flatMap { taken[$0] }.map { changed(layer, $0) }
                })
        }
        let map = details["map"] ?? .object([])
        let base = map.member("baseMap").flatMap { base -> JSON? in
            guard details["includesBasemap"]?.flag ?? true else { return nil }
            let kept = layers(base["baseMapLayers"])
            return kept.elements.isEmpty
                ? nil
                : .object(of: ["title": base.member("title"), "baseMapLayers": kept])
        }
        let area = details.member("area").flatMap { Geometry.make($0, nil) }
        return .object(of: [
            "operationalLayers": layers(map["operationalLayers"]), "baseMap": base,
            "tables": tables.isEmpty ? nil : .array(tables),
            "spatialReference": details.member("reference") ?? map.member("spatialReference"),
            "initialState": map.member("initialState")
                ?? area.map { area in
                    .object(of: [
                        "viewpoint": .object(of: ["targetGeometry": area.extent.json])
                    ])
                },
            "bookmarks": map.member("bookmarks"), "itemInfo": details.member("itemInfo"),
            "authoringApp": .string("Cairn"), "version": .string("2.31"),
        ])
    }

    private static func changed(_ layer: JSON, _ file: JSON) -> JSON {
        let replaced = ["url", "styleUrl", "layerType", "itemResources", "layerDefinition"]
        var members = layer.members.filter { !replaced.contains($0.name) }
        for name in ["url", "layerType", "itemResources"] {
            if let value = file.member(name) { members.append((name, value)) }
        }
        for name in ["minScale", "maxScale", "popupInfo"] where layer.member(name) == nil {
            if let value = file.member(name) { members.append((name, value)) }
        }
        var definition = layer["layerDefinition"]?.members ?? []
        if let info = file.member("drawingInfo"),
            !definition.contains(where: { $0.name == "drawingInfo" })
        {
            definition.append(("drawingInfo", info))
        }
        if !definition.isEmpty { members.append(("layerDefinition", .object(definition))) }
        return .object(members)
    }
}
