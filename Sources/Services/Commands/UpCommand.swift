// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Recording
internal import Settings
internal import Site

struct UpCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "up", abstract: "Run every process of a site, and restart those that die.",
        discussion: """
            An empty directory becomes a site, any other that is not one with --create alone. \
            Returns when SIGTERM or SIGINT has stopped everything, or with --detach when \
            everything answers. Output of the processes goes to run/<name>.log in the site. \
            Options that are given hold for later starts too, in up-options.json of the site, \
            until they are given again or --forget clears them; each beats the environment, which \
            beats the file of --config.
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "The port of the HTTP gateway, on 127.0.0.1; 6080 unless given.") var port: Int?
    @OptionGroup var pools: PoolOptions
    @Flag(
        inversion: .prefixedNo,
        help: "Let the gateway answer identify and query itself where the data is local.")
    var identifyAtOnce: Bool?
    @Option(
        help: "Requests that each process records: off, all, or a number per second.",
        transform: RecordingRate.parse)
    var record: RecordingRate?
    @Option(help: "A file of settings for every process; else CAIRN_CONFIG.", completion: .file())
    var config: String?
    @Flag(help: "Return when everything answers, and leave the site running.") var detach = false
    @Flag(help: "Make the directory a site where it is missing, or has other files.")
    var create = false
    @Flag(help: "Forget the options of earlier starts.") var forget = false
    @Flag(help: .hidden) var asGiven = false

    func validate() throws {
        guard 1...65_535 ~= port ?? 1 else { throw ValidationError("--port takes 1 to 65535.") }
    }

    func site(at path: String) throws -> Site {
        let names = try? FileManager.default.contentsOfDirectory(atPath: path)
        guard create || names?.isEmpty == true || names?.contains("cairn.json") == true else {
            throw Failure(
                .notFound,
                "'\(path)' is not a site: expected one, or an empty directory; with --create it "
                    + "becomes one"
            )
        }
        return try Site(openingOrCreating: path)
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
        let options = try options(for: session.site)
        let shape = try shape(options)
        if shape.gatewayPort.isTaken {
            throw Failure(
                .conflict, "port \(shape.port) is taken by another program: choose one with --port")
        }
        if detach {
            try await Detached(
                session: session, program: program,
                arguments: ["up"] + options.arguments + ["--as-given"], services: shape.services
            ).start()
            try options.keep(in: session.site)
        } else {
            try await stay(session, shape, options, program: program)
        }
    }

    /// The options that are given, and those of earlier starts.
    private func options(for site: Site) throws -> RememberedOptions {
        var given: [Setting: String] = [:]
        given[.port] = port.map { "\($0)" }
        given[.identifyAtOnce] = identifyAtOnce.map { "\($0)" }
        given[.record] = record?.description
        for (pool, count) in pools.counts { given[pool.countSetting] = "\(count)" }
        var options: [String: String] = [:]
        for (setting, text) in given { options[setting.option ?? ""] = text }
        options[RememberedOptions.config] = config.map(FileSystem.absolute)
        if asGiven { return RememberedOptions(options, isKept: false) }
        let earlier = forget ? RememberedOptions() : try RememberedOptions(of: site)
        let others = earlier.options.filter { options[$0.key] == nil }
        if !others.isEmpty {
            Output.diagnose(
                "as at earlier starts: "
                    + RememberedOptions(others).arguments.joined(separator: " ")
                    + "; --forget clears them")
        }
        return RememberedOptions(options.merging(others) { given, _ in given })
    }

    /// What is to run: as the options say, else the environment, else the file.
    private func shape(_ remembered: RememberedOptions) throws -> SiteShape {
        var options = remembered.options
        let config = options.removeValue(forKey: RememberedOptions.config)
        let settings = Settings(
            Setting.up + [.port, .host, .tlsCertificate, .identifyAtOnce, .record],
            arguments: options, file: config)
        for fault in settings.faults { Output.diagnose(fault.description) }
        guard settings.faults.isEmpty else {
            throw ExitCode(settings.faults.allSatisfy(\.isInFile) ? 78 : 64)
        }
        let port = settings.whole(.port) ?? 6080
        guard port > 0 else { throw UsageFailure("a site's gateway needs a port from 1 to 65535") }
        return SiteShape(
            port: port, host: settings[.host] ?? "127.0.0.1",
            isSecure: settings[.tlsCertificate] != nil,
            workerCounts: Dictionary(
                uniqueKeysWithValues: WorkerPool.allCases.compactMap { pool in
                    settings.whole(pool.countSetting).map { (pool, $0) }
                }),
            identifyAtOnce: settings.flag(.identifyAtOnce) ?? true,
            recording: settings[.record].flatMap(RecordingRate.init(parsing:)) ?? .standard,
            config: config)
    }

    private func stay(
        _ session: Session, _ shape: SiteShape, _ options: RememberedOptions, program: String
    ) async throws {
        let lockPath = session.site.runDirectory + "/up.pid"
        guard let lock = try FileLock.tryAcquire(lockPath) else {
            throw Failure(
                .conflict, "the site '\(session.site.path)' is up already: another process runs it")
        }
        let plans = shape.plans(
            site: session.site.path, runDirectory: session.site.runDirectory,
            programs: String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)]))
        try plans.checkExecutables()
        try await plans.checkSettings(runDirectory: session.site.runDirectory)
        let processes = try SiteProcesses(
            plans, runDirectory: session.site.runDirectory, port: shape.port,
            notify: NotifySocket(environment: ProcessInfo.processInfo.environment)
        ) { Output.diagnose($0) }
        try TerminationWatch.start { processes.stop() }
        do {
            try await Readiness(session: session, shape: shape).wait(for: processes)
            if !processes.isStopping {
                processes.setReady()
                try options.keep(in: session.site)
                try Announcement(services: shape.services, processes: processes.records)
                    .write(session)
            }
        } catch {
            processes.stop()
            await processes.untilEnded()
            throw error
        }
        let schedule = RefreshSchedule(session: session, program: program) {
            processes.isStopping
        }
        let refreshing = Task { await schedule.run() }
        await processes.untilEnded()
        refreshing.cancel()
        await refreshing.value
        lock.release(removingFile: true)
    }
}

/// The options of `cairn up` that hold for later starts: `up-options.json` in the site.
struct RememberedOptions: Codable {
    private var formatVersion = 1
    /// By option, `--port`; the path of `--config` is absolute.
    private(set) var options: [String: String] = [:]
    private var isKept = true

    private enum CodingKeys: String, CodingKey { case formatVersion, options }

    /// The option of the file of settings.
    static let config = "--config"
    private static let fileName = "/up-options.json"

    init(_ options: [String: String] = [:], isKept: Bool = true) {
        self.options = options
        self.isKept = isKept
    }

    /// As arguments.
    var arguments: [String] {
        options.sorted { $0.key < $1.key }.flatMap { option, text in
            switch text {
            case "true": [option]
            case "false": ["--no-" + option.dropFirst(2)]
            default: [option, text]
            }
        }
    }

    /// Reads the site's file; none remembered without one.
    ///
    /// Throws `Failure`: `corrupt`,
    /// `newerVersion`.
    init(of site: Site) throws(Failure) {
        let path = site.path + Self.fileName
        guard let data = FileManager.default.contents(atPath: path) else { return }
        do throws(Failure) {
            self = try CairnJSON.decode(Self.self, from: data)
        } catch {
            throw Failure(.corrupt, "'\(path)' cannot be understood: \(error.message)")
        }
        guard formatVersion == 1 else {
            throw Failure(
                .newerVersion,
                "'\(path)' has format version \(formatVersion); this build knows 1")
        }
    }

    /// Writes the site's file; throws `Failure` (`noSpace`, `unreadable`).
    func keep(in site: Site) throws(Failure) {
        let path = site.path + Self.fileName
        guard isKept else { return }
        let data = try CairnJSON.encode(self)
        guard data != FileManager.default.contents(atPath: path) else { return }
        do throws(PlatformError) {
            try FileSystem.replace(path, with: Array(data))
        } catch {
            throw Failure(error)
        }
    }
}

extension WorkerPool {
    /// The setting of how many of its processes run.
    var countSetting: Setting {
        let option = "--" + settings.countOption
        guard let setting = Setting.up.first(where: { $0.option == option }) else {
            preconditionFailure("the setting \(option) is missing in Setting.up")
        }
        return setting
    }
}

extension [ProcessPlan] {
    /// Has each program check the file of settings, where there is one; throws what the first
    /// answers that finds a fault, after its lines.
    func checkSettings(runDirectory: String) async throws {
        let names = ProcessInfo.processInfo.environment.keys
        var checked: Set<[String]> = []
        for plan in self {
            guard plan.arguments.contains("--config") || names.contains(Settings.fileVariable),
                checked.insert([plan.path] + plan.arguments).inserted
            else { continue }
            let path = runDirectory + "/check.log"
            OutputFile.remove(path)
            defer { OutputFile.remove(path) }
            var child = try ChildProcess(
                path: plan.path, arguments: plan.arguments + ["--check"], logPath: path)
            var end = child.end()
            while end == nil {
                try await Task.sleep(for: .milliseconds(2))
                end = child.end()
            }
            guard case .status(let status) = end, status != 0 else { continue }
            StandardStream.error.write((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
            throw ExitCode(status)
        }
    }
}

/// Options for the number of processes per worker pool.
struct PoolOptions: ParsableArguments {
    @Option(help: Self.help(.identify, unlessGiven: "one for each processor, 2 to 8"))
    var identifyWorkers: Int?
    @Option(help: Self.help(.locator, unlessGiven: "1")) var locators: Int?
    @Option(help: Self.help(.work, unlessGiven: "1")) var workers: Int?
    @Option(help: Self.help(.router, unlessGiven: "1")) var routers: Int?

    /// The given numbers.
    var counts: [WorkerPool: Int] {
        [
            WorkerPool.identify: identifyWorkers, .locator: locators, .work: workers,
            .router: routers,
        ].compactMapValues(\.self)
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

    var services: String
    var processes: [ProcessRecord]

    func write(_ session: Session) throws {
        if session.output.isJSON {
            let line = Line(site: session.site.path, services: services, processes: processes)
            try session.output.record(line)
        } else {
            try session.output.line(
                "\(session.site.path) is up: \(processes.count) processes, \(services)")
        }
    }
}

/// Starts a site in the background.
private struct Detached {
    let session: Session
    let program: String
    let arguments: [String]
    let services: String

    func start() async throws {
        let log = session.site.runDirectory + "/up.log"
        LogFile.rotate(log)
        let child = try ChildProcess(
            path: program, arguments: arguments + ["--site", session.site.path], logPath: log,
            isDetached: true)
        let processID = child.processID
        while let record = try await look(processID, log: log) {
            if record.isReady {
                try Announcement(services: services, processes: record.processes).write(session)
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
