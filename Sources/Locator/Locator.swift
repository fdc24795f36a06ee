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
    private let mapped: MappedFile
    private let file: LocatorFile

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

    /// Finds the places a text may mean, best first.
    ///
    /// A valid magic key of this very file decides alone; any other is ignored in favour of the text.
    /// Throws `Failure` (`invalidParameter`, or `tooLarge` for a text over ``longestText`` bytes).
    public func geocode(_ request: GeocodeRequest) throws(Failure) -> GeocodeAnswer {
        guard request.maxLocations >= 1 else {
            throw Failure(
                .invalidParameter, "maxLocations \(request.maxLocations): expected 1 to 50")
        }
        return try mapped.withBytes { bytes throws(Failure) in
            if let key = request.magicKey,
                let place = MagicKey(parsing: key).place(in: id, count: file.placeCount)
            {
                let reading = GeocodeSearch.Reading(
                    place: place, score: 100, type: .exact, weight: 0)
                return GeocodeAnswer(
                    candidates: [candidate(for: reading, named: request.locator, bytes)],
                    locator: id)
            }
            let text = try folded(request.singleLine)
            var search = GeocodeSearch(
                file: file, text: text,
                filter: try filter(
                    countries: request.countryCodes, extent: request.searchExtent,
                    location: request.location, within: request.distanceMeters,
                    categories: request.categories, bytes))
            let readings = search.run(bytes).prefix(min(request.maxLocations, 50))
            return GeocodeAnswer(
                candidates: readings.map { candidate(for: $0, named: request.locator, bytes) },
                locator: id)
        }
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
        return try mapped.withBytes { bytes throws(Failure) in
            let search = SuggestSearch(
                file: file, text: Folder.fold(text),
                filter: try filter(
                    countries: request.countryCodes, extent: request.searchExtent,
                    location: request.location, within: request.distanceMeters,
                    categories: request.categories, bytes))
            let count = min(request.maxSuggestions, 15)
            // Towns of one name in one region read alike; only the most important is offered.
            var texts: Set<String> = []
            var suggestions: [Suggestion] = []
            for found in search.run(count: 2 * count, bytes) where suggestions.count < count {
                let name =
                    found.role == .alternate || found.role == .cognate
                    ? file.text(ofPosting: found.posting, bytes) : nil
                let label = PlaceLabel(file, found.place, name: name, bytes).long
                guard texts.insert(label).inserted else { continue }
                suggestions.append(
                    Suggestion(
                        text: label, magicKey: MagicKey(place: found.place, in: id).text,
                        isCollection: false))
            }
            return SuggestAnswer(suggestions: suggestions)
        }
    }

    /// Finds the settlement nearest to a location, within a distance on the great circle.
    ///
    /// None where the request names types of features without `Locality`: others are not known.
    /// Throws `Failure` (`invalidParameter`) for a location that is not on the Earth.
    public func reverse(_ request: ReverseGeocodeRequest) throws(Failure) -> ReverseGeocodeAnswer {
        let location = request.location
        guard location.isFinite, abs(location.y) <= 90, abs(location.x) <= 1_000_000 else {
            throw Failure(
                .invalidParameter,
                "the location (\(location.x), \(location.y)) is not a longitude and latitude")
        }
        guard request.maxDistanceMeters >= 0 else {
            throw Failure(
                .invalidParameter,
                "the distance \(request.maxDistanceMeters): expected metres, 0 or more")
        }
        if let types = request.featureTypes,
            !types.contains(where: { $0.lowercased() == "locality" })
        {
            return ReverseGeocodeAnswer(candidate: nil)
        }
        return mapped.withBytes { bytes in
            let search = NearestSearch(file: file, location: location)
            guard let (place, meters) = search.run(within: request.maxDistanceMeters, bytes) else {
                return ReverseGeocodeAnswer(candidate: nil)
            }
            let reading = GeocodeSearch.Reading(
                place: place, score: 100, type: .position, weight: 0)
            return ReverseGeocodeAnswer(
                candidate: candidate(
                    for: reading, named: request.locator, distanceMeters: meters, bytes))
        }
    }

    // MARK: Reading requests

    private func bounded(_ text: String) throws(Failure) -> String {
        guard text.utf8.count <= Self.longestText else {
            throw Failure(
                .tooLarge,
                "the text has \(text.utf8.count) bytes; at most \(Self.longestText) are searched")
        }
        return text
    }

    private func folded(_ text: String) throws(Failure) -> FoldedText {
        let folded = Folder.fold(try bounded(text))
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
                        + "codes such as 'FR' or 'FRA'")
            }
            places = (places ?? []).union(named)
        }
        return PlaceFilter(
            countries: places, extent: extent, location: location, nearMeters: meters ?? 0,
            categories: categories.map(PlaceCategory.named))
    }

    // MARK: Answers

    private func candidate(
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
