// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Glibc
internal import Platform

/// Converts matched words of a text to a score; the weight of a word is its number of letters.
struct Scoring {
    private let weights: [Double]
    private let lettersOfWords: [Int]
    /// Total weight of all words, including excess ones.
    let total: Double
    /// Filler words.
    private(set) var fillers: UInt64 = 0
    /// The words of a street that is in no file.
    private(set) var street: UInt64 = 0

    /// Filler words, which do not distinguish places, folded: articles and prepositions, and
    /// generic words such as `city`.
    private static let fillerWords: Set<[UInt8]> = Set(
        """
        the of in at near and city town state province county region country republic municipality
        de du des la le les ville commune departement canton
        der die das am an im bei stadt gemeinde kreis kreisfreie landkreis hansestadt
        landeshauptstadt
        del el los las en ciudad municipio provincia departamento estado
        di della nel citta comune regione
        do da dos das em cidade concelho distrito
        van het den stad gemeente provincie
        miasto gmina powiat wojewodztwo mesto obec okres kraj kommun kommune
        город область район край місто район δημος arrondissement bezirk
        в во на у w we v ve u στην στο
        """.split { $0 == " " || $0 == "\n" }.map { Array($0.utf8) })

    /// Whether a word is a filler.
    static func isFiller(_ word: ArraySlice<UInt8>) -> Bool { fillerWords.contains(Array(word)) }

    /// - Parameters:
    ///   - knowsPostcodes: Whether a postcode among the parts has its full weight instead of a
    ///     filler's.
    ///   - mayBeAddress: Whether numbers and street types of an address have a filler's weight.
    ///   - isStreetUnknown: Whether words next to a street type, between commas, have it as well,
    ///     as the name of a street that is in no file.
    init(
        _ text: FoldedText, _ ranking: Ranking, knowsPostcodes: Bool = true,
        mayBeAddress: Bool = true, isStreetUnknown: Bool = false
    ) {
        lettersOfWords = Array(text.letters.prefix(GeocodeSearch.mostWords))
        let isAddress = mayBeAddress && Self.isAddress(text)
        let street = isAddress && isStreetUnknown ? Self.streetSegment(text) : nil
        var fillers: UInt64 = 0
        var ofStreet: UInt64 = 0
        weights = lettersOfWords.enumerated().map { number, letters in
            let word = Array(text.bytes[text.words[number]])
            let isPostcode = number < text.fields.count && text.fields[number] == .postal
            let isSort = Self.fillerWords.contains(word)
            let isFiller =
                isPostcode && !knowsPostcodes || isSort
                || isAddress && (Self.isOfStreet(word[...]) || text.segments[number] == street)
            if isSort { fillers |= 1 << UInt64(number) }
            if text.segments[number] == street { ofStreet |= 1 << UInt64(number) }
            return Double(letters) * (isFiller ? ranking.places.fillerWeight : 1)
        }
        // Excess words count as unmatched.
        let unread = text.letters.dropFirst(GeocodeSearch.mostWords).reduce(0, +)
        total = weights.reduce(0, +) + Double(unread)
        self.fillers = fillers
        self.street = ofStreet
    }

    /// The first segment with a street type, where there are others.
    private static func streetSegment(_ text: FoldedText) -> Int? {
        guard text.fields.isEmpty, let first = text.segments.first, text.segments.last != first
        else { return nil }
        return text.words.indices.first { number in
            AddressWords.searched.common[Array(text.bytes[text.words[number]])] == .type
                && text.segments.count { $0 == text.segments[number] } > 1
        }.map { text.segments[$0] }
    }

    /// Whether a text has a street type, and a number or at least two more words.
    private static func isAddress(_ text: FoldedText) -> Bool {
        var hasNumber = false
        var hasType = false
        for word in text.words.prefix(GeocodeSearch.mostWords) {
            let bytes = Array(text.bytes[word])
            hasNumber = hasNumber || isNumber(bytes[...])
            hasType = hasType || AddressWords.searched.common[bytes] == .type
        }
        return hasType && (hasNumber || text.words.count > 2)
    }

    /// Whether a text has a street type and a number.
    static func isHouse(_ text: FoldedText) -> Bool {
        let words = text.words.prefix(GeocodeSearch.mostWords).map { text.bytes[$0] }
        return words.contains(where: isNumber)
            && words.contains { AddressWords.searched.common[Array($0)] == .type }
    }

    /// Whether a word of an address is irrelevant to the place.
    private static func isOfStreet(_ word: ArraySlice<UInt8>) -> Bool {
        isNumber(word) || AddressWords.searched.common[Array(word)] ?? .plain != .plain
    }

    private static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
        word.first.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ?? false
    }

    /// One bit per word.
    var all: UInt64 { mask(0..<weights.count) }

    /// The bits of a run of words.
    func mask(_ span: Range<Int>) -> UInt64 {
        (1 << UInt64(span.upperBound)) - (1 << UInt64(span.lowerBound))
    }

    func weight(_ span: Range<Int>) -> Double { weights[span].reduce(0, +) }

    func letters(_ span: Range<Int>) -> Int { lettersOfWords[span].reduce(0, +) }

    /// The runs of neighbouring words among the bits.
    func runs(of mask: UInt64) -> [Range<Int>] {
        var result: [Range<Int>] = []
        var start: Int?
        for word in 0...weights.count {
            let isSet = word < weights.count && mask & (1 << UInt64(word)) != 0
            if isSet, start == nil { start = word }
            if !isSet, let first = start {
                result.append(first..<word)
                start = nil
            }
        }
        return result
    }

    /// The score, 0…100, rounded to hundredths.
    func score(lost: Double) -> Double {
        guard total > 0 else { return 0 }
        return (10_000 * max(0, 1 - lost / total)).rounded() / 100
    }
}

/// The filter of places, and their tie-break between equal scores.
struct PlaceFilter {
    /// Countries as places; nil for all.
    var countries: Set<Int>?
    /// The extent in longitude and latitude; nil for everywhere.
    var extent: Envelope?
    /// The preferred location in longitude and latitude; nil for none.
    var location: Coordinate?
    /// Radius around `location` with the full bonus, in metres.
    var nearMeters = 0.0
    /// Categories of places; nil for all.
    var categories: Set<PlaceCategory>?
    /// Names of categories, in small letters; points of interest of these pass as well.
    var categoryNames: Set<String> = []
    /// Whether only points of interest pass.
    var acceptsPointsOnly = false
    /// Whether houses and streets pass.
    var acceptsAddresses = true
    /// Whether postcodes pass.
    var acceptsPostcodes = true
    /// Whether intersections pass.
    var acceptsIntersections = true
    /// Whether a number outside all ranges of a street is extrapolated.
    var takesOutside = true
    /// Whether coordinates typed as text pass.
    var acceptsCoordinates = true
    /// The file with labels in the requested language, whose names count as usual ones; nil without
    /// one.
    var labels: LocatorFile?

    /// The penalty of a name on its place's importance: zero for the one in the requested language.
    func penalty(
        _ roles: Ranking.Roles, _ posting: LocatorFile.Posting, _ number: Int, _ file: LocatorFile,
        _ bytes: RawSpan
    ) -> Double {
        let penalty = roles.penalty(posting.role, isTransliterated: posting.isTransliterated)
        guard penalty > 0, !posting.isTransliterated,
            let name = labels?.nameInLanguage(posting.place, bytes)
        else { return penalty }
        return Folder.fold(name).bytes == Folder.fold(file.text(ofPosting: number, bytes)).bytes
            ? 0 : penalty
    }

    /// Whether a coordinate typed as text passes; it is in no country.
    func accepts(coordinate: Coordinate) -> Bool {
        acceptsCoordinates
            && extent.map { Sphere.envelope($0, contains: coordinate) } ?? true
    }

    func accepts(_ place: Int, _ file: LocatorFile, _ bytes: RawSpan) -> Bool {
        if acceptsPointsOnly, file.kind(place, bytes) != .pointOfInterest { return false }
        if let categories, !categories.contains(file.category(place, bytes)) {
            guard let own = file.pointCategory(place, bytes),
                categoryNames.contains(own.lowercased())
            else { return false }
        }
        if let countries {
            guard let country = file.country(place, bytes), countries.contains(country) else {
                return false
            }
        }
        if let extent {
            return Sphere.envelope(extent, contains: file.location(place, bytes))
        }
        return true
    }

    /// The tie-break weight: importance as a share of one, less for other names than the usual one,
    /// plus a bonus near the given location: 0.6 within `nearMeters`, falling with the logarithm of
    /// the distance to zero 10,000 km further on.
    func weight(
        of place: Int, less penalty: Double, _ file: LocatorFile, _ bytes: RawSpan
    ) -> Double {
        Double(file.importance(place, bytes)) / 65_535 - penalty
            + nearness(of: file.location(place, bytes), file.ranking)
    }

    /// The proximity bonus of a place; 0 without a location.
    func nearness(of place: Coordinate, _ ranking: Ranking) -> Double {
        guard let location else { return 0 }
        let further = max(0, Sphere.meters(from: location, to: place) - nearMeters)
        return ranking.nearness.most
            * (1 - min(1, log10(1 + further / 1_000) / ranking.nearness.decades))
    }
}
