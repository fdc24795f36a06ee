// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import CairnModel
import Foundation
import Geometry
import Locator
import LocatorSources
import TestKit

/// Builds a locator, or opens one, and geocodes addresses of tables, in each of several spellings.
///
/// Prints JSON Lines: the build, then for each case the number of right answers, the times of one
/// call and its processor time, all in this one thread. `deploy/bench locator` calls it, and sends
/// the same texts to other geocoders.
@main struct BenchLocator: ParsableCommand {
    @Argument(help: "What the locator is built of.") var sources: [String] = []
    @Option(help: "A table in BANO's form; its addresses are asked for.") var ask: [String] = []
    @Option(help: "Write the texts there, a JSON object a line.") var queries: String?
    @Option(help: "Texts of each kind.") var count = 500
    @Option(help: "Ask for this kind alone, to profile it.") var only: String?
    @Flag(help: "Print the first misses as well.") var misses = false

    @Flag(
        help: "Ask for address points of Cambridge, Massachusetts, along its centrelines instead.")
    var interpolation = false

    func run() throws {
        if interpolation { return try Interpolation.run(gazetteers: sources) }
        let directory = FileManager.default.temporaryDirectory.path + "/bench-locator"
        try? FileManager.default.removeItem(atPath: directory)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let clock = ContinuousClock()
        var began = clock.now
        let built = try LocatorBuilder.build(
            sources: sources, vectors: VectorSources.reader(expandingIn: directory),
            into: directory)
        let building = clock.now - began
        began = clock.now
        let locator = try Locator(
            path: directory + "/\(built.id.rawValue)/locator.bin", id: built.id)
        try Self.write(
            Build(
                streets: built.streetCount, houses: built.houseCount, places: built.placeCount,
                bytes: built.byteCount, rejected: built.rejectedCount,
                buildMs: building.milliseconds, openMs: (clock.now - began).milliseconds))

        let addresses = try ask.flatMap(AddressQuery.read(bano:))
        var random = SeededGenerator(seed: 2_026)
        var asked: [Query] = []
        for kind in AddressQuery.Kind.allCases where only == nil || only == kind.rawValue {
            var figures = Figures(kind.rawValue)
            var wrong: [String] = []
            for _ in 0..<count {
                guard let address = addresses.randomElement(using: &random) else { break }
                let text = address.written(kind, using: &random)
                asked.append(Query(kind.rawValue, text, address))
                let found = try figures.timed {
                    try locator.geocode(GeocodeRequest(singleLine: text, maxLocations: 1))
                        .candidates.first
                }
                if Self.isMeant(found, address) {
                    figures.right += 1
                } else {
                    wrong.append("\(text) -> \(found?.address ?? "nothing")")
                }
            }
            try Self.write(figures)
            if misses { for miss in wrong.prefix(12) { print("  " + miss) } }
        }
        if only == nil {
            asked += try suggest(addresses, locator, &random)
            asked += try reverse(addresses, locator, &random)
        }
        if let queries {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let lines = try asked.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
            try (lines.joined(separator: "\n") + "\n")
                .write(toFile: queries, atomically: true, encoding: .utf8)
        }
    }

    /// Addresses typed letter by letter; each letter is a call, right where the house is at last
    /// among the first five.
    private func suggest(
        _ addresses: [AddressQuery], _ locator: Locator, _ random: inout SeededGenerator
    ) throws -> [Query] {
        var figures = Figures("suggest")
        var asked: [Query] = []
        for _ in 0..<min(count, 100) {
            guard let address = addresses.randomElement(using: &random) else { break }
            let text = "\(address.number) \(address.street) \(address.city)"
            asked.append(Query("suggest", text, address))
            var isFound = false
            for length in 1...text.count {
                let typed = String(text.prefix(length))
                let offered = try figures.timed {
                    try locator.suggest(SuggestRequest(text: typed, maxSuggestions: 5))
                        .suggestions
                }
                let wanted = Self.letters("\(address.number) \(address.street)")
                isFound = offered.contains { Self.letters($0.text).hasPrefix(wanted) }
                if misses, let took = figures.last, took > 1 { print("  \(took) ms: \(typed)") }
            }
            if misses, !isFound { print("  not offered: \(text)") }
            figures.right += isFound ? 1 : 0
            figures.of = asked.count
        }
        try Self.write(figures)
        return asked
    }

    /// From two metres off; right is that house, or another at the same place.
    private func reverse(
        _ addresses: [AddressQuery], _ locator: Locator, _ random: inout SeededGenerator
    ) throws -> [Query] {
        var figures = Figures("reverse")
        var asked: [Query] = []
        for _ in 0..<count {
            guard let address = addresses.randomElement(using: &random) else { break }
            asked.append(Query("reverse", "", address))
            let request = ReverseGeocodeRequest(
                location: Coordinate(x: address.longitude, y: address.latitude + 0.00002))
            let found = try figures.timed { try locator.reverse(request).candidate }
            let isNearest = found?.distanceMeters.map { $0 < 2.3 } ?? false
            if isNearest || Self.isMeant(found, address) { figures.right += 1 }
        }
        try Self.write(figures)
        return asked
    }

    /// Plain and without spaces: `9 BIS` and `9bis` are the same.
    private static func letters(_ text: String) -> String {
        AddressQuery.plain(text).replacing(" ", with: "")
    }

    /// The house number, within 75 m: what others are held to.
    private static func isMeant(_ found: Candidate?, _ address: AddressQuery) -> Bool {
        guard let found, case .string(let number)? = found.attributes["AddNum"] else {
            return false
        }
        let dy = (found.location.y - address.latitude) * 111_195
        let dx =
            (found.location.x - address.longitude) * 111_195
            * cos(address.latitude * .pi / 180)
        return number.replacing(" ", with: "").lowercased()
            == address.number.replacing(" ", with: "").lowercased()
            && (dx * dx + dy * dy).squareRoot() <= 75
    }

    private static func write(_ line: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(line), as: UTF8.self))
    }
}

/// The cost of a locator.
private struct Build: Encodable {
    var `case` = "build"
    var streets, houses, places, bytes, rejected: Int
    var buildMs, openMs: Double
}

/// The text of a query to other geocoders.
private struct Query: Encodable {
    var kind, text, number, street: String
    var latitude, longitude: Double

    init(_ kind: String, _ text: String, _ address: AddressQuery) {
        self.kind = kind
        self.text = text
        number = address.number
        street = address.street
        (latitude, longitude) = (address.latitude, address.longitude)
    }
}

/// The calls of one case.
private struct Figures: Encodable {
    let name: String
    var right = 0
    /// Of how many; the number of calls unless stated.
    var of: Int?
    private var times: [Double] = []
    var last: Double? { times.last }
    private let begun = clock()

    init(_ name: String) { self.name = name }

    mutating func timed<Answer>(_ call: () throws -> Answer) rethrows -> Answer {
        let clock = ContinuousClock()
        let start = clock.now
        let answer = try call()
        times.append((clock.now - start).milliseconds)
        return answer
    }

    private enum Keys: String, CodingKey {
        case name = "case"
        case right, of, p50Ms, p99Ms, maxMs, cpuMs
    }

    func encode(to encoder: any Encoder) throws {
        let sorted = times.sorted()
        func share(_ part: Double) -> Double {
            sorted.isEmpty ? 0 : sorted[Int(part * Double(sorted.count - 1))]
        }
        let used = Double(clock() - begun) / Double(CLOCKS_PER_SEC) * 1_000
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(name, forKey: .name)
        try container.encode(right, forKey: .right)
        try container.encode(of ?? times.count, forKey: .of)
        try container.encode(share(0.5), forKey: .p50Ms)
        try container.encode(share(0.99), forKey: .p99Ms)
        try container.encode(share(1), forKey: .maxMs)
        try container.encode(
            (used / Double(max(times.count, 1)) * 1e4).rounded() / 1e4, forKey: .cpuMs)
    }
}

extension Duration {
    fileprivate var milliseconds: Double {
        let parts = components
        let whole = Double(parts.seconds) * 1_000 + Double(parts.attoseconds) / 1e15
        return (whole * 1_000).rounded() / 1_000
    }
}
