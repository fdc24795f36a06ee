// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform
internal import Synchronization

/// Which identify requests may be answered at once, on the bus thread.
///
/// Handing a task to a thread and its answer back costs more than most clicks do. A click is answered at
/// once when it asks the present state of a map that consists of local datasets alone, and clicks on that
/// map have taken little time of late. Everything that may wait or compute for long goes to a thread.
final class PromptIdentify: Sendable {
    /// The largest payload that is looked into on the bus thread.
    static let byteLimit = 1_024
    /// How long clicks on a map may take on average, in nanoseconds.
    static let costLimit: Int64 = 150_000
    /// The largest tolerance of a click, in pixels.
    static let toleranceLimit = 64.0
    /// Maps that are remembered.
    private static let capacity = 1_000

    private let costs = Mutex<[MapName: Int64]>([:])

    /// Whether the request is a click that nothing but computing can hold up.
    static func isClick(_ request: IdentifyRequest) -> Bool {
        request.geometry.coordinateCount == 1 && request.at == nil && request.atTime == nil
            && !request.explain
            && request.tolerance <= toleranceLimit
    }

    /// Whether every layer of the map lies in a dataset of this site.
    static func isLocal(_ map: MapDescription) -> Bool {
        map.layers.allSatisfy { $0.kind == .group || $0.kind.dataset != nil }
    }

    /// Whether clicks on the map are cheap, as far as is known.
    func isCheap(_ map: MapName) -> Bool {
        costs.withLock { $0[map] ?? .max } <= Self.costLimit
    }

    /// Remembers what a click has cost, the last few weighing most.
    func note(_ map: MapName, nanoseconds: Int64) {
        costs.withLock { costs in
            if let cost = costs[map] {
                costs[map] = (3 * cost + nanoseconds) / 4
            } else if costs.count < Self.capacity {
                costs[map] = nanoseconds
            }
        }
    }
}
