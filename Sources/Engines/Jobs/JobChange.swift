// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials

/// An event that results from a decision, with its deterministic id.
///
/// The id is derived from the job and the change, so a repeated decision, on whatever machine,
/// appends the same id, and the log keeps one.
public struct JobChange: Hashable, Sendable {
    /// The event's id.
    public let id: UUID
    /// The event.
    public let event: JobEvent

    init(_ event: JobEvent, id: UUID) {
        self.event = event
        self.id = id
    }

    /// `name` is unique within the job.
    init(_ event: JobEvent, job: JobID, name: String) {
        self.init(event, id: job.rawValue.named(name))
    }

    static func commandEventID(job: JobID, command: UUID) -> UUID {
        job.rawValue.named("command/" + command.uuidString)
    }

    /// The append of changes decided on a state at `streamPosition` (−1 for a new job).
    public static func append(
        _ changes: [JobChange], to job: JobID, at streamPosition: Int64, metadata: EventMetadata
    ) throws(Failure) -> StreamAppend {
        var events: [NewEvent] = []
        for change in changes {
            events.append(try change.event.payload.newEvent(id: change.id, metadata: metadata))
        }
        return StreamAppend(
            stream: .job(job),
            expected: streamPosition < 0 ? .noStream : .exact(streamPosition), events: events)
    }
}
