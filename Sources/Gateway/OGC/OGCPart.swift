// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// What lies below `/ogc`: OGC API – Features.
enum OGCPart: Hashable {
    case landing, conformance, api, collections
    case collection(OGCCollectionID)
    case items(OGCCollectionID)
    /// One feature, by its id as the client writes it.
    case item(OGCCollectionID, String)
    /// Nothing that is served.
    case unknown(String)

    /// From the segments after `ogc`, percent-decoded.
    init(_ segments: [String]) {
        switch segments.first {
        case nil: self = .landing
        case "conformance" where segments.count == 1: self = .conformance
        case "api" where segments.count == 1: self = .api
        case "collections": self = OGCPart(collections: Array(segments.dropFirst()))
        default: self = .unknown(segments.joined(separator: "/"))
        }
    }

    private init(collections segments: [String]) {
        guard let first = segments.first else {
            self = .collections
            return
        }
        guard let id = OGCCollectionID(first) else {
            self = .unknown("collections/" + first)
            return
        }
        switch segments.count {
        case 1: self = .collection(id)
        case 2 where segments[1] == "items": self = .items(id)
        case 3 where segments[1] == "items": self = .item(id, segments[2])
        default: self = .unknown("collections/" + segments.joined(separator: "/"))
        }
    }
}

/// The name of a collection, `World.2` or, of a map in a folder, `Planning.Zones.0`: a layer of a map.
struct OGCCollectionID: Hashable, CustomStringConvertible {
    var map: MapName
    var layer: LayerID

    init(map: MapName, layer: LayerID) {
        self.map = map
        self.layer = layer
    }

    /// Nil for text of another form.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = parts.last, let layer = Int(last), 0...Int(Int32.max) ~= layer,
            last == "\(layer)", !text.contains("/"),
            let map = MapName(rawValue: parts.dropLast().joined(separator: "/"))
        else { return nil }
        self.init(map: map, layer: layer)
    }

    var description: String {
        map.rawValue.split(separator: "/").joined(separator: ".") + ".\(layer)"
    }
}
