// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Geometry
internal import Platform

/// The metadata as JSON, which every format carries beside the members that it defines itself.
///
/// `content` is the identity of the tiles, in hexadecimal digits.
extension TilePackageMetadata {
    func json(content: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { json in
            json.member("name", name)
            json.member("description", description)
            json.member("attribution", attribution)
            json.member("encoding", encoding.rawValue)
            if let quality { json.member("quality", quality) }
            json.member("minLevel", levels.lowerBound)
            json.member("maxLevel", levels.upperBound)
            let bounds = [extent.minX, extent.minY, extent.maxX, extent.maxY]
            json.member("extent", array: bounds) { $0.number($1) }
            json.member("tileSide", tileSide)
            json.vectorLayers(vectorLayers)
            if let style { json.member("style", style) }
            json.member("created", Int(created.microseconds))
            json.member("provenance", array: provenance) { json, entry in json.entry(entry) }
            json.member("content", content)
        }
        return writer.bytes
    }

    /// Reads what ``json(content:)`` writes; nil for anything else.
    init?(_ json: JSONTree) {
        guard let name = json["name"]?.text,
            let encoding = json["encoding"]?.text.flatMap(TileEncoding.init),
            let levels = Self.levels(json["minLevel"], json["maxLevel"]),
            let side = json["tileSide"]?.whole, 1...4_096 ~= side,
            let created = json["created"]?.whole
        else { return nil }
        let bounds = json["extent"]?.elements.compactMap(\.number) ?? []
        guard bounds.count == 4 else { return nil }
        let extent = Envelope(
            minX: bounds[0], minY: bounds[1], maxX: bounds[2], maxY: bounds[3])
        guard extent.isFinite, !extent.isEmpty else { return nil }
        self.init(
            name: name, encoding: encoding, levels: levels, extent: extent, tileSide: Int(side))
        description = json["description"]?.text ?? ""
        attribution = json["attribution"]?.text ?? ""
        quality = json["quality"]?.whole.flatMap { 1...100 ~= $0 ? Int($0) : nil }
        vectorLayers = VectorTileLayer.reading(json["vector_layers"], levels)
        style = json["style"]?.text
        self.created = Timestamp(microseconds: created)
        if let list = json["provenance"] {
            guard let entries = [ProvenanceEntry](list) else { return nil }
            provenance = entries
        }
    }

    /// A range of levels of the scheme; nil for anything else.
    static func levels(_ low: JSONTree?, _ high: JSONTree?) -> ClosedRange<Int>? {
        guard let low = low?.whole, let high = high?.whole, low <= high, 0...23 ~= low,
            0...23 ~= high
        else { return nil }
        return Int(low)...Int(high)
    }
}

extension [ProvenanceEntry] {
    /// A list of names and values, each an array of the two.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.array(of: self) { $0.entry($1) }
        return writer.bytes
    }

    /// Reads such a list; nil for anything else.
    init?(_ json: JSONTree) {
        self = []
        for entry in json.elements {
            let pair = entry.elements.compactMap(\.text)
            guard pair.count == 2 else { return nil }
            append(ProvenanceEntry(pair[0], pair[1]))
        }
    }
}

extension JSONWriter {
    fileprivate mutating func entry(_ entry: ProvenanceEntry) {
        array(of: [entry.name, entry.value]) { $0.string($1) }
    }

    /// Writes the member `vector_layers` of MBTiles and PMTiles.
    mutating func vectorLayers(_ layers: [VectorTileLayer]) {
        member("vector_layers", array: layers) { json, layer in
            json.object { json in
                json.member("id", layer.id)
                json.member("description", layer.description)
                json.member("minzoom", layer.levels.lowerBound)
                json.member("maxzoom", layer.levels.upperBound)
                json.member("fields") { json in
                    for field in layer.fields { json.member(field.name, field.type) }
                }
            }
        }
    }
}

extension VectorTileLayer {
    /// The layers that MBTiles and PMTiles name; those without a name are passed over.
    static func reading(_ json: JSONTree?, _ levels: ClosedRange<Int>) -> [VectorTileLayer] {
        (json?.elements ?? []).compactMap { layer in
            guard let id = layer["id"]?.text else { return nil }
            return VectorTileLayer(
                id: id, description: layer["description"]?.text ?? "",
                fields: (layer["fields"]?.members ?? []).map { member in
                    Field(name: member.name, type: member.value.text ?? "String")
                },
                levels: TilePackageMetadata.levels(layer["minzoom"], layer["maxzoom"]) ?? levels)
        }
    }
}
