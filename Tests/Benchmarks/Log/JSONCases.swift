// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Codecs
import Foundation
import Geometry
import Platform

/// The JSON of events and answers, beside Foundation's coder writing the same bytes, in turns.
struct JSONCases {
    let shop: Workshop

    func run() throws {
        let id = try unwrap(UUID(uuidString: "5E0A3B1C-8F5E-4C53-9E5A-2B9B0C6D7E8F"))
        let event = JobChunkLeased(
            attempt: ChunkAttempt(chunk: 17, number: 1, lease: id), worker: id, processID: 4_711)
        try compare("an event written as JSON", event)
        let candidate = Candidate(
            address: "Rue de la République, 69002 Lyon, Auvergne-Rhône-Alpes, France",
            location: Coordinate(x: 4.835659, y: 45.764043), score: 98.75, matchType: .fuzzy,
            extent: Envelope(minX: 4.825659, minY: 45.754043, maxX: 4.845659, maxY: 45.774043),
            attributes: Attributes([
                .init(name: "Match_addr", value: .string("Rue de la République, Lyon")),
                .init(name: "Addr_type", value: .string("StreetName")),
                .init(name: "City", value: .string("Lyon")),
                .init(name: "Region", value: .string("Auvergne-Rhône-Alpes")),
                .init(name: "Country", value: .string("FRA")),
                .init(name: "Population", value: .integer(522_250)),
            ]))
        let answer = GeocodeAnswer(
            candidates: Array(repeating: candidate, count: 5),
            locator: ContentID(SHA256.digest(Array("locator".utf8))))
        try compare("five candidates written as JSON", answer)
    }

    private func unwrap<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Failure(.internal, "the bench is out of order") }
        return value
    }

    private func compare(_ name: String, _ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard try CairnJSON.encode(value) == encoder.encode(value) else {
            throw Failure(.internal, "\(name): not the bytes that Foundation writes")
        }
        let rounds = shop.isShort ? 2_000 : 20_000
        var (ours, theirs): ([Int64], [Int64]) = ([], [])
        for _ in 0..<11 {
            ours.append(try time(rounds) { try CairnJSON.encode(value) })
            theirs.append(
                try time(rounds) {
                    let encoder = JSONEncoder()
                    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                    return try encoder.encode(value)
                })
        }
        func microseconds(_ times: [Int64]) -> Double {
            Times(times).quantile(0.5) / Double(rounds)
        }
        Output.write(
            Line(name, ours: microseconds(ours), unit: "µs")
                .beside("Foundation", microseconds(theirs)))
    }

    private func time(_ rounds: Int, _ body: () throws -> Data) throws -> Int64 {
        let began = MonotonicClock.nanoseconds()
        var byteCount = 0
        for _ in 0..<rounds { byteCount &+= try body().count }
        guard byteCount > 0 else { throw Failure(.internal, "nothing was written") }
        return MonotonicClock.nanoseconds() - began
    }
}
