// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import Logging
internal import Platform
internal import Synchronization

/// Reduces the wake-up latency of the machine's processors while this process is woken up
/// frequently (decision 0182).
final class WakefulProcessors: Sendable {
    private let latency: WakeLatency
    private let microseconds: Int32
    private let demand = Mutex(WakeDemand(wakeUpCount: WakeLatency.wakeUpCount))
    private let logger: Logger

    /// Throws the error of opening `WakeLatency.device`.
    init(microseconds: Int32, logger: Logger) throws(PlatformError) {
        latency = try WakeLatency()
        self.microseconds = microseconds
        self.logger = logger
    }

    /// Checks every tenth of a second, on the bus thread, as long as that runs.
    func start(on bus: BusThread) {
        bus.schedule(every: .milliseconds(WakeDemand.intervalMilliseconds)) { self.look() }
    }

    private func look() {
        demand.withLock { demand in
            guard demand.changes(at: WakeLatency.wakeUpCount) else { return }
            do throws(PlatformError) {
                try latency.demand(microseconds: demand.isMade ? microseconds : nil)
            } catch {
                logger.warning("wake-up latency not set", metadata: ["error": "\(error)"])
            }
        }
    }
}

/// Decides when to request low latency: while the process is woken up 500 times a second, and for a
/// second after.
struct WakeDemand {
    static let intervalMilliseconds = 100
    private static let busyCount = 50
    private static let patience = 10
    private(set) var isMade = false
    private var last: Int
    private var quietCount = 0

    init(wakeUpCount: Int) { last = wakeUpCount }

    /// Updates the demand with the number of wake-ups, once an interval; whether it changes.
    mutating func changes(at wakeUpCount: Int) -> Bool {
        let isBusy = wakeUpCount - last >= Self.busyCount
        last = wakeUpCount
        quietCount = isBusy ? 0 : quietCount + 1
        let wasMade = isMade
        isMade = isBusy || (wasMade && quietCount < Self.patience)
        return isMade != wasMade
    }
}
