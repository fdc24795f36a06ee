// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import JobKinds
internal import Jobs
internal import Platform
internal import Site
internal import Terminal

struct JobCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job", abstract: "Submit, watch and steer long jobs.",
        subcommands: [
            JobKindList.self, JobEstimate.self, JobSubmit.self, JobList.self, JobShow.self,
            JobWatch.self,
            JobPause.self,
            JobResume.self, JobCancel.self, JobResult.self, JobAutopsyCommand.self, JobSweep.self,
        ])
}

struct JobKindList: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "kinds", abstract: "List the kinds of jobs and their parameters.",
        discussion: "JSON: one kind on each line.")

    @OptionGroup var common: CommonOptions

    func perform(_ session: Session) async throws {
        for kind in JobKindDescription.all {
            if session.output.isJSON {
                try session.output.record(kind)
            } else {
                try session.output.lines(kind.lines)
            }
        }
    }
}

extension JobKindDescription {
    fileprivate var lines: [String] {
        ["\(kind.rawValue): \(summary)"] + (input.map { ["  input: \($0)"] } ?? [])
            + parameters.map { parameter in
                let value = parameter.defaultValue.map { " [\($0)]" } ?? ""
                let choices =
                    parameter.choices.isEmpty
                    ? "" : " (\(parameter.choices.joined(separator: ", ")))"
                return "  \(parameter.name)\(value): \(parameter.summary)\(choices)"
            } + ["  product: \(output)"]
    }
}

struct JobList: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the jobs of a site, newest first.")

    @OptionGroup var common: CommonOptions

    func perform(_ session: Session) async throws {
        let jobs = try await session.jobs()
        if session.output.isJSON {
            for job in jobs { try session.output.record(JobLine(job: job)) }
            return
        }
        var table = Table(
            ["job", "kind", "state", "progress", "chunks", "submitted"], numbers: [3, 4])
        for job in jobs {
            table.add([
                "\(job.id)", job.kind.rawValue, job.stateText,
                "\(job.progress.displayText(decimals: 0))%",
                "\(job.completedChunkCount)/\(job.chunkCount)", job.submittedAt.displayText,
            ])
        }
        try session.output.lines(table.lines)
    }
}

struct JobShow: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a job, now or as it was.")

    @OptionGroup var common: CommonOptions
    @Argument(help: NamedJob.help, transform: NamedJob.read) var job: NamedJob
    @Option(help: "As of this sequence number or time.", transform: Reading.asOf) var at: AsOf?

    func perform(_ session: Session) async throws {
        let id = try await job.id(session)
        let job =
            if let at { try await past(id, session, at) } else { try await session.job(id) }
        if session.output.isJSON {
            try session.output.record(JobLine(job: job))
        } else {
            try session.output.lines(job.lines)
        }
    }

    private func past(
        _ job: JobID, _ session: Session, _ at: AsOf
    ) async throws -> JobDescription {
        let position = try await session.position(of: at)
        guard let state = try await session.job(job, through: position) else {
            throw Failure(.notFound, "there was no job \(job) at \(at)")
        }
        return state.description
    }
}

struct JobPause: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Start no further chunks; running ones complete.")

    @OptionGroup var common: CommonOptions
    @Argument(help: NamedJob.help, transform: NamedJob.read) var job: NamedJob

    func perform(_ session: Session) async throws {
        try await session.send(.pause, to: try await job.id(session))
    }
}

struct JobResume: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resume a paused job.")

    @OptionGroup var common: CommonOptions
    @Argument(help: NamedJob.help, transform: NamedJob.read) var job: NamedJob

    func perform(_ session: Session) async throws {
        try await session.send(.resume, to: try await job.id(session))
    }
}

struct JobCancel: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "End a job for good.")

    @OptionGroup var common: CommonOptions
    @Argument(help: NamedJob.help, transform: NamedJob.read) var job: NamedJob

    func perform(_ session: Session) async throws {
        try await session.send(.cancel, to: try await job.id(session))
    }
}

struct JobResult: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "result", abstract: "Write the product of a job that succeeded.",
        discussion: "Exits 1 when the job has not succeeded or has made no product.")

    @OptionGroup var common: CommonOptions
    @Argument(help: NamedJob.help, transform: NamedJob.read) var job: NamedJob
    @Option(name: .shortAndLong, help: "The file to write; standard output otherwise.")
    var output: String?

    private struct Line: Encodable {
        var job: String
        var path: String
        var result: BlobReference
    }

    func perform(_ session: Session) async throws {
        let job = try await session.job(try await job.id(session))
        guard job.status == .succeeded else {
            throw Failure(.conflict, "job \(job.id) has not succeeded: it is \(job.stateText)")
        }
        guard let result = job.result else {
            throw Failure(.notFound, "job \(job.id) has made no product")
        }
        guard let output else {
            let data = try session.site.blobs.read(result)
            guard let text = String(validating: data, as: UTF8.self) else {
                throw Failure(
                    .unreadable, "the product is not text in UTF-8: give a file with --output")
            }
            try session.output.write(text)
            return
        }
        try ProductFile(path: output).write(result, of: session.site.blobs)
        if session.output.isJSON {
            try session.output.record(Line(job: "\(job.id)", path: output, result: result))
        } else {
            try session.output.line("\(result.byteCount) bytes, \(result.mediaType): \(output)")
        }
    }
}
