// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// Reads OGC well-known text: POINT, LINESTRING, POLYGON, their MULTI forms, and
/// `ENVELOPE(xmin, xmax, ymin, ymax)`.
///
/// Z and M ordinates are read and left out; a leading `SRID=n;` is refused, because spatial
/// references have options of their own. Nesting is fixed by the form, so nothing recurses.
struct WKTReader {
    private enum Token: Equatable { case word(String), number(Double), open, close, comma, end }

    private let bytes: [UInt8]
    private var offset = 0
    private var token = Token.end
    private var start = 0
    private var coordinateCount = 0

    /// Reads a whole text; throws `Failure` (`invalidParameter`, `tooLarge`) naming the byte.
    static func parse(_ text: String) throws(Failure) -> Shape {
        var reader = WKTReader(bytes: Array(text.utf8))
        try reader.advance()
        let shape = try reader.shape()
        guard reader.token == .end else { throw reader.fault("expected the end") }
        return shape
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func shape() throws(Failure) -> Shape {
        guard case .word(let kind) = token else { throw fault("expected a geometry's name") }
        let at = start
        try advance()
        if case .word(let dimension) = token {
            guard ["Z", "M", "ZM"].contains(dimension) else {
                throw fault(dimension == "EMPTY" ? "the geometry is empty" : "expected '('")
            }
            try advance()
        }
        switch kind {
        case "POINT":
            let all = try list()
            guard all.count == 1 else { throw fault("a POINT has one coordinate") }
            return .point(all[0])
        case "LINESTRING": return .polyline(paths: [try list()])
        case "POLYGON": return .polygon(rings: try lists())
        case "MULTIPOINT": return .multipoint(try points())
        case "MULTILINESTRING": return .polyline(paths: try lists())
        case "MULTIPOLYGON":
            var rings: [[Coordinate]] = []
            try between { (reader: inout WKTReader) throws(Failure) in
                rings += try reader.lists()
            }
            return .polygon(rings: rings)
        case "ENVELOPE": return .envelope(try envelope())
        default: throw fault("'\(kind.prefix(30))' is not a geometry known here", at: at)
        }
    }

    /// `( item, item … )`.
    private mutating func between(
        _ item: (inout WKTReader) throws(Failure) -> Void
    ) throws(Failure) {
        try expect(.open, "expected '('")
        try item(&self)
        while token == .comma {
            try advance()
            try item(&self)
        }
        try expect(.close, "expected ',' or ')'")
    }

    private mutating func list() throws(Failure) -> [Coordinate] {
        var all: [Coordinate] = []
        try between { (reader: inout WKTReader) throws(Failure) in
            all.append(try reader.coordinate())
        }
        return all
    }

    private mutating func lists() throws(Failure) -> [[Coordinate]] {
        var all: [[Coordinate]] = []
        try between { (reader: inout WKTReader) throws(Failure) in all.append(try reader.list()) }
        return all
    }

    /// The coordinates of a MULTIPOINT, each with or without parentheses of its own.
    private mutating func points() throws(Failure) -> [Coordinate] {
        var all: [Coordinate] = []
        try between { (reader: inout WKTReader) throws(Failure) in
            if reader.token == .open {
                all += try reader.list()
            } else {
                all.append(try reader.coordinate())
            }
        }
        return all
    }

    private mutating func coordinate() throws(Failure) -> Coordinate {
        let (x, y) = (try number(), try number())
        for _ in 0..<2 {
            if case .number = token { try advance() }
        }
        coordinateCount += 1
        guard coordinateCount <= GeometryText.coordinateLimit else {
            throw Failure(
                .tooLarge,
                "the geometry has more than \(GeometryText.coordinateLimit) coordinates")
        }
        return Coordinate(x: x, y: y)
    }

    private mutating func envelope() throws(Failure) -> Envelope {
        var numbers: [Double] = []
        try between { (reader: inout WKTReader) throws(Failure) in
            numbers.append(try reader.number())
        }
        guard numbers.count == 4, numbers[0] <= numbers[1], numbers[2] <= numbers[3] else {
            throw fault("expected ENVELOPE(xmin, xmax, ymin, ymax)")
        }
        return Envelope(minX: numbers[0], minY: numbers[2], maxX: numbers[1], maxY: numbers[3])
    }

    private mutating func number() throws(Failure) -> Double {
        guard case .number(let number) = token else { throw fault("expected a number") }
        guard number.isFinite else { throw fault("the number is not finite") }
        try advance()
        return number
    }

    private mutating func expect(_ wanted: Token, _ sentence: String) throws(Failure) {
        guard token == wanted else { throw fault(sentence) }
        try advance()
    }

    private mutating func advance() throws(Failure) {
        while offset < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) { offset += 1 }
        start = offset
        guard offset < bytes.count else {
            token = .end
            return
        }
        let byte = bytes[offset]
        switch byte {
        case UInt8(ascii: "("): token = .open
        case UInt8(ascii: ")"): token = .close
        case UInt8(ascii: ","): token = .comma
        default:
            let rest = bytes[offset...].prefix { Self.isWordByte($0) }
            guard !rest.isEmpty, rest.count <= 64 else { throw fault("is not well-known text") }
            offset += rest.count
            let word = String(decoding: rest, as: UTF8.self)
            let isLetter = byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
            if isLetter, !["NAN", "INF", "INFINITY"].contains(word.uppercased()) {
                token = .word(word.uppercased())
            } else if let number = Double(word) {
                token = .number(number)
            } else {
                throw fault("'\(word)' is not a number")
            }
            return
        }
        offset += 1
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }

    private func fault(_ sentence: String, at place: Int? = nil) -> Failure {
        Failure(.invalidParameter, "WKT, byte \((place ?? start) + 1): \(sentence)")
    }
}
