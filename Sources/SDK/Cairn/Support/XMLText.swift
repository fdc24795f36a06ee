// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// The little of XML that a WMS client needs.
enum XMLText {
    static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;")
            .replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }

    /// The text of the first element of a name; nil where there is none.
    static func text(_ name: String, in document: String) -> String? {
        guard let start = document.range(of: "<\(name)"),
            let open = document.range(of: ">", range: start.upperBound..<document.endIndex),
            let close = document.range(
                of: "</\(name)>", range: open.upperBound..<document.endIndex)
        else { return nil }
        return String(document[open.upperBound..<close.lowerBound])
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    static func geographicBox(_ document: String) -> Envelope? {
        let sides = [
            "westBoundLongitude", "southBoundLatitude", "eastBoundLongitude", "northBoundLatitude",
        ].compactMap { text($0, in: document).flatMap { Double($0) } }
        guard sides.count == 4 else { return nil }
        return Envelope(
            xMin: sides[0], yMin: sides[1], xMax: sides[2], yMax: sides[3],
            spatialReference: .wgs84)
    }

    /// The error that a document of a service exception is.
    static func error(_ bytes: Data, _ url: URL) -> any Error {
        let document = String(decoding: bytes.prefix(65_536), as: UTF8.self)
        if let message = text("ServiceException", in: document) {
            return ServiceError(code: 400, message: String(message.prefix(500)), url: url)
        }
        return TransportError(
            .invalidAnswer,
            "\(url.withoutQuery.absoluteString): expected a picture or JSON, found neither")
    }
}
