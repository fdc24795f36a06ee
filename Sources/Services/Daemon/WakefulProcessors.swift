// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import Logging
internal import Platform
internal import Synchronization

/// Has the machine's processors wake up fast while this process is woken up all the time (decision
/// 0182).
final class WakefulProcessors: Sendable {
    private let latency: WakeLatency
    private let microseconds: Int32
    private let demand = Mutex(WakeDemand(wakeUpCount: WakeLatency.wakeUpCount))
    private let logger: Logger

    /// Throws what opening `WakeLatency.device` says.
    init(microseconds: Int32, logger: Logger) throws(PlatformError) {
        latency = try WakeLatency()
        self.microseconds = microseconds
        self.logger = logger
    }

    /// Looks every tenth of a second, on the bus thread, as long as that runs.
    func start(on bus: BusThread) {
        bus.schedule(every: .milliseconds(WakeDemand.intervalMilliseconds)) { self.look() }
    }

    private func look() {
        demand.withLock { demand in
            guard demand.changes(at: WakeLatency.wakeUpCount) else { return }
            do throws(PlatformError) {
                try latency.demand(microseconds: demand.isMade ? microseconds : nil)
            } catch {
                logger.warning("wake latency not asked for", metadata: ["error": "\(error)"])
            }
        }
    }
}

/// When to make the demand: while the process has been woken up 500 times a second, and for a
/// second after.
struct WakeDemand {
    static let intervalMilliseconds = 100
    private static let busyCount = 50
    private static let patience = 10
    private(set) var isMade = false
    private var last: Int
    private var quietCount = 0

    init(wakeUpCount: Int) { last = wakeUpCount }

    /// Hears, once an interval, how often the process has been woken up; whether that changes
    /// anything.
    mutating func changes(at wakeUpCount: Int) -> Bool {
        let isBusy = wakeUpCount - last >= Self.busyCount
        last = wakeUpCount
        quietCount = isBusy ? 0 : quietCount + 1
        let wasMade = isMade
        isMade = isBusy || (wasMade && quietCount < Self.patience)
        return isMade != wasMade
    }
}
