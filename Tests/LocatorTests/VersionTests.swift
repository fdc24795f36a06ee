// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

/// Files that earlier programs wrote: places alone, with addresses, with streets as lines.
@Suite struct VersionTests {
    private func locator(_ version: Int) throws -> Locator {
        let path = Sample.root + "/Tests/Golden/v1/locator/version-\(version).bin"
        let bytes = try Data(contentsOf: URL(filePath: path))
        #expect(bytes[8] == UInt8(version))
        return try Locator(
            path: path, id: try #require(ContentID(rawValue: String(repeating: "0", count: 64))))
    }

    @Test(arguments: 1...3)
    func `old files are read on`(_ version: Int) throws {
        let locator = try locator(version)
        func first(_ text: String) throws -> Candidate? {
            try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
        }
        #expect(locator.placeCount == 6)
        for text in ["Paris", "Париж", "Paris, Île-de-France", "paris france"] {
            #expect(try first(text)?.sourceID == 1, "\(text)")
        }
        #expect(try first("paris texas")?.sourceID == 2)
        #expect(try locator.suggest(SuggestRequest(text: "par")).suggestions.count == 2)
        let house = try first("12 avenue du general leclerc 75014 paris")
        #expect((house?.text("Addr_type") == "PointAddress") == (version >= 2))
        let between = try first("10 rue basse, paris")
        #expect(
            (between?.text("Addr_type") == "StreetAddress") == (version == 3),
            "\(between?.address ?? "")")
        var request = ReverseGeocodeRequest(
            location: Coordinate(x: 2.3488, y: 48.8534), maxDistanceMeters: 500)
        request.featureTypes = ["Locality"]
        #expect(try locator.reverse(request).candidate?.text("City") == "Paris")
        request.featureTypes = ["POI"]
        #expect(try locator.reverse(request).candidate == nil)
    }
}
