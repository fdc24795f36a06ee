// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform

/// An opened locator file: answers geocode, suggest and reverse geocode requests.
///
/// Immutable and thread-safe; a call is pure computation over mapped memory and never blocks except
/// for page faults. `Docs/locator-ranking.md` states ranking and scores.
public final class Locator: Sendable {
    /// The SHA-256 of the file.
    public let id: ContentID
    let mapped: MappedFile
    let file: LocatorFile

    /// The score from which a house counts as on the street of the text.
    private static let knownHouseScore = 60.0

    /// Limit of a text, in bytes.
    public static let longestText = 1_000

    /// Maps a file and validates it: form, checksums and every offset; about 10 ms for 25,000
    /// places.
    ///
    /// - Parameters:
    ///   - path: The file, `locators/<sha256>/locator.bin`.
    ///   - id: Its name; trusted, because validation finds damage.
    /// - Throws: `notFound` when there is no such file, `corrupt` or `newerVersion` with its path.
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

    /// Its sources, in the order of the build; empty for a file without.
    public var sources: [LocatorSource] {
        guard let origins = file.origins else { return [] }
        return mapped.withBytes { bytes in
            (0..<origins.sourceCount).map { origins.source($0, bytes) }
        }
    }

    /// Number of places: settlements, divisions and countries.
    public var placeCount: Int { file.placeCount }

    /// Number of streets and houses.
    public var addressCount: (streets: Int, houses: Int) {
        (file.addresses?.streetCount ?? 0, file.addresses?.houseCount ?? 0)
    }

    /// Finds candidate addresses and places for a text, best first.
    ///
    /// A valid magic key of this very file determines the result; any other is ignored in favour of
    /// the text. Throws `Failure` (`invalidParameter`, or `tooLarge` for a text over
    /// ``longestText`` bytes).
    public func geocode(_ request: GeocodeRequest) throws(Failure) -> GeocodeAnswer {
        guard request.maxLocations >= 1 else {
            throw Failure(
                .invalidParameter, "maxLocations \(request.maxLocations): expected 1 to 50")
        }
        if let least = request.minScore, !(0...100 ~= least) {
            throw Failure(.invalidParameter, "minScore \(least): expected 0 to 100")
        }
        let language = try language(request.language)
        return try mapped.withBytes { bytes throws(Failure) in
            let writer = CandidateWriter(
                file: file.shown(in: language, bytes), locator: request.locator)
            if let target = request.magicKey.flatMap({
                MagicKey(parsing: $0).target(in: id, file, bytes)
            }) {
                return GeocodeAnswer(
                    candidates: [writer.candidate(for: target, bytes)],
                    locator: id)
            }
            var filter = try filter(
                countries: request.countryCodes, extent: request.searchExtent,
                location: request.location, within: request.distanceMeters,
                categories: request.categories, bytes)
            if language != nil { filter.labels = file.shown(in: language, bytes) }
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
                candidates: writer.candidates(
                    &found, most: count, isExplained: request.explain == true, bytes),
                locator: id)
        }
    }

    /// Searches a text in parts with each part in its role; if that finds too little, as one line.
    private func found(
        _ singleLine: String, _ fields: AddressFields?, _ filter: PlaceFilter, _ bytes: RawSpan
    ) throws(Failure) -> LocatorFound {
        if let fields {
            let byteCount = AddressPart.allCases.reduce(0) {
                $0 + ($1.text(in: fields)?.utf8.count ?? 0)
            }
            guard byteCount <= Self.longestText else {
                throw Failure(
                    .tooLarge,
                    "the parts of the text have \(byteCount) bytes; at most \(Self.longestText) "
                        + "are "
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
    ) -> LocatorFound {
        var found = LocatorFound()
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
        let isAddress = found.addresses.first.map(\.isSure) ?? false
        if !isAddress || file.points != nil && found.addresses.first?.score ?? 0 < 100 {
            var filter = filter
            filter.acceptsPointsOnly = isAddress
            let isStreetUnknown = !found.addresses.contains {
                $0.confirmsTown || $0.hasHouse && $0.score >= Self.knownHouseScore
            }
            var search = GeocodeSearch(
                file: file, text: text, filter: filter, isStreetUnknown: isStreetUnknown)
            let isHouse = isAddress && found.addresses.first?.hasHouse == true
            found.places = search.run(takesSlips: !isHouse, bytes)
            if found.places.isEmpty, search.scoring.street != 0 {
                search = GeocodeSearch(file: file, text: text, filter: filter)
                found.places = search.run(takesSlips: !isHouse, bytes)
            }
            found.placeSearch = search
            keepBehindHouse(&found, Scoring.isHouse(words), bytes)
        }
        return found
    }

    /// Caps the scores of places that leave a house number unmatched, and with a street type of all
    /// towns, below that of a house matching all other words, or of the street without the house.
    private func keepBehindHouse(
        _ found: inout LocatorFound, _ hasSort: Bool, _ bytes: RawSpan
    ) {
        guard case .street(let reading)? = found.addresses.first,
            found.places.contains(where: { $0.score >= reading.score }),
            let search = found.addressSearch,
            reading.house != nil && search.explainsWords(reading)
                || hasSort && search.isKnownStreet(reading, bytes)
        else { return }
        for index in found.places.indices {
            let place = found.places[index]
            guard place.score < 100 || hasSort && !place.isPoint else { continue }
            found.places[index].score = min(place.score, reading.score - 0.01)
        }
        found.places.sort { $0.precedes($1) }
    }

    /// Suggests completions of a text, best first; none for a text without letters.
    ///
    /// Throws `Failure` as ``geocode(_:)`` does.
    public func suggest(_ request: SuggestRequest) throws(Failure) -> SuggestAnswer {
        guard request.maxSuggestions >= 1 else {
            throw Failure(
                .invalidParameter, "maxSuggestions \(request.maxSuggestions): expected 1 to 15")
        }
        let text = try bounded(request.text)
        let count = min(request.maxSuggestions, 15)
        let language = try language(request.language)
        return try mapped.withBytes { bytes throws(Failure) in
            var filter = try filter(
                countries: request.countryCodes, extent: request.searchExtent,
                location: request.location, within: request.distanceMeters,
                categories: request.categories, bytes)
            let labels = file.shown(in: language, bytes)
            if language != nil { filter.labels = labels }
            let places = suggestPlaces(text, filter, count: count, labels, bytes)
            let addresses = suggestAddresses(text, filter, count: count, labels, bytes)
            // Towns of one name in one region have the same label; only the most important is
            // suggested.
            var texts: Set<String> = []
            let others =
                addresses.areFirst ? addresses.suggestions + places : places + addresses.suggestions
            let crossings = suggestCrossings(text, filter, count: count, labels, bytes)
            let all =
                crossings.areFirst ? crossings.suggestions + others : others + crossings.suggestions
            return SuggestAnswer(
                suggestions: Array(all.filter { texts.insert($0.text).inserted }.prefix(count)))
        }
    }

    private func suggestPlaces(
        _ text: String, _ filter: PlaceFilter, count: Int, _ labels: LocatorFile,
        _ bytes: RawSpan
    ) -> [Suggestion] {
        let search = SuggestSearch(file: file, text: Folder.fold(text), filter: filter)
        return search.run(count: 2 * count, bytes).map { found in
            var name =
                found.role == .alternate || found.role == .cognate
                ? file.text(ofPosting: found.posting, bytes) : nil
            // The language's own writing, Roma for the Róma of another.
            if let text = name, let own = labels.nameInLanguage(found.place, bytes),
                Folder.fold(own).bytes == Folder.fold(text).bytes
            {
                name = nil
            }
            return Suggestion(
                text: PlaceLabel(labels, found.place, name: name, bytes).long,
                magicKey: MagicKey(.place(found.place), in: id).text, isCollection: false)
        }
    }

    /// Suggests intersections; first where a sign separates the streets.
    private func suggestCrossings(
        _ text: String, _ filter: PlaceFilter, count: Int, _ labels: LocatorFile,
        _ bytes: RawSpan
    ) -> (suggestions: [Suggestion], areFirst: Bool) {
        guard let addresses = file.addresses, addresses.segmentCount > 0,
            filter.acceptsIntersections
        else { return ([], false) }
        let search = IntersectionSuggestions(file: file, addresses: addresses, filter: filter)
        let found = search.run(text, count: count, bytes)
        let suggestions = found.map { found in
            Suggestion(
                text: found.intersection.suggestion(labels, addresses, bytes),
                magicKey: MagicKey(
                    .intersection(found.intersection, place: found.place), in: id
                ).text, isCollection: false)
        }
        return (suggestions, found.first?.isJoinedBySign ?? false)
    }

    /// Suggests streets and houses that match every word of a text; first with a number.
    private func suggestAddresses(
        _ text: String, _ filter: PlaceFilter, count: Int, _ labels: LocatorFile,
        _ bytes: RawSpan
    ) -> (suggestions: [Suggestion], areFirst: Bool) {
        guard let addresses = file.addresses, filter.acceptsAddresses else { return ([], false) }
        var search = AddressSearch(
            file: file, addresses: addresses,
            text: Folder.fold(text, partingApostrophes: true), filter: filter, isUnfinished: true,
            bytes)
        let found = search.run(bytes).prefix(count)
        let suggestions = found.map { reading in
            let label = AddressLabel(
                labels, addresses, street: reading.street, house: reading.house, bytes)
            return Suggestion(
                text: label.long, magicKey: MagicKey(MagicKey.Target(reading), in: id).text,
                isCollection: false)
        }
        return (suggestions, search.hasNumber)
    }
}
