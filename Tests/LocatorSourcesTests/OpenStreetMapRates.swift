// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Codecs
import Foundation
import GDAL
import Geometry
import Locator
import LocatorSources
import Platform
import TestKit
import Testing

/// Every address of two real extracts, geocoded by its own text in several spellings.
///
/// The right answers come from tables of addresses made of the same extracts by another program.
@Suite struct OpenStreetMapRates {
    private func addresses(_ name: String) throws -> [AddressQuery]? {
        guard let packed = SharedData.path("osm/\(name).gpkg.gz") else { return nil }
        let path = Scratch.directory() + "/\(name).gpkg"
        try GzipFile.expand(packed, to: path)
        let source = try VectorSource(path: path)
        let index = try #require(source.layers.firstIndex { $0.name == "addresses" })
        let fields = source.layers[index].fields.map(\.name)
        var result: [AddressQuery] = []
        try source.forEachFeature(inLayer: index) { feature in
            var texts: [String: String] = [:]
            for (place, field) in fields.enumerated() {
                guard case .text(let bytes) = feature.value(at: place) else { continue }
                texts[field] = String(decoding: bytes, as: UTF8.self)
            }
            let wanted = ["housenumber", "street", "postcode", "city"].map { texts[$0] ?? "" }
            var wkb: [UInt8] = []
            guard let count = feature.wkb(into: &wkb), count >= 21,
                !wanted[1].isEmpty, !wanted[3].isEmpty, wanted[0].first?.isNumber == true
            else { return }
            let (longitude, latitude) = (Self.ordinate(wkb, 5), Self.ordinate(wkb, 13))
            result.append(
                AddressQuery(
                    number: wanted[0], street: wanted[1],
                    postcode: wanted[2], city: wanted[3], latitude: latitude,
                    longitude: longitude, hasPostcodeFirst: name != "baltimore"))
        }
        return result
    }

    private static func ordinate(_ wkb: [UInt8], _ at: Int) -> Double {
        var bits: UInt64 = 0
        for byte in 0..<8 { bits |= UInt64(wkb[at + byte]) << UInt64(8 * byte) }
        return Double(bitPattern: bits)
    }

    @Test(
        .slow,
        arguments: [
            ("baltimore", ["city=Baltimore", "country=US"]), ("andorra-2025", ["country=AD"]),
        ])
    func `addresses of an extract are found by their own texts`(
        _ name: String, _ constants: [String]
    ) throws {
        guard let extract = SharedData.path("osm/\(name).osm.pbf"),
            let addresses = try addresses(name)
        else { return }
        let (built, locator) = try Scratch.build([extract], constants: constants)
        print(
            "\(name): \(built.placeCount) places, \(built.streetCount) streets, "
                + "\(built.houseCount) house numbers, \(built.segmentCount) segments, "
                + "\(built.rejectedCount) rejected, \(built.byteCount) bytes")
        var random = SeededGenerator(seed: 2_026)
        print("seed \(random.seed)")
        for kind in AddressQuery.Kind.allCases {
            var right = 0
            var misses: [String] = []
            for address in addresses {
                let text = address.written(kind, using: &random)
                let found = try locator.geocode(GeocodeRequest(singleLine: text, maxLocations: 1))
                    .candidates.first
                let truth = Coordinate(x: address.longitude, y: address.latitude)
                let isNumber =
                    found?.text("AddNum").lowercased().filter { $0 != " " }
                    == address.number.lowercased().filter { $0 != " " }
                if let found, isNumber, found.meters(to: truth) <= 75 {
                    right += 1
                } else if misses.count < 4 {
                    misses.append(
                        "\(text) -> \(found?.address ?? "nothing") "
                            + "\(found?.text("Addr_type") ?? "") "
                            + "\(Int(found?.meters(to: truth) ?? -1)) m")
                }
            }
            print("\(name) \(kind.rawValue): \(right) of \(addresses.count)")
            if !misses.isEmpty { print("  \(misses)") }
            #expect(addresses.count > 100)
            #expect(Double(right) >= 0.9 * Double(addresses.count), "\(kind.rawValue)")
        }
    }

    @Test func `settlements of Andorra are found by their names`() throws {
        guard let extract = SharedData.path("osm/andorra-2025.osm.pbf"),
            let packed = SharedData.path("osm/andorra-2025.gpkg.gz")
        else { return }
        let (_, locator) = try Scratch.build([extract], constants: ["country=AD"])
        let path = Scratch.directory() + "/places.gpkg"
        try GzipFile.expand(packed, to: path)
        let source = try VectorSource(path: path)
        let index = try #require(source.layers.firstIndex { $0.name == "places" })
        let fields = source.layers[index].fields.map(\.name)
        let name = try #require(fields.firstIndex(of: "name"))
        let kind = try #require(fields.firstIndex(of: "place"))
        var (asked, found) = (0, 0)
        var missed: [String] = []
        try source.forEachFeature(inLayer: index) { feature in
            guard case .text(let bytes) = feature.value(at: name),
                case .text(let sort) = feature.value(at: kind),
                ["town", "village", "hamlet"].contains(String(decoding: sort, as: UTF8.self))
            else { return }
            var wkb: [UInt8] = []
            guard let count = feature.wkb(into: &wkb), count == 21 else { return }
            let place = Coordinate(x: Self.ordinate(wkb, 5), y: Self.ordinate(wkb, 13))
            asked += 1
            let text = String(decoding: bytes, as: UTF8.self)
            let answer = try locator.geocode(
                GeocodeRequest(singleLine: text, maxLocations: 5))
            if answer.candidates.contains(where: {
                $0.text("Addr_type") == "Locality" && $0.meters(to: place) < 100
            }) {
                found += 1
            } else {
                missed.append("\(text): \(answer.candidates.map(\.address))")
            }
        }
        print("settlements of Andorra: \(found) of \(asked), \(missed)")
        #expect(asked > 50)
        #expect(Double(found) >= 0.95 * Double(asked))
    }
}
