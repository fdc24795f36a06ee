// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Locator
import TestKit
import Testing

/// The filters of a request: kinds of places, and their location.
@Suite struct CategoryTests {
    private static let types: [PlaceCategory: String] = [
        .neighborhood: "Neighborhood", .city: "City", .subregion: "County",
        .region: "State or Province", .country: "Country",
    ]

    private func geocode(
        _ text: String, _ change: (inout GeocodeRequest) -> Void = { _ in }
    ) throws -> [Candidate] {
        var request = GeocodeRequest(singleLine: text, maxLocations: 50)
        change(&request)
        return try Sample.locator().geocode(request).candidates
    }

    private func type(_ candidate: Candidate) -> AttributeValue? { candidate.attributes["Type"] }

    @Test(arguments: ["Luxembourg", "Mexico", "Georgia", "Washington", "Lagos", "Berlin"])
    func `a category keeps those of its kind that are found without it`(_ text: String) throws {
        let all = try geocode(text)
        for category in PlaceCategory.allCases {
            let wanted = all.filter { type($0) == .string(Self.types[category] ?? "") }
            let found = try geocode(text) { $0.categories = [category.rawValue.uppercased()] }
            #expect(found.allSatisfy { type($0) == .string(Self.types[category] ?? "") })
            // Without one that explains every word, less likely ones are looked for.
            if wanted.first?.score == 100 { #expect(found.prefix(wanted.count) == wanted[...]) }
        }
        #expect(try geocode(text) { $0.categories = ["Populated Place"] } == all)
        #expect(try geocode(text) { $0.categories = ["POI", "Postal"] }.isEmpty)
        let both = try geocode(text) { $0.categories = ["City", "POI", "Country"] }
        #expect(both.contains { type($0) == .string("City") || type($0) == .string("Country") })
    }

    @Test(arguments: ["par", "san ", "chi", "new york"])
    func `suggestions are of the category and in the extent`(_ text: String) throws {
        let locator = try Sample.locator()
        var request = SuggestRequest(text: text, maxSuggestions: 15)
        request.categories = ["City"]
        request.searchExtent = Envelope(minX: -130, minY: 10, maxX: -30, maxY: 55)
        let suggestions = try locator.suggest(request).suggestions
        #expect(!suggestions.isEmpty)
        for suggestion in suggestions {
            let place = try #require(
                try geocode(suggestion.text) { $0.magicKey = suggestion.magicKey }.first)
            #expect(type(place) == .string("City"))
            #expect(-130...(-30) ~= place.location.x && 10...55 ~= place.location.y)
        }
        request.categories = ["Address"]
        #expect(try locator.suggest(request).suggestions.isEmpty)
    }

    @Test(arguments: ["Springfield", "Santa Cruz", "Richmond", "San José"])
    func `places within the distance are as good as at the location`(_ text: String) throws {
        let here = Coordinate(x: -89.6, y: 39.8)
        let near = try geocode(text) { $0.location = here }
        let around = try geocode(text) {
            $0.location = here
            $0.distanceMeters = 30_000_000
        }
        // All are, so that only importance counts.
        #expect(around.map(\.address) == (try geocode(text)).map(\.address))
        #expect(
            try geocode(text) {
                $0.location = here
                $0.distanceMeters = 0
            } == near)
        #expect(throws: Failure.self) {
            try geocode(text) {
                $0.location = here
                $0.distanceMeters = -1
            }
        }
    }

    @Test func `places are localities, and nothing else is known`() throws {
        let locator = try Sample.locator()
        func reverse(_ types: [String]?) throws -> Candidate? {
            var request = ReverseGeocodeRequest(
                location: Coordinate(x: 2.35, y: 48.85), maxDistanceMeters: 10_000)
            request.featureTypes = types
            return try locator.reverse(request).candidate
        }
        let place = try #require(try reverse(nil))
        #expect(place.attributes["Addr_type"] == .string("Locality"))
        #expect(try reverse(["StreetAddress", "LOCALITY"]) == place)
        #expect(try reverse(["StreetInt"]) == nil)
    }

    @Test func `every candidate has the attributes that are announced, in their order`() throws {
        for candidate in try geocode("Paris") + geocode("Texas") + geocode("France") {
            #expect(candidate.attributes.entries.map(\.name) == Candidate.fields.map(\.name))
            for (entry, field) in zip(candidate.attributes.entries, Candidate.fields) {
                switch entry.value {
                case .string: #expect(field.type == .string)
                case .real: #expect(field.type == .double)
                case .integer: #expect(field.type == .integer)
                case .null, .date: Issue.record("\(entry)")
                }
            }
        }
    }
}
