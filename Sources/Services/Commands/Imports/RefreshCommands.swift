// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import MapState
internal import Platform
internal import Terminal

struct RefreshCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Keep the data of layers up to date.",
        discussion: """
            A refresh replaces the data of a layer by those of a source, as 'cairn import \
            --replace' does: on schedule, when the source changes, or by command (Docs/refresh.md).
            """,
        subcommands: [RefreshAdd.self, RefreshList.self, RefreshRemove.self, RefreshNow.self])
}

struct RefreshAdd: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Define a refresh of a layer.",
        discussion: "Without --every and --watch it runs by 'cairn refresh run' alone.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var choices: ImportChoiceOptions
    @OptionGroup var network: NetworkOptions
    @Argument(help: "Its name: 1 to 64 letters, digits, '-' or '_'.") var name: String
    @Argument(help: "MAP/LAYER, the layer.") var target: String
    @Argument(
        help: "The file or folder, or with --allow-network a URL or a PostGIS database.",
        completion: .file())
    var source: String
    @Option(help: "From one run to the next: a number and s, m, h or d.", transform: Self.seconds)
    var every: Int?
    @Flag(help: "Run when the source has changed.") var watch = false
    @Option(help: "The column by which rows keep the object ids of features.") var key: String?
    @Flag(help: "Edits that conflict with the new data give way to it.") var dropEdits = false
    @Flag(help: "More than half of the features may go.") var allowShrink = false

    func validate() throws {
        guard every == nil || !watch else {
            throw ValidationError("Give --every or --watch.")
        }
        if watch, RemoteSource(source) != nil {
            throw ValidationError("--watch is for files and folders: give --every for a URL.")
        }
    }

    private static func seconds(_ text: String) throws -> Int {
        let units = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[String($0)] }),
            let number = Int(text.dropLast()),
            number > 0, case let (seconds, isOver) = number.multipliedReportingOverflow(by: unit),
            !isOver, 10...31_536_000 ~= seconds
        else {
            throw Failure(
                .invalidParameter,
                "'\(text.prefix(40))': expected a time from 10s to 365d, as 30s, 15m, 6h, 1d")
        }
        return seconds
    }

    func perform(_ session: Session) async throws {
        guard 1...64 ~= name.utf8.count,
            name.utf8.allSatisfy({ byte in
                let character = Character(Unicode.Scalar(byte))
                return byte < 0x80
                    && (character.isLetter || character.isNumber || "-_".contains(character))
            })
        else {
            throw UsageFailure(
                "'\(name.prefix(80))': expected a name of 1 to 64 letters, digits, '-' or '_'")
        }
        let path = try path()
        _ = try choices.options()
        try await session.withProcesses([.log, .mapstate]) {
            guard try await session.refreshes().all[name] == nil else {
                throw Failure(
                    .conflict, "the site has a refresh '\(name)' already: remove it first")
            }
            let (map, layer) = try await session.layer(at: target)
            guard layer.kind.dataset != nil else {
                throw Failure(
                    .invalidParameter,
                    "'\(target)' is no layer of imported features: expected one to refresh")
            }
            var refresh = RefreshDefinition(
                name: name, map: map, layer: layer.id, source: path)
            refresh.key = key
            refresh.allowsNetwork = network.allowNetwork ? true : nil
            refresh.credential = network.credential
            refresh.everySeconds = every
            refresh.watches = watch ? true : nil
            refresh.allowsShrink = allowShrink ? true : nil
            refresh.dropsEdits = dropEdits ? true : nil
            let chosen = RefreshDefinition.Choices(choices)
            refresh.choices = chosen == RefreshDefinition.Choices() ? nil : chosen
            let now = Timestamp(microseconds: WallClock.microseconds())
            let event = RefreshAdded(
                refresh: refresh, fingerprint: SourceFingerprint.of(path, at: now))
            try await session.record(.added(event), of: name)
            let added = try await session.refresh(named: name)
            try RefreshLine(added).write(session.output)
        }
    }
}

extension RefreshAdd {
    /// The source as a URL or an absolute path.
    private func path() throws(Failure) -> String {
        if let remote = RemoteSource(source) {
            try remote.check(network.access)
            return source
        }
        let path = FileSystem.absolute(source)
        guard FileSystem.kind(of: path) != nil else {
            throw Failure(.notFound, "'\(source)' does not exist")
        }
        return path
    }
}

struct RefreshList: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the refreshes, each with its last run.")

    @OptionGroup var common: CommonOptions

    func perform(_ session: Session) async throws {
        let all = try await session.withProcesses([.log]) { try await session.refreshes().all }
        for (_, refresh) in all.sorted(by: { $0.key < $1.key }) {
            try RefreshLine(refresh).write(session.output)
        }
    }
}

struct RefreshRemove: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a refresh; its layer stays as it is.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "Its name.") var name: String

    func perform(_ session: Session) async throws {
        try await session.withProcesses([.log]) {
            let refresh = try await session.refresh(named: name)
            try await session.record(.removed(RefreshRemoved(name: name)), of: name)
            try RefreshLine(refresh).write(session.output)
        }
    }
}

struct RefreshNow: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a refresh now, whatever its schedule.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "Its name.") var name: String

    func perform(_ session: Session) async throws {
        try await session.withProcesses([.log, .mapstate]) {
            let refresh = try await session.refresh(named: name)
            try await session.run(refresh.definition) { outcome in
                if session.output.isJSON { return try session.output.record(outcome) }
                try session.output.lines(outcome.lines)
            }
        }
    }
}

/// The output line of a refresh.
private struct RefreshLine: Encodable {
    /// The end of the last run.
    struct Run: Encodable {
        var at: Timestamp
        var succeeded: RefreshSucceeded?
        var failed: RefreshFailed?
    }

    var refresh: RefreshDefinition
    var actor: String?
    var addedAt: Timestamp
    var lastRun: Run?
    var failuresInRow: Int
    /// When the next run by time is due.
    var dueAt: Timestamp?

    init(_ refresh: Refreshes.Refresh) {
        self.refresh = refresh.definition
        actor = refresh.actor
        addedAt = refresh.addedAt
        failuresInRow = refresh.failuresInRow
        dueAt = refresh.dueAt
        lastRun = refresh.lastRun.map { run in
            var line = Run(at: run.at)
            switch run.outcome {
            case .succeeded(let event): line.succeeded = event
            case .failed(let event): line.failed = event
            case .added, .removed: break
            }
            return line
        }
    }

    func write(_ output: Output) throws {
        if output.isJSON { return try output.record(self) }
        var lines = [
            "\(refresh.name): \(refresh.map)/\(refresh.layer) from '\(refresh.source)', \(schedule)"
        ]
        if let run = lastRun?.succeeded, let at = lastRun?.at {
            let event = run.sequence.map { "event \($0): " } ?? "nothing changed: "
            lines.append(
                "  \(at.displayText) \(event)\(run.added) added, \(run.changed) changed, "
                    + "\(run.removed) removed, \(run.rowCount) features")
        }
        if let run = lastRun?.failed, let at = lastRun?.at {
            lines.append(
                "  \(at.displayText) failed, \(failuresInRow) in a row: \(run.error.message)")
        }
        if let dueAt { lines.append("  due at \(dueAt.displayText)") }
        try output.lines(lines)
    }

    private var schedule: String {
        if let seconds = refresh.everySeconds { return "every \(seconds) s" }
        return refresh.watches == true ? "when it changes" : "by command"
    }
}
