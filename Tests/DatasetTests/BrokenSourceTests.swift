// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import TestKit
import Testing

@Suite struct BrokenSourceTests {
    private let scratch = Scratch()

    private func points() throws -> String {
        try scratch.features(
            "points.geojson",
            (1...400).map { index in
                "{\"type\":\"Feature\",\"id\":\(index),\"properties\":{\"name\":\"name \(index)\"},"
                    + "\"geometry\":{\"type\":\"LineString\",\"coordinates\":"
                    + "[[\(index % 90),\(index % 45)],[\(index % 80),1]]}}"
            })
    }

    @Test(
        .slow,
        arguments: [
            ("points.geojson", "GeoJSON"), ("points.gpkg", "GPKG"), ("points.fgb", "FlatGeobuf"),
            ("points.geojson.gz", "gzip"), ("points.kml", "KML"), ("points.gml", "GML"),
        ])
    func `a source cut short is refused and leaves nothing`(name: String, format: String) throws {
        let geojson = try points()
        if format == "gzip" {
            try scratch.run("/usr/bin/gzip", ["-k", geojson])
        } else if format != "GeoJSON" {
            #expect(try scratch.run("/usr/bin/ogr2ogr", ["-f", format, name, geojson]))
        }
        let whole = try Data(contentsOf: URL(filePath: scratch.path + "/" + name))
        for tenths in [1, 5, 9] {
            let path = try scratch.write("cut-" + name, whole.prefix(whole.count * tenths / 10))
            let failure = #expect(throws: Failure.self) {
                try DatasetBuilder.importFile(path: path, into: scratch.datasets)
            }
            #expect(failure?.message.isEmpty == false, "\(name) cut at \(tenths)/10")
            #expect(scratch.entries().isEmpty, "\(name) cut at \(tenths)/10")
        }
        let layers = try DatasetBuilder.importFile(
            path: scratch.path + "/" + name, into: scratch.datasets)
        #expect(layers.map(\.featureCount) == [400])
    }

    @Test func `the files of a killed import are removed by the next one`() throws {
        let abandoned = scratch.datasets + "/.import-abandoned"
        try FileManager.default.createDirectory(
            atPath: abandoned, withIntermediateDirectories: true)
        try Data("1\n".utf8).write(to: URL(filePath: abandoned + "/lock"))
        try Data(count: 100).write(to: URL(filePath: abandoned + "/layer.fgb"))

        let layers = try DatasetBuilder.importFile(path: try points(), into: scratch.datasets)

        #expect(scratch.entries() == layers.map(\.dataset.rawValue))
    }

    @Test(arguments: [8, 16, 40, 64, 96])
    func `a full disk is an error and leaves nothing`(kibibytes: Int) throws {
        let small = scratch.path + "/small"
        try FileManager.default.createDirectory(
            atPath: small, withIntermediateDirectories: true)
        guard
            try scratch.run(
                "/usr/bin/mount", ["-t", "tmpfs", "-o", "size=\(kibibytes)k", "tmpfs", small])
        else {
            print("skipped \(#function): may not mount a small file system")
            return
        }
        defer { _ = try? scratch.run("/usr/bin/umount", [small]) }
        let source = try points()

        let failure = #expect(throws: Failure.self) {
            try DatasetBuilder.importFile(path: source, into: small)
        }

        #expect(failure?.code == .noSpace, "\(failure?.description ?? "")")
        #expect(try FileManager.default.contentsOfDirectory(atPath: small).isEmpty)
    }

    @Test(.slow) func `odd files are taken as GDAL takes them, and never crash an import`() throws {
        guard let expectations = try SharedData.bytes("odd_inputs/expected.jsonl"),
            let corpus = SharedData.path("odd_inputs")
        else { return }
        for archive in try FileManager.default.contentsOfDirectory(atPath: corpus)
        where archive.hasSuffix(".tar.gz") {
            try scratch.run("/usr/bin/tar", ["xzf", corpus + "/" + archive])
        }
        var tried = 0
        for line in expectations.split(separator: UInt8(ascii: "\n")) {
            let expected = try JSONDecoder().decode(Expectation.self, from: line)
            let path = scratch.path + "/" + expected.file
            guard FileManager.default.fileExists(atPath: path) else { continue }
            tried += 1
            check(path, expected)
        }
        #expect(tried > 300)
    }

    private struct Expectation: Decodable {
        struct Layer: Decodable {
            var features: Int?
            var null_geometries: Int?
            var unparsable: Int?
            var empty: Int?
        }
        var file: String
        var gdal_opens: Bool?
        var layers: [Layer]?
    }

    /// Whatever GDAL sees is taken or accounted for; what it cannot open is refused.
    private func check(_ path: String, _ expected: Expectation) {
        let whole = (expected.layers ?? []).reduce(0) { sum, layer in
            sum + (layer.features ?? 0) - (layer.null_geometries ?? 0) - (layer.unparsable ?? 0)
                - (layer.empty ?? 0)
        }
        do {
            let layers = try DatasetBuilder.importFile(path: path, into: scratch.datasets)
            // Files that the expectations' reader could not open: a name that it misreads, and a
            // shapefile in a directory of an archive.
            let further = ["/!test.geojson", "/T8Th4_6n.zip"]
            #expect(
                expected.gdal_opens == true || further.contains(where: path.hasSuffix), "\(path)")
            let accounted = layers.reduce(0) { $0 + $1.featureCount + $1.rejectedCount }
            #expect(accounted >= whole, "\(path)")
        } catch {
            #expect(error.message.contains(scratch.path), "\(error)")
            // The details give the reasons why no feature of a readable file is usable.
            #expect(expected.gdal_opens != true || whole == 0 || !error.details.isEmpty, "\(path)")
        }
    }
}
