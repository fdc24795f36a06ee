// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials

/// A client's handle of a job: enough to resume it from any process that reaches the site, without
/// losing or repeating a message.
///
/// As JSON: `{"incarnation":"…","jobId":"j…","lastSequence":42,"site":"…","version":1}`, with
/// `submission` until the site is known to have recorded the job, and `command` and `commandId`
/// until it is known to have recorded a command. Ids are kept, so retries are idempotent.
public struct JobTicket: Hashable, Sendable, Codable {
    /// Newest ticket version of this build.
    public static let newestVersion = 1

    /// The site's id (`cairn.json`).
    public var site: UUID
    /// The job.
    public var jobID: JobID
    /// Everything up to this sequence number has been handled; 0 for none.
    public var lastSequence: Int64
    /// The incarnation of the log with that number; nil while unknown, as in tickets of earlier
    /// builds.
    public var incarnation: UUID?
    /// The job, while the site may not have recorded it.
    public var submission: JobSubmission?
    /// A command, while the site may not have recorded it.
    public var command: JobCommand?
    /// The command's id.
    public var commandID: UUID?
    private var version = Self.newestVersion

    private enum CodingKeys: String, CodingKey {
        case site, lastSequence, incarnation, submission, command, version
        case jobID = "jobId"
        case commandID = "commandId"
    }

    /// A ticket of a recorded job.
    public init(site: UUID, jobID: JobID, lastSequence: Int64 = 0) {
        self.site = site
        self.jobID = jobID
        self.lastSequence = lastSequence
    }

    /// A job that is still to be submitted.
    public init(site: UUID, submitting submission: JobSubmission) {
        self.init(site: site, jobID: submission.id)
        self.submission = submission
    }

    /// A copy of the ticket with a pending command.
    public func sending(_ command: JobCommand, id: UUID) -> JobTicket {
        var ticket = self
        ticket.command = command
        ticket.commandID = id
        return ticket
    }

    /// Parses a ticket; throws `Failure`: `invalidParameter` that names the fault, `newerVersion`.
    public init(parsing bytes: Data) throws(Failure) {
        struct Version: Decodable { var version: Int }
        let version = try CairnJSON.decode(Version.self, from: bytes).version
        guard version <= Self.newestVersion else {
            throw Failure(
                .newerVersion,
                "the ticket has version \(version); this build knows version \(Self.newestVersion)")
        }
        self = try CairnJSON.decode(JobTicket.self, from: bytes)
        guard lastSequence >= 0, submission.map({ $0.id == jobID }) ?? true,
            (command == nil) == (commandID == nil)
        else {
            throw Failure(
                .invalidParameter,
                "the ticket contradicts itself: expected a sequence number of at least 0, the "
                    + "submission of the same job, and a command with its id")
        }
    }
}
