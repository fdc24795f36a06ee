// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// The paths of a resource: words and captures, `arcgis/rest/services/{map}/MapServer/{layer}`.
///
/// Words below `arcgis` and `sharing` are case-insensitive, as on ArcGIS servers; all others are
/// case-sensitive.
struct RoutePattern: Hashable, Sendable {
    enum Element: Hashable, Sendable {
        case word(String)
        case capture(Capture)
    }

    let text: String
    let elements: [Element]
    let ignoresCase: Bool

    init(_ text: String) {
        self.text = text
        elements = text.split(separator: "/").map { part in
            guard part.first == "{" else { return .word(String(part)) }
            guard let capture = Capture(rawValue: String(part.dropFirst().dropLast())) else {
                preconditionFailure("pattern \(text): \(part) is not a capture")
            }
            return .capture(capture)
        }
        ignoresCase = text.hasPrefix("arcgis/") || text.hasPrefix("sharing/")
    }

    /// The captures, in the order of the path.
    var captures: [Capture] {
        elements.compactMap { if case .capture(let capture) = $0 { capture } else { nil } }
    }

    /// The path with the given texts for its captures, percent-encoded.
    func path(_ texts: (Capture) -> String) -> String {
        elements.reduce("") { path, element in
            switch element {
            case .word(let word): path + "/" + word
            case .capture(let capture):
                texts(capture).split(separator: "/").reduce(path) {
                    $0 + "/" + Parameters.encode(String($1))
                }
            }
        }
    }
}

/// A variable part of a path.
enum Capture: String, CaseIterable, Sendable {
    /// A map or a locator: one segment, or two with a folder.
    case map, locator
    /// A road network, likewise.
    case network
    /// A road network as its OSRM face names it: one segment, with a dot after the folder.
    case networkID = "networkId"
    /// An analysis of a network, `Route`; a way of moving in OSRM's words; places in its form.
    case analysis, profile, coordinates
    /// A map as OGC APIs name it: one segment, with a dot after the folder.
    case mapID = "mapId"
    case folder, task, job, result, input, collection, feature, layer, objectId, level, row, column
    /// The id of an item of the portal or of an upload in parts, a user's name, a portal's id.
    case item, user, portal
    /// The column of a vector tile, with or without the ending of its file.
    case columnFile = "column.pbf"
    /// Fonts as a style names them; a range of their glyphs, with or without the ending of a file.
    case fontStack = "fontstack"
    case glyphRange = "range.pbf"
    /// All remaining segments, at least one.
    case rest

    /// Whether it matches integers only.
    var isNumber: Bool { [.layer, .objectId, .level, .row, .column].contains(self) }

    /// Service types, before which a segment is never a folder's name.
    private static let serviceTypes: Set = [
        "mapserver", "featureserver", "geocodeserver", "gpserver", "vectortileserver",
        "naserver",
    ]

    /// Matches the segments from an index on and stores them in `captures`; returns their number,
    /// or nil without a match.
    ///
    /// - Parameter words: The segments in lower case.
    func take(
        _ segments: ArraySlice<String>, _ words: ArraySlice<String>, into captures: inout Captures
    ) -> Int? {
        guard let text = segments.first else { return nil }
        switch self {
        case .map, .locator, .network:
            // The jobs of all kinds are no network's.
            if self == .network, words.prefix(2) == ["jobs", "gpserver"] { return nil }
            captures.name = text
            guard words.count > 1, !Self.serviceTypes.contains(words[words.startIndex + 1]) else {
                return 1
            }
            captures.name += "/" + segments[segments.startIndex + 1]
            return 2
        case .folder: captures.name = text
        case .profile: captures.task = text
        // No analysis has the name of the changes of roads, no task that of the list of all jobs.
        case .analysis:
            guard words.first != "roads" else { return nil }
            captures.task = text
        case .task:
            guard words.first != "jobs" else { return nil }
            captures.task = text
        case .job: captures.job = text
        case .fontStack: captures.task = text
        case .glyphRange:
            captures.text = text.hasSuffix(".pbf") ? String(text.dropLast(4)) : text
        case .result, .input, .feature, .item, .user, .portal, .coordinates: captures.text = text
        case .collection:
            guard let collection = OGCCollectionID(text) else { return nil }
            (captures.name, captures.layer) = (collection.map.rawValue, collection.layer)
            captures.collection = collection
        case .networkID:
            guard let id = OGCMapID(text) else { return nil }
            captures.name = id.map.rawValue
        case .mapID:
            guard let id = OGCMapID(text) else { return nil }
            captures.name = id.map.rawValue
        case .layer:
            guard let id = Int(text), 0...Int(Int32.max) ~= id else { return nil }
            captures.layer = id
        case .objectId:
            guard let id = Int64(text) else { return nil }
            captures.objectID = id
        case .level: return take(text, into: &captures.tile.level)
        case .row: return take(text, into: &captures.tile.row)
        case .column: return take(text, into: &captures.tile.column)
        case .columnFile:
            let digits = text.hasSuffix(".pbf") ? String(text.dropLast(4)) : text
            return take(digits, into: &captures.tile.column)
        case .rest:
            captures.text = segments.joined(separator: "/")
            return segments.count
        }
        return 1
    }

    private func take(_ text: String, into number: inout Int) -> Int? {
        guard let value = Int(text) else { return nil }
        number = value
        return 1
    }
}

/// The captured texts of a path; members without a capture keep their initial values.
struct Captures: Hashable, Sendable {
    /// Name of a map, a locator, a network or a folder.
    var name = ""
    var layer: LayerID = 0
    var objectID: Int64 = 0
    var tile = TilePlace()
    /// A task of jobs, an analysis of a network, a profile, or fonts.
    var task = ""
    var job = ""
    /// A result, an input, the id of a feature or an item, a user, a range of glyphs, or the rest
    /// of the path.
    var text = ""
    var collection: OGCCollectionID?

    /// A tile as named in the path, within the scheme or not.
    struct TilePlace: Hashable, Sendable { var level = 0, row = 0, column = 0 }
}
