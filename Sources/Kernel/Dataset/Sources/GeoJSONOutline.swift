// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Platform

/// The facts of a GeoJSON file that GDAL does not report: the member `crs`, invalid features, and
/// features with non-empty geometry.
///
/// One pass over the bytes; a bit of memory for each feature.
struct GeoJSONOutline {
    /// The member `crs` of the collection.
    enum Reference: Hashable {
        /// Not stated: longitude and latitude (RFC 7946).
        case absent
        /// Null: in the format of 2008, unknown.
        case null
        /// Its name, `EPSG:2056`.
        case name(String)
        /// Something else, as an abridged text.
        case other(String)
    }

    private(set) var reference = Reference.absent
    /// By feature, in the order of the file: whether it states a geometry with content.
    private(set) var statesGeometry: [Bool] = []
    /// The first indices among `features`, from 1, of members that are not objects.
    private(set) var oddPlaces: [Int] = []
    /// Number of these.
    private(set) var oddCount = 0

    private static let oddLimit = 100
    private static let textLimit = 400

    /// Nil for anything but a collection of features.
    init?(path: String) {
        guard let file = try? MappedFile(path: path) else { return nil }
        let isCollection = file.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe read(JSONScan($0)) }
        }
        guard isCollection else { return nil }
    }

    private mutating func read(_ start: JSONScan) -> Bool {
        var scan = start
        var hasFeatures = false
        guard
            scan.forEachMember({ scan, key in
                switch key {
                case "crs": reference = Self.reference(&scan)
                case "features":
                    hasFeatures = true
                    var place = 0
                    _ = scan.forEachElement { scan in
                        place += 1
                        takeFeature(&scan, place)
                    }
                default: scan.skipValue()
                }
            })
        else { return false }
        return hasFeatures
    }

    private mutating func takeFeature(_ scan: inout JSONScan, _ place: Int) {
        guard scan.peek() == UInt8(ascii: "{") else {
            scan.skipValue()
            oddCount += 1
            if oddPlaces.count < Self.oddLimit { oddPlaces.append(place) }
            return
        }
        var states = false
        _ = scan.forEachMember { scan, key in
            guard key == "geometry" else { return scan.skipValue() }
            states = Self.isGeometry(&scan)
        }
        statesGeometry.append(states)
    }

    /// Whether the value is a non-empty geometry, as far as a scan can tell: not null, no object
    /// with an empty list.
    private static func isGeometry(_ scan: inout JSONScan) -> Bool {
        let first = scan.peek()
        guard first == UInt8(ascii: "{") else {
            scan.skipValue()
            return first != UInt8(ascii: "n")
        }
        var isEmpty = false
        _ = scan.forEachMember { scan, key in
            let isContent = key == "coordinates" || key == "geometries"
            let start = scan.place
            scan.skipValue()
            if isContent { isEmpty = scan.isNest(start..<scan.place) }
        }
        return !isEmpty
    }

    private static func reference(_ scan: inout JSONScan) -> Reference {
        if scan.peek() == UInt8(ascii: "n") {
            scan.skipValue()
            return .null
        }
        let start = scan.place
        var name: String?
        if scan.peek() == UInt8(ascii: "{") {
            _ = scan.forEachMember { scan, key in
                guard key == "properties", scan.peek() == UInt8(ascii: "{") else {
                    return scan.skipValue()
                }
                _ = scan.forEachMember { scan, key in
                    let start = scan.place
                    scan.skipValue()
                    if key == "name" || key == "code" {
                        name = scan.text(start..<scan.place, limit: textLimit)
                    }
                }
            }
        } else {
            scan.skipValue()
        }
        return name.map { .name($0) } ?? .other(scan.text(start..<scan.place, limit: 60))
    }
}

/// A forward cursor in JSON that never fails: malformed text ends it.
@safe
private struct JSONScan {
    private let bytes: UnsafeRawBufferPointer
    private let end: Int
    var place = 0

    /// The bytes outlive the value.
    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = bytes
        end = bytes.count
        if starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    }

    private func byte(_ place: Int) -> UInt8 { unsafe bytes[place] }

    private func starts(with text: [UInt8]) -> Bool {
        end >= text.count && text.indices.allSatisfy { byte($0) == text[$0] }
    }

    /// The next byte that is no blank; nil at the end.
    mutating func peek() -> UInt8? {
        while place < end, byte(place) <= 0x20 { place += 1 }
        return place < end ? byte(place) : nil
    }

    /// Goes behind the value that comes.
    mutating func skipValue() {
        guard let first = peek() else { return }
        if first == UInt8(ascii: "\"") { return skipString() }
        var depth = 0
        while place < end {
            switch byte(place) {
            case UInt8(ascii: "\""):
                skipString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // The end of the enclosing value.
                if depth == 0 { return }
                depth -= 1
                if depth == 0 {
                    place += 1
                    return
                }
            case UInt8(ascii: ","), 0...0x20:
                if depth == 0 { return }
            default: break
            }
            place += 1
        }
    }

    private mutating func skipString() {
        place += 1
        while place < end {
            let next = byte(place)
            place += next == UInt8(ascii: "\\") ? 2 : 1
            if next == UInt8(ascii: "\"") { return }
        }
        place = min(place, end)
    }

    /// Calls `body`, which has to go behind the value, with each member of the object that comes;
    /// false where none comes.
    mutating func forEachMember(_ body: (inout JSONScan, String) -> Void) -> Bool {
        guard peek() == UInt8(ascii: "{") else { return false }
        place += 1
        while let next = peek() {
            if next == UInt8(ascii: ",") {
                place += 1
                continue
            }
            guard next == UInt8(ascii: "\"") else {
                if next == UInt8(ascii: "}") { place += 1 } else { place = end }
                return true
            }
            let start = place
            skipString()
            let key = text(start..<place, limit: 40)
            guard peek() == UInt8(ascii: ":") else {
                place = end
                return true
            }
            place += 1
            let before = place
            body(&self, key)
            guard place > before else {
                place = end
                return true
            }
        }
        return true
    }

    /// Calls `body` for the elements of the next array.
    mutating func forEachElement(_ body: (inout JSONScan) -> Void) -> Bool {
        guard peek() == UInt8(ascii: "[") else {
            skipValue()
            return false
        }
        place += 1
        while let next = peek() {
            switch next {
            case UInt8(ascii: ","): place += 1
            case UInt8(ascii: "]"):
                place += 1
                return true
            default:
                let before = place
                body(&self)
                guard place > before else {
                    place = end
                    return true
                }
            }
        }
        return true
    }

    /// Whether it is made of brackets and blanks alone.
    func isNest(_ range: Range<Int>) -> Bool {
        range.allSatisfy { place in
            let next = byte(place)
            return next <= 0x20 || next == UInt8(ascii: "[") || next == UInt8(ascii: "]")
                || next == UInt8(ascii: ",")
        }
    }

    /// A value as text, a string without its quotes.
    func text(_ range: Range<Int>, limit: Int) -> String {
        var range = range
        while let first = range.first, byte(first) <= 0x20 { range.removeFirst() }
        if let first = range.first, byte(first) == UInt8(ascii: "\""), range.count >= 2 {
            range = first + 1..<range.upperBound - 1
        }
        // A solidus may be escaped; other escapes are in no name of a system.
        let bytes = range.prefix(limit).map(byte)
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.contains(UInt8(ascii: "\\")) else { return text }
        return text.replacing("\\/", with: "/")
    }
}
