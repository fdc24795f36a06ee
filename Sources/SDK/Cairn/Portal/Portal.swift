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
        let credential = try await manager.challenge(
            place, refusal, refused: nil, tried: nil, known: manager.endedCount(place))
        guard credential != nil else {
            throw AuthenticationError(
                .cancelled, "\(url.origin ?? "") is to be asked as a user, and no user signed in")
        }
    }

    /// Items that a query finds, as `type:"Web Map" owner:ben`; throws ``ServiceError`` and others.
    public func findItems(
        query: String, limit: Int = 10, startIndex: Int = 1, sortField: String? = nil
    ) async throws -> PortalQueryResultSet {
        try await findItems(
            queryParameters: PortalQueryParameters(
                query: query, limit: limit, startIndex: startIndex, sortField: sortField))
    }

    /// A page of the items that a query finds; throws ``ServiceError`` and others.
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
