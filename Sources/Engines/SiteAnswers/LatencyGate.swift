// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Synchronization

/// Recent latency of in-line attempts by map or network, which decides whether another is worth
/// trying.
///
/// Thread-safe.
public final class LatencyGate: Sendable {
    /// Limit of one attempt, in nanoseconds.
    public let tryLimit: Int64
    /// Limit of the moving average, in nanoseconds.
    private let averageLimit: Int64
    /// Capacity, in names.
    private static let capacity = 1_000

    private let averages = Mutex<[String: Int64]>([:])

    /// Creates an empty gate; limits in nanoseconds, the average limit three tenths of the try
    /// limit by default.
    public init(tryLimit: Int64 = 500_000, averageLimit: Int64? = nil) {
        self.tryLimit = tryLimit
        self.averageLimit = averageLimit ?? tryLimit / 10 * 3
    }

    /// Whether to try; a slow map is tried again after some dozens of requests.
    public func isWorthTrying(_ map: MapName) -> Bool { isWorthTrying(map.rawValue) }

    /// Whether to try what has this name.
    func isWorthTrying(_ name: String) -> Bool {
        averages.withLock { averages in
            guard let place = averages.index(forKey: name) else { return true }
            let average = averages.values[place]
            if average <= averageLimit { return true }
            averages.values[place] = average - average / 64
            return false
        }
    }

    /// Records the duration of an attempt, capped at ``tryLimit``, in an exponentially weighted
    /// average.
    public func note(_ map: MapName, nanoseconds: Int64) {
        note(map.rawValue, nanoseconds: nanoseconds)
    }

    /// Records the duration of an attempt on what has this name.
    func note(_ name: String, nanoseconds: Int64) {
        let taken = min(max(nanoseconds, 0), tryLimit)
        averages.withLock { averages in
            if let place = averages.index(forKey: name) {
                averages.values[place] = (3 * averages.values[place] + taken) / 4
            } else if averages.count < Self.capacity {
                averages[name] = taken / 4
            }
        }
    }
}
