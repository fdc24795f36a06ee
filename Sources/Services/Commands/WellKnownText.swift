// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import GEOS
internal import Geometry

/// Well-known text of the OGC: POINT, LINESTRING, POLYGON, their MULTI forms, and
/// `ENVELOPE(xmin, xmax, ymin, ymax)`.
///
/// GEOS reads it, and leaves out Z and M. GEOS 3.11 does not write it: a number of more than 128
/// characters, as 1e300, breaks its stack.
enum WellKnownText {
    /// A MULTIPOLYGON has as many parentheses in one another.
    private static let depthLimit = 3

    /// Reads a whole text; throws `Failure` (`invalidParameter`, `tooLarge`) with what GEOS says of
    /// it.
    static func shape(of text: String) throws(Failure) -> Shape {
        if let box = try envelope(text) { return .envelope(box) }
        try checkBounds(text)
        do throws(GEOSError) {
            let geometry = try GEOSGeometry(wkt: text)
            let kind = try geometry.kind()
            let chains = try geometry.chains().map { chain in
                stride(from: 0, to: chain.count, by: 2).map {
                    Coordinate(x: chain[$0], y: chain[$0 + 1])
                }
            }
            switch kind {
            case .point where chains.count == 1: return .point(chains[0][0])
            case .point, .multipoint: return .multipoint(chains.flatMap { $0 })
            case .linestring, .linearRing, .multilinestring: return .polyline(paths: chains)
            case .polygon, .multipolygon: return .polygon(rings: chains)
            case .collection: break
            }
        } catch {
            throw fault(error)
        }
        throw Failure(.invalidParameter, "WKT: collections are not read")
    }

    /// Nil where the text is no ENVELOPE, which GEOS does not know.
    private static func envelope(_ text: String) throws(Failure) -> Envelope? {
        guard text.prefixMatch(of: /\s*envelope\b/.ignoresCase()) != nil else { return nil }
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            .replacing(" ,", with: ",")
        guard let match = line.wholeMatch(of: /envelope ?\( ?([^()]*?) ?\)/.ignoresCase()) else {
            throw Failure(.invalidParameter, "WKT: expected ENVELOPE(xmin, xmax, ymin, ymax)")
        }
        let numbers = try GeometryText.numbers(String(match.output.1), name: "ENVELOPE")
        guard numbers.count == 4, numbers[0] <= numbers[1], numbers[2] <= numbers[3] else {
            throw Failure(.invalidParameter, "WKT: expected ENVELOPE(xmin, xmax, ymin, ymax)")
        }
        return Envelope(minX: numbers[0], minY: numbers[2], maxX: numbers[1], maxY: numbers[3])
    }

    /// Throws for what GEOS does not look after: size, nesting, and what follows the geometry.
    private static func checkBounds(_ text: String) throws(Failure) {
        var depth = 0
        var commaCount = 0
        var isAtEnd = false
        for (offset, byte) in text.utf8.enumerated() {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case _ where isAtEnd: throw fault("expected the end", at: offset)
            case UInt8(ascii: "("):
                depth += 1
                guard depth <= depthLimit else { throw fault("nested too deeply", at: offset) }
            case UInt8(ascii: ")"):
                depth -= 1
                isAtEnd = depth <= 0
            case UInt8(ascii: ","):
                // One between each coordinate and the next, of rings and parts too.
                commaCount += 1
                guard commaCount < GeometryText.coordinateLimit else {
                    throw Failure(
                        .tooLarge,
                        "the geometry has more than \(GeometryText.coordinateLimit) coordinates")
                }
            default: break
            }
        }
    }

    private static func fault(_ sentence: String, at offset: Int) -> Failure {
        Failure(.invalidParameter, "WKT, byte \(offset + 1): \(sentence)")
    }

    /// `ParseException: Expected number but encountered ')'`, without the name of the class.
    private static func fault(_ error: GEOSError) -> Failure {
        let lines = error.message.prefix(200).split(whereSeparator: \.isNewline)
        let message = lines.joined(separator: " ")
        let start = message.firstRange(of: "Exception: ")?.upperBound ?? message.startIndex
        return Failure(.invalidParameter, "WKT: \(message[start...])")
    }

    /// The text; the rings of a polygon are written in the order they have, as one POLYGON.
    static func text(of shape: Shape) -> String {
        switch shape {
        case .point(let at): "POINT (\(position(at)))"
        case .multipoint(let all): "MULTIPOINT (\(all.map(position).joined(separator: ", ")))"
        case .polyline(let paths):
            paths.count == 1
                ? "LINESTRING \(list(paths[0]))" : "MULTILINESTRING \(lists(paths))"
        case .polygon(let rings): "POLYGON \(lists(rings))"
        case .envelope(let box):
            "ENVELOPE (\(box.minX), \(box.maxX), \(box.minY), \(box.maxY))"
        }
    }

    private static func position(_ at: Coordinate) -> String { "\(at.x) \(at.y)" }

    private static func list(_ all: [Coordinate]) -> String {
        "(\(all.map(position).joined(separator: ", ")))"
    }

    private static func lists(_ parts: [[Coordinate]]) -> String {
        "(\(parts.map(list).joined(separator: ", ")))"
    }
}
