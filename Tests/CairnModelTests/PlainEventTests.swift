// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Codecs
import Foundation
import Platform
import TestKit
import Testing

/// The fast reader of a kind of event agrees with Foundation, or returns nil.
@Suite struct PlainEventTests {
    private static let seeds: [UInt64] = [3, 50, 700, 9_000]

    private func attempt(_ random: inout SeededGenerator) -> ChunkAttempt {
        ChunkAttempt(
            chunk: Int.random(in: -2...100_000, using: &random),
            number: Int.random(in: 1...9, using: &random), lease: UUID())
    }

    private func real(_ random: inout SeededGenerator) -> Double {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: Double(Int.random(in: -5...5, using: &random))
        case 1: Double.random(in: -1e3...1e3, using: &random)
        case 2: Double(Int.random(in: -9_999...9_999, using: &random)) / 100
        case 3: Double.random(in: -1e-9...1e-9, using: &random)
        default: Double(Int.random(in: 0...Int.max, using: &random))
        }
    }

    private func text(_ random: inout SeededGenerator) -> String {
        [
            "Roads", "Layer 3 of 17", "Größe", "a \"b\"", "back\\slash", "a/b", "", "\u{7f}",
            "é\u{0}",
        ]
        .randomElement(using: &random) ?? ""
    }

    private func events(_ random: inout SeededGenerator) -> [any EventPayload] {
        let blob = BlobReference(
            id: ContentID(SHA256.digest(text(&random))), byteCount: 1 << 40,
            mediaType: ["text/csv", "a\tb"].randomElement(using: &random) ?? "")
        let layer = Int.random(in: 0...400, using: &random)
        return [
            JobChunkLeased(
                attempt: attempt(&random), worker: UUID(),
                processID: Int32.random(in: .min ... .max, using: &random)),
            JobChunkCompleted(
                attempt: attempt(&random), blob: Bool.random(using: &random) ? blob : nil,
                messages: Bool.random(using: &random)
                    ? [] : [JobMessage(.warning, text(&random))]),
            JobProgressed(progress: real(&random)),
            LayerVisibilityChanged(layer: layer, isVisible: Bool.random(using: &random)),
            LayerRenamed(layer: layer, name: text(&random)),
            LayerScaleRangeChanged(
                layer: layer,
                scaleRange: ScaleRange(minScale: real(&random), maxScale: real(&random))),
        ]
    }

    /// Whether the short reader read it.
    private func expectAgreement<Payload: EventPayload>(
        of like: Payload, _ text: Data, _ note: Comment
    ) -> Bool {
        guard let read = try? Payload.plain(text.bytes) else { return false }
        let oracle = try? JSONDecoder().decode(Payload.self, from: text)
        #expect(oracle == read, "\(note): \(String(decoding: text, as: UTF8.self))")
        return true
    }

    @Test(arguments: seeds)
    func `an event that the encoder wrote is read as Foundation reads it, mostly the short way`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var counts: [String: Int] = [:]
        for _ in 0..<200 {
            for event in events(&random) {
                let text = try CairnJSON.encode(event)
                let isShort = expectAgreement(of: event, text, "seed \(seed)")
                counts[type(of: event).eventType, default: 0] += isShort ? 1 : 0
            }
        }
        #expect(counts.count == 6 && counts.values.allSatisfy { $0 > 20 }, "\(counts)")
    }

    @Test(arguments: seeds)
    func `event text of any other form is read as Foundation reads it, or not at all`(seed: UInt64)
        throws
    {
        var random = SeededGenerator(seed: seed &+ 1)
        let pieces = [
            "", "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u0041", "null", "true", "false", "0",
            "-", "-0", "00", "1e3", "1E3", "1.0", ".5", "5.", "1.5.2", "9223372036854775808", " ",
            "é", "\u{1}", ",\"blob\":null", ",\"layer\":3", ",\"worker\":\"", "a", "F",
        ].map { Data($0.utf8) }
        for _ in 0..<400 {
            for event in events(&random) {
                var text = try CairnJSON.encode(event)
                for _ in 0..<Int.random(in: 1...2, using: &random) {
                    let place = Int.random(in: 0...text.count, using: &random)
                    let end = min(text.count, place + Int.random(in: 0...3, using: &random))
                    text.replaceSubrange(
                        place..<end, with: pieces.randomElement(using: &random) ?? Data())
                }
                _ = expectAgreement(of: event, text, "seed \(seed)")
            }
        }
    }

    @Test(arguments: seeds)
    func `names of ids are those that Foundation gives and takes`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let id = UUID(words: (random.next(), random.next()))
            let small = id.uuidString.lowercased()
            #expect(UUIDText.text(id.words, inCapitals: true) == id.uuidString)
            #expect(StreamName.job(JobID(rawValue: id)).rawValue == "job-" + small)
            var text = Bool.random(using: &random) ? small : id.uuidString
            if Bool.random(using: &random) {
                let place = text.index(
                    text.startIndex, offsetBy: Int.random(in: 0..<36, using: &random))
                let new: [Character] = ["-", "g", "G", "0", "a", " ", "é", "@", "`"]
                text.replaceSubrange(
                    place...place, with: [new.randomElement(using: &random) ?? "-"])
            }
            // Foundation accepts spaces and signs for digits, too.
            if let words = UUIDText.words(text) {
                #expect(UUID(words: words) == UUID(uuidString: text), "seed \(seed): \(text)")
            } else {
                #expect(text != small && text != id.uuidString, "seed \(seed): \(text)")
            }
            #expect(JobID(text)?.rawValue == UUID(uuidString: text), "seed \(seed): \(text)")
        }
    }
}
