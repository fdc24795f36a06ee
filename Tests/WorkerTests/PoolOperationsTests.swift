// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import FedSite
import JobKinds
import Remote
import Site
import Testing

@testable import Worker
@testable import WorkerPools

@Suite struct PoolOperationsTests {
    private func expected(_ pool: WorkerPool) -> Set<String> {
        let chunks = JobKinds.all.flatMap { kind in
            kind.operations.filter { $0.pool == pool }.map {
                kind.description.kind.rawValue + "." + $0.name
            }
        }
        return Set(
            Operations.all.filter { $0.place == .pool(pool) }.map(\.name) + chunks)
    }

    @Test func `the identify pool answers every operation of its place`() throws {
        let history = try FedSite()
        let operations = try IdentifyOperations(
            follower: history.follower, isStale: { false },
            shelf: DatasetCache(directory: history.site.datasetsDirectory),
            rasters: history.site.rastersDirectory,
            remotes: RemoteServices(credentials: history.site.credentials)
        ) { request throws(Failure) in history.read(request) }
        let handlers = operations.handlers(blobs: history.site.blobs)

        #expect(handlers.names == expected(.identify))
        let tried = Operations.all.filter { $0.place == .pool(.identify) && $0.effort == .tried }
        #expect(Set(handlers.tried.keys) == Set(tried.map(\.name)))
    }

    @Test func `the locator pool answers every operation of its place`() throws {
        let history = try FedSite()
        let shelf = LocatorShelf(site: history.site) { _ in nil }
        let handlers = LocatorOperations(on: shelf).handlers(blobs: history.site.blobs)

        #expect(handlers.names == expected(.locator))
    }
}
