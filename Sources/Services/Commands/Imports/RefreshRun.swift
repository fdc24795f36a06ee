// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import MapState
internal import Platform
internal import Site

/// The state of a source's files, by which a change is noticed.
enum SourceFingerprint {
    /// A source is complete when nothing was written to it for so long.
    private static let quietSeconds: Int64 = 2

    /// The number of files, their bytes and the last change, of a file with those that bear its
    /// name, or of all files below a folder; nil where there are none, or they are being written.
    static func of(_ path: String, at now: Timestamp) -> String? {
        var (count, byteCount, last) = (0, Int64(0), Int64(0))
        func take(_ file: String) {
            guard let bytes = FileSystem.byteCount(of: file),
                let changed = FileSystem.modified(file)
            else { return }
            count += 1
            byteCount += bytes
            last = max(last, changed)
        }
        switch FileSystem.kind(of: path) {
        case .file:
            let slash = path.lastIndex(of: "/") ?? path.startIndex
            let directory = String(path[..<slash]) + "/"
            let name = path[path.index(after: slash)...]
            let stem = name.prefix { $0 != "." } + "."
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            for other in names where other == name || other.hasPrefix(stem) {
                take(directory + other)
            }
        case .directory:
            var waiting = [path]
            while let directory = waiting.popLast(), count < ImportBounds.entryCount {
                let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
                for name in names {
                    let place = directory + "/" + name
                    if FileSystem.kind(of: place, followingLinks: false) == .directory {
                        waiting.append(place)
                    } else {
                        take(place)
                    }
                }
            }
        default: return nil
        }
        guard count > 0, now.microseconds - last > quietSeconds * 1_000_000 else { return nil }
        return "\(count)-\(byteCount)-\(last)"
    }
}

extension Session {
    /// All refreshes of the site.
    func refreshes() async throws -> Refreshes {
        var refreshes = Refreshes()
        try await forEachEvent(category: Refreshes.category) { try refreshes.apply($0) }
        return refreshes
    }

    /// The refresh of a name; throws `notFound` with the names that there are.
    func refresh(named name: String) async throws -> Refreshes.Refresh {
        let all = try await refreshes().all
        if let found = all[name] { return found }
        let names = all.keys.sorted().prefix(20).joined(separator: ", ")
        throw Failure(
            .notFound,
            "the site has no refresh '\(name.prefix(80))'"
                + (names.isEmpty ? "" : "; there are \(names)"))
    }

    /// Records an event of a refresh; returns its sequence number.
    @discardableResult
    func record(_ event: RefreshEvent, of name: String) async throws -> Int64 {
        let log = try log()
        guard let stream = StreamName(rawValue: Refreshes.category + "-" + name) else {
            throw Failure(.invalidParameter, "'\(name)' is no name of a refresh")
        }
        let new = try event.payload.newEvent(
            id: .timeOrdered(),
            metadata: EventMetadata(actor: Self.actor, producer: "cairn/" + Release.version))
        for _ in 0..<10 {
            let last = try await log.events(stream: stream).last?.streamPosition
            do throws(Failure) {
                return try await log.append(
                    [new], to: stream, expected: last.map { .exact($0) } ?? .noStream
                ).lastPosition
            } catch {
                guard error.code == .conflict else { throw error }
            }
        }
        throw Failure(.conflict, "refresh '\(name)' is being changed concurrently: try again")
    }

    /// Runs a refresh once and records how it ended.
    ///
    /// Throws the failure of the run, once it is recorded.
    func run(
        _ refresh: RefreshDefinition, show: (LayerReplacing.Outcome) throws -> Void
    ) async throws {
        let now = Timestamp(microseconds: WallClock.microseconds())
        let fingerprint = SourceFingerprint.of(refresh.source, at: now)
        do {
            let replacing = try LayerReplacing(refresh)
            let outcome = try await replacing.run(self, show: show)
            let difference = outcome.difference
            try await record(
                .succeeded(
                    RefreshSucceeded(
                        name: refresh.name, fingerprint: fingerprint, sequence: outcome.sequence,
                        added: difference.added.count, changed: difference.changed.count,
                        removed: difference.removed.count, rowCount: difference.rowsAfter,
                        carried: outcome.edits.carried.count)), of: refresh.name)
        } catch let error as Failure {
            try await record(
                .failed(
                    RefreshFailed(name: refresh.name, fingerprint: fingerprint, error: error)),
                of: refresh.name)
            throw error
        }
    }
}

extension LayerReplacing {
    /// The replacement that a refresh states.
    fileprivate init(_ refresh: RefreshDefinition) throws(Failure) {
        self.init(
            target: "\(refresh.map)/\(refresh.layer)", path: refresh.source,
            options: try refresh.choices?.options() ?? ImportOptions(), key: refresh.key)
        if refresh.allowsNetwork == true {
            access = RemoteSource.Access(credential: refresh.credential)
        }
        dropsEdits = refresh.dropsEdits ?? false
        allowsShrink = refresh.allowsShrink ?? false
        actor = "refresh:\(refresh.name)"
    }
}

extension RefreshDefinition.Choices {
    /// The choices of a command line.
    init(_ given: ImportChoiceOptions) {
        self.init()
        spatialReference = given.sr
        (x, y, geometry, encoding) = (given.x, given.y, given.geometry, given.encoding)
        fields = given.field.isEmpty ? nil : given.field
        layers = given.layer.isEmpty ? nil : given.layer
    }

    fileprivate func options() throws(Failure) -> ImportOptions {
        var options = ImportOptions()
        options.spatialReference = spatialReference
        options.encoding = encoding
        options.layers = layers ?? []
        options.fields = try (fields ?? []).map { text throws(Failure) in
            try FieldStatement(text)
        }
        if let x, let y { options.geometry = .coordinates(x: x, y: y) }
        if let geometry { options.geometry = .shape(geometry) }
        return options
    }
}

/// Runs the refreshes of a site that are due, one at a time, each in a process of its own.
struct RefreshSchedule {
    private static let interval = Duration.seconds(2)

    let session: Session
    /// The path of `cairn`.
    let program: String
    /// Whether the site is being stopped.
    let isStopping: @Sendable () -> Bool

    /// Looks for due refreshes until the task is cancelled.
    func run() async {
        var refreshes = Refreshes()
        var position: Int64 = 0
        while !Task.isCancelled, !isStopping() {
            do {
                position = try await session.forEachEvent(
                    after: position, category: Refreshes.category
                ) { try refreshes.apply($0) }
                let now = Timestamp(microseconds: WallClock.microseconds())
                for (name, refresh) in refreshes.all.sorted(by: { $0.key < $1.key }) {
                    let fingerprint = SourceFingerprint.of(refresh.definition.source, at: now)
                    guard refresh.isDue(at: now, fingerprint: fingerprint), !isStopping() else {
                        continue
                    }
                    try await run(name, fingerprint)
                }
            } catch {
                // While the log restarts, refreshes wait.
                Output.diagnose("refreshes wait: \(error)")
            }
            do { try await Task.sleep(for: Self.interval) } catch { return }
        }
    }

    /// Runs one in a process that records the outcome; where it did not, that is recorded here.
    private func run(_ name: String, _ fingerprint: String?) async throws {
        let before = try await session.refresh(named: name).lastRun?.at
        let logPath = session.site.runDirectory + "/refresh.log"
        LogFile.bound(logPath, to: 16 << 20)
        let (program, site, isStopping) = (program, session.site.path, isStopping)
        let end = try await OwnThread.run("refresh") {
            () throws(Failure) -> ChildProcess.End? in
            do throws(PlatformError) {
                var child = try ChildProcess(
                    path: program, arguments: ["refresh", "run", name, "--site", site],
                    logPath: logPath)
                let (watch, wake) = (
                    try ProcessWatch(processID: child.processID), try WakeSignal()
                )
                var isAsked = false
                while true {
                    if let end = child.end() { return isAsked ? nil : end }
                    if isStopping(), !isAsked {
                        child.demand(.end)
                        isAsked = true
                    }
                    Waiting.forEnd(of: [watch], or: wake, milliseconds: 200)
                }
            } catch {
                throw Failure(error)
            }
        }.get()
        guard let end, try await session.refreshes().all[name]?.lastRun?.at == before else {
            return
        }
        let how =
            switch end {
            case .status(let status): "with status \(status)"
            case .signal(let signal): "by signal \(signal)"
            }
        let error = Failure(.internal, "the run ended \(how); see '\(logPath)'")
        try await session.record(
            .failed(RefreshFailed(name: name, fingerprint: fingerprint, error: error)), of: name)
    }
}
