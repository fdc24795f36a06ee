// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A portal: a site's items and users (`/sharing/rest`).
public final class Portal: LoadableBase, @unchecked Sendable {
    /// The portal's root, as `https://host/arcgis`.
    public let url: URL
    private let described = Guarded<(info: PortalInfo?, user: PortalUser?)>(
        (info: nil, user: nil))

    /// How a portal is asked.
    public enum Connection: Sendable, Hashable {
        /// With a credential where one is stored, without one where none is.
        case anonymous
        /// As a user: loading it asks for a credential.
        case authenticated
    }

    /// How it is asked.
    public let connection: Connection

    /// A portal; nothing is asked before it is loaded.
    ///
    /// Loading an authenticated one without a credential that is stored or that the challenge
    /// handler gives throws ``AuthenticationError``.
    public init(url: URL, connection: Connection = .anonymous) {
        self.url = url
        self.connection = connection
    }

    /// Esri's portal.
    public static func arcGISOnline(connection: Connection = .anonymous) -> Portal {
        var root = URLComponents()
        (root.scheme, root.host) = ("https", "www.arcgis.com")
        return Portal(url: root.url ?? URL(filePath: "/"), connection: connection)
    }

    /// Its name; empty before it is loaded.
    public var name: String { info?.portalName ?? "" }
    /// The user that is signed in; nil for none.
    public var username: String? { user?.username }
    /// What it says of itself; nil before it is loaded.
    public var info: PortalInfo? { described.current.info }
    /// The user that is signed in; nil for none, and before it is loaded.
    public var user: PortalUser? { described.current.user }

    var rest: URL {
        url.path(percentEncoded: true).hasSuffix("/sharing/rest") ? url : url.below("sharing/rest")
    }

    override func performLoad() async throws {
        let place = rest.below("portals/self")
        if connection == .authenticated { try await signIn(for: place) }
        let json = try await ServiceDescriptions.shared.description(of: place)
        guard case .object = json else {
            throw CairnError(
                .invalidDocument, "\(url.withoutQuery.absoluteString) is no portal")
        }
        described.current = (PortalInfo(json), json.member("user").flatMap { PortalUser($0) })
    }

    private func signIn(for place: URL) async throws {
        let manager = CairnEnvironment.authenticationManager
        guard manager.arcGISCredentialStore.credential(for: place) == nil else { return }
        let refusal = ServiceError(code: 499, message: "Token Required", url: place)
        guard try await manager.challenge(place, refusal, refused: nil) != nil else {
            throw AuthenticationError(
                .cancelled, "\(url.origin ?? "") is to be asked as a user, and no user signed in")
        }
    }

    /// Items that a query finds, as `type:"Web Map" owner:ben`.
    public func findItems(
        query: String, limit: Int = 10, startIndex: Int = 1, sortField: String? = nil
    ) async throws -> PortalQueryResultSet {
        try await findItems(
            queryParameters: PortalQueryParameters(
                query: query, limit: limit, startIndex: startIndex, sortField: sortField))
    }

    /// A page of the items that a query finds.
    public func findItems(
        queryParameters: PortalQueryParameters
    ) async throws -> PortalQueryResultSet {
        let json = try await Requester.json(
            Question(
                rest.below("search"),
                [
                    "q": queryParameters.query, "num": String(queryParameters.limit),
                    "start": String(queryParameters.startIndex),
                    "sortField": queryParameters.sortField,
                    "sortOrder": queryParameters.sortField == nil
                        ? nil : queryParameters.sortOrder == .descending ? "desc" : "asc",
                ]))
        let next = json["nextStart"]?.int ?? -1
        var following = queryParameters
        following.startIndex = next
        return PortalQueryResultSet(
            results: (json["results"]?.elements ?? []).compactMap { element in
                element.text("id").map { PortalItem(portal: self, id: $0, json: element) }
            },
            totalResultsCount: json["total"]?.int ?? 0,
            nextStart: next, nextQueryParameters: next > 0 ? following : nil)
    }
}

/// What a portal says of itself.
public struct PortalInfo: Sendable {
    /// The name of the portal.
    public let portalName: String
    /// The name of the organisation.
    public let organizationName: String
    /// The id of the organisation; empty for none.
    public let organizationID: String
    /// One sentence about the organisation.
    public let organizationSummary: String
    /// The language of its pages, as `de`; empty where it does not say.
    public let culture: String
    /// Whether anonymous requests are answered.
    public let canAnonymousAccess: Bool

    init(_ json: JSON) {
        portalName = json.text("portalName") ?? json.text("name") ?? ""
        organizationName = json.text("name") ?? ""
        organizationID = json.text("id") ?? ""
        organizationSummary = json.text("description") ?? ""
        culture = json.text("culture") ?? ""
        canAnonymousAccess = json["access"]?.text != "private"
    }
}

/// A user of a portal.
public struct PortalUser: Sendable, Hashable {
    /// The name that one signs in with.
    public let username: String
    /// The whole name; empty where it is not to be had.
    public let fullName: String
    /// The address of mail; empty where it is not to be had.
    public let email: String
    /// The portal's word for what the user may do, as `org_admin`; empty for none.
    public let roleName: String

    init?(_ json: JSON) {
        guard let name = json.text("username") else { return nil }
        username = name
        fullName = json.text("fullName") ?? ""
        email = json.text("email") ?? ""
        roleName = json.text("role") ?? ""
    }
}

/// What items a portal is asked for, and which page of them.
public struct PortalQueryParameters: Sendable, Hashable {
    /// The directions of an order.
    public enum SortOrder: Sendable, Hashable { case ascending, descending }

    /// The query, as `type:"Web Map" owner:ben`.
    public var query: String
    /// Most items of a page.
    public var limit: Int
    /// Where the page begins, counted from 1.
    public var startIndex: Int
    /// The field that orders, as `title`; nil for what the portal thinks best.
    public var sortField: String?
    /// The direction of the order.
    public var sortOrder: SortOrder

    /// A query.
    public init(
        query: String, limit: Int = 10, startIndex: Int = 1, sortField: String? = nil,
        sortOrder: SortOrder = .ascending
    ) {
        (self.query, self.limit, self.startIndex) = (query, limit, startIndex)
        (self.sortField, self.sortOrder) = (sortField, sortOrder)
    }

    /// Items of certain kinds, and with certain words.
    public static func items(
        ofKinds kinds: [PortalItem.Kind] = [], owner: String = "", search: String = "",
        limit: Int = 10
    ) -> PortalQueryParameters {
        let types = kinds.filter { $0 != .unknown }.map { quoted("type", $0.rawValue) }
        var parts: [String] = []
        if !types.isEmpty { parts.append("(\(types.joined(separator: " OR ")))") }
        if !owner.isEmpty { parts.append(quoted("owner", owner)) }
        if !search.isEmpty { parts.append(parts.isEmpty ? search : "(\(search))") }
        return PortalQueryParameters(query: parts.joined(separator: " AND "), limit: limit)
    }

    /// Items of certain kinds, and with certain words.
    public static func items(
        ofKinds kinds: [PortalItem.Kind], searchText: String
    ) -> PortalQueryParameters { items(ofKinds: kinds, search: searchText) }

    /// The item of an id.
    public static func item(withID id: PortalItem.ID) -> PortalQueryParameters {
        PortalQueryParameters(query: quoted("id", id.description))
    }

    private static func quoted(_ name: String, _ value: String) -> String {
        let text = value.replacingOccurrences(of: "\"", with: "")
        return "\(name):\"\(text)\""
    }
}

/// A page of items.
public struct PortalQueryResultSet: Sendable {
    /// The items of the page.
    public let results: [PortalItem]
    /// How many there are in all.
    public let totalResultsCount: Int
    /// Where the next page begins; -1 at the end.
    public let nextStart: Int
    /// The question for the next page; nil at the end.
    public let nextQueryParameters: PortalQueryParameters?
}

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
