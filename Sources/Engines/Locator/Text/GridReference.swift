// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// Parses positions in UTM (`31U 448251 5411932`) and MGRS (`31UDQ4825111932`).
///
/// The letter after the zone is the band of latitude; where the position is in another band, `N`
/// and `S` are the hemisphere. Letters and squares as in NGA.STND.0037.
enum GridReference {
    /// Longitude and latitude, WGS 84, rounded to 10⁻⁷ degrees; nil where the text, in capitals, is
    /// neither.
    ///
    /// A square of MGRS is located by its centre.
    static func location(_ text: [UInt8]) -> Coordinate? {
        let words = text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ",") }.map(
            Array.init)
        guard let (zone, rest) = zone(words) else { return nil }
        return utm(zone, rest) ?? mgrs(zone, rest.flatMap(\.self))
    }

    private struct Zone {
        var number: Int
        var band: UInt8
    }

    private static let bands = Array("CDEFGHJKLMNPQRSTUVWX".utf8)
    private static let rows = Array("ABCDEFGHJKLMNPQRSTUV".utf8)
    private static let columns = ["ABCDEFGH", "JKLMNPQR", "STUVWXYZ"].map { Array($0.utf8) }
    /// The lowest northing of each band in 100 km, C to X.
    private static let bandStarts = [
        11, 20, 28, 37, 46, 55, 64, 73, 82, 91, 0, 8, 17, 26, 35, 44, 53, 62, 70, 79,
    ]

    /// The zone at the start, with the rest of the text.
    private static func zone(_ words: [[UInt8]]) -> (Zone, [[UInt8]])? {
        guard var first = words.first else { return nil }
        var others = Array(words.dropFirst())
        let digits = first.prefix { 0x30...0x39 ~= $0 }
        guard 1...2 ~= digits.count else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 & 15) }
        if first.count == digits.count, let next = others.first {
            first += next
            others.removeFirst()
        }
        let end = first.dropFirst(digits.count)
        guard 1...60 ~= number, let band = end.first, bands.contains(band) else { return nil }
        let rest = Array(end.dropFirst())
        return (Zone(number: number, band: band), (rest.isEmpty ? [] : [rest]) + others)
    }

    private static func utm(_ zone: Zone, _ words: [[UInt8]]) -> Coordinate? {
        guard words.count == 2, let easting = meters(words[0], unit: "E"),
            let northing = meters(words[1], unit: "N"), 100_000..<1_000_000 ~= easting,
            0...10_000_000 ~= northing
        else { return nil }
        let isSouth = zone.band < UInt8(ascii: "N")
        if let found = unproject(zone.number, isSouth, easting, northing), found.isIn(zone.band) {
            return found.location
        }
        switch zone.band {
        case UInt8(ascii: "N"): return unproject(zone.number, false, easting, northing)?.location
        case UInt8(ascii: "S"): return unproject(zone.number, true, easting, northing)?.location
        default: return nil
        }
    }

    /// Metres, optionally followed by `M` and `E` or `N`.
    private static func meters(_ word: [UInt8], unit: Unicode.Scalar) -> Double? {
        var word = word[...]
        if word.last == UInt8(ascii: unit) { word = word.dropLast() }
        if word.last == UInt8(ascii: "M") { word = word.dropLast() }
        guard (1...16).contains(word.count), word.first != UInt8(ascii: "."),
            word.allSatisfy({ 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(String(decoding: word, as: UTF8.self))
    }

    private static func mgrs(_ zone: Zone, _ text: [UInt8]) -> Coordinate? {
        let digits = text.dropFirst(2)
        guard text.count >= 6, digits.count <= 10, digits.count.isMultiple(of: 2),
            digits.allSatisfy({ 0x30...0x39 ~= $0 }),
            let column = columns[(zone.number - 1) % 3].firstIndex(of: text[0]),
            let row = rows.firstIndex(of: text[1]),
            let band = bands.firstIndex(of: zone.band)
        else { return nil }
        let half = digits.count / 2
        let unit = [1.0, 10_000, 1_000, 100, 10, 1][half]
        func value(_ digits: ArraySlice<UInt8>) -> Double {
            (Double(digits.reduce(0) { $0 * 10 + Int($1 & 15) }) + 0.5) * unit
        }
        let easting = Double(column + 1) * 100_000 + value(digits.prefix(half))
        let first = zone.number.isMultiple(of: 2) ? (row + 15) % 20 : row
        var hundreds = first
        while hundreds < bandStarts[band] { hundreds += 20 }
        let northing = Double(hundreds) * 100_000 + value(digits.suffix(half))
        let isSouth = zone.band < UInt8(ascii: "N")
        guard let found = unproject(zone.number, isSouth, easting, northing), found.isIn(zone.band)
        else { return nil }
        return found.location
    }

    private struct Found {
        var location: Coordinate

        /// Whether it is in a band, or within a square's width of it.
        func isIn(_ band: UInt8) -> Bool {
            guard let number = bands.firstIndex(of: band) else { return false }
            let south = -80.0 + 8 * Double(number)
            let north = number == 19 ? 84 : south + 8
            return south - 1...north + 1 ~= location.y
        }
    }

    private static func unproject(
        _ zone: Int, _ isSouth: Bool, _ easting: Double, _ northing: Double
    ) -> Found? {
        let found = TransverseMercator.location(
            zone: zone, isSouth: isSouth, easting: easting, northing: northing)
        guard found.isFinite else { return nil }
        func rounded(_ degrees: Double) -> Double { (degrees * 1e7).rounded() / 1e7 }
        return Found(location: Coordinate(x: rounded(found.x), y: rounded(found.y)))
    }
}
