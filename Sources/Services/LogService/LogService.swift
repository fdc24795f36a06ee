// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Bus
package import CairnCore
package import Daemon
internal import EventLog
internal import FoundationEssentials
package import Logging
internal import Platform
package import Site

/// The log of a site as a service: `log.req` answers appends and reads, `log.tail` publishes
/// commits.
///
/// Queued appends are committed as a group, which the bus thread then publishes and answers in log
/// order. Brief groups are committed on the bus thread itself, others on a thread of their own
/// (``LogWriter``). Reads run on threads with connections of their own. The service handles
/// streams, positions and bytes, and decodes no payload.
package final class LogService: Sendable {
    private let writer: LogWriter
    private let readers: LogReaders
    private let tail: LogTail
    private let upkeep: LogUpkeep
    private let logger: Logger

    /// Opens the site's log and begins to serve.
    ///
    /// Throws `Failure` as `SQLiteEventStore` does, `notFound` when a log that the site once had is
    /// missing, and `conflict` when another process serves the endpoints.
    package init(
        site: Site, bus: BusThread, logger: Logger, metrics: MetricsRegistry = MetricsRegistry()
    ) throws(Failure) {
        try site.missLog()
        let store = try SQLiteEventStore(path: site.logFile) {
            Timestamp(microseconds: WallClock.microseconds())
        }
        let (head, categories) = (try store.head(), try store.categoryHeads())
        logger.info(
            "log opened",
            metadata: [
                "head": "\(head)", "library": "\(SQLiteEventStore.libraryVersion)",
                "file": "\(site.logFile)",
            ])
        do throws(Failure) {
            try site.noteLog(store.incarnation)
        } catch {
            // For example on a full disk; the log serves all the same.
            logger.warning("log not noted", metadata: ["reason": "\(error)"])
        }
        self.logger = logger
        let (incarnation, failpoints) = (store.incarnation, Failpoints())
        readers = try LogReaders(path: site.logFile, logger: logger)
        tail = try LogTail(
            bus: bus,
            head: LogHead(head: head, categories: categories, incarnation: incarnation),
            mapHead: try? SharedNumber(settingIn: site.mapHeadPath))
        writer = try LogWriter(
            store, bus: bus, tail: tail, logger: logger, failpoints: failpoints,
            metrics: LogMetrics(metrics, tail: tail))
        upkeep = LogUpkeep(
            path: site.logFile, writer: writer, logger: logger, failpoints: failpoints)
        // Finishes an archive that a crash interrupted.
        _ = try upkeep.ask(UUID(), .evict)
        let operations = operations
        try bus.bindRouter(.logRequests) { request in
            do {
                try operations.handler(for: request)(request)
            } catch {
                request.reply(failure: error as? Failure ?? Failure(.internal, "\(error)"))
            }
        }
    }

    /// Each operation hands a request, on the bus thread, to the thread that processes it.
    var operations: OperationTable<@Sendable (IncomingRequest) throws -> Void> {
        let (writer, readers, tail, upkeep) = (writer, readers, tail, upkeep)
        var table = OperationTable<@Sendable (IncomingRequest) throws -> Void>(
            of: "the log")
        table.on(.append) { request in try writer.append(request) }
        table.on(.claim) { request in try writer.claim(request) }
        table.on(.read) { request in try readers.enqueue(.read, request) }
        table.on(.head) { request in
            var head = tail.head
            head.time = Timestamp(microseconds: WallClock.microseconds())
            request.reply(encoding: head)
        }
        table.on(.verify) { request in try readers.enqueue(.verify, request) }
        table.on(.archive) { request in
            let asked = try Operation.archive.request(in: request.message)
            request.reply(encoding: try upkeep.ask(asked.id, .archive(through: asked.through)))
        }
        table.on(.backup) { request in
            let asked = try Operation.backup.request(in: request.message)
            request.reply(encoding: try upkeep.ask(asked.id, .backup(path: asked.path)))
        }
        return table
    }

    /// Stops accepting requests, commits and answers the queued ones, and checkpoints the
    /// write-ahead log.
    ///
    /// Blocks until that is done. Stop the bus afterwards, so that the answers still go out.
    package func stop() {
        upkeep.stop()
        readers.stop()
        writer.stop()
        tail.stop()
        logger.info("log closed", metadata: ["head": "\(tail.head.head)"])
    }
}
