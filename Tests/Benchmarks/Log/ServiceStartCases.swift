// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Foundation
import Platform
import Site

/// Start times of the services that fold the log: from a snapshot, and without one.
struct ServiceStartCases {
    let shop: Workshop

    /// Runs on a stopped site with a long log.
    func run(on site: Site) throws {
        let logd = try shop.cairn("cairn-logd", site)
        defer { logd.end() }
        try compare("cairn-mapstate", .mapRequests, site.snapshots(of: "maps"), site)
        try compare("cairn-supervisor", .supervisorRequests, site.snapshots(of: "jobs"), site)
    }

    private func compare(
        _ program: String, _ endpoint: Endpoint, _ store: SnapshotStore, _ site: Site
    ) throws {
        let whole = try start(program, endpoint, site) {
            while store.names().isEmpty { usleep(10_000) }
        }
        let path =
            try store.names().first.map(store.path) ?? { throw CocoaError(.fileNoSuchFile) }()
        let fromSnapshot = try start(program, endpoint, site)
        let mebibytes = Double(FileSystem.byteCount(of: path) ?? 0) / 1_048_576
        Output.write(
            Line("start of \(program) from a snapshot", ours: fromSnapshot, unit: "s")
                .beside("from the whole log", whole, atMost: 1)
                .noting("until the first answer; the snapshot has \(mebibytes.rounded(to: 1)) MiB"))
    }

    /// Seconds from the start of the process to its first answer that took the whole log.
    private func start(
        _ program: String, _ endpoint: Endpoint, _ site: Site, then body: () -> Void = {}
    ) throws -> Double {
        let began = MonotonicClock.nanoseconds()
        let process = try shop.cairn(program, site)
        defer { process.end() }
        let bus = try BusThread(name: "bench", runDirectory: site.runDirectory)
        defer { bus.stop() }
        let requester = try bus.connectRequester(endpoint)
        // The job and the operation do not exist; a service that has not read the log answers so
        // instead.
        let nobody = try CairnJSON.encode(JobID(rawValue: .timeOrdered()))
        try Blocking.run {
            while true {
                do {
                    _ = try await requester.request(
                        operation: "describe", payload: nobody, timeout: .seconds(1))
                } catch let failure as Failure {
                    if failure.code == .notFound { return }
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
        }
        let took = Double(MonotonicClock.nanoseconds() - began) / 1e9
        body()
        return took
    }
}
