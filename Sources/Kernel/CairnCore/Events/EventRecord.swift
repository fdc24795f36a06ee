// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials
internal import Platform

/// The name of an event stream, `category-id`: the category is the text before the first `-`.
public struct StreamName: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The text, 3–200 UTF-8 bytes.
    public let rawValue: String

    /// Nil unless there is a non-empty category, a `-`, a non-empty id, and 200 bytes at most.
    public init?(rawValue: String) {
        let text = rawValue.utf8
        guard text.count <= 200, let dash = text.firstIndex(of: UInt8(ascii: "-")),
            dash != text.startIndex, text.index(after: dash) != text.endIndex
        else { return nil }
        self.rawValue = rawValue
    }

    private init(trusted rawValue: String) { self.rawValue = rawValue }

    /// `map-<name>`.
    public static func map(_ name: MapName) -> StreamName {
        StreamName(trusted: "map-" + name.rawValue)
    }

    /// `job-<uuid>`.
    public static func job(_ id: JobID) -> StreamName {
        StreamName(trusted: UUIDText.text(id.rawValue.words, inCapitals: false, after: "job-"))
    }

    /// The job of a job stream; nil for any other name.
    public var job: JobID? {
        UUIDText.words(rawValue, after: "job-").map { JobID(rawValue: UUID(words: $0)) }
    }

    /// `locator-<name>`.
    public static func locator(_ name: String) -> StreamName {
        StreamName(trusted: "locator-" + name)
    }

    /// `network-<name>`.
    public static func network(_ name: String) -> StreamName {
        StreamName(trusted: "network-" + name)
    }

    /// `site-blobs`.
    public static let siteBlobs = StreamName(trusted: "site-blobs")
    /// Erasures of personal data: `site-erasures`.
    public static let siteErasures = StreamName(trusted: "site-erasures")
    /// Changes of the access rules: `site-access`.
    public static let siteAccess = StreamName(trusted: "site-access")

    /// The text before the first `-`.
    public var category: String {
        String(rawValue.utf8.prefix { $0 != UInt8(ascii: "-") }) ?? rawValue
    }

    /// Whether the category is that one; cheaper than to make its text.
    public func isOf(category: String) -> Bool {
        var rest = rawValue.utf8[...]
        for byte in category.utf8 { guard rest.popFirst() == byte else { return false } }
        return rest.first == UInt8(ascii: "-")
    }

    /// The text.
    public var description: String { rawValue }
}

/// The origin of an event.
public struct EventMetadata: Hashable, Sendable, Codable {
    /// The command or event that led to this one.
    public var causation: UUID?
    /// The request or job that the event belongs to.
    public var correlation: UUID?
    /// The user that caused it: a user name, or `local` for the site's own operating-system user.
    public var actor: String?
    /// The service and build that wrote it, `cairn-mapstate/0.1.0`.
    public var producer: String?

    /// Makes metadata; everything is optional.
    public init(
        causation: UUID? = nil, correlation: UUID? = nil, actor: String? = nil,
        producer: String? = nil
    ) {
        self.causation = causation
        self.correlation = correlation
        self.actor = actor
        self.producer = producer
    }
}

/// An event that has not been appended yet.
public struct NewEvent: Hashable, Sendable, Codable {
    /// Chosen by the producer; the log stores one event per id for ever.
    public var id: UUID
    /// The event's type, `map.layer.added`.
    public var type: String
    /// The version of the payload's form, from 1.
    public var schema: Int
    /// The payload: UTF-8 JSON for every event of this build.
    ///
    /// The log never decodes it.
    public var data: Data
    /// Origin of the event.
    public var metadata: EventMetadata

    /// Makes an event.
    public init(id: UUID, type: String, schema: Int, data: Data, metadata: EventMetadata) {
        self.id = id
        self.type = type
        self.schema = schema
        self.data = data
        self.metadata = metadata
    }
}

/// An event as the log holds it.
public struct RecordedEvent: Hashable, Sendable, Codable {
    /// The place in the whole log: 1, 2, 3 … without a gap.
    ///
    /// Users call it the sequence number.
    public var globalPosition: Int64
    /// The stream.
    public var stream: StreamName
    /// The place in the stream, from 0, without a gap.
    public var streamPosition: Int64
    /// The log's clock at commit, never earlier than the event before.
    public var recordedAt: Timestamp
    /// The event as appended.
    public var event: NewEvent

    /// Makes a record.
    public init(
        globalPosition: Int64, stream: StreamName, streamPosition: Int64, recordedAt: Timestamp,
        event: NewEvent
    ) {
        self.globalPosition = globalPosition
        self.stream = stream
        self.streamPosition = streamPosition
        self.recordedAt = recordedAt
        self.event = event
    }
}

/// The optimistic-concurrency condition of an append to a stream; in JSON the position, or the
/// case's name.
public enum ExpectedVersion: Hashable, Sendable, Codable {
    /// The stream's last position is exactly this.
    case exact(Int64)
    /// The stream has no event.
    case noStream
    /// The stream has at least one event.
    case streamExists
    /// No condition.
    case any

    /// Reads a number or one of the three names.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let position = try? container.decode(Int64.self) {
            self = .exact(position)
            return
        }
        switch try container.decode(String.self) {
        case "noStream": self = .noStream
        case "streamExists": self = .streamExists
        case "any": self = .any
        case let text:
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected a stream position, 'noStream', 'streamExists' or "
                    + "'any', not '\(text.prefix(40))'")
        }
    }

    /// Writes a number or one of the three names.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .exact(let position): try container.encode(position)
        case .noStream: try container.encode("noStream")
        case .streamExists: try container.encode("streamExists")
        case .any: try container.encode("any")
        }
    }
}

/// Events for one stream, with the expected version.
public struct StreamAppend: Hashable, Sendable, Codable {
    /// The stream.
    public var stream: StreamName
    /// The condition on the stream.
    public var expected: ExpectedVersion
    /// The events in order, at least one.
    public var events: [NewEvent]

    /// Makes an append.
    public init(stream: StreamName, expected: ExpectedVersion, events: [NewEvent]) {
        self.stream = stream
        self.expected = expected
        self.events = events
    }
}

/// The positions of an accepted append.
public struct AppendResult: Hashable, Sendable, Codable {
    /// The global position of the first event.
    public var firstPosition: Int64
    /// The global position of the last event.
    public var lastPosition: Int64
    /// Whether the append was a repeat (same ids, same bytes), and so nothing was written.
    public var isRepeat: Bool
    /// The log's clock at the commit: `recordedAt` of every event of the append.
    public var recordedAt: Timestamp

    /// Makes a result.
    public init(
        firstPosition: Int64, lastPosition: Int64, isRepeat: Bool, recordedAt: Timestamp
    ) {
        self.firstPosition = firstPosition
        self.lastPosition = lastPosition
        self.isRepeat = isRepeat
        self.recordedAt = recordedAt
    }
}
