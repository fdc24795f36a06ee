// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Recording
internal import Site

struct UpCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "up", abstract: "Run every process of a site, and restart those that die.",
        discussion: """
            Makes the directory a site if it is not one yet. Returns when SIGTERM or SIGINT has stopped \
            everything, or with --detach when everything answers. Output of the processes goes to \
            run/<name>.log in the site.
            """)
    static let makesSite = true

    @OptionGroup var common: CommonOptions
    @Option(help: "The port of the HTTP gateway, on 127.0.0.1.") var port = 6080
    @OptionGroup var pools: PoolOptions
    @Flag(
        inversion: .prefixedNo,
        help: "Let the gateway answer identify and query itself where the data is local.")
    var identifyAtOnce = true
    @Option(
        help: "Requests that each process records: off, all, or a number per second.",
        transform: RecordingRate.parse)
    var record = RecordingRate.standard
    @Flag(help: "Return when everything answers, and leave the site running.") var detach = false

    func validate() throws {
        guard 1...65_535 ~= port else { throw ValidationError("--port takes 1 to 65535.") }
    }

    func perform(_ session: Session) async throws {
        guard let program = OwnProgram.path() else {
            throw Failure(.internal, "the path of this program is not known")
        }
        if let other = session.supervisor {
            throw Failure(
                .conflict,
                "the site '\(session.site.path)' is up already: process \(other) runs it")
        }
        try session.site.missLog()
        if LoopbackPort.isTaken(UInt16(port)) {
            throw Failure(
                .conflict, "port \(port) is taken by another program: choose one with --port")
        }
        if detach {
            try await Detached(session: session, program: program, arguments: ownArguments)
                .start()
        } else {
            try await stay(session, program: program)
        }
    }

    /// Arguments of the background process.
    private var ownArguments: [String] {
        ["up", "--port", "\(port)"] + pools.arguments + [
            identifyAtOnce ? "--identify-at-once" : "--no-identify-at-once", "--record",
            record.description,
        ]
    }

    private func stay(_ session: Session, program: String) async throws {
        let lockPath = session.site.runDirectory + "/up.pid"
        guard let lock = try FileLock.tryAcquire(lockPath) else {
            throw Failure(
                .conflict, "the site '\(session.site.path)' is up already: another process runs it")
        }
        let shape = SiteShape(
            port: port, workerCounts: pools.counts, identifyAtOnce: identifyAtOnce,
            recording: record)
        let plans = shape.plans(
            site: session.site.path, runDirectory: session.site.runDirectory,
            programs: String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)]))
        try plans.checkExecutables()
        let processes = try SiteProcesses(
            plans, runDirectory: session.site.runDirectory, port: port
        ) { Output.diagnose($0) }
        try TerminationWatch.start { processes.stop() }
        do {
            try await Readiness(session: session, shape: shape).wait(for: processes)
            processes.setReady()
            if !processes.isStopping { try announce(session, processes.records) }
        } catch {
            processes.stop()
            await processes.untilEnded()
            throw error
        }
        await processes.untilEnded()
        lock.release(removingFile: true)
    }

    private func announce(_ session: Session, _ records: [ProcessRecord]) throws {
        try Announcement(port: port, processes: records).write(session)
    }
}

/// Options for the number of processes per worker pool.
struct PoolOptions: ParsableArguments {
    @Option(help: Self.help(.identify, unlessGiven: "one for each processor, 2 to 8"))
    var identifyWorkers: Int?
    @Option(help: Self.help(.locator, unlessGiven: "1")) var locators: Int?
    @Option(help: Self.help(.work, unlessGiven: "1")) var workers: Int?

    /// The given numbers.
    var counts: [WorkerPool: Int] {
        [WorkerPool.identify: identifyWorkers, .locator: locators, .work: workers].compactMapValues(
            \.self)
    }

    /// The options as arguments.
    var arguments: [String] {
        WorkerPool.table.flatMap { settings in
            counts[settings.pool].map { ["--\(settings.countOption)", "\($0)"] } ?? []
        }
    }

    func validate() throws {
        for settings in WorkerPool.table where !(1...64 ~= counts[settings.pool] ?? 1) {
            throw ValidationError("--\(settings.countOption) takes 1 to 64.")
        }
    }

    private static func help(_ pool: WorkerPool, unlessGiven count: String) -> ArgumentHelp {
        "How many processes \(pool.settings.work), 1 to 64; unless given, \(count)."
    }
}

/// The output of `cairn up` when everything answers.
struct Announcement {
    private struct Line: Encodable {
        var site: String
        var services: String
        var processes: [ProcessRecord]
    }

    var port: Int
    var processes: [ProcessRecord]

    func write(_ session: Session) throws {
        let url = "http://127.0.0.1:\(port)/arcgis/rest/services"
        if session.output.isJSON {
            let line = Line(site: session.site.path, services: url, processes: processes)
            try session.output.record(line)
        } else {
            try session.output.line(
                "\(session.site.path) is up: \(processes.count) processes, \(url)")
        }
    }
}

/// Starts a site in the background.
private struct Detached {
    let session: Session
    let program: String
    let arguments: [String]

    func start() async throws {
        let log = session.site.runDirectory + "/up.log"
        LogFile.rotate(log)
        let child = try ChildProcess(
            path: program, arguments: arguments + ["--site", session.site.path], logPath: log,
            isDetached: true)
        let processID = child.processID
        while let record = try await look(processID, log: log) {
            if record.isReady {
                try Announcement(port: record.port, processes: record.processes).write(session)
                return
            }
        }
    }

    /// The current record, after a short delay; throws when the process has ended.
    private func look(_ processID: Int32, log: String) async throws -> SiteRecord? {
        try await Task.sleep(for: .milliseconds(50))
        let record = SiteRecord.read(runDirectory: session.site.runDirectory)
        if let record, record.pid == processID { return record }
        guard RunningProcess.name(of: processID) != nil else {
            let line = LogFile.lastLine(log) ?? "it wrote nothing; see \(log)"
            let prefix = "cairn: "
            throw Failure(
                .conflict, line.hasPrefix(prefix) ? String(line.dropFirst(prefix.count)) : line)
        }
        return SiteRecord(pid: processID, port: 0, isReady: false, processes: [])
    }
}
