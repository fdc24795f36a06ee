// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Jobs
internal import Terminal

/// A job as a command line names it: its id, the beginning of its id, or `last`.
struct NamedJob: Sendable {
    static let help: ArgumentHelp =
        "The job: its id, at least 4 characters that it begins with, or 'last'."

    private enum Name: Sendable {
        case whole(JobID)
        case beginning(String)
        case last
    }

    private let name: Name

    /// Reads an argument.
    static func read(_ text: String) throws -> NamedJob {
        if let id = JobID(text) { return NamedJob(name: .whole(id)) }
        let folded = text.lowercased()
        if folded == "last" { return NamedJob(name: .last) }
        let digits = folded.hasPrefix("j") ? folded.dropFirst() : folded[...]
        guard folded.count >= 4, digits.allSatisfy({ $0.isHexDigit || $0 == "-" }) else {
            throw Failure(
                .invalidParameter,
                "'\(text.prefix(80))' is not a job: expected 'j' and 32 hexadecimal digits or at "
                    + "least 4 characters of that, a UUID, or 'last'")
        }
        return NamedJob(name: .beginning("j" + digits.filter { $0 != "-" }))
    }

    /// The only job of that name; `conflict` lists the candidates where there are several.
    func id(_ session: Session) async throws -> JobID {
        if case .whole(let id) = name { return id }
        let jobs = try await session.jobs()
        switch name {
        case .whole(let id): return id
        case .last:
            guard let last = jobs.first else { throw Failure(.notFound, "the site has no job") }
            return last.id
        case .beginning(let text):
            let found = jobs.filter { $0.id.description.hasPrefix(text) }
            guard let only = found.first else {
                throw Failure(.notFound, "no job begins with '\(text)'")
            }
            guard found.count == 1 else {
                let listed = found.prefix(10).map {
                    "\($0.id) (\($0.kind.rawValue), \($0.submittedAt.displayText))"
                }
                let more =
                    found.count > listed.count ? ", and \(found.count - listed.count) more" : ""
                throw Failure(
                    .conflict,
                    "\(found.count) jobs begin with '\(text)': "
                        + listed.joined(separator: ", ") + more)
            }
            return only.id
        }
    }
}

extension Session {
    /// The jobs of the site, newest first.
    func jobs() async throws -> [JobDescription] {
        guard isOfFiles else {
            return try await client().jobs().sorted { $0.submittedAt > $1.submittedAt }
        }
        var table = JobTable()
        try await forEachEvent(category: "job") { _ = try table.apply($0) }
        return table.descriptions
    }

    /// A job; throws `Failure` (`notFound`).
    func job(_ id: JobID) async throws -> JobDescription {
        guard isOfFiles else { return try await client().job(id) }
        guard let state = try await job(id, through: head()) else {
            throw Failure(.notFound, "there is no job \(id)")
        }
        return state.description
    }
}
