// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Platform
internal import Site
internal import Synchronization

/// A command's access to a site.
final class Session: Sendable {
    let site: Site
    let output: Output
    private struct Opened {
        var client: CairnClient
        var log: LogReader
    }

    private let opened = Mutex<Opened?>(nil)
    private let files = Mutex<LogFiles?>(nil)
    /// Whether the files of a site that is down answer.
    private let readsFiles: Bool

    /// A session; `readsFiles` for commands that change nothing.
    init(site: Site, output: Output, readsFiles: Bool = false) {
        self.site = site
        self.output = output
        self.readsFiles = readsFiles
    }

    /// Whether the site is down, and its files answer.
    var isOfFiles: Bool { readsFiles && !isUp && supervisor == nil && !hasSupervisor }

    /// The client, connected at the first use.
    ///
    /// Throws `Failure` (`unavailable`) when the site is not running: neither its log nor the
    /// supervisor, which answers requests that need no log.
    func client() throws -> CairnClient {
        try open(isPatient: hasSupervisor).client
    }

    private var hasSupervisor: Bool {
        owner(of: "cairn-supervisor.lock", program: "cairn-supervisor") != nil
    }

    /// The client whether the site is running or not, for commands that wait for it.
    func patientClient() throws -> CairnClient { try open(isPatient: true).client }

    /// Access to the log, on the client's thread; throws as ``client()`` does.
    func log() throws -> LogReader { try open().log }

    /// The log for reading: of a site that is down, its files.
    func readableLog() throws -> SiteLog {
        guard isOfFiles else { return .service(try log()) }
        return try files.withLock { files in
            if let files { return .files(files) }
            try site.missLog()
            guard FileSystem.kind(of: site.logFile) != nil else { throw isDown }
            let made = try LogFiles(path: site.logFile)
            let head = try made.head()
            Output.diagnose(
                "the site '\(site.path)' is not up: answered from its files, as of event \(head)")
            files = made
            return .files(made)
        }
    }

    private func open(isPatient: Bool = false) throws -> Opened {
        try opened.withLock { opened in
            if let opened { return opened }
            // While `cairn up` runs, a crashed log is restarted.
            guard isPatient || isUp || supervisor != nil else { throw isDown }
            let client = try CairnClient(site: site)
            let made = Opened(client: client, log: try LogReader(bus: client.bus))
            opened = made
            return made
        }
    }

    private var isDown: Failure {
        Failure(.unavailable, "the site '\(site.path)' is not up: start it with 'cairn up'")
    }

    /// Whether a process serves the site's log.
    var isUp: Bool { logProcess != nil }

    /// The process that serves the site's log; nil without one.
    var logProcess: Int32? { owner(of: "cairn-logd.lock", program: "cairn-logd") }

    /// The process of `cairn up` that runs the site; nil without one.
    var supervisor: Int32? { owner(of: "up.pid", program: "cairn") }

    /// The running process recorded in a lock file.
    ///
    /// The lock itself is not tried: that could make a starting process fail with a conflict.
    private func owner(of file: String, program: String) -> Int32? {
        guard let owner = FileLock.owner(of: site.runDirectory + "/" + file),
            RunningProcess.name(of: owner)?.hasPrefix(program.prefix(15)) == true
        else { return nil }
        return owner
    }

    /// Closes the client; the next use opens a new one.
    func close() {
        opened.withLock { opened in
            opened?.client.close()
            opened = nil
        }
    }
}
