// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import TestKit
import Testing

@testable import Locator

/// Addresses in parts: each part in its role, and in another only where that finds nothing.
@Suite struct FieldTests {
    private func found(_ fields: AddressFields, in locator: Locator) throws -> Candidate? {
        let parts = AddressPart.allCases.compactMap { $0.text(in: fields) }
        var request = GeocodeRequest(singleLine: parts.joined(separator: ", "), maxLocations: 1)
        request.fields = fields
        return try locator.geocode(request).candidates.first
    }

    @Test func `addresses in their parts are as good as in one line`() throws {
        var random = SeededGenerator(seed: 3)
        print("seed \(random.seed)")
        let locator = try AddressSample.locator()
        for house in AddressSample.shared.houses.shuffled(using: &random).prefix(100) {
            let address = "\(house.number)\(house.suffix) \(house.street)"
            let right = try found(
                AddressFields(address: address, city: house.city, postal: house.postal),
                in: locator)
            #expect(right?.score == 100)
            #expect(right?.text("StName") == house.street && right?.text("City") == house.city)
            let mixed = try #require(
                try found(
                    AddressFields(address: house.city, city: address, postal: house.postal),
                    in: locator))
            #expect(mixed.score <= 95)
            #expect(mixed.text("StName") == house.street && mixed.text("City") == house.city)
        }
    }

    @Test func `a town never stands for a street, nor a street for a town`() throws {
        let locator = try Scratch.locator(
            ["1,5,Rue Lyon,75012,Paris,X,48.84,2.38\n2,7,Rue Paris,69001,Lyon,X,45.76,4.83\n"],
            suffix: "csv")
        let inParis = try #require(
            try found(AddressFields(address: "Rue Lyon", city: "Paris"), in: locator))
        #expect(inParis.score == 100 && inParis.text("City") == "Paris")
        let inLyon = try #require(
            try found(AddressFields(address: "Rue Paris", city: "Lyon"), in: locator))
        #expect(inLyon.score == 100 && inLyon.text("City") == "Lyon")
        let town = try #require(try found(AddressFields(city: "Lyon"), in: locator))
        #expect(town.text("Addr_type") == "Locality")
    }

    @Test func `regions bind, postcodes that nobody knows hardly count`() throws {
        let locator = try Sample.locator()
        let texas = try #require(
            try found(AddressFields(city: "Paris", region: "TX"), in: locator))
        #expect(texas.score == 100 && texas.text("Region") == "Texas")
        let france = try #require(
            try found(AddressFields(city: "Paris", postal: "75001"), in: locator))
        #expect(france.text("CountryCode") == "FR" && france.score > 85)
        // `Texas` as a city is no region.
        let city = try found(AddressFields(city: "Paris", region: "Paris"), in: locator)
        #expect(city?.text("PlaceName") == "Paris")
    }

    @Test func `parts that are too long or say nothing are refused in a sentence`() throws {
        for fields in [
            AddressFields(city: String(repeating: "x", count: 1_001)), AddressFields(city: "?!"),
            AddressFields(),
        ] {
            var request = GeocodeRequest(singleLine: "")
            request.fields = fields
            #expect(throws: Failure.self) { try Sample.locator().geocode(request) }
        }
        let parts = (0..<40).map { _ in "x" }.joined(separator: " ")
        let many = try found(
            AddressFields(address: parts, city: parts, region: parts), in: AddressSample.locator())
        #expect(many == nil)
    }

    @Test func `scores below the least wanted are left out`() throws {
        for least in [0.0, 80, 100] {
            var request = GeocodeRequest(singleLine: "Pariss, Texas", maxLocations: 50)
            request.minScore = least
            let scores = try Sample.locator().geocode(request).candidates.map(\.score)
            #expect(scores.allSatisfy { $0 >= least })
            #expect(scores.isEmpty == (least == 100))
        }
        var request = GeocodeRequest(singleLine: "Paris")
        request.minScore = .nan
        #expect(throws: Failure.self) { try Sample.locator().geocode(request) }
    }
}
