// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import ICU
internal import Platform

// Validated values of requests.
extension Locator {
    /// The language of the answers; nil where a request has none.
    ///
    /// Throws `invalidParameter` for text without the form of a language code; whether the language
    /// exists is not checked.
    func language(_ text: String?) throws(Failure) -> LanguageTag? {
        guard let text, !text.isEmpty else { return nil }
        guard let tag = LanguageTag(text) else {
            throw Failure(
                .invalidParameter,
                "the language '\(text.prefix(40))': expected a code of two or three letters, such "
                    + "as "
                    + "'de', 'ger' or 'pt-BR'")
        }
        return tag
    }

    /// Esri's categories of houses and streets.
    private static let addressCategories: Set<String> = [
        "address", "point address", "street address", "street name",
    ]

    func bounded(_ text: String) throws(Failure) -> String {
        guard text.utf8.count <= Self.longestText else {
            throw Failure(
                .tooLarge,
                "the text has \(text.utf8.count) bytes; at most \(Self.longestText) are searched")
        }
        return text
    }

    func folded(_ text: String) throws(Failure) -> FoldedText {
        let folded = Folder.fold(text)
        guard !folded.words.isEmpty else {
            throw Failure(.invalidParameter, "the text to find has no letter or digit")
        }
        return folded
    }

    func filter(
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
}
