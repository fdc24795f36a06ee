// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Bus
public import CairnModel
internal import Daemon
internal import EventLog
internal import FoundationEssentials
public import Logging
internal import Platform
public import Site

/// The log of a site as a service: `log.req` answers appends and reads, `log.tail` publishes what has
/// been committed.
///
/// Whatever appends have gathered are one commit, which the bus thread then publishes and answers, in the order of
/// the log; brief ones it makes itself, others a thread of their own (``LogWriter``). Reads go to threads with connections
/// of their own. It knows streams, positions and bytes, and decodes no payload.
public final class LogService: Sendable {
    private let writer: LogWriter
    private let readers: LogReaders
    private let tail: LogTail
    private let upkeep: LogUpkeep
    private let logger: Logger

    /// Opens the site's log and begins to serve.
    ///
    /// Throws `Failure` as `SQLiteEventStore` does, `notFound` when the log is missing that the site has had, and
    /// `conflict` when another process serves the endpoints.
    public init(site: Site, bus: BusThread, logger: Logger) throws(Failure) {
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
            // On a full disk, say: the log serves all the same.
            logger.warning("log not noted", metadata: ["reason": "\(error)"])
        }
        self.logger = logger
        let (incarnation, failpoints) = (store.incarnation, Failpoints())
        readers = try LogReaders(path: site.logFile, logger: logger)
        tail = try LogTail(
            bus: bus,
            head: LogHead(head: head, categories: categories, incarnation: incarnation))
        writer = try LogWriter(
            store, bus: bus, tail: tail, logger: logger, failpoints: failpoints)
        upkeep = LogUpkeep(
            path: site.logFile, writer: writer, logger: logger, failpoints: failpoints)
        // What an end in the middle of an archive has left.
        _ = try upkeep.ask(UUID(), .evict)
        let (writer, readers, tail, upkeep) = (writer, readers, tail, upkeep)
        try bus.bindRouter(.logRequests) { request in
            Self.dispatch(request, writer, readers, tail, upkeep)
        }
    }

    /// On the bus thread: hands a request to the thread that does it.
    private static func dispatch(
        _ request: IncomingRequest, _ writer: LogWriter, _ readers: LogReaders, _ tail: LogTail,
        _ upkeep: LogUpkeep
    ) {
        do throws(Failure) {
            switch try request.metadata().operation {
            case "append": try writer.append(request)
            case "claim": try writer.claim(request)
            case "read": try readers.enqueue(.read, request)
            case "verify": try readers.enqueue(.verify, request)
            case "head":
                var head = tail.head
                head.time = Timestamp(microseconds: WallClock.microseconds())
                request.reply(encoding: head)
            case "archive":
                let asked = try request.message.decode(ArchiveRequest.self)
                request.reply(
                    encoding: try upkeep.ask(asked.id, .archive(through: asked.through)))
            case "backup":
                let asked = try request.message.decode(BackupRequest.self)
                request.reply(encoding: try upkeep.ask(asked.id, .backup(path: asked.path)))
            case let other:
                throw Failure(
                    .notFound,
                    "the log has no operation '\(other.prefix(40))'; it has append, claim, read, head, "
                        + "verify, archive and backup")
            }
        } catch {
            request.reply(failure: error)
        }
    }

    /// Takes no more requests, commits and answers what is queued, and moves the write-ahead log into
    /// the file.
    ///
    /// Blocks until that is done; stop the bus afterwards, so that the answers still go out.
    public func stop() {
        upkeep.stop()
        readers.stop()
        writer.stop()
        tail.stop()
        logger.info("log closed", metadata: ["head": "\(tail.head.head)"])
    }
}
