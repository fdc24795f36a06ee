// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import JobKinds

/// Parses geometries of the command line.
enum GeometryText {
    /// Limits on the bytes of text and the number of coordinates.
    static let byteLimit = 8 << 20
    static let coordinateLimit = 200_000

    /// A geometry, with the spatial reference its text names, if it names one.
    struct Parsed: Hashable, Sendable {
        var shape: Shape
        var spatialReference: SpatialReference?
    }

    /// Parses WKT, GeoJSON, Esri JSON, `x,y` or `xmin,ymin,xmax,ymax`; throws `Failure`
    /// (`invalidParameter`, `tooLarge`).
    static func parse(_ text: String) throws(Failure) -> Parsed {
        guard text.utf8.count <= byteLimit else {
            throw Failure(.tooLarge, "the geometry's text has more than \(byteLimit) bytes")
        }
        let first = text.first { !$0.isWhitespace }
        let parsed: Parsed
        switch first {
        case nil: throw Failure(.invalidParameter, "the geometry is empty")
        case "{":
            let geometry = try GeometryJSON.parse(text)
            parsed = Parsed(shape: geometry.shape, spatialReference: geometry.spatialReference)
        case let first? where first.isLetter && (text.contains("(") || !text.contains(",")):
            parsed = Parsed(shape: try WellKnownText.shape(of: text), spatialReference: nil)
        default: parsed = Parsed(shape: try plain(text), spatialReference: nil)
        }
        try check(parsed.shape)
        return parsed
    }

    /// `x,y` as a point, or four numbers as an envelope.
    private static func plain(_ text: String) throws(Failure) -> Shape {
        let numbers = try numbers(text, name: "geometry")
        switch numbers.count {
        case 2: return .point(Coordinate(x: numbers[0], y: numbers[1]))
        case 4: return .envelope(try envelope(numbers, name: "geometry"))
        default:
            throw Failure(
                .invalidParameter,
                "geometry '\(text.prefix(80))': expected WKT, GeoJSON, Esri JSON, 'x,y' or "
                    + "'xmin,ymin,xmax,ymax'")
        }
    }

    /// Comma-separated finite numbers; `name` names the input in a failure.
    static func numbers(_ text: String, name: String) throws(Failure) -> [Double] {
        var numbers: [Double] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false).prefix(100) {
            let word = part.trimmingPrefix { $0 == " " }
            guard let number = Double(word), number.isFinite else {
                throw Failure(
                    .invalidParameter,
                    "\(name) '\(text.prefix(80))': '\(word.prefix(40))' is not a finite number")
            }
            numbers.append(number)
        }
        return numbers
    }

    /// `x,y`.
    static func coordinate(_ text: String, name: String) throws(Failure) -> Coordinate {
        let numbers = try numbers(text, name: name)
        guard numbers.count == 2 else {
            throw Failure(.invalidParameter, "\(name) '\(text.prefix(80))': expected 'x,y'")
        }
        return Coordinate(x: numbers[0], y: numbers[1])
    }

    /// `xmin,ymin,xmax,ymax`; swapped bounds are put in order.
    static func envelope(_ text: String, name: String) throws(Failure) -> Envelope {
        try envelope(try numbers(text, name: name), name: "\(name) '\(text.prefix(80))'")
    }

    private static func envelope(
        _ numbers: [Double], name: String
    ) throws(Failure) -> Envelope {
        guard numbers.count == 4 else {
            throw Failure(.invalidParameter, "\(name): expected 'xmin,ymin,xmax,ymax'")
        }
        return Envelope(minX: numbers[0], minY: numbers[1], maxX: numbers[2], maxY: numbers[3])
            .ordered
    }

    /// Checks for finite coordinates, their number, and closed rings of sufficient length.
    private static func check(_ shape: Shape) throws(Failure) {
        let count = shape.coordinateCount
        guard count > 0 else { throw Failure(.invalidParameter, "the geometry is empty") }
        guard count <= coordinateLimit else {
            throw Failure(
                .tooLarge, "the geometry has \(count) coordinates; at most \(coordinateLimit)")
        }
        var isFinite = true
        _ = shape.mapCoordinates { coordinate in
            isFinite = isFinite && coordinate.isFinite
            return coordinate
        }
        guard isFinite else {
            throw Failure(.invalidParameter, "the geometry has a coordinate that is not finite")
        }
        switch shape {
        case .polyline(let paths) where paths.contains { $0.count < 2 }:
            throw Failure(.invalidParameter, "a path has fewer than 2 coordinates")
        case .polygon(let rings) where rings.contains { $0.count < 4 || $0.first != $0.last }:
            throw Failure(
                .invalidParameter,
                "a ring is not closed or has fewer than 4 coordinates: its first coordinate must "
                    + "be "
                    + "repeated at its end")
        default: break
        }
    }
}
