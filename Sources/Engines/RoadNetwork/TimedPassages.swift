// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials
internal import Platform

/// How modes may use an edge at certain times.
public struct TimedPassages: Hashable, Sendable {
    /// The times, as the source has them; at most ``RoadDraft/timeLimit``.
    public var times: [String]
    /// By mode, for each set of times that hold: at the place whose bit n is set where time n
    /// holds, so that the first is that of none.
    public var passages: [[RoadDraft.Passage]]

    /// The passage of a mode while some times hold.
    public func passage(mode: Int, holding times: Int) -> RoadDraft.Passage {
        passages[times][mode]
    }
}

/// The form in which a network's file keeps the passages at times of a set of traits.
struct StoredPassages: Hashable, Codable {
    private var times: [String]
    /// By set of times: access and speed of each mode along the way, then against it.
    private var uses: [[Double]]

    init(_ traits: RoadDraft.WayTraits) {
        times = traits.times
        let base = RoadDraft.Variant(forward: traits.forward, backward: traits.backward)
        uses = ([base] + traits.variants).map { variant in
            (variant.forward + variant.backward).flatMap { [Double($0.access.rawValue), $0.speed] }
        }
    }

    /// The text of traits; empty where nothing is different at times.
    static func text(_ traits: RoadDraft.WayTraits) -> String {
        guard !traits.times.isEmpty else { return "" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(StoredPassages(traits)) else { return "" }
        return String(decoding: json, as: UTF8.self)
    }

    /// Reads a text; nil for one that is not of a network with so many modes.
    init?(_ text: String, modes: Int) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)),
            1...RoadDraft.timeLimit ~= read.times.count, read.uses.count == 1 << read.times.count,
            read.uses.allSatisfy({ use in
                use.count == 4 * modes
                    && stride(from: 0, to: use.count, by: 2).allSatisfy { place in
                        [0, 1, 2].contains(use[place])
                            && (use[place] == 0 || 0.1...1000 ~= use[place + 1])
                    }
            })
        else { return nil }
        self = read
    }

    /// The passages in a direction.
    func passages(isBackward: Bool) -> TimedPassages {
        TimedPassages(
            times: times,
            passages: uses.map { use in
                let own = isBackward ? use.suffix(use.count / 2) : use.prefix(use.count / 2)
                let numbers = Array(own)
                return stride(from: 0, to: numbers.count, by: 2).map { place in
                    RoadDraft.Passage(
                        access: RoadAccess(rawValue: UInt8(numbers[place])) ?? .closed,
                        speed: numbers[place + 1])
                }
            })
    }
}

extension RoadNetwork {
    /// The edges whose use is different at times, ascending, each with its passages.
    public func timedEdges() -> [(edge: Int, passages: TimedPassages)] {
        let modeCount = modes.count
        return mapped.withBytes { bytes in
            var known: [Int: StoredPassages] = [:]
            var found: [(edge: Int, passages: TimedPassages)] = []
            for edge in 0..<edgeCount {
                let link = file.number(.edgeLinks, edge, bytes)
                let traits = file.number(.linkTraits, link / 2, bytes)
                let number = Int(bytes.uint32(at: file.offset(.traits, traits) + 4 + 4 * 6))
                guard number != 0 else { continue }
                if known[number] == nil {
                    known[number] = StoredPassages(file.text(number, bytes), modes: modeCount)
                }
                guard let stored = known[number] else { continue }
                found.append((edge, stored.passages(isBackward: link & 1 == 1)))
            }
            return found
        }
    }

    /// The tags of an edge's road that hold at times only, `key=value`.
    public func conditions(of edge: Int) -> [String] {
        let link = link(of: edge).link
        return mapped.withBytes { bytes in
            let at = file.offset(.traits, file.number(.linkTraits, link, bytes))
            let number = Int(bytes.uint32(at: at + 4 + 4 * 5))
            guard number != 0 else { return [] }
            return file.text(number, bytes).split(separator: "\n").map(String.init)
        }
    }
}
