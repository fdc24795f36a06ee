// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Tiles by a template of URLs, in Web Mercator: `https://tiles/{level}/{col}/{row}.png`, also
/// `{z}`, `{x}`, `{y}`, and `{subDomain}`.
public final class WebTiledLayer: TiledLayer, @unchecked Sendable {
    /// The template.
    public let urlTemplate: String
    /// What `{subDomain}` stands for, in turns.
    public let subDomains: [String]

    /// A layer; nothing is asked before it is drawn.
    public init(urlTemplate: String, subDomains: [String] = []) {
        self.urlTemplate = urlTemplate
        self.subDomains = subDomains
    }

    /// The same, by the other spelling of the label.
    public convenience init(urlTemplate: String, subdomains: [String]) {
        self.init(urlTemplate: urlTemplate, subDomains: subdomains)
    }

    /// Says whose the data are, for ``Layer/attribution``.
    public func setAttribution(_ attribution: String) {
        facts.withLock { $0.attribution = attribution }
    }

    override func performLoad() async throws {
        guard url(0, 0, 0) != nil else {
            throw CairnError(
                .invalidArgument,
                "'\(urlTemplate)': expected a URL with {level}, {col} and {row} in it")
        }
        set(.webMercator)
        facts.withLock { facts in
            facts.name = URL(string: urlTemplate)?.host() ?? "tiles"
            facts.fullExtent = .webMercatorWorld
        }
    }

    private func url(_ level: Int, _ row: Int, _ column: Int) -> URL? {
        var text = urlTemplate
        var isComplete = true
        for (names, value) in [
            (["level", "z"], level), (["row", "y"], row), (["col", "x"], column),
        ] {
            guard let name = names.first(where: { text.contains("{\($0)}") }) else {
                isComplete = false
                continue
            }
            text = text.replacingOccurrences(of: "{\(name)}", with: String(value))
        }
        if !subDomains.isEmpty {
            text = text.replacingOccurrences(
                of: "{subDomain}", with: subDomains[(row + column) % subDomains.count])
        }
        guard isComplete, let url = URL(string: text), url.origin != nil else { return nil }
        return url
    }

    override func tile(level: Int, row: Int, column: Int) async throws -> Data? {
        guard let url = url(level, row, column) else { return nil }
        do {
            return try await Requester.bytes(Question(url)).data
        } catch let error as ServiceError where error.code == 404 {
            return nil
        }
    }

    override var webMapLayer: JSON? {
        .object(
            webMapMembers("WebTiledLayer", nil) + [("templateUrl", .string(urlTemplate))]
                + (attribution.isEmpty ? [] : [("copyright", .string(attribution))])
                + (subDomains.isEmpty
                    ? [] : [("subDomains", .array(subDomains.map { .string($0) }))]))
    }

    override func apply(webMap json: JSON) {
        super.apply(webMap: json)
        if let text = json.text("copyright") { setAttribution(text) }
    }
}
