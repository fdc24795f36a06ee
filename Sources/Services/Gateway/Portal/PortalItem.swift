// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import Geometry
internal import Platform

/// A map, or a service of the site, as an item of a portal.
struct PortalItem: Hashable, Sendable {
    /// The kinds of items; raw values are Esri's types.
    enum Kind: String, CaseIterable, Sendable {
        case webMap = "Web Map"
        case mapService = "Map Service"
        case featureService = "Feature Service"
        case locator = "Geocoding Service"
        case network = "Network Analysis Service"

        /// The kinds of items that a map is.
        static let ofMaps = [webMap, mapService, featureService]

        fileprivate var keywords: [String] {
            switch self {
            case .webMap: ["ArcGIS Online", "Explorer Web Map", "Map", "Online Map", "Web Map"]
            case .mapService: ["Data", "Service", "Map Service", "ArcGIS Server"]
            case .featureService:
                ["ArcGIS Server", "Data", "Feature Access", "Feature Service", "Service"]
            case .locator: ["Geocoding Service", "Locator Service", "Service", "Tool"]
            case .network: ["ArcGIS Server", "Network Analysis Service", "Service"]
            }
        }

        fileprivate var serviceType: String? {
            switch self {
            case .webMap: nil
            case .mapService: "MapServer"
            case .featureService: "FeatureServer"
            case .locator: "GeocodeServer"
            case .network: "NAServer"
            }
        }
    }

    let kind: Kind
    /// Of the map, the locator or the network.
    let name: String

    /// 32 hexadecimal digits that follow from the site, the kind and the name alone.
    func id(in site: UUID) -> String {
        let text = site.named("portal item/\(kind.rawValue)/\(name)").uuidString
        return text.filter { $0 != "-" }.lowercased()
    }

    /// The service that permissions are given for.
    var service: ServiceName {
        switch kind {
        case .webMap, .mapService, .featureService: .map(name)
        case .locator: .locator(name)
        case .network: .network(name)
        }
    }

    /// The stream of events that it is made of; nil for a name that no map can have.
    var stream: StreamName? {
        switch kind {
        case .webMap, .mapService, .featureService:
            (try? MapName(parsing: name)).map { .map($0) }
        case .locator: .locator(name)
        case .network: .network(name)
        }
    }
}

/// An item with what is to be said of it.
struct PortalEntry: Sendable {
    let item: PortalItem
    let id: String
    /// Nil for an item that is no map.
    let map: MapDescription?
    /// Whether callers without a token may see it.
    let isPublic: Bool
    /// Sequence number of the last change; nil where it is unknown, as of a network.
    var lastChange: Int64?
    var created: Int64?
    var modified: Int64?
    /// Longitude and latitude; nil where it is unknown.
    var extent: Envelope?

    var title: String { map?.properties?.title ?? item.name }
    var text: String { map?.properties?.description ?? "" }
    var access: String { isPublic ? "public" : "org" }
    var keywords: [String] { item.kind.keywords }
    var hasThumbnail: Bool { PortalItem.Kind.ofMaps.contains(item.kind) }

    /// The extent of all layers, or of those alone that a definition expression hides nothing of.
    static func extent(of map: MapDescription, isShown: Bool) -> Envelope? {
        let layers = map.layers.filter {
            isShown || $0.definitionExpression?.allSatisfy(\.isWhitespace) ?? true
        }
        return layers.compactMap { $0.properties?.geographicExtent }.reduce(nil) {
            ($0 as Envelope?)?.union($1) ?? $1
        }
    }

    /// Writes the item; `origin` is the base of URLs.
    func write(_ origin: String, portal: String, to json: inout JSONWriter) {
        json.object { json in
            json.member("id", id)
            json.member("owner", Portal.owner)
            json.member("orgId", portal)
            if let created { json.member("created", Int(created)) }
            if let modified { json.member("modified", Int(modified)) }
            if item.kind == .webMap {
                json.nullMember("name")
            } else {
                json.member("name", item.name)
            }
            json.member("title", title)
            json.member("type", item.kind.rawValue)
            json.member("typeKeywords", array: keywords) { $0.string($1) }
            json.member("description", text)
            json.member("snippet", String(text.prefix(250)))
            json.member("tags", array: [String]()) { $0.string($1) }
            if hasThumbnail {
                json.member("thumbnail", "thumbnail/thumbnail.png")
            } else {
                json.nullMember("thumbnail")
            }
            let corners = extent.map { [[$0.minX, $0.minY], [$0.maxX, $0.maxY]] } ?? []
            json.member("extent", array: corners) { json, corner in
                json.array(of: corner) { $0.number($1) }
            }
            if let wkid = map?.spatialReference?.latestWkid {
                json.member("spatialReference", "\(wkid)")
            } else {
                json.nullMember("spatialReference")
            }
            json.member("accessInformation", map?.attribution ?? "")
            json.member("licenseInfo", "")
            json.member("culture", "")
            if let type = item.kind.serviceType {
                json.member("url", "\(origin)/arcgis/rest/services/\(path)/\(type)")
            } else {
                json.nullMember("url")
            }
            json.member("access", access)
            json.member("itemControl", "view")
            json.member("protected", false)
            json.member("listed", false)
            json.member("size", -1)
            for name in ["numComments", "numRatings", "avgRating", "numViews", "scoreCompleteness"]
            { json.member(name, 0) }
        }
    }

    private var path: String {
        item.name.split(separator: "/").map { Parameters.encode(String($0)) }
            .joined(separator: "/")
    }
}

/// When maps and locators were made and last changed, by the sequence numbers of these changes.
actor ItemTimes {
    /// Maximum number of cached streams; beyond it the cache is emptied.
    static let bound = 10_000

    private struct Entry {
        var created: Int64?
        var change: Int64
        var modified: Int64?
    }

    private var entries: [StreamName: Entry] = [:]

    /// In milliseconds since 1970; nil where the log does not answer.
    ///
    /// - Parameters:
    ///   - change: Sequence number of the last change.
    ///   - time: The time of the first event of the stream after a sequence number.
    func times(
        of stream: StreamName, lastChange change: Int64,
        _ time: @Sendable (StreamName, Int64) async -> Int64?
    ) async -> (created: Int64?, modified: Int64?) {
        let known = entries[stream]
        if let known, known.change == change, known.modified != nil {
            return (known.created, known.modified)
        }
        var created = known?.created
        if created == nil { created = await time(stream, 0) }
        let modified = await time(stream, change - 1)
        if entries.count >= Self.bound { entries.removeAll() }
        entries[stream] = Entry(created: created, change: change, modified: modified)
        return (created, modified)
    }
}
