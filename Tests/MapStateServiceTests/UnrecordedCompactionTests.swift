// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

@testable import MapStateService

/// The records of compactions that the log may not name yet.
final class UnrecordedCompactionTests {
    private let site: Site

    init() throws {
        site = try Site(
            openingOrCreating: "/tmp/cairn-unrec-" + UUID().uuidString.prefix(8).lowercased())
    }

    deinit { try? FileManager.default.removeItem(atPath: site.path) }

    private func compaction(_ digit: Character, layer: LayerID) throws -> UnrecordedCompaction {
        func content(_ digit: Character) throws -> ContentID {
            try #require(ContentID(rawValue: String(repeating: digit, count: 64)))
        }
        return UnrecordedCompaction(
            map: try #require(MapName(rawValue: "Grid")), layer: layer, base: try content("0"),
            through: 7, dataset: try content(digit),
            properties: LayerProperties(
                extent: nil, spatialReference: .wgs84, geometryType: .point, fields: [],
                featureCount: 1))
    }

    private func publish(_ compaction: UnrecordedCompaction) throws {
        try FileManager.default.createDirectory(
            atPath: site.datasetsDirectory + "/" + compaction.dataset.rawValue,
            withIntermediateDirectories: true)
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: site.runDirectory)
            .filter { $0.hasPrefix("compacted-") }.sorted()
    }

    @Test func `a compaction that waits to be recorded outlasts another layer's`() throws {
        let written = UnrecordedCompactions(site)
        let (waiting, other) = (try compaction("a", layer: 0), try compaction("b", layer: 1))
        for each in [waiting, other] {
            try written.write(each)
            try publish(each)
        }
        // By the next process.
        let read = UnrecordedCompactions(site)
        #expect(read.read() == [waiting, other])
        read.remove(other.dataset)
        #expect(read.read() == [waiting])
        read.remove(waiting.dataset)
        #expect(read.read() == [])
        #expect(try files() == [])
    }

    @Test func `a note of no dataset is removed, one that cannot be read is not`() throws {
        let written = UnrecordedCompactions(site)
        let published = try compaction("c", layer: 0)
        try written.write(try compaction("d", layer: 0))
        try written.write(published)
        try publish(published)
        try Data("{".utf8).write(to: URL(filePath: site.runDirectory + "/compacted-e.json"))
        #expect(written.read() == [published])
        #expect(try files() == ["compacted-\(published.dataset).json", "compacted-e.json"])
    }

    @Test func `a note that an older build left is read and removed`() throws {
        let written = UnrecordedCompactions(site)
        let old = try compaction("f", layer: 2)
        try publish(old)
        try CairnJSON.encode(old)
            .write(to: URL(filePath: site.runDirectory + "/compacted-layer.json"))
        #expect(written.read() == [old])
        written.remove(old.dataset)
        #expect(try files() == [])
    }
}
