// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import MapState
internal import Platform
internal import Site

extension Session {
    /// Runs `body` with some of the site's processes: those of a running site, or temporary ones,
    /// stopped afterwards.
    func withProcesses<Value>(
        _ roles: [ProcessRole], _ body: () async throws -> Value
    ) async throws -> Value {
        if isUp { return try await body() }
        try site.missLog()
        guard let lock = try FileLock.tryAcquire(site.runDirectory + "/up.pid") else {
            throw Failure(
                .conflict, "another command is just starting the site '\(site.path)': try again")
        }
        guard let program = OwnProgram.path(), let slash = program.lastIndex(of: "/") else {
            throw Failure(.internal, "the path of this program is not known")
        }
        let plans = SiteShape().plans(
            site: site.path, runDirectory: site.runDirectory, programs: String(program[..<slash]),
            roles: roles)
        try plans.checkExecutables()
        let processes = try SiteProcesses(plans, runDirectory: site.runDirectory, port: 0) {
            Output.diagnose($0)
        }
        let result: Result<Value, any Error>
        do {
            try await untilAnswering(roles)
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        close()
        processes.stop()
        await processes.untilEnded()
        lock.release(removingFile: true)
        return try result.get()
    }

    /// Waits until the log, and the map state if requested, answer; at most 30 s.
    private func untilAnswering(_ roles: [ProcessRole]) async throws {
        let start = ContinuousClock.now
        while true {
            do {
                _ = try await head()
                if roles.contains(.mapstate) { try await askMapState() }
                return
            } catch {
                guard ContinuousClock.now - start < .seconds(30) else { throw error }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// A request that must be refused: any answer shows that the map state is running.
    private func askMapState() async throws {
        guard let name = MapName(rawValue: "CairnProbe") else { return }
        let client = try client()
        do throws(Failure) {
            _ = try await client.command(map: name, .removeLayer(layer: -1))
        } catch {
            if error.exitCode == 69 { throw error }
        }
    }
}

extension [ProcessPlan] {
    /// Throws `Failure` (`notFound`) unless every executable exists.
    func checkExecutables() throws(Failure) {
        for plan in self where !FileManager.default.isExecutableFile(atPath: plan.path) {
            throw Failure(
                .notFound, "'\(plan.path)' is missing: it belongs beside 'cairn' itself")
        }
    }
}
