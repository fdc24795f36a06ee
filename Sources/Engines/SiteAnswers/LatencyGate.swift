// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Synchronization

/// How long tries have taken of late, map by map, and so whether another is worth it; any thread
/// may ask.
public final class LatencyGate: Sendable {
    /// How long one try may take, in nanoseconds.
    public let tryLimit: Int64
    /// How long tries may take on average, in nanoseconds.
    private let averageLimit: Int64
    /// Maps that are remembered.
    private static let capacity = 1_000

    private let averages = Mutex<[MapName: Int64]>([:])

    /// No memory yet; limits in nanoseconds, that of the average three tenths of the other where it
    /// is not given.
    public init(tryLimit: Int64 = 500_000, averageLimit: Int64? = nil) {
        self.tryLimit = tryLimit
        self.averageLimit = averageLimit ?? tryLimit / 10 * 3
    }

    /// Whether to try; a map on which it took long is tried again after some dozens of requests.
    public func isWorthTrying(_ map: MapName) -> Bool {
        averages.withLock { averages in
            guard let place = averages.index(forKey: map) else { return true }
            let average = averages.values[place]
            if average <= averageLimit { return true }
            averages.values[place] = average - average / 64
            return false
        }
    }

    /// Remembers how long a try took, the last few weighing most; what is beyond ``tryLimit``
    /// counts as that.
    public func note(_ map: MapName, nanoseconds: Int64) {
        let taken = min(max(nanoseconds, 0), tryLimit)
        averages.withLock { averages in
            if let place = averages.index(forKey: map) {
                averages.values[place] = (3 * averages.values[place] + taken) / 4
            } else if averages.count < Self.capacity {
                averages[map] = taken / 4
            }
        }
    }
}
