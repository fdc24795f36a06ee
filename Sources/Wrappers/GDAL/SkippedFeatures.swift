// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A feature that a driver could not make sense of and went past.
public struct SkippedFeature: Hashable, Sendable {
    /// The source's own number for it.
    public var id: Int64
    /// The reason, in GDAL's words.
    public var reason: String

    /// Parses the warning of GDAL's driver for GML, `Geometry of feature 2 r2 cannot be parsed: …
    /// Skipping to next feature.`; nil for any other message.
    init?(_ message: String) {
        guard message.hasPrefix("Geometry of feature "),
            message.hasSuffix("Skipping to next feature."),
            let end = message.firstRange(of: " cannot be parsed")
        else { return nil }
        let names = message[..<end.lowerBound].split(separator: " ").dropFirst(3)
        guard let id = names.first.flatMap({ Int64($0) }) else { return nil }
        self.id = id
        let words = message[end.upperBound...].dropLast("Skipping to next feature.".count)
            .drop { $0 == ":" || $0 == " " }
        let named = names.dropFirst().joined(separator: " ")
        reason =
            "a geometry that cannot be read" + (named.isEmpty ? "" : " (\(named))")
            + (words.isEmpty ? "" : ": " + words.trimmed)
    }
}

extension Substring {
    /// Without blanks and full stops at its end.
    fileprivate var trimmed: Substring {
        var rest = self
        while let last = rest.last, last == " " || last == "." { rest.removeLast() }
        return rest
    }
}

/// Features that a driver went past: how many, and the first of them.
public struct SkippedFeatures: Hashable, Sendable {
    /// Number of features.
    public private(set) var count = 0
    /// The first 100.
    public private(set) var first: [SkippedFeature] = []

    /// No skipped features.
    public init() {}

    mutating func add(_ feature: SkippedFeature) {
        count += 1
        if first.count < 100 { first.append(feature) }
    }

    mutating func add(_ others: SkippedFeatures) {
        count += others.count
        first += others.first.prefix(100 - first.count)
    }
}
