// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Locator
import TestKit
import Testing

@Suite struct PostcodeTests {
    private func candidates(
        _ text: String, _ change: (inout GeocodeRequest) -> Void = { _ in }
    ) throws -> [Candidate] {
        var request = GeocodeRequest(singleLine: text)
        change(&request)
        return try AddressSample.locator().geocode(request).candidates
    }

    @Test func `a postcode alone is where its streets are`() throws {
        let byCode = Dictionary(grouping: AddressSample.shared.houses, by: \.postal)
        #expect(byCode.count > 5)
        for (code, houses) in byCode {
            let found = try #require(try candidates(code).first)
            #expect(found.text("Addr_type") == "Postal" && found.score == 100)
            #expect(found.text("Postal") == code && found.text("City") == houses[0].city)
            #expect(found.text("AddNum").isEmpty && found.text("StName").isEmpty)
            #expect(found.address.hasPrefix(code + " " + houses[0].city))
            // An inhabited place, and the extent of all houses.
            var bounds = Envelope.empty
            for house in houses {
                bounds.extend(to: Coordinate(x: house.longitude, y: house.latitude))
            }
            #expect(bounds.contains(found.location))
            let extent = found.extent
            #expect(
                extent.minX >= bounds.minX && extent.maxX <= bounds.maxX
                    && extent.minY >= bounds.minY && extent.maxY <= bounds.maxY)
        }
    }

    @Test func `the town beside a postcode is explained, in either order`() throws {
        let house = AddressSample.shared.houses[0]
        for text in ["\(house.postal) \(house.city)", "\(house.city) \(house.postal)"] {
            let found = try #require(try candidates(text).first)
            #expect(found.text("Addr_type") == "Postal" && found.score == 100, "\(text)")
        }
        // Another town's name contradicts the postcode.
        let other = try #require(
            AddressSample.shared.houses.first { $0.city != house.city }
        ).city
        #expect(try candidates("\(house.postal) \(other)").allSatisfy { $0.score < 100 })
    }

    @Test func `of several towns under a postcode the one that is named counts, else the largest`()
        throws
    {
        let table = """
            1,1,Rue de la Gare,08090,Petite,C+O,49.70,4.70
            2,1,Rue de la Gare,08090,Grande,C+O,49.80,4.80
            3,1,Rue du Moulin,08090,Grande,C+O,49.81,4.81
            """
        let locator = try Scratch.locator([table], suffix: "csv")
        for (text, city) in [
            ("08090", "Grande"), ("08090 Petite", "Petite"), ("grande 08090", "Grande"),
        ] {
            let found = try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
            #expect(found?.text("City") == city && found?.score == 100, "\(text)")
        }
    }

    @Test func `an address is better than its postcode, which is better than nothing`() throws {
        let house = AddressSample.shared.houses[0]
        let all = try candidates(house.written)
        #expect(all.first?.text("Addr_type") == "PointAddress")
        #expect(all.allSatisfy { $0.text("Addr_type") != "Postal" })

        let lost = try candidates("Zzyzx \(house.postal)")
        #expect(lost.first?.text("Addr_type") == "Postal")
        #expect(try #require(lost.first).score < 100)
    }

    @Test func `categories and extents choose`() throws {
        let house = AddressSample.shared.houses[0]
        #expect(try candidates(house.postal) { $0.categories = ["Address"] }.isEmpty)
        #expect(try candidates(house.postal) { $0.categories = ["postal"] }.count == 1)
        let onlyPostal = try candidates(house.written) { $0.categories = ["Postal"] }
        #expect(onlyPostal.allSatisfy { $0.text("Addr_type") == "Postal" })
        let elsewhere = Envelope(minX: 100, minY: 10, maxX: 101, maxY: 11)
        #expect(try candidates(house.postal) { $0.searchExtent = elsewhere }.isEmpty)
    }
}
