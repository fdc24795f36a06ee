// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Platform
internal import Site
internal import Synchronization

/// One command's view of a site.
final class Session: Sendable {
    let site: Site
    let output: Output
    private struct Opened {
        var client: CairnClient
        var log: LogReader
    }

    private let opened = Mutex<Opened?>(nil)

    init(site: Site, output: Output) {
        self.site = site
        self.output = output
    }

    /// The client, connected at the first use; throws `Failure` (`unavailable`) with one sentence
    /// when the site is not up: neither its log nor the supervisor, which answers what needs no
    /// log.
    func client() throws -> CairnClient {
        try open(isPatient: owner(of: "cairn-supervisor.lock", program: "cairn-supervisor") != nil)
            .client
    }

    /// The client, whether the site is up or not: for what waits for a site that is away.
    func patientClient() throws -> CairnClient { try open(isPatient: true).client }

    /// Reads the log and appends to it, on the client's thread; throws as ``client()`` does.
    func log() throws -> LogReader { try open().log }

    private func open(isPatient: Bool = false) throws -> Opened {
        try opened.withLock { opened in
            if let opened { return opened }
            // While `cairn up` runs, a log that has died is started again.
            guard isPatient || isUp || supervisor != nil else {
                throw Failure(
                    .unavailable, "the site '\(site.path)' is not up: start it with 'cairn up'")
            }
            let client = try CairnClient(site: site)
            let made = Opened(client: client, log: try LogReader(bus: client.bus))
            opened = made
            return made
        }
    }

    /// Whether the site's log is served by some process now.
    var isUp: Bool { logProcess != nil }

    /// The process that serves the site's log; nil when there is none.
    var logProcess: Int32? { owner(of: "cairn-logd.lock", program: "cairn-logd") }

    /// The process of `cairn up` that runs the site; nil when there is none.
    var supervisor: Int32? { owner(of: "up.pid", program: "cairn") }

    /// The running process that wrote itself into a lock file.
    ///
    /// The lock itself is not tried: doing so could make a process that is just starting believe
    /// that there is another one.
    private func owner(of file: String, program: String) -> Int32? {
        guard let owner = FileLock.owner(of: site.runDirectory + "/" + file),
            RunningProcess.name(of: owner)?.hasPrefix(program.prefix(15)) == true
        else { return nil }
        return owner
    }

    /// Closes the client; the next use opens another.
    func close() {
        opened.withLock { opened in
            opened?.client.close()
            opened = nil
        }
    }
}
