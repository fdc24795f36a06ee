// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The header `Accept` (RFC 9110, 12.5.1): media ranges with their quality.
struct AcceptedTypes {
    private let ranges: [(type: String, quality: Double)]

    /// Malformed media ranges are skipped; the first 64 count.
    init(_ header: String) {
        ranges = header.split(separator: ",").prefix(64).compactMap { item in
            let parts = item.split(separator: ";").map { part in
                part.filter { $0 != " " && $0 != "\t" }.lowercased()
            }
            guard let type = parts.first, type.contains("/") else { return nil }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            return (type, weight.map { min(1, max(0, Double($0) ?? 1)) } ?? 1)
        }
    }

    /// Whether the header is empty.
    var isEmpty: Bool { ranges.isEmpty }

    /// Whether the media type is listed exactly.
    func names(_ type: String) -> Bool { ranges.contains { $0.type == type && $0.quality > 0 } }

    /// The highest quality of the matching media types: from 0, not acceptable, to 1.
    ///
    /// An exact type takes precedence over `application/*`, and that over `*/*`.
    func quality(_ isMeant: (String) -> Bool) -> Double {
        func best(_ ranges: [(type: String, quality: Double)]) -> Double? {
            ranges.map(\.quality).max()
        }
        return best(ranges.filter { isMeant($0.type) })
            ?? best(
                ranges.filter { range in
                    range.type.hasSuffix("/*") && range.type != "*/*"
                        && (isMeant(range.type.dropLast(1) + "json")
                            || isMeant(range.type.dropLast(1) + "html"))
                }) ?? best(ranges.filter { $0.type == "*/*" }) ?? 0
    }
}
