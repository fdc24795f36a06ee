// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Bus
package import CairnCore
internal import CoreMetrics
internal import Glibc
package import Logging
internal import Platform
package import Settings
package import Site

/// One Cairn process: its site, its bus thread, its log output, and its end.
///
/// ```swift
/// await Daemon.run("cairn-logd", options) { daemon in
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
    /// Logger to standard error; its level is that of ``Setting/log``.
    package let logger: Logger
    /// What the process counts; written into the site's run folder every few seconds.
    package let metrics: MetricsRegistry
    private let settings: Settings
    /// Pace of snapshots: ``Setting/snapshotEvents``, or the default.
    package var snapshotPace: SnapshotPace {
        settings.whole(.snapshotEvents).map { SnapshotPace(eventCount: $0) } ?? .usual
    }
    /// Number of changed features that triggers a compaction; nil for the default.
    package var compactionFeatureCount: Int? { settings.whole(.compactionFeatures) }
    private let shutdown = ShutdownGate()

    private init(
        name: String, site: Site, bus: BusThread, logger: Logger, metrics: MetricsRegistry,
        settings: Settings
    ) {
        self.settings = settings
        self.metrics = metrics
        self.name = name
        self.site = site
        self.bus = bus
        self.logger = logger
    }

    /// Runs a process to its end and exits with its status; never returns.
    ///
    /// 0: `body` returned, or the settings are right and were only to be checked. 64: no site was
    /// named, or a setting is wrong. 78: a setting in the file is. 69: something it needs is
    /// unavailable. 75: the process may run once per site and already does, or another has taken
    /// over its writing. 1: any other failure. Every failure is one sentence on standard error. The
    /// first SIGTERM or SIGINT ends `untilShutdown()`; a second one ends the process at once, which
    /// must be as safe as `kill -9`.
    ///
    /// - Parameters:
    ///   - name: The process's name; also names its lock.
    ///   - options: What every process is given.
    ///   - settings: The common settings and its own; nil to read the common ones.
    ///   - isSingleInstance: Whether only one such process may serve the site.
    ///   - check: What is wrong with the settings beside their form, a sentence each; with the site
    ///     where they are only to be checked and it exists.
    ///   - body: The process's work; when it returns, sockets are closed (within 1 s).
    package static func run(
        _ name: String, _ options: DaemonOptions, settings: Settings? = nil,
        isSingleInstance: Bool = true,
        check: (Settings, Site?) -> [String] = { _, _ in [] },
        _ body: @Sendable (Daemon) async throws -> Void
    ) async -> Never {
        PrivateFiles.makeNewFilesPrivate()
        if options.printConfig {
            exit(StandardStream.output.write(Setting.example) ? 0 : 1)
        }
        let settings = settings ?? options.settings()
        refuseFaults(name, settings, options, check)
        let logger = bootstrapLogging(
            name, settings[.log].flatMap(Logger.Level.init(rawValue:)) ?? .info)
        let metrics = MetricsRegistry()
        MetricsSystem.bootstrap(metrics)
        if let seconds = settings.whole(.clockOffset) {
            WallClock.setOffset(microseconds: Int64(seconds) * 1_000_000)
        }
        do {
            guard let path = settings[.site] else { end(name, noSite, status: 64) }
            let site = try Site(openingOrCreating: path)
            let lock = isSingleInstance ? try lockOrEnd(name, site) : nil
            let shortName = String(name.split(separator: " ").last ?? "")
            let bus = try BusThread(name: shortName, runDirectory: site.runDirectory)
            let daemon = Daemon(
                name: name, site: site, bus: bus, logger: logger, metrics: metrics,
                settings: settings)
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

    private static let noSite = "no site: give --site DIRECTORY or set CAIRN_SITE"

    /// Ends the process where a setting is wrong, with a line for each; or because it was only to
    /// check them.
    private static func refuseFaults(
        _ name: String, _ settings: Settings, _ options: DaemonOptions,
        _ check: (Settings, Site?) -> [String]
    ) {
        var sentences = settings.faults.map(\.description)
        if let complaint = Failpoints.complaint { sentences.append(complaint) }
        var site: Site?
        if options.check {
            if let path = settings[.site] {
                do throws(Failure) {
                    site = try Site(reading: path)
                } catch  where error.code != .notFound {
                    sentences.append(error.description)
                } catch {
                    // A start would make it.
                }
            } else {
                sentences.append(noSite)
            }
        }
        sentences += check(settings, site)
        for sentence in sentences { StandardStream.error.write("\(name): \(sentence)\n") }
        let isFile =
            settings.faults.count == sentences.count && settings.faults.allSatisfy(\.isInFile)
        if !sentences.isEmpty { exit(isFile ? 78 : 64) }
        if options.check { exit(0) }
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

    private static func bootstrapLogging(_ name: String, _ level: Logger.Level) -> Logger {
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
