// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Platform
internal import Terminal

/// A job as a JSON line: its description with the id and times as text.
struct JobLine: Encodable {
    let job: JobDescription
    /// Messages since the last line, and the ticket to resume from; only where a ticket is kept.
    var news: [JobMessage]?
    var ticket: JobTicket?

    private enum CodingKeys: String, CodingKey {
        case id, submittedAt, endedAt, clientState, serverState, news, ticket
    }

    func encode(to encoder: any Encoder) throws {
        try job.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("\(job.id)", forKey: .id)
        try container.encode(job.submittedAt.displayText, forKey: .submittedAt)
        try container.encodeIfPresent(job.endedAt?.displayText, forKey: .endedAt)
        try container.encode(JobClientState(job), forKey: .clientState)
        try container.encode(JobServerState(job.status).esriName, forKey: .serverState)
        try container.encodeIfPresent(news, forKey: .news)
        try container.encodeIfPresent(ticket, forKey: .ticket)
    }
}

extension JobDescription {
    /// The job as text.
    var lines: [String] {
        var lines = [
            "\(id)  \(kind.rawValue)  \(stateText)",
            "\(ProgressBar.text(percent: progress, columns: 30)) "
                + "\(progress.displayText(decimals: 1))%, "
                + "\(completedChunkCount) of \(chunkCount) chunks",
            "submitted  \(submittedAt.displayText)",
        ]
        if let endedAt { lines.append("ended      \(endedAt.displayText)") }
        if let actor { lines.append("actor      \(actor)") }
        if let parent { lines.append("started by \(parent)") }
        if lostAttemptCount > 0 {
            lines.append("attempts that ended with their worker's death: \(lostAttemptCount)")
        }
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            lines.append("parameter  \(name)=\(value)")
        }
        for message in messages { lines.append("\(message.severity.rawValue): \(message.text)") }
        if let failure { lines.append("failed: \(failure)") }
        if let result {
            lines.append("result     \(result.byteCount) bytes, \(result.mediaType)")
        }
        lines.append("sequence   \(sequence)")
        return lines
    }
}

extension Session {
    /// Sends a command to a job and prints the job.
    func send(_ command: JobCommand, to id: JobID) async throws {
        let job = try await client().command(job: id, command, actor: Session.actor)
        if output.isJSON {
            try output.record(JobLine(job: job))
        } else {
            try output.line("\(job.id) is \(job.stateText)")
        }
    }
}
