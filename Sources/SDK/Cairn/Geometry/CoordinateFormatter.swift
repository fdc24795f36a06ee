// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Positions as people write them: degrees, UTM, MGRS, USNG.
///
/// Everything is on WGS 84. A position in another reference than WGS 84 or Web Mercator has an
/// empty text, a text that is none has no position. Outside 80° south to 84° north there are no
/// UTM, MGRS and USNG here: their polar forms are not written and not read.
public enum CoordinateFormatter {
    /// Forms of degrees; latitude comes first, with N or S and E or W behind the numbers.
    public enum LatitudeLongitudeFormat: Sendable, Hashable, CaseIterable {
        /// `47.3700N 008.5400E`
        case decimalDegrees
        /// `47 22.2000N 008 32.4000E`
        case degreesDecimalMinutes
        /// `47 22 12.0N 008 32 24.0E`
        case degreesMinutesSeconds
    }

    /// What the letter behind a zone of UTM is.
    public enum UTMConversionMode: Sendable, Hashable, CaseIterable {
        /// The band of latitude, `C` to `X`.
        case latitudeBandIndicators
        /// `N` or `S`, the half of the earth.
        case northSouthIndicators
    }

    /// Which letters squares of MGRS have, and in which zone the meridian of 180° is.
    public enum MGRSConversionMode: Sendable, Hashable, CaseIterable {
        /// As `new180InZone01`.
        case automatic
        /// Letters of WGS 84; 180° is in zone 1.
        case new180InZone01
        /// Letters of WGS 84; 180° is in zone 60.
        case new180InZone60
        /// Letters of older ellipsoids, as Clarke's; 180° is in zone 1.
        case old180InZone01
        /// Letters of older ellipsoids, as Clarke's; 180° is in zone 60.
        case old180InZone60

        fileprivate var isOld: Bool { self == .old180InZone01 || self == .old180InZone60 }
        fileprivate var isLastZone: Bool { self == .new180InZone60 || self == .old180InZone60 }
    }

    // MARK: Degrees

    /// A position in degrees, rounded to `decimalPlaces` (0 to 16) of the last number.
    public static func latitudeLongitudeString(
        from point: Point, format: LatitudeLongitudeFormat, decimalPlaces: Int
    ) -> String {
        guard let (latitude, longitude) = degrees(point) else { return "" }
        let places = min(max(decimalPlaces, 0), 16)
        return text(latitude, format, places, width: 2) + (latitude < 0 ? "S " : "N ")
            + text(longitude, format, places, width: 3) + (longitude < 0 ? "W" : "E")
    }

    private static func degrees(_ point: Point) -> (latitude: Double, longitude: Double)? {
        guard let own = try? GeometryEngine.projected(point, into: .wgs84), own.x.isFinite,
            abs(own.x) < 1e6, abs(own.y) <= 90
        else { return nil }
        let turned = own.x - 360 * ((own.x + 180) / 360).rounded(.down)
        return (own.y, abs(own.x) <= 180 ? own.x : turned)
    }

    private static func text(
        _ value: Double, _ format: LatitudeLongitudeFormat, _ places: Int, width: Int
    ) -> String {
        func fixed(_ number: Double, _ width: Int) -> String {
            let digits = String(format: "%.\(places)f", number)
            let whole = digits.prefix { $0 != "." }.count
            return String(repeating: "0", count: max(0, width - whole)) + digits
        }
        let value = abs(value)
        // Rounds before it is parted, so that no number becomes 60.
        let parts = format == .decimalDegrees ? 1.0 : format == .degreesDecimalMinutes ? 60 : 3_600
        let scale = pow(10, Double(min(places, 9)))
        let rounded = (value * parts * scale).rounded() / scale
        switch format {
        case .decimalDegrees: return fixed(value, width)
        case .degreesDecimalMinutes:
            let whole = (rounded / 60).rounded(.down)
            return padded(Int(whole), width) + " " + fixed(max(0, rounded - whole * 60), 2)
        case .degreesMinutesSeconds:
            let whole = (rounded / 3_600).rounded(.down)
            let minutes = ((rounded - whole * 3_600) / 60).rounded(.down)
            return padded(Int(whole), width) + " " + padded(Int(minutes), 2) + " "
                + fixed(max(0, rounded - whole * 3_600 - minutes * 60), 2)
        }
    }

    /// The position of degrees: decimal ones, with minutes, or with seconds, parted by spaces or
    /// signs, N, S, E and W before or behind, or signs and latitude first.
    ///
    /// It is in `spatialReference`, nil for WGS 84.
    public static func point(
        fromLatitudeLongitudeString text: String, spatialReference: SpatialReference?
    ) -> Point? {
        guard let (latitude, longitude) = parsed(text), abs(latitude) <= 90, abs(longitude) <= 180
        else { return nil }
        return point(latitude, longitude, spatialReference)
    }

    private static func point(
        _ latitude: Double, _ longitude: Double, _ reference: SpatialReference?
    ) -> Point? {
        let point = Point(latitude: latitude, longitude: longitude)
        guard let reference else { return point }
        return try? GeometryEngine.projected(point, into: reference)
    }

    private static func parsed(_ text: String) -> (latitude: Double, longitude: Double)? {
        guard text.utf8.count <= 200 else { return nil }
        var tokens: [(number: Double?, letter: Character)] = []
        var digits = ""
        func end() -> Bool {
            defer { digits = "" }
            guard !digits.isEmpty else { return true }
            guard let number = Double(digits), number.isFinite else { return false }
            tokens.append((number, " "))
            return true
        }
        for character in text.uppercased() {
            switch character {
            case "0"..."9" where character.isASCII, ".": digits.append(character)
            case "+", "-", "−":
                guard end() else { return nil }
                digits = character == "+" ? "+" : "-"
            case "N", "S", "E", "W":
                guard end() else { return nil }
                tokens.append((nil, character))
            case " ", "°", "'", "\"", "′", "″", ",", ";", ":", "º", "´", "’", "”", "\t":
                guard end() else { return nil }
            default: return nil
            }
        }
        guard end() else { return nil }
        let letters = tokens.filter { $0.number == nil }.map(\.letter)
        let numbers = tokens.compactMap(\.number)
        if letters.isEmpty {
            guard [2, 4, 6].contains(numbers.count),
                let latitude = value(numbers.prefix(numbers.count / 2)),
                let longitude = value(numbers.suffix(numbers.count / 2))
            else { return nil }
            return (latitude, longitude)
        }
        guard letters.count == 2 else { return nil }
        // Letters stand all before or all behind their numbers.
        let isBefore = tokens[0].number == nil
        let groups = tokens.split(omittingEmptySubsequences: false) { $0.number == nil }
            .map { $0.compactMap(\.number) }
        let parts = isBefore ? Array(groups.dropFirst()) : Array(groups.dropLast())
        guard parts.count == 2, isBefore ? groups[0].isEmpty : groups[2].isEmpty,
            let first = value(parts[0][...]), let second = value(parts[1][...]),
            first >= 0, second >= 0
        else { return nil }
        func signed(_ value: Double, _ letter: Character) -> Double {
            letter == "S" || letter == "W" ? -value : value
        }
        let values = [signed(first, letters[0]), signed(second, letters[1])]
        switch ("NS".contains(letters[0]), "NS".contains(letters[1])) {
        case (true, false): return (values[0], values[1])
        case (false, true): return (values[1], values[0])
        default: return nil
        }
    }

    /// Degrees, minutes and seconds as degrees; nil for minutes and seconds from 60 on.
    private static func value(_ parts: ArraySlice<Double>) -> Double? {
        guard 1...3 ~= parts.count, let first = parts.first,
            parts.dropFirst().allSatisfy({ 0..<60 ~= $0 })
        else { return nil }
        let rest = zip(parts.dropFirst(), [60.0, 3_600]).reduce(0) { $0 + $1.0 / $1.1 }
        return first < 0 || first.sign == .minus ? first - rest : first + rest
    }

    // MARK: UTM

    /// A position in UTM, in whole metres: `32T 465256 5246402`; without spaces, with zeros before:
    /// `32T4652565246402`.
    public static func utmString(
        from point: Point, conversionMode: UTMConversionMode, addSpaces: Bool
    ) -> String {
        guard let (latitude, longitude) = degrees(point), let band = band(latitude) else {
            return ""
        }
        let zone = zone(latitude, longitude, isLastZone: false)
        let place = TransverseMercator.forward(latitude, longitude, zone: zone)
        let letter =
            conversionMode == .latitudeBandIndicators ? band : latitude < 0 ? "S" : "N"
        let (easting, northing) = (Int(place.x.rounded()), Int(place.y.rounded()))
        return addSpaces
            ? "\(zone)\(letter) \(easting) \(northing)"
            : padded(zone, 2) + String(letter) + padded(easting, 6) + padded(northing, 7)
    }

    /// The position of a text of UTM, in `spatialReference`, nil for WGS 84.
    public static func point(
        fromUTMString text: String, spatialReference: SpatialReference?,
        conversionMode: UTMConversionMode
    ) -> Point? {
        guard let (zone, letter, rest) = head(text) else { return nil }
        let isSouth: Bool
        if conversionMode == .northSouthIndicators {
            guard letter == "N" || letter == "S" else { return nil }
            isSouth = letter == "S"
        } else {
            guard bands.contains(letter) else { return nil }
            isSouth = letter < "N"
        }
        let parts = rest.split { $0 == " " || $0 == "," }.map(String.init)
        let numbers: [String]
        if parts.count == 2 {
            numbers = parts
        } else if parts.count == 1, parts[0].count == 13 {
            numbers = [String(parts[0].prefix(6)), String(parts[0].suffix(7))]
        } else {
            return nil
        }
        guard let easting = Double(numbers[0]), let northing = Double(numbers[1]),
            100_000..<1_000_000 ~= easting, 0...10_000_000 ~= northing
        else { return nil }
        let found = TransverseMercator.inverse(easting, northing, zone: zone, isSouth: isSouth)
        return point(found.latitude, found.longitude, spatialReference)
    }

    private static let bands = Array("CDEFGHJKLMNPQRSTUVWX")

    private static func band(_ latitude: Double) -> Character? {
        guard -80...84 ~= latitude else { return nil }
        return bands[min(19, Int((latitude + 80) / 8))]
    }

    /// The zone, with those of Norway and Svalbard.
    private static func zone(_ latitude: Double, _ longitude: Double, isLastZone: Bool) -> Int {
        if abs(longitude) == 180 { return isLastZone ? 60 : 1 }
        let zone = Int((longitude + 180) / 6) % 60 + 1
        if 56..<64 ~= latitude, 3..<12 ~= longitude { return 32 }
        guard latitude >= 72, 0..<42 ~= longitude else { return zone }
        return longitude < 9 ? 31 : longitude < 21 ? 33 : longitude < 33 ? 35 : 37
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// The zone, the letter behind it, and what follows.
    private static func head(_ text: String) -> (zone: Int, letter: Character, rest: Substring)? {
        let trimmed = text.uppercased().trimmingCharacters(in: .whitespaces)
        let digits = trimmed.prefix { $0.isASCII && $0.isNumber }
        let rest = trimmed.dropFirst(digits.count).drop { $0 == " " }
        guard 1...2 ~= digits.count, trimmed.utf8.count <= 100, let zone = Int(digits),
            1...60 ~= zone, let letter = rest.first
        else { return nil }
        return (zone, letter, rest.dropFirst())
    }

    // MARK: MGRS

    /// A position in MGRS: `32T MT 65256 46402`; `precision` (0 to 8) is the number of digits of
    /// each number, 5 for metres; what is beyond is cut off.
    public static func mgrsString(
        from point: Point, conversionMode: MGRSConversionMode = .automatic, precision: Int,
        addSpaces: Bool
    ) -> String {
        guard let (latitude, longitude) = degrees(point), let band = band(latitude) else {
            return ""
        }
        let zone = zone(latitude, longitude, isLastZone: conversionMode.isLastZone)
        let place = TransverseMercator.forward(latitude, longitude, zone: zone)
        // A tenth of a millimetre, so that a text's own position gives the text.
        let (easting, northing) = (place.x + 1e-4, place.y + 1e-4)
        let (column, row) = (Int(easting / 100_000), Int(northing / 100_000))
        let columns = columns(zone)
        guard 1...8 ~= column else { return "" }
        let square =
            String(columns[column - 1])
            + String(rows[(row + rowShift(zone, conversionMode.isOld)) % 20])
        let digits = min(max(precision, 0), 8)
        func number(_ value: Double) -> String {
            let rest = value.truncatingRemainder(dividingBy: 100_000)
            let unit = pow(10, Double(5 - digits))
            return digits == 0 ? "" : padded(Int(rest / unit), digits)
        }
        let parts = [
            padded(zone, 2) + String(band), square, number(easting), number(northing),
        ].filter { !$0.isEmpty }
        return parts.joined(separator: addSpaces ? " " : "")
    }

    /// A position in the grid of the United States, which is MGRS.
    public static func usngString(from point: Point, precision: Int, addSpaces: Bool) -> String {
        mgrsString(
            from: point, conversionMode: .new180InZone01, precision: precision,
            addSpaces: addSpaces)
    }

    /// The position of a text of MGRS: the south-western corner of what it names, in
    /// `spatialReference`, nil for WGS 84.
    public static func point(
        fromMGRSString text: String, spatialReference: SpatialReference?,
        conversionMode: MGRSConversionMode = .automatic
    ) -> Point? {
        guard let (zone, letter, rest) = head(text), let bandIndex = bands.firstIndex(of: letter)
        else { return nil }
        let signs = Array(rest.filter { $0 != " " })
        guard signs.count >= 2, signs.count % 2 == 0, signs.count <= 18,
            let column = columns(zone).firstIndex(of: signs[0]),
            let row = rows.firstIndex(of: signs[1])
        else { return nil }
        let digits = (signs.count - 2) / 2
        let unit = pow(10, Double(5 - digits))
        let numbers = [signs[2..<(2 + digits)], signs[(2 + digits)...]].map { part in
            part.allSatisfy { $0.isASCII && $0.isNumber }
                ? (digits == 0 ? 0 : Double(String(part)).map { $0 * unit }) : nil
        }
        guard let east = numbers[0], let north = numbers[1] else { return nil }
        let easting = Double(column + 1) * 100_000 + east
        // The rows come again every 2,000 km: the one that the band has.
        let shift = rowShift(zone, conversionMode.isOld)
        let least = Double(bandIndex) * 8 - 80
        let middle = Double(zone) * 6 - 183
        let bottom = TransverseMercator.forward(least, middle, zone: zone).y
        var northing = Double((row - shift + 20) % 20) * 100_000 + north
        // A row may begin below the band's border in the middle of the zone, as the border curves.
        while northing < bottom - 100_000 { northing += 2_000_000 }
        let found = TransverseMercator.inverse(
            easting, northing, zone: zone, isSouth: letter < "N")
        let most = letter == "X" ? 84.0 : least + 8
        guard least - 1...most + 1 ~= found.latitude else { return nil }
        return point(found.latitude, found.longitude, spatialReference)
    }

    /// The position of a text of the grid of the United States, in `spatialReference`, nil for
    /// WGS 84.
    public static func point(
        fromUSNGString text: String, spatialReference: SpatialReference?
    ) -> Point? {
        point(
            fromMGRSString: text, spatialReference: spatialReference,
            conversionMode: .new180InZone01)
    }

    private static let rows = Array("ABCDEFGHJKLMNPQRSTUV")

    private static func columns(_ zone: Int) -> [Character] {
        Array(["STUVWXYZ", "ABCDEFGH", "JKLMNPQR"][zone % 3])
    }

    private static func rowShift(_ zone: Int, _ isOld: Bool) -> Int {
        (zone % 2 == 0 ? 5 : 0) + (isOld ? 10 : 0)
    }
}
