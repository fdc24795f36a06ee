// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import EsriForms
public import FoundationEssentials
internal import Geometry
internal import MapState
internal import Platform

/// A web map document, read in two steps: which maps of the site its layers are of, and the new map
/// made from them.
public struct WebMapReader: Sendable {
    /// A map that layers of a document are taken from.
    public struct Source: Hashable, Sendable {
        /// The map.
        public var map: MapName
        /// Its sequence number; nil for the present.
        public var moment: Int64?

        /// Names a map of now, or as of a moment.
        public init(map: MapName, moment: Int64?) {
            self.map = map
            self.moment = moment
        }
    }

    /// The new map, and what of the document it lacks.
    public struct Outcome: Sendable {
        /// The content of the map.
        public var content: MapRestored
        /// A sentence for each part of the document that was left out or changed.
        public var notes: [String]
    }

    private let document: JSONTree
    private let origins: [String]

    /// Reads a document; URLs below `origins`, and those without a server, are the site's.
    ///
    /// Throws `Failure` (`invalidParameter`) for a text that is not a web map document.
    public init(_ bytes: [UInt8], site: UUID, origins: [String]) throws(Failure) {
        do throws(JSONFault) {
            document = try JSONTree(bytes, .strict)
        } catch {
            throw Failure(.invalidParameter, "the web map is not JSON: \(error)")
        }
        guard case .array? = document["operationalLayers"] else {
            let message = document["error"]?["message"]?.text
            throw Failure(
                .invalidParameter,
                "expected a web map document with 'operationalLayers'"
                    + (message.map { "; the server answered: \($0.prefix(200))" } ?? ""))
        }
        let own = document["cairn"]
        let isOwn = own?["site"]?.text.flatMap { UUID(uuidString: $0) } == site
        let origin = isOwn ? own?["origin"]?.text : nil
        self.origins =
            (origins + [origin].compactMap { $0 }.filter { !$0.isEmpty }).map {
                $0.hasSuffix("/") ? String($0.dropLast()) : $0
            }
    }

    private static let layerMembers = ["operationalLayers", "layers", "baseMapLayers"]

    /// The maps of the site that layers of the document are taken from.
    public var sources: Set<Source> {
        var found: Set<Source> = []
        var pending = [document, document["baseMap"] ?? .null]
        while let tree = pending.popLast() {
            for name in Self.layerMembers { pending += tree[name]?.elements ?? [] }
            if let source = WebMapBuilder.source(of: tree, origins)?.source {
                found.insert(source)
            }
        }
        return found
    }

    /// The map that the document describes; `maps` has those of ``sources`` that exist.
    public func map(
        named name: MapName, from maps: [Source: MapDescription]
    ) -> Outcome {
        var builder = WebMapBuilder(origins: origins, maps: maps)
        builder.reserve(document)
        let base = document["baseMap"]
        let baseTitle = base?["title"]?.text
        let baseLayers = base?["baseMapLayers"]?.elements ?? []
        let isOnTop = { (layer: JSONTree) in layer["isReference"]?.isTrue == true }
        var root: [LayerID] = []
        for layer in baseLayers where !isOnTop(layer) {
            root += builder.add(layer, in: nil, title: baseTitle)
        }
        for layer in document["operationalLayers"]?.elements ?? [] {
            root += builder.add(layer, in: nil, title: nil)
        }
        for layer in baseLayers where isOnTop(layer) {
            root += builder.add(layer, in: nil, title: baseTitle)
        }
        builder.noteOthers(
            of: document, "the web map",
            known: [
                "operationalLayers", "baseMap", "spatialReference", "initialState", "bookmarks",
                "version", "authoringApp", "authoringAppVersion", "cairn",
            ])
        if let base {
            builder.noteOthers(
                of: base, "the basemap", known: ["baseMapLayers", "title", "id"])
        }
        let order = builder.order(root)
        // A group's members follow it.
        let bottom = order.first { $0.kind != .group }
        let properties = properties(above: bottom, &builder)
        var content = MapRestored(
            copyOf: MapDescription(
                name: name, sequence: 0, rootLayers: root, layers: order, basemap: root.first,
                spatialReference: nil, initialExtent: nil))
        content.properties = properties
        content.copied = nil
        if let own = document["cairn"], let from = own["map"]?.text.flatMap(MapName.init),
            let origin = maps.first(where: { $0.key.map == from })
        {
            content.copied = MapMoment(map: from, sequence: origin.value.sequence)
        }
        return Outcome(content: content, notes: builder.notes)
    }

    /// Title, texts, reference and first extent; nil where all are as without them.
    private func properties(
        above bottom: LayerDescription?, _ builder: inout WebMapBuilder
    ) -> MapProperties? {
        let own = document["cairn"]
        var properties = MapProperties(
            title: own?["title"]?.text, description: own?["description"]?.text,
            attribution: own?["attribution"]?.text)
        let viewpoint = document["initialState"]?["viewpoint"]
        if let state = document["initialState"] {
            builder.noteOthers(of: state, "the initial state", known: ["viewpoint"])
        }
        if let viewpoint {
            builder.noteOthers(of: viewpoint, "the viewpoint", known: ["targetGeometry"])
        }
        let target = viewpoint?["targetGeometry"]
        let targetReference = target?["spatialReference"].flatMap(SpatialReference.init)
        let reference =
            document["spatialReference"].flatMap(SpatialReference.init) ?? targetReference
        if let reference, bottom?.properties?.spatialReference.isEquivalent(to: reference) != true {
            properties.spatialReference = reference
        }
        if let target {
            let extent = Envelope(target)
            if let extent, let reference,
                targetReference.map({ $0.isEquivalent(to: reference) }) ?? true
            {
                if extent != bottom?.properties?.extent || properties.spatialReference != nil {
                    properties.initialExtent = extent
                }
            } else {
                builder.note(
                    "the viewpoint is not kept: expected an extent in the reference of the map")
            }
        }
        properties.bookmarks = bookmarks(in: reference, &builder)
        return properties == MapProperties() ? nil : properties
    }

    /// Bookmarks with an extent in the reference of the map; others are listed.
    private func bookmarks(
        in reference: SpatialReference?, _ builder: inout WebMapBuilder
    ) -> [MapBookmark]? {
        var bookmarks: [MapBookmark] = []
        for tree in document["bookmarks"]?.elements ?? [] {
            let name = tree["name"]?.text ?? ""
            let subject = "the bookmark '\(name.prefix(80))'"
            let viewpoint = tree["viewpoint"]?["targetGeometry"]
            let place = [tree["extent"], viewpoint].lazy.compactMap { $0 }.first { tree in
                Envelope(tree) != nil
            }
            let own = place?["spatialReference"].flatMap(SpatialReference.init)
            guard let extent = place.flatMap(Envelope.init), let reference,
                own.map({ $0.isEquivalent(to: reference) }) ?? true
            else {
                builder.note(
                    "\(subject) is not kept: expected an extent in the reference of the map")
                continue
            }
            guard 1...MapLimits.layerNameBytes ~= name.utf8.count,
                bookmarks.count < MapLimits.bookmarks,
                !bookmarks.contains(where: { $0.name == name })
            else {
                builder.note(
                    "\(subject) is not kept: expected at most \(MapLimits.bookmarks), each with "
                        + "a name of its own")
                continue
            }
            builder.noteOthers(of: tree, subject, known: ["name", "extent", "viewpoint"])
            bookmarks.append(MapBookmark(name: name, extent: extent))
        }
        return bookmarks.isEmpty ? nil : bookmarks
    }
}

extension SpatialReference {
    /// Reads Esri's form; nil without a number and text.
    fileprivate init?(_ tree: JSONTree) {
        if let wkid = (tree["latestWkid"] ?? tree["wkid"])?.whole, wkid > 0 {
            self.init(wkid: Int(wkid))
        } else if let wkt = tree["wkt"]?.text, !wkt.isEmpty {
            self.init(wkt: wkt)
        } else {
            return nil
        }
    }
}

extension Envelope {
    /// Reads Esri's form; nil for another geometry, and an empty one.
    fileprivate init?(_ tree: JSONTree) {
        let sides = ["xmin", "ymin", "xmax", "ymax"].compactMap { tree[$0]?.number }
        guard sides.count == 4 else { return nil }
        self.init(minX: sides[0], minY: sides[1], maxX: sides[2], maxY: sides[3])
        guard isFinite, !isEmpty else { return nil }
    }
}
