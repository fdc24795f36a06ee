// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// An item of a portal: a web map, a service, a locator.
public final class PortalItem: LoadableBase, @unchecked Sendable {
    private struct Description: Sendable {
        var title = ""
        var snippet = ""
        var type = ""
        var owner = ""
        var url: URL?
        var extent: Envelope?
        var modified: Date?
        var description = ""
        var tags: [String] = []

        init() {}

        init(_ json: JSON) {
            title = json.text("title") ?? ""
            snippet = json.text("snippet") ?? ""
            type = json.text("type") ?? ""
            owner = json.text("owner") ?? ""
            description = json.text("description") ?? ""
            tags = (json["tags"]?.elements ?? []).compactMap(\.text)
            url = json.text("url").flatMap { URL(string: $0) }
            modified = json["modified"]?.number.map { Date(millisecondsSince1970: $0) }
            let corners = (json["extent"]?.elements ?? []).map { $0.elements.compactMap(\.number) }
            if corners.count == 2, corners.allSatisfy({ $0.count == 2 }) {
                extent = Envelope(
                    xMin: corners[0][0], yMin: corners[0][1], xMax: corners[1][0],
                    yMax: corners[1][1], spatialReference: .wgs84)
            }
        }
    }

    /// The id of an item, 32 hexadecimal digits on Esri's servers.
    public struct ID: Hashable, Sendable, LosslessStringConvertible {
        /// The text.
        public let description: String

        /// Nil for an empty text and for one with other than letters, digits, `-` and `_`.
        public init?(_ description: String) {
            let others = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_")).inverted
            guard !description.isEmpty, description.rangeOfCharacter(from: others) == nil else {
                return nil
            }
            self.description = description
        }
    }

    /// Kinds of items that apps ask for.
    public enum Kind: String, Sendable, CaseIterable {
        case webMap = "Web Map"
        case webScene = "Web Scene"
        case mapService = "Map Service"
        case featureService = "Feature Service"
        case imageService = "Image Service"
        case vectorTileService = "Vector Tile Service"
        case geocodingService = "Geocoding Service"
        case geoprocessingService = "Geoprocessing Service"
        case networkAnalysisService = "Network Analysis Service"
        case mobileMapPackage = "Mobile Map Package"
        case tilePackage = "Tile Package"
        case vectorTilePackage = "Vector Tile Package"
        /// Any other, see ``PortalItem/typeName``.
        case unknown = ""
    }

    /// The portal.
    public let portal: Portal
    /// Its id.
    public let id: String
    private let described: Guarded<Description>

    /// An item by its id.
    public init(portal: Portal, id: String) {
        self.portal = portal
        self.id = id
        described = Guarded(Description())
    }

    /// An item by its id.
    public convenience init(portal: Portal, id: ID) {
        self.init(portal: portal, id: id.description)
    }

    init(portal: Portal, id: String, json: JSON) {
        self.portal = portal
        self.id = id
        described = Guarded(Description(json))
    }

    /// An item by a URL of its page or of the REST (`…/home/item.html?id=…`,
    /// `…/home/webmap/viewer.html?webmap=…`, `…/sharing/rest/content/items/…`); nil for others.
    public convenience init?(url: URL) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            url.origin != nil
        else { return nil }
        let path = parts.percentEncodedPath
        func portal(before mark: String) -> Portal? {
            guard let range = path.range(of: mark) else { return nil }
            var root = parts
            root.percentEncodedPath = String(path[..<range.lowerBound])
            (root.query, root.fragment) = (nil, nil)
            return root.url.map { Portal(url: $0) }
        }
        if let portal = portal(before: "/home/"),
            let id = parts.queryItems?.first(where: { ["id", "webmap"].contains($0.name) })?.value,
            !id.isEmpty
        {
            self.init(portal: portal, id: id)
        } else if let portal = portal(before: "/sharing/rest/content/items/") {
            let rest = path.components(separatedBy: "/content/items/").last ?? ""
            guard let id = rest.split(separator: "/").first else { return nil }
            self.init(portal: portal, id: String(id))
        } else {
            return nil
        }
    }

    /// Its title.
    public var title: String { described.current.title }
    /// One sentence about it.
    public var snippet: String { described.current.snippet }
    /// Its kind; `unknown` also before it is loaded.
    public var kind: Kind { Kind(rawValue: typeName) ?? .unknown }
    /// The portal's word for its kind, as `Web Map`.
    public var typeName: String { described.current.type }
    /// A longer text about it, mostly HTML.
    public var description: String { described.current.description }
    /// Words by which it is found.
    public var tags: [String] { described.current.tags }
    /// The user it belongs to.
    public var owner: String { described.current.owner }
    /// The service that it stands for; nil for none.
    public var serviceURL: URL? { described.current.url }
    /// Around it, in degrees.
    public var extent: Envelope? { described.current.extent }
    /// When it was changed last.
    public var modificationDate: Date? { described.current.modified }

    private var place: URL { portal.rest.below("content/items/\(id)") }

    override func performLoad() async throws {
        described.current = Description(
            try await ServiceDescriptions.shared.description(of: place))
    }

    /// Its data, as JSON.
    func fetchData() async throws -> JSON {
        try await Requester.json(Question(place.below("data")))
    }

    /// Its thumbnail, a picture; throws ``ServiceError`` for none.
    public func fetchThumbnail() async throws -> Data {
        try await Requester.bytes(Question(place.below("info/thumbnail"))).data
    }
}
