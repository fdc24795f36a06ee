// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import EventLog
internal import Site
internal import Terminal

struct LogVerify: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check every event's bytes against the log's hashes.",
        discussion: """
            Checks the log's own file and its archives, that each archive continues the one before \
            it, and that the file's indexes agree with the events. Exits 1 at the first fault. \
            Where no cairn-logd runs the files are read here, and nothing is written. JSON: one \
            line with checkedThrough, head, fault, and by: cairn-logd or files.
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "Start after this sequence number, as the end of a removed archive.")
    var after: Int64 = 0
    @Option(help: "Events to check per second, 1000 or more; unlimited by default.")
    var pace: Int?

    func validate() throws {
        guard after >= 0 else { throw ValidationError("--after takes 0 or more.") }
        guard pace ?? 1_000 >= 1_000 else { throw ValidationError("--pace takes 1000 or more.") }
    }

    private struct Line: Encodable {
        var page: VerifyPage
        var by: String
        var erasures: [Erasure]

        private enum CodingKeys: String, CodingKey { case by, erasures }

        func encode(to encoder: any Encoder) throws {
            try page.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(by, forKey: .by)
            if !erasures.isEmpty { try container.encode(erasures, forKey: .erasures) }
        }
    }

    func perform(_ session: Session) async throws {
        let log = try CheckedLog(session)
        let head = try await log.head()
        guard after == 0 || after < head else {
            throw Failure(
                .invalidParameter,
                "--after \(after): expected 0 to \(max(0, head - 1)); the log ends at \(head)")
        }
        var position = after
        let limit = pace.map { min($0 / 10, 10_000) } ?? 10_000
        while true {
            let page = try await log.verify(after: position, limit: limit)
            if let pace {
                let checked = max(0, page.checkedThrough - position)
                try await Task.sleep(for: .seconds(Double(checked) / Double(pace)))
            }
            let isEnd =
                page.fault != nil || page.checkedThrough >= page.head
                || page.checkedThrough <= position
            position = page.checkedThrough
            guard isEnd else { continue }
            let erasures = try await log.erasures()
            if session.output.isJSON {
                try session.output.record(Line(page: page, by: log.name, erasures: erasures))
            }
            if let fault = page.fault {
                throw Failure(
                    .corrupt, "event \(fault.position): \(fault.message) (\(log.sentence))")
            }
            if !session.output.isJSON {
                try session.output.line(
                    (after > 0 ? "events \(after + 1) to \(position)" : "\(position) events")
                        + " are intact, chain hash \(page.chainHash) (\(log.sentence))")
                try session.output.lines(
                    erasures.map {
                        "\($0.eventCount) of them were erased, recorded as event \($0.sequence) at "
                            + "\($0.at.displayText)"
                    })
            }
            return
        }
    }
}

/// An erasure that the log records.
private struct Erasure: Encodable {
    var sequence: Int64
    var at: Timestamp
    var eventCount: Int

    init(_ record: RecordedEvent) throws(Failure) {
        sequence = record.globalPosition
        at = record.recordedAt
        eventCount = try SiteErased.decode(record.event).eventCount
    }
}

/// A log checked by the process that serves it, or in this process if it is not served.
private enum CheckedLog {
    case service(LogReader)
    case files(ArchivedLogReader)

    /// The log of a site; throws `Failure` when it is not served and cannot be read.
    init(_ session: Session) throws {
        if session.isUp {
            self = .service(try session.log())
            return
        }
        try session.site.missLog()
        self = .files(try ArchivedLogReader(path: session.site.logFile))
    }

    func head() async throws(Failure) -> Int64 {
        switch self {
        case .service(let log): try await log.head().head
        case .files(let log): try log.head()
        }
    }

    func verify(after: Int64, limit: Int) async throws(Failure) -> VerifyPage {
        switch self {
        case .service(let log): try await log.verify(after: after, limit: limit)
        case .files(let log): try log.verify(after: after, limit: limit)
        }
    }

    /// The erasures of personal data, the first one first.
    func erasures() async throws(Failure) -> [Erasure] {
        var found: [Erasure] = []
        var after: Int64 = 0
        while true {
            let events: [RecordedEvent]
            switch self {
            case .service(let log):
                events = try await log.read(
                    ReadRequest(after: after, limit: 1_000, stream: .siteErasures)
                ).events
            case .files(let log):
                events = try log.read(
                    ReadRange(after: after, limit: 1_000, filter: .stream(.siteErasures))
                ).events
            }
            guard let last = events.last else { return found }
            for record in events { found.append(try Erasure(record)) }
            after = last.globalPosition
        }
    }

    var name: String {
        switch self {
        case .service: "cairn-logd"
        case .files: "files"
        }
    }

    var sentence: String {
        switch self {
        case .service: "cairn-logd checked them"
        case .files: "no cairn-logd runs; the files were read"
        }
    }
}
