// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// What a package says of itself.
public final class OfflineMapItemInfo: Sendable {
    private struct Values: Sendable {
        var title = ""
        var snippet = ""
        var description = ""
        var tags: [String] = []
        var accessInformation = ""
        var termsOfUse = ""
    }

    private let values: Guarded<Values>

    /// Nothing.
    public init() { values = Guarded(Values()) }

    init(_ item: PortalItem) {
        values = Guarded(
            Values(
                title: item.title, snippet: item.snippet, description: item.description,
                tags: item.tags))
    }

    init(_ json: JSON) {
        values = Guarded(
            Values(
                title: json.text("title") ?? "", snippet: json.text("snippet") ?? "",
                description: json.text("description") ?? "",
                tags: (json["tags"]?.elements ?? []).compactMap(\.text),
                accessInformation: json.text("accessInformation") ?? "",
                termsOfUse: json.text("licenseInfo") ?? ""))
    }

    var json: JSON {
        let values = values.current
        return .object(of: [
            "title": .string(values.title), "snippet": .string(values.snippet),
            "description": .string(values.description),
            "tags": .array(values.tags.map { .string($0) }),
            "accessInformation": .string(values.accessInformation),
            "licenseInfo": .string(values.termsOfUse),
        ])
    }

    /// Its title.
    public var title: String {
        get { values.current.title }
        set { values.withLock { $0.title = newValue } }
    }
    /// One sentence about it.
    public var snippet: String {
        get { values.current.snippet }
        set { values.withLock { $0.snippet = newValue } }
    }
    /// A longer text about it.
    public var description: String {
        get { values.current.description }
        set { values.withLock { $0.description = newValue } }
    }
    /// Words by which it is found.
    public var tags: [String] { values.current.tags }
    /// Adds a word by which it is found.
    public func addTag(_ tag: String) { values.withLock { $0.tags.append(tag) } }
    /// Whom its data is owed to.
    public var accessInformation: String {
        get { values.current.accessInformation }
        set { values.withLock { $0.accessInformation = newValue } }
    }
    /// What its data may be used for.
    public var termsOfUse: String {
        get { values.current.termsOfUse }
        set { values.withLock { $0.termsOfUse = newValue } }
    }
}
