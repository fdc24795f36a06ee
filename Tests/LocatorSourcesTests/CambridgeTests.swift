// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Locator
import TestKit
import Testing

/// Real centrelines with real house numbers; the truth is points of parcels.
@Suite struct CambridgeTests {
    private static let shared = Result { () throws -> Locator? in
        guard let streets = SharedData.path("cambridge_ma/TRANS_Centerlines.geojson.gz") else {
            return nil
        }
        let sample = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../deploy/sample/gazetteer"
        ).standardized.path()
        return try Scratch.build(
            [sample, streets], constants: ["city=Cambridge", "region=MA"]
        ).locator
    }

    @Test(.slow) func `addresses interpolated along centrelines are near their parcels`() throws {
        guard let addresses = try CambridgeAddresses(), let locator = try Self.shared.get() else {
            return
        }
        let sample = CambridgeAddresses.every(7, of: addresses)
        let kinds: Set = ["StreetAddress", "StreetAddressExt"]
        let ranges = try sample.distances(types: kinds) { try locator.first($0.text) }
        print(ranges.line("interpolated"))
        #expect(ranges.meters(at: 0.5) <= 25)
        #expect(ranges.meters(at: 0.95) <= 120)
        #expect(Double(ranges.meters.count) >= 0.95 * Double(ranges.count))
        let streets = try sample.distances(types: ["StreetName"]) { row in
            try locator.first("\(row.street), Cambridge MA")
        }
        print(streets.line("street"))
        #expect(ranges.meters(at: 0.5) < streets.meters(at: 0.5) / 3)
    }
}

extension CambridgeAddresses {
    fileprivate static func every(_ step: Int, of all: CambridgeAddresses) -> CambridgeAddresses {
        var result = all
        result.rows = all.rows.enumerated().filter { $0.offset % step == 0 }.map(\.element)
        return result
    }
}
