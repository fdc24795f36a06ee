// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Platform
import TestKit
import Testing

@testable import Locator

/// The result of the search, which examines few streets, against one that examines all.
@Suite struct AddressSearchTests {
    @Test func `an address search reads every street that could be better`() throws {
        let (built, path) = try Scratch.build([AddressSample.shared.table], suffix: "csv")
        let mapped = try MappedFile(path: path)
        var random = SeededGenerator(seed: 41)
        print("seed \(random.seed)")
        let houses = AddressSample.shared.houses
        try mapped.withBytes { bytes in
            let file = try LocatorFile(checking: bytes, path: path)
            let addresses = try #require(file.addresses)
            for _ in 0..<400 {
                let house = try #require(houses.randomElement(using: &random))
                let query = AddressQuery(
                    number: "\(house.number)\(house.suffix)", street: house.street,
                    postcode: house.postal, city: house.city, latitude: house.latitude,
                    longitude: house.longitude)
                let kind = try #require(AddressQuery.Kind.allCases.randomElement(using: &random))
                var words = query.written(kind, using: &random).split(separator: " ")
                if Bool.random(using: &random) { words.shuffle(using: &random) }
                if Bool.random(using: &random) {
                    words.remove(at: Int.random(in: words.indices, using: &random))
                }
                let folded = Folder.fold(
                    words.joined(separator: " "), partingApostrophes: true)
                let filter = PlaceFilter()
                var search = AddressSearch(
                    file: file, addresses: addresses, text: folded, filter: filter, bytes)
                let found = search.run(bytes).first

                var text = AddressText(folded, file: addresses, file.ranking.addresses, bytes)
                let scoring = AddressScoring(
                    file: file, addresses: addresses, text: text, filter: filter, bytes)
                func best() -> Double {
                    (0..<addresses.streetCount).compactMap {
                        scoring.reading(of: $0, text, bytes)?.score
                    }.max() ?? 0
                }
                let plain = best()
                text.addTyposOfKnown(bytes)
                let sloppy = best()
                let score = found?.score ?? 0
                #expect(score >= plain && score <= sloppy, "\(words)")
                if score < 90 { #expect(score == sloppy, "\(words)") }
            }
        }
        #expect(built.streetCount > 200)
    }
}
