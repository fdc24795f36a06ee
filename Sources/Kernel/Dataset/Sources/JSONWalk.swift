// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Goes through JSON of any size, or values one after the other, from feature to feature, by the
/// bytes.
///
/// A feature is an object with a member `properties` or `attributes`, or a member `type` that is
/// `Feature`, and without features inside.
struct JSONWalk {
    /// A member of an object.
    struct Member {
        /// The raw name, without quotes.
        let name: Range<Int>
        /// The raw value.
        let value: Range<Int>
    }

    /// A feature, as byte ranges.
    struct Feature {
        let start: Int
        let end: Int
        /// Whether it is one of GeoJSON: an element of a list `features`, or a value on its own.
        let isListed: Bool
        let id: Member?
        /// The value of `properties`, of whatever kind.
        let propertiesPlace: Range<Int>?
        let properties: [Member]
    }

    private static let depthLimit = 16
    /// Members in which there are no features.
    private static let plain = Set(
        ["geometry", "coordinates", "arcs", "bbox", "crs", "transform", "rings", "paths", "points"]
            .map { Array($0.utf8) })

    private var place = 0
    private var featureCount = 0
    private var isStopped = false

    /// Calls `body` with every feature, in the order of their ends, until it returns false; whether
    /// the text is JSON, as far as it was read.
    static func features(_ bytes: RawSpan, _ body: (Feature) -> Bool) -> Bool {
        var walk = JSONWalk()
        if bytes.byteCount >= 3, byte(bytes, 0) == 0xEF { walk.place = 3 }
        while true {
            walk.skipBlanks(bytes)
            guard walk.place < bytes.byteCount else { return true }
            let isWhole =
                byte(bytes, walk.place) == UInt8(ascii: "{")
                ? walk.object(bytes, isListed: true, depth: 0, body) : walk.skip(bytes)
            guard isWhole, !walk.isStopped else { return walk.isStopped }
        }
    }

    private mutating func object(
        _ bytes: RawSpan, isListed: Bool, depth: Int, _ body: (Feature) -> Bool
    ) -> Bool {
        let start = place
        let before = featureCount
        var id: Member?
        var properties: (place: Range<Int>, members: [Member])?
        var isFeature = false
        let isWhole = members(bytes) { walk, name, bytes in
            let begin = walk.place
            let first = Self.byte(bytes, begin)
            let word = name.count <= 16 ? Self.copy(bytes, name) : []
            switch word {
            case Self.propertiesName, Self.attributesName:
                var found: [Member] = []
                if first == UInt8(ascii: "{") {
                    let isWhole = walk.members(bytes) { walk, name, bytes in
                        let start = walk.place
                        guard walk.skip(bytes) else { return false }
                        found.append(Member(name: name, value: start..<walk.place))
                        return true
                    }
                    guard isWhole else { return false }
                } else {
                    guard walk.skip(bytes) else { return false }
                }
                properties = (begin..<walk.place, found)
                return true
            case Self.idName:
                guard walk.skip(bytes) else { return false }
                id = Member(name: name, value: begin..<walk.place)
                return true
            case Self.typeName:
                guard walk.skip(bytes) else { return false }
                isFeature =
                    walk.place - begin == 9
                    && Self.copy(bytes, begin + 1..<walk.place - 1) == Array("Feature".utf8)
                return true
            case _ where depth >= Self.depthLimit || Self.plain.contains(word):
                return walk.skip(bytes)
            case _ where first == UInt8(ascii: "{"):
                return walk.object(bytes, isListed: false, depth: depth + 1, body)
            case _ where first == UInt8(ascii: "["):
                let isList = word == Array("features".utf8)
                return walk.elements(bytes, isListed: isList, depth: depth + 1, body)
            default: return walk.skip(bytes)
            }
        }
        guard isWhole else { return false }
        guard properties != nil || isFeature, featureCount == before else { return true }
        featureCount += 1
        let feature = Feature(
            start: start, end: place, isListed: isListed, id: id,
            propertiesPlace: properties?.place, properties: properties?.members ?? [])
        if !body(feature) { isStopped = true }
        return !isStopped
    }

    private static let propertiesName = Array("properties".utf8)
    private static let attributesName = Array("attributes".utf8)
    private static let idName = Array("id".utf8)
    private static let typeName = Array("type".utf8)

    /// Iterates over the members of the object at the cursor; `body` is called at each value and
    /// must advance past it.
    private mutating func members(
        _ bytes: RawSpan, _ body: (inout JSONWalk, Range<Int>, RawSpan) -> Bool
    ) -> Bool {
        place += 1
        skipBlanks(bytes)
        if peek(bytes) == UInt8(ascii: "}") {
            place += 1
            return true
        }
        while true {
            skipBlanks(bytes)
            guard peek(bytes) == UInt8(ascii: "\"") else { return false }
            let start = place + 1
            guard skip(bytes) else { return false }
            let name = start..<place - 1
            skipBlanks(bytes)
            guard peek(bytes) == UInt8(ascii: ":") else { return false }
            place += 1
            skipBlanks(bytes)
            guard place < bytes.byteCount, body(&self, name, bytes) else { return false }
            skipBlanks(bytes)
            guard let next = peek(bytes) else { return false }
            place += 1
            if next == UInt8(ascii: "}") { return true }
            guard next == UInt8(ascii: ",") else { return false }
        }
    }

    private mutating func elements(
        _ bytes: RawSpan, isListed: Bool, depth: Int, _ body: (Feature) -> Bool
    ) -> Bool {
        place += 1
        while true {
            skipBlanks(bytes)
            guard let first = peek(bytes) else { return false }
            switch first {
            case UInt8(ascii: "]"):
                place += 1
                return true
            case UInt8(ascii: ","): place += 1
            case UInt8(ascii: "{"):
                guard object(bytes, isListed: isListed, depth: depth, body) else { return false }
            default: guard skip(bytes) else { return false }
            }
        }
    }

    /// Skips the value at the cursor, of any depth.
    private mutating func skip(_ bytes: RawSpan) -> Bool {
        var depth = 0
        repeat {
            guard let first = peek(bytes) else { return false }
            switch first {
            case UInt8(ascii: "\""):
                place += 1
                while let byte = peek(bytes), byte != UInt8(ascii: "\"") {
                    place += byte == UInt8(ascii: "\\") ? 2 : 1
                }
                guard place < bytes.byteCount else { return false }
                place += 1
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return false }
                depth -= 1
                place += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard depth > 0 else { return false }
                place += 1
            case 0...0x20: place += 1
            default:
                while let byte = peek(bytes), !Self.endsWord(byte) { place += 1 }
            }
        } while depth > 0
        return true
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "}"),
            UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""):
            true
        default: false
        }
    }

    private mutating func skipBlanks(_ bytes: RawSpan) {
        // The sign before each text of a sequence (RFC 8142) is below the blank.
        while place < bytes.byteCount, Self.byte(bytes, place) <= 0x20 { place += 1 }
    }

    private func peek(_ bytes: RawSpan) -> UInt8? {
        place < bytes.byteCount ? Self.byte(bytes, place) : nil
    }

    static func byte(_ bytes: RawSpan, _ place: Int) -> UInt8 {
        unsafe bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
    }

    static func copy(_ bytes: RawSpan, _ range: Range<Int>) -> [UInt8] {
        unsafe bytes.extracting(range).withUnsafeBytes { unsafe Array($0) }
    }

    // MARK: Texts

    /// The text of a JSON string without its quotes; U+FFFD for half of a surrogate pair.
    static func text(_ bytes: [UInt8]) -> String {
        guard bytes.contains(UInt8(ascii: "\\")) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        var result: [UInt8] = []
        var place = 0
        func unit(_ start: Int) -> UInt32? {
            guard start + 4 <= bytes.count else { return nil }
            return UInt32(String(decoding: bytes[start..<start + 4], as: UTF8.self), radix: 16)
        }
        let plain: [UInt8: UInt8] = [
            UInt8(ascii: "n"): 10, UInt8(ascii: "t"): 9, UInt8(ascii: "r"): 13,
            UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12,
        ]
        while place < bytes.count {
            guard bytes[place] == UInt8(ascii: "\\"), place + 1 < bytes.count else {
                result.append(bytes[place])
                place += 1
                continue
            }
            let sign = bytes[place + 1]
            place += 2
            guard sign == UInt8(ascii: "u"), let first = unit(place) else {
                result.append(plain[sign] ?? sign)
                continue
            }
            place += 4
            var value = first
            if 0xD800...0xDBFF ~= first, place + 6 <= bytes.count,
                bytes[place] == UInt8(ascii: "\\"), bytes[place + 1] == UInt8(ascii: "u"),
                let low = unit(place + 2), 0xDC00...0xDFFF ~= low
            {
                value = 0x10000 + (first - 0xD800) << 10 + (low - 0xDC00)
                place += 6
            }
            result += Character(Unicode.Scalar(value) ?? "\u{FFFD}").utf8
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// These bytes as a JSON string, with its quotes.
    static func quoted(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [UInt8(ascii: "\"")]
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 10: result += Array("\\n".utf8)
            case 13: result += Array("\\r".utf8)
            case 9: result += Array("\\t".utf8)
            case 0..<0x20: result.append(UInt8(ascii: " "))
            default: result.append(byte)
            }
        }
        return result + [UInt8(ascii: "\"")]
    }
}
