// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Replay
internal import Terminal

struct LogCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Read, check, archive, back up and restore the event log.",
        subcommands: [
            LogTail.self, LogShow.self, LogVerify.self, LogHeadCommand.self,
            LogArchiveCommand.self, LogBackupCommand.self, LogRestore.self,
            LogStateHash.self, LogDiff.self,
        ])
}

/// An event as a JSON line, with its payload as JSON.
struct EventLine: Encodable {
    let event: RecordedEvent

    private enum CodingKeys: String, CodingKey {
        case sequence, stream, streamPosition, recordedAt, id, type, schema, data, metadata
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(event.globalPosition, forKey: .sequence)
        try container.encode(event.stream, forKey: .stream)
        try container.encode(event.streamPosition, forKey: .streamPosition)
        try container.encode(event.recordedAt.displayText, forKey: .recordedAt)
        try container.encode(event.event.id.uuidString.lowercased(), forKey: .id)
        try container.encode(event.event.type, forKey: .type)
        try container.encode(event.event.schema, forKey: .schema)
        try container.encode(event.event.metadata, forKey: .metadata)
        if let json = try? CairnJSON.decode(JSONValue.self, from: event.event.data) {
            try container.encode(json, forKey: .data)
        } else {
            try container.encode(event.event.data, forKey: .data)
        }
    }
}

extension RecordedEvent {
    /// The event as a line of text.
    var line: String {
        "\(globalPosition)  \(recordedAt.displayText)  \(stream)/\(streamPosition)  \(summary)"
    }
}

struct LogTail: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Show the last events.",
        discussion: "JSON: one line per event, its payload under \"data\".")

    @OptionGroup var common: CommonOptions
    @Option(name: [.customShort("n"), .long], help: "How many events.") var count = 20
    @Flag(name: .shortAndLong, help: "Follow events as they are recorded.") var follow = false
    @Option(
        help: "With --follow: end after so many seconds.", transform: Reading.timeLimit)
    var timeout: Duration?
    @Option(help: "Only this category: map, job, locator.") var category: String?
    @Option(help: "Only this stream: map-World.", transform: Reading.stream)
    var stream: StreamName?

    func validate() throws {
        guard 0...1_000_000 ~= count else { throw ValidationError("--count takes 0 to 1000000.") }
    }

    func perform(_ session: Session) async throws {
        if follow { _ = try session.log() }
        let position = try await last(session)
        guard follow else { return }
        try await Session.until(timeout) {
            try await session.follow(
                after: position, category: category ?? stream?.category
            ) { event in
                if stream == nil || stream == event.stream { try session.show(event) }
            }
        }
    }

    /// Prints the last events; returns the position to continue from.
    private func last(_ session: Session) async throws -> Int64 {
        let head = try await session.head()
        let isFiltered = stream != nil || category != nil
        let start = isFiltered ? 0 : max(0, head - Int64(count))
        var kept: [RecordedEvent] = []
        try await session.forEachEvent(
            after: start, through: head, stream: stream, category: category
        ) { event in
            kept.append(event)
            if kept.count > 2 * count + 100 { kept.removeFirst(kept.count - count) }
        }
        for event in kept.suffix(count) { try session.show(event) }
        return head
    }
}

struct LogShow: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one event whole.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "Its sequence number.") var sequence: Int64

    func perform(_ session: Session) async throws {
        let page =
            sequence < 1
            ? nil : try await session.readableLog().read(ReadRequest(after: sequence - 1, limit: 1))
        guard let event = page?.events.first, event.globalPosition == sequence else {
            let head = try await session.head()
            throw Failure(.notFound, "there is no event \(sequence): the log has 1 to \(head)")
        }
        if session.output.isJSON {
            try session.output.record(EventLine(event: event))
            return
        }
        let metadata = event.event.metadata
        var lines = [
            event.line, "id         \(event.event.id.uuidString.lowercased())",
            "type       \(event.event.type), schema \(event.event.schema)",
        ]
        if let actor = metadata.actor { lines.append("actor      \(actor)") }
        if let producer = metadata.producer { lines.append("producer   \(producer)") }
        if let causation = metadata.causation { lines.append("causation  \(causation)") }
        lines.append("data       \(String(decoding: event.event.data, as: UTF8.self))")
        try session.output.lines(lines)
    }
}

struct LogHeadCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "head", abstract: "Print the sequence number of the last event.")

    @OptionGroup var common: CommonOptions

    func perform(_ session: Session) async throws {
        let head = try await session.head()
        if session.output.isJSON {
            try session.output.record(LogHead(head: head))
        } else {
            try session.output.line("\(head)")
        }
    }
}

extension Session {
    /// Prints one event.
    func show(_ event: RecordedEvent) throws {
        if output.isJSON {
            try output.record(EventLine(event: event))
        } else {
            try output.line(event.line)
        }
    }
}
