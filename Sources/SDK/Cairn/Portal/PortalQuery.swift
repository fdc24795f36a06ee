// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

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
