// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import JobKinds
internal import MapState
internal import Platform
internal import Site

struct JobSubmit: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit", abstract: "Submit a job; it is recorded when this returns.",
        discussion:
            JobKindDescription.all.map { kind in
                let input = kind.input.map { " --input FILE (\($0))" } ?? ""
                let required = kind.parameters.filter(\.isRequired).map {
                    " --param \($0.name)=VALUE"
                }
                return "\(kind.kind.rawValue)\(input)\(required.joined()): \(kind.summary)"
            }.joined(separator: "\n\n")
                + """


                In a file of jobs 'input' is the path of a file. 'cairn job kinds' lists every \
                parameter. JSON: the job.
                """)

    @OptionGroup var common: CommonOptions
    @Argument(
        help: "The kind.", completion: .list(JobKindDescription.all.map(\.kind.rawValue)),
        transform: Reading.jobKind)
    var kind: JobKindDescription
    @Option(
        help: """
            The job's input file, which is stored in the site. Of the kinds on networks also \
            layer:MAP/LAYER, or a file with one layer that 'cairn import' reads.
            """, completion: .file())
    var input: String?
    @Option(
        name: .customLong("param"), parsing: .singleValue,
        help: "A parameter, 'name=value'. May be repeated.") var parameters: [String] = []
    @Option(help: "low, normal or high: its share among your jobs.") var priority: String?
    @Option(help: "Seconds an operation may show no sign of life, 1 to 3600; 60 by default.")
    var stallLimit: Int?
    @Option(help: "Time limit of the job in seconds; unlimited by default.")
    var timeLimit: Int?
    @Option(help: "Keep the job's ticket in this file, for 'job watch --from'.")
    var ticket: String?
    @Option(
        help: """
            Your own id of the job, 1 to 64 letters, digits, - and _: submitted again, it is the \
            same job.
            """
    ) var id: String?
    @Flag(help: "Wait for its end, as 'job watch' does.") var watch = false
    @Option(
        help: "With --watch: stop watching after so many seconds.", transform: Reading.timeLimit)
    var timeout: Duration?

    func validate() throws {
        guard priority.map({ JobPriority(rawValue: $0) != nil }) ?? true else {
            throw ValidationError("--priority takes low, normal or high.")
        }
    }

    func perform(_ session: Session) async throws {
        let client = try session.client()
        let file = ticket.map { TicketFile(path: $0) }
        var ticket = JobTicket(
            site: session.site.identity.siteID, submitting: try await submission(session))
        // Written before the submission: whatever happens now, the ticket leads to the job.
        try file?.write(ticket)
        guard let submission = ticket.submission else { return }
        let job: JobDescription
        do throws(Failure) { job = try await client.submit(submission) } catch {
            guard let id, error.code == .conflict else { throw error }
            throw Failure(
                .conflict,
                "--id '\(id)' is the id of job \(submission.id), which was submitted with another "
                    + "kind, input, limit or other parameters: choose another id for another job")
        }
        ticket.submission = nil
        try file?.write(ticket)
        if watch {
            try await JobWatching(session: session, ticket: ticket, until: 100, file: file)
                .run(within: timeout)
        } else if session.output.isJSON {
            try session.output.record(JobLine(job: job))
        } else {
            try session.output.line("\(job.id)")
        }
    }

    private func submission(_ session: Session) async throws -> JobSubmission {
        let named = try Reading.parameters(parameters)
        let blobs = session.site.blobs
        if let input, kind.input == nil {
            throw UsageFailure("--input '\(input)': \(kind.kind.rawValue) jobs have no input file")
        }
        var blob: BlobReference?
        if let input, !kind.features.isEmpty, InputFeatures.isMeant(by: input) {
            blob = try await InputFeatures.put(input, session)
        } else {
            blob = try input.map { path in
                kind.inputNamesBlobs
                    ? try BatchFile.put(path, into: blobs)
                    : try blobs.put(file: path, mediaType: MediaType(ofFile: path).rawValue)
            }
        }
        var order = JobOrder(kind: kind.kind, parameters: named, input: blob, blobs: blobs)
        if kind.reads.contains(where: \.isOfNetworks) {
            let state = try await session.networks()
            order.networks = state.names.compactMap { state.network(named: $0)?.published }
        }
        try JobKinds.check(order)
        let own = try id.map { text throws(Failure) in
            do throws(Failure) { return try JobID(clientID: text, of: Session.actor ?? "") } catch {
                throw Failure(error.code, "--id \(error.message)")
            }
        }
        return JobSubmission(
            id: own ?? JobID(rawValue: .timeOrdered()), kind: kind.kind, parameters: named,
            input: blob,
            actor: Session.actor, timeLimitSeconds: timeLimit, stallLimitSeconds: stallLimit,
            priority: priority.flatMap(JobPriority.init(rawValue:)))
    }
}

/// A batch file on disk: each line's `input` is the path of a file, relative to the batch file.
enum BatchFile {
    private struct Line: Decodable {
        var kind: JobKind
        var parameters: [String: String]?
        var input: String?
        var weight: Int?
    }

    /// Stores every input file and the list of their blobs.
    static func put(_ path: String, into blobs: BlobStore) throws -> BlobReference {
        let bytes = try Reading.bytes(of: path, atMost: Int(Batch.maximumInputByteCount))
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let items = try Batch.items(of: bytes) { text throws(Failure) in
            let line = try CairnJSON.decode(Line.self, from: text)
            var item = Batch.Item(
                kind: try Reading.jobKind(line.kind.rawValue).kind, parameters: line.parameters,
                weight: line.weight)
            if let input = line.input {
                let file = input.hasPrefix("/") ? input : folder + input
                item.input = try blobs.put(file: file, mediaType: MediaType(ofFile: file).rawValue)
            }
            return item
        }
        var list = Data()
        for item in items { list += try CairnJSON.encode(item) + [UInt8(ascii: "\n")] }
        return try blobs.put(list, mediaType: MediaType.jsonLines.rawValue)
    }
}
