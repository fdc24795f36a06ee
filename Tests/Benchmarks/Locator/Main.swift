// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit

/// Builds a locator of BANO's tables and asks for addresses of them, 500 of each kind.
///
/// Arguments: tables and gazetteers. Prints JSON Lines: what was built, and for each kind how many
/// were right and the times of one call; with `--misses` the first misses as well. With
/// `--queries FILE` the queries are written there, a JSON object a line.
@main struct BenchLocator {
    static func main() throws {
        var sources = Array(CommandLine.arguments.dropFirst())
        let showsMisses = sources.contains("--misses")
        sources.removeAll { $0 == "--misses" }
        var queries: String?
        if let flag = sources.firstIndex(of: "--queries"), flag + 1 < sources.count {
            queries = sources[flag + 1]
            sources.removeSubrange(flag...flag + 1)
        }
        var asked: [Query] = []
        let directory = FileManager.default.temporaryDirectory.path + "/bench-locator"
        try? FileManager.default.removeItem(atPath: directory)
        let clock = ContinuousClock()
        var began = clock.now
        let built = try LocatorBuilder.build(sources: sources, into: directory)
        let building = clock.now - began
        began = clock.now
        let locator = try Locator(
            path: directory + "/\(built.id.rawValue)/locator.bin", id: built.id)
        print(
            "{\"case\":\"build\",\"streets\":\(built.streetCount),\"houses\":\(built.houseCount),"
                + "\"places\":\(built.placeCount),\"bytes\":\(built.byteCount),"
                + "\"rejected\":\(built.rejectedCount),\"buildMs\":\(building.milliseconds),"
                + "\"openMs\":\((clock.now - began).milliseconds)}")
        let addresses = try sources.filter { $0.contains("bano") }.flatMap(
            AddressQuery.read(bano:))
        var random = SeededGenerator(seed: 2_026)
        for kind in AddressQuery.Kind.allCases {
            var times: [Double] = []
            var misses: [String] = []
            for _ in 0..<500 {
                guard let address = addresses.randomElement(using: &random) else { break }
                let text = address.written(kind, using: &random)
                asked.append(Query(kind, text, address))
                let start = clock.now
                let found = try locator.geocode(
                    GeocodeRequest(singleLine: text, maxLocations: 1)
                ).candidates.first
                times.append((clock.now - start).milliseconds)
                if !isMeant(found, address) {
                    misses.append("\(text) -> \(found?.address ?? "nothing")")
                }
            }
            report(kind.rawValue, times, right: 500 - misses.count)
            if showsMisses { for miss in misses.prefix(12) { print("  " + miss) } }
        }
        try reverse(addresses, locator, &random)
        if let queries {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let lines = try asked.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
            try (lines.joined(separator: "\n") + "\n")
                .write(toFile: queries, atomically: true, encoding: .utf8)
        }
    }

    /// A query as others are asked it.
    private struct Query: Encodable {
        var kind, text, number: String
        var latitude, longitude: Double

        init(_ kind: AddressQuery.Kind, _ text: String, _ address: AddressQuery) {
            self.kind = kind.rawValue
            self.text = text
            number = address.number
            (latitude, longitude) = (address.latitude, address.longitude)
        }
    }

    private static func reverse(
        _ addresses: [AddressQuery], _ locator: Locator, _ random: inout SeededGenerator
    ) throws {
        var times: [Double] = []
        var right = 0
        for _ in 0..<500 {
            guard let address = addresses.randomElement(using: &random) else { break }
            let request = ReverseGeocodeRequest(
                location: Coordinate(x: address.longitude, y: address.latitude + 0.00002))
            let clock = ContinuousClock()
            let start = clock.now
            let found = try locator.reverse(request).candidate
            times.append((clock.now - start).milliseconds)
            if let distance = found?.distanceMeters, distance < 2.3 { right += 1 }
        }
        report("reverse", times, right: right)
    }

    private static func isMeant(_ found: Candidate?, _ address: AddressQuery) -> Bool {
        guard let found, case .string(let number)? = found.attributes["AddNum"],
            case .string(let street)? = found.attributes["StName"],
            case .string(let city)? = found.attributes["City"]
        else { return false }
        let dy = (found.location.y - address.latitude) * 111_195
        let dx =
            (found.location.x - address.longitude) * 111_195
            * cos(address.latitude * .pi / 180)
        return number.replacing(" ", with: "").lowercased() == address.number.lowercased()
            && AddressQuery.plain(street) == AddressQuery.plain(address.street)
            && AddressQuery.plain(city) == AddressQuery.plain(address.city)
            && (dx * dx + dy * dy).squareRoot() <= 75
    }

    private static func report(_ name: String, _ times: [Double], right: Int) {
        let sorted = times.sorted()
        guard !sorted.isEmpty else { return }
        func share(_ part: Double) -> Double { sorted[Int(part * Double(sorted.count - 1))] }
        print(
            "{\"case\":\"\(name)\",\"right\":\(right),\"of\":\(times.count),"
                + "\"p50Ms\":\(share(0.5)),\"p99Ms\":\(share(0.99)),\"maxMs\":\(share(1))}")
    }
}

extension Duration {
    fileprivate var milliseconds: Double {
        let parts = components
        let whole = Double(parts.seconds) * 1_000 + Double(parts.attoseconds) / 1e15
        return (whole * 1_000).rounded() / 1_000
    }
}
