// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform

/// An opened locator file: answers geocode, suggest and reverse geocode.
///
/// Immutable and safe to use from any thread; a call is pure computation over mapped memory and never
/// blocks on anything but page faults. `Docs/locator.md` states ranking and scores.
public final class Locator: Sendable {
    /// The SHA-256 of the file.
    public let id: ContentID
    let mapped: MappedFile
    let file: LocatorFile

    /// The longest text that is searched, in bytes.
    public static let longestText = 1_000

    /// Maps a file and checks it whole: form, checksums and every offset; about 10 ms for 25,000
    /// places.
    ///
    /// - Parameters:
    ///   - path: The file, `locators/<sha256>/locator.bin`.
    ///   - id: Its name; taken as given, because the checks above find damage.
    /// - Throws: `notFound` when there is no such file, `corrupt` or `newerVersion` by name.
    public init(path: String, id: ContentID) throws(Failure) {
        do {
            mapped = try MappedFile(path: path)
        } catch {
            throw Failure(error.isNotFound ? .notFound : .unreadable, error.description)
        }
        file = try mapped.withBytes { bytes throws(Failure) in
            try LocatorFile(checking: bytes, path: path)
        }
        self.id = id
    }

    /// How many places it knows: settlements, divisions and countries.
    public var placeCount: Int { file.placeCount }

    /// How many streets and houses it knows.
    public var addressCount: (streets: Int, houses: Int) {
        (file.addresses?.streetCount ?? 0, file.addresses?.houseCount ?? 0)
    }

    /// Finds the addresses and places a text may mean, best first.
    ///
    /// A valid magic key of this very file decides alone; any other is ignored in favour of the text.
    /// Throws `Failure` (`invalidParameter`, or `tooLarge` for a text over ``longestText`` bytes).
    public func geocode(_ request: GeocodeRequest) throws(Failure) -> GeocodeAnswer {
        guard request.maxLocations >= 1 else {
            throw Failure(
                .invalidParameter, "maxLocations \(request.maxLocations): expected 1 to 50")
        }
        if let least = request.minScore, !(0...100 ~= least) {
            throw Failure(.invalidParameter, "minScore \(least): expected 0 to 100")
        }
        return try mapped.withBytes { bytes throws(Failure) in
            if let target = request.magicKey.flatMap({
                MagicKey(parsing: $0).target(in: id, file)
            }) {
                return GeocodeAnswer(
                    candidates: [candidate(for: target, named: request.locator, bytes)],
                    locator: id)
            }
            var filter = try filter(
                countries: request.countryCodes, extent: request.searchExtent,
                location: request.location, within: request.distanceMeters,
                categories: request.categories, bytes)
            filter.takesOutside = request.matchOutOfRange ?? true
            let text = try bounded(request.singleLine)
            if let location = CoordinateText.location(text), filter.accepts(coordinate: location) {
                return GeocodeAnswer(
                    candidates: [CoordinateLabel(location).candidate(locator: request.locator)],
                    locator: id)
            }
            var found = try found(text, request.fields, filter, bytes)
            if found.isEmpty, let latin = LatinWriting.latin(text),
                latin.utf8.count <= Self.longestText
            {
                found = try self.found(latin, nil, filter, bytes)
                found.cap(at: file.ranking.score.transliterated)
            }
            if let least = request.minScore {
                found.addresses.removeAll { $0.score < least }
                found.places.removeAll { $0.score < least }
            }
            let count = min(request.maxLocations, 50)
            return GeocodeAnswer(
                candidates: candidates(
                    &found, most: count, named: request.locator,
                    isExplained: request.explain == true, bytes),
                locator: id)
        }
    }

    /// What a text may mean, addresses and places apart, each best first.
    private struct Found {
        var addresses: [AddressAnswer] = []
        var places: [GeocodeSearch.Reading] = []
        var addressSearch: AddressSearch?
        var placeSearch: GeocodeSearch?

        var isEmpty: Bool { addresses.isEmpty && places.isEmpty }
        var bestScore: Double { max(addresses.first?.score ?? 0, places.first?.score ?? 0) }

        /// Lowers scores that are above.
        mutating func cap(at score: Double) {
            for index in addresses.indices { addresses[index].cap(at: score) }
            for index in places.indices {
                places[index].score = min(score, places[index].score)
                places[index].type = .fuzzy
            }
        }
    }

    /// A text in parts is read so that each part is what it says; where that finds too little, as one line.
    private func found(
        _ singleLine: String, _ fields: AddressFields?, _ filter: PlaceFilter, _ bytes: RawSpan
    ) throws(Failure) -> Found {
        if let fields {
            let byteCount = AddressPart.allCases.reduce(0) {
                $0 + ($1.text(in: fields)?.utf8.count ?? 0)
            }
            guard byteCount <= Self.longestText else {
                throw Failure(
                    .tooLarge,
                    "the parts of the text have \(byteCount) bytes; at most \(Self.longestText) are "
                        + "searched")
            }
            let text = FoldedText(fields)
            if !text.words.isEmpty {
                let words = FoldedText(fields, partingApostrophes: true)
                let inParts = found(text, words, line: singleLine, filter, bytes)
                if inParts.bestScore >= file.ranking.score.fieldsAlone { return inParts }
                var line = try found(singleLine, nil, filter, bytes)
                line.cap(at: file.ranking.score.mixedFields)
                return inParts.bestScore >= line.bestScore ? inParts : line
            }
        }
        return found(
            try folded(singleLine), Folder.fold(singleLine, partingApostrophes: true),
            line: singleLine, filter, bytes)
    }

    private func found(
        _ text: FoldedText, _ words: FoldedText, line: String, _ filter: PlaceFilter,
        _ bytes: RawSpan
    ) -> Found {
        var found = Found()
        if let file = file.addresses, filter.acceptsAddresses || filter.acceptsPostcodes {
            var search = AddressSearch(
                file: self.file, addresses: file, text: words, filter: filter, bytes)
            found.addresses = AddressAnswer.merged(
                filter.acceptsAddresses ? search.run(bytes) : [],
                filter.acceptsPostcodes ? search.postcodes(bytes) : [])
            found.addressSearch = search
        }
        if let file = file.addresses, file.segmentCount > 0, filter.acceptsIntersections,
            found.addresses.first?.score ?? 0 < 100
        {
            let search = IntersectionSearch(file: self.file, addresses: file, filter: filter)
            found.addresses = AddressAnswer.merged(
                search.run(line, bytes), before: found.addresses)
        }
        let isAddress = found.addresses.first.map { $0.confirmsTown && $0.score >= 80 } ?? false
        if !isAddress || file.points != nil && found.addresses.first?.score ?? 0 < 100 {
            var filter = filter
            filter.acceptsPointsOnly = isAddress
            var search = GeocodeSearch(file: file, text: text, filter: filter)
            found.places = search.run(
                beside: isAddress ? found.addresses.first?.score ?? 0 : 0, bytes)
            found.placeSearch = search
        }
        return found
    }

    /// Finds what a text may become when typing goes on, best first; none for a text without letters.
    ///
    /// Throws `Failure` as ``geocode(_:)`` does.
    public func suggest(_ request: SuggestRequest) throws(Failure) -> SuggestAnswer {
        guard request.maxSuggestions >= 1 else {
            throw Failure(
                .invalidParameter, "maxSuggestions \(request.maxSuggestions): expected 1 to 15")
        }
        let text = try bounded(request.text)
        let count = min(request.maxSuggestions, 15)
        return try mapped.withBytes { bytes throws(Failure) in
            let filter = try filter(
                countries: request.countryCodes, extent: request.searchExtent,
                location: request.location, within: request.distanceMeters,
                categories: request.categories, bytes)
            let places = suggestPlaces(text, filter, count: count, bytes)
            let addresses = suggestAddresses(text, filter, count: count, bytes)
            // Towns of one name in one region read alike; only the most important is offered.
            var texts: Set<String> = []
            let all =
                addresses.areFirst ? addresses.suggestions + places : places + addresses.suggestions
            return SuggestAnswer(
                suggestions: Array(all.filter { texts.insert($0.text).inserted }.prefix(count)))
        }
    }

    private func suggestPlaces(
        _ text: String, _ filter: PlaceFilter, count: Int, _ bytes: RawSpan
    ) -> [Suggestion] {
        let search = SuggestSearch(file: file, text: Folder.fold(text), filter: filter)
        return search.run(count: 2 * count, bytes).map { found in
            let name =
                found.role == .alternate || found.role == .cognate
                ? file.text(ofPosting: found.posting, bytes) : nil
            return Suggestion(
                text: PlaceLabel(file, found.place, name: name, bytes).long,
                magicKey: MagicKey(.place(found.place), in: id).text, isCollection: false)
        }
    }

    /// Streets and houses that every word of a text belongs to; first where one is a number.
    private func suggestAddresses(
        _ text: String, _ filter: PlaceFilter, count: Int, _ bytes: RawSpan
    ) -> (suggestions: [Suggestion], areFirst: Bool) {
        guard let addresses = file.addresses, filter.acceptsAddresses else { return ([], false) }
        var search = AddressSearch(
            file: file, addresses: addresses,
            text: Folder.fold(text, partingApostrophes: true), filter: filter, isUnfinished: true,
            bytes)
        let found = search.run(bytes).prefix(count)
        let suggestions = found.map { reading in
            let label = AddressLabel(
                file, addresses, street: reading.street, house: reading.house, bytes)
            return Suggestion(
                text: label.long, magicKey: MagicKey(MagicKey.Target(reading), in: id).text,
                isCollection: false)
        }
        return (suggestions, search.hasNumber)
    }

    // MARK: Reading requests

    /// Esri's categories that houses and streets are.
    private static let addressCategories: Set<String> = [
        "address", "point address", "street address", "street name",
    ]

    private func bounded(_ text: String) throws(Failure) -> String {
        guard text.utf8.count <= Self.longestText else {
            throw Failure(
                .tooLarge,
                "the text has \(text.utf8.count) bytes; at most \(Self.longestText) are searched")
        }
        return text
    }

    private func folded(_ text: String) throws(Failure) -> FoldedText {
        let folded = Folder.fold(text)
        guard !folded.words.isEmpty else {
            throw Failure(.invalidParameter, "the text to find holds no letter or digit")
        }
        return folded
    }

    private func filter(
        countries: [String], extent: Envelope?, location: Coordinate?, within meters: Double?,
        categories: [String]?, _ bytes: RawSpan
    ) throws(Failure) -> PlaceFilter {
        if let extent, !extent.isFinite {
            throw Failure(.invalidParameter, "the search extent is not made of finite numbers")
        }
        if let meters, !(0...Double.greatestFiniteMagnitude ~= meters) {
            throw Failure(.invalidParameter, "the distance \(meters): expected metres, 0 or more")
        }
        if let location, !location.isFinite {
            throw Failure(.invalidParameter, "the location is not made of finite numbers")
        }
        guard countries.count <= 300 else {
            throw Failure(.invalidParameter, "\(countries.count) countries: expected at most 300")
        }
        var places: Set<Int>?
        for country in countries {
            let text = Folder.fold(try bounded(country))
            let key = file.key(text.bytes[...], bytes)
            let named = (key.map { file.postings($0, bytes) } ?? 0..<0).map {
                file.posting($0, bytes).place
            }.filter { file.kind($0, bytes) == .country }
            guard !named.isEmpty else {
                throw Failure(
                    .invalidParameter,
                    "'\(country.prefix(40))' is no country this locator knows; expected ISO 3166 "
                        + "codes such as 'FR' or 'FRA', or a country's name")
            }
            places = (places ?? []).union(named)
        }
        return PlaceFilter(
            countries: places, extent: extent, location: location, nearMeters: meters ?? 0,
            categories: categories.map(PlaceCategory.named),
            categoryNames: Set((categories ?? []).map { $0.lowercased() }),
            acceptsAddresses: categories.map {
                $0.contains { Self.addressCategories.contains($0.lowercased()) }
            } ?? true,
            acceptsPostcodes: categories.map {
                $0.contains { ["postal", "primary postal"].contains($0.lowercased()) }
            } ?? true,
            acceptsIntersections: categories.map {
                $0.contains { ["address", "intersection"].contains($0.lowercased()) }
            } ?? true,
            acceptsCoordinates: categories.map {
                $0.contains { ["coordinate system", "latlong"].contains($0.lowercased()) }
            } ?? true)
    }

    // MARK: Answers

    /// Whether a place comes before the best address: of equal scores it does, but no point of interest.
    private static func precedes(
        _ place: GeocodeSearch.Reading, _ address: AddressAnswer?
    ) -> Bool {
        guard let address else { return true }
        return place.isPoint ? place.score > address.score : place.score >= address.score
    }

    /// Addresses and places together, best first; of equal scores the place, then the address, then
    /// points of interest.
    private func candidates(
        _ found: inout Found, most: Int, named locator: String, isExplained: Bool,
        _ bytes: RawSpan
    ) -> [Candidate] {
        let bestScore = found.bestScore
        let least =
            bestScore == 100
            ? 100 : max(file.ranking.score.least, bestScore - file.ranking.score.gap)
        var (addresses, places) = (found.addresses[...], found.places[...])
        var result: [Candidate] = []
        while result.count < most {
            if let place = places.first, Self.precedes(place, addresses.first) {
                places.removeFirst()
                guard place.score >= least || place.isBetterKnown else { continue }
                var one = candidate(for: place, named: locator, bytes)
                if isExplained {
                    one.explanation = found.placeSearch?.explanation(of: place, bytes)
                }
                result.append(one)
            } else if let address = addresses.popFirst(), let file = file.addresses {
                guard address.score >= least else { continue }
                var one = address.candidate(self.file, file, locator: locator, bytes)
                if isExplained, let search = found.addressSearch {
                    one.explanation = address.explanation(by: search, bytes)
                }
                result.append(one)
            } else {
                break
            }
        }
        return result
    }

    private func candidate(
        for target: MagicKey.Target, named locator: String, _ bytes: RawSpan
    ) -> Candidate {
        switch (target, file.addresses) {
        case (.street(let street), let addresses?):
            return AddressLabel(file, addresses, street: street, house: nil, bytes).candidate(
                file, addresses, score: 100, type: .exact, locator: locator, bytes)
        case (.house(let house), let addresses?):
            return AddressLabel(
                file, addresses, street: addresses.street(ofHouse: house, bytes),
                house: .point(house), bytes
            ).candidate(file, addresses, score: 100, type: .exact, locator: locator, bytes)
        case (.range(let match), let addresses?):
            return AddressLabel(
                file, addresses, street: addresses.street(ofSegment: match.segment, bytes),
                house: .range(match), bytes
            ).candidate(file, addresses, score: 100, type: .exact, locator: locator, bytes)
        case (.range, nil): return candidate(for: .place(0), named: locator, bytes)
        case (.place(let number), _), (.street(let number), nil), (.house(let number), nil):
            return candidate(
                for: GeocodeSearch.Reading(place: number, score: 100, type: .exact, weight: 0),
                named: locator, bytes)
        }
    }

    func candidate(
        for reading: GeocodeSearch.Reading, named locator: String, distanceMeters: Double? = nil,
        _ bytes: RawSpan
    ) -> Candidate {
        let label = PlaceLabel(file, reading.place, name: nil, bytes)
        let extent = file.extent(reading.place, bytes)
        return Candidate(
            address: label.long, location: file.location(reading.place, bytes),
            score: reading.score, matchType: reading.type, extent: extent,
            attributes: label.attributes(
                file, score: reading.score, extent: extent, locator: locator, bytes),
            distanceMeters: distanceMeters)
    }
}
