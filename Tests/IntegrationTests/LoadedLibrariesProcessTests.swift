// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import TestKit
import Testing

/// The large libraries loaded by an identify worker.
@Suite(.serialized, .timeLimit(.minutes(2)), .processes) struct LoadedLibrariesProcessTests {
    private static let large = ["gdal", "proj", "geos_c", "curl", "cairo", "pango-1.0"]

    private func loaded(by process: Int32) throws -> [String] {
        // A file of unknown size, of which `String(contentsOfFile:)` reads no more than the first
        // page.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/\(process)/maps"))
        let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        try #require(maps.contains("/libzmq.so."))
        return Self.large.filter { maps.contains("/lib\($0).so.") }
    }

    @Test func `a worker that answers clicks loads no deferred library until it has to project`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 4)
        let worker = try #require(site.processIDs("cairn-worker --pool identify").first)

        let answer = try await site.client.ask(.identify, site.request(x: 1, y: 2))
        #expect(answer.layers.first?.results.first?.value == .string("1/2"))
        #expect(try loaded(by: worker) == [])

        var projected = site.request(x: 1, y: 2)
        projected.geometrySpatialReference = .webMercator
        projected.spatialReference = SpatialReference(wkid: 2154)
        projected.returnGeometry = true
        let other = try await site.client.ask(.identify, projected)
        #expect(other.layers.first?.results.first?.value == .string("1/2"))
        #expect(try loaded(by: worker).contains("proj"))
    }
}
