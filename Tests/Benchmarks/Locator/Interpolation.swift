// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Locator
import LocatorSources
import TestKit

/// Asks a locator of the centrelines of Cambridge, Massachusetts, for its address points.
///
/// How far are interpolated positions, and the middles of the streets, from the parcels?
enum Interpolation {
    static func run(gazetteers: [String]) throws {
        guard let addresses = try CambridgeAddresses(),
            let streets = SharedData.path("cambridge_ma/TRANS_Centerlines.geojson.gz")
        else { return }
        let directory = FileManager.default.temporaryDirectory.path + "/bench-interpolation"
        try? FileManager.default.removeItem(atPath: directory)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let built = try LocatorBuilder.build(
            sources: gazetteers + [streets], constants: ["city=Cambridge", "region=MA"],
            vectors: VectorSources.reader(expandingIn: directory), into: directory)
        let locator = try Locator(
            path: directory + "/\(built.id.rawValue)/locator.bin", id: built.id)
        print(
            "{\"case\":\"interpolation-build\",\"streets\":\(built.streetCount),"
                + "\"segments\":\(built.segmentCount),\"rejected\":\(built.rejectedCount),"
                + "\"bytes\":\(built.byteCount)}")
        func ask(_ text: String) throws -> Candidate? {
            try locator.geocode(GeocodeRequest(singleLine: text, maxLocations: 1)).candidates.first
        }
        let inside: Set = ["StreetAddress"]
        for (name, half) in [("tuned-half", 0), ("other-half", 1)] {
            let found = try addresses.distances(half: half, types: inside) { try ask($0.text) }
            print(found.line("interpolation-" + name))
        }
        let all = inside.union(["StreetAddressExt"])
        print(
            try addresses.distances(types: all) { try ask($0.text) }
                .line("interpolation-all-and-outside"))
        print(
            try addresses.distances(types: ["StreetName"]) {
                try ask("\($0.street), Cambridge MA")
            }.line("interpolation-street-only"))
    }
}
