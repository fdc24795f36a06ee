// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Bus
package import CairnCore
internal import CoreMetrics
internal import FoundationEssentials
internal import Glibc
package import Logging
internal import Platform
package import Site

/// One Cairn process: its site, its bus thread, its log output, and its end.
///
/// ```swift
/// await Daemon.run("cairn-logd", sitePath: site) { daemon in
///     let service = try LogService(site: daemon.site, bus: daemon.bus, logger: daemon.logger)
///     await daemon.untilShutdown()
///     service.stop()
/// }
/// ```
package final class Daemon: Sendable {
    /// Name of the process, `cairn-logd`, `cairn-worker --pool identify`.
    package let name: String
    /// The site it serves.
    package let site: Site
    /// The thread that owns every socket of the process.
    package let bus: BusThread
    /// Logger to standard error; its level comes from `CAIRN_LOG` (`trace` … `critical`, `info`).
    package let logger: Logger
    /// What the process counts; written into the site's run folder every few seconds.
    package let metrics: MetricsRegistry
    /// Pace of snapshots: `CAIRN_SNAPSHOT_EVENTS`, for tests, or the default.
    package var snapshotPace: SnapshotPace {
        EnvironmentNumber.snapshotEvents.value.map { SnapshotPace(eventCount: $0) } ?? .usual
    }
    /// Number of changed features that triggers a compaction: `CAIRN_COMPACTION_FEATURES`, for
    /// tests; nil for the default.
    package var compactionFeatureCount: Int? { EnvironmentNumber.compactionFeatures.value }
    private let shutdown = ShutdownGate()

    private init(
        name: String, site: Site, bus: BusThread, logger: Logger, metrics: MetricsRegistry
    ) {
        self.metrics = metrics
        self.name = name
        self.site = site
        self.bus = bus
        self.logger = logger
    }

    /// Runs a process to its end and exits with its status; never returns.
    ///
    /// 0: `body` returned. 64: no site was named. 69: something it needs is unavailable. 75: the
    /// process may run once per site and already does, or another has taken over its writing. 1:
    /// any other failure. Every failure is one sentence on standard error. The first SIGTERM or
    /// SIGINT ends `untilShutdown()`; a second one ends the process at once, which must be as safe
    /// as `kill -9`.
    ///
    /// - Parameters:
    ///   - name: The process's name; also names its lock.
    ///   - sitePath: The site's directory; nil to take `CAIRN_SITE`.
    ///   - isSingleInstance: Whether only one such process may serve the site.
    ///   - body: The process's work; when it returns, sockets are closed (within 1 s).
    package static func run(
        _ name: String, sitePath: String?, isSingleInstance: Bool = true,
        _ body: @Sendable (Daemon) async throws -> Void
    ) async -> Never {
        PrivateFiles.makeNewFilesPrivate()
        let logger = bootstrapLogging(name)
        let metrics = MetricsRegistry()
        MetricsSystem.bootstrap(metrics)
        let complaints =
            [levelComplaint, Failpoints.complaint] + EnvironmentNumber.all.map(\.complaint)
        if let complaint = complaints.lazy.compactMap(\.self).first {
            end(name, complaint, status: 64)
        }
        if let seconds = EnvironmentNumber.clockOffset.value {
            WallClock.setOffset(microseconds: Int64(seconds) * 1_000_000)
        }
        do {
            guard let path = sitePath ?? environment("CAIRN_SITE"), !path.isEmpty else {
                end(name, "no site: give --site DIRECTORY or set CAIRN_SITE", status: 64)
            }
            let site = try Site(openingOrCreating: path)
            let lock = isSingleInstance ? try lockOrEnd(name, site) : nil
            let shortName = String(name.split(separator: " ").last ?? "")
            let bus = try BusThread(name: shortName, runDirectory: site.runDirectory)
            let daemon = Daemon(
                name: name, site: site, bus: bus, logger: logger, metrics: metrics)
            try TerminationWatch.start { daemon.requestShutdown() }
            logger.info("started", metadata: ["site": "\(site.path)", "pid": "\(getpid())"])
            let publication = MetricsPublication(
                metrics, in: site.metrics, process: shortName.replacing("cairn-", with: ""),
                logger: logger)
            publication.start()
            let outcome = await Result { try await body(daemon) }
            publication.stop()
            bus.stop()
            lock?.release()
            try outcome.get()
            try daemon.shutdown.failure.map { throw $0 }
        } catch {
            let failure = Failure(anyError: error)
            end(name, failure.description, status: status(of: failure))
        }
        logger.info("ended")
        exit(0)
    }

    /// Waits for a request to end, by a signal or by `requestShutdown`.
    ///
    /// Returns at once after such a request; any number of tasks may wait.
    package func untilShutdown() async { await shutdown.wait() }

    /// The result of `body`, unless a shutdown is requested first: then nil, and `body` is
    /// cancelled without waiting for it.
    package func untilShutdown<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        try await shutdown.first(or: body)
    }

    /// Requests a shutdown, as SIGTERM does.
    ///
    /// With a failure the process exits with the failure's message and status. Callable on any
    /// thread.
    package func requestShutdown(because failure: Failure? = nil) { shutdown.open(failure) }

    /// Whether a shutdown was requested.
    package var isShuttingDown: Bool { shutdown.isOpen }
}

// MARK: Start and end

extension Daemon {
    private static func lockOrEnd(_ name: String, _ site: Site) throws -> FileLock {
        let path = site.lockPath(name)
        if let lock = try FileLock.tryAcquire(path) { return lock }
        let owner = FileLock.owner(of: path).map { " (process \($0))" } ?? ""
        end(name, "another \(name)\(owner) already serves the site '\(site.path)'", status: 75)
    }

    private static func end(_ name: String, _ sentence: String, status: Int32) -> Never {
        StandardStream.error.write("\(name): \(sentence)\n")
        exit(status)
    }

    private static func status(of failure: Failure) -> Int32 {
        switch failure.code {
        case .unavailable, .logUnavailable, .timedOut: 69
        case .fenced: 75
        default: 1
        }
    }

    private static func environment(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name]
    }

    private static var askedLevel: Logger.Level? {
        environment("CAIRN_LOG").flatMap(Logger.Level.init(rawValue:))
    }

    private static var levelComplaint: String? {
        guard let text = environment("CAIRN_LOG"), askedLevel == nil else { return nil }
        let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        return "CAIRN_LOG is '\(text.prefix(40))': expected one of \(levels)"
    }

    private static func bootstrapLogging(_ name: String) -> Logger {
        let level = askedLevel ?? .info
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        return Logger(label: name)
    }
}

extension Failure {
    /// Converts a thrown error: a failure itself, a failed system call, or `internal`.
    init(anyError error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as PlatformError: self.init(error)
        default: self.init(.internal, "\(error)")
        }
    }
}

extension Result where Failure == any Error {
    init(catching body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
