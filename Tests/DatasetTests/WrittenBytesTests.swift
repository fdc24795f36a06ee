// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Platform
import TestKit
import Testing

/// The bytes of a dataset's file are those that GDAL would have written.
@Suite struct WrittenBytesTests {
    private let scratch = Scratch()

    @Test(
        .slow,
        arguments: [
            "POINT", "MULTIPOINT", "LINESTRING", "MULTILINESTRING", "POLYGON", "MULTIPOLYGON",
        ])
    func `GDAL copies a dataset to the same bytes`(kind: String) throws {
        for ordinates in ["", " Z", " M", " ZM"] {
            var texts = RandomTexts(seed: .random(in: .min ... .max), ordinates: ordinates)
            let seed = texts.seed
            let rows = (0..<300).map { _ in texts.row(kind) }
            let name = kind.lowercased() + ordinates.trimmingCharacters(in: .whitespaces)
            let path = try scratch.write(
                "\(name).csv", "name;count;size;seen;day;wkt\n" + rows.joined(separator: "\n"))

            let layer = try #require(
                try DatasetBuilder.importFile(path: path, into: scratch.datasets).first)

            #expect(layer.featureCount == 300, "seed \(seed)")
            #expect(layer.properties.hasZ == ordinates.contains("Z"))
            #expect(layer.properties.hasM == ordinates.contains("M"))
            let copy = scratch.path + "/\(name).fgb"
            #expect(
                try scratch.run(
                    "/usr/bin/ogr2ogr", ["-f", "FlatGeobuf", copy, scratch.file(layer)]))
            let (ours, theirs) = (
                try Data(contentsOf: URL(filePath: scratch.file(layer))),
                try Data(contentsOf: URL(filePath: copy))
            )
            let difference = zip(ours, theirs).enumerated().first { $1.0 != $1.1 }?.offset
            #expect(
                ours == theirs,
                "\(name), seed \(seed): \(ours.count) and \(theirs.count) bytes, first difference at \(difference ?? -1)"
            )
        }
    }

    @Test func `a dataset's bytes do not depend on what its thread has read before`() throws {
        let path = try scratch.write("some.csv", "name;wkt\na;POINT (1 2)\n")
        // PROJ then finds the datum of this text, and would replace the ensemble by it.
        let system = try scratch.write(
            "datum.wkt",
            #"GEOGCS["Somewhere",DATUM["WGS 84",SPHEROID["WGS 84",6378137,298.257223563]],"#
                + #"PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]"#)
        let named = scratch.path + "/named.gpkg"
        #expect(
            try scratch.run(
                "/usr/bin/ogr2ogr", ["-f", "GPKG", "-a_srs", system, named, path]))
        let folder = scratch.datasets
        func imported(_ files: [String]) throws -> ContentID? {
            try BackgroundThread("import") {
                try files.map { try DatasetBuilder.importFile(path: $0, into: folder) }
                    .last?.first?.dataset
            }.value()
        }

        let dataset = try #require(try imported([named, path]))

        #expect(try imported([path]) == dataset)
    }

    @Test(.slow) func `a file that does not hold what was written to it is not taken`() throws {
        var texts = RandomTexts(seed: .random(in: .min ... .max), ordinates: " Z")
        let seed = texts.seed
        let path = try scratch.write(
            "some.csv",
            "name;count;size;seen;day;wkt\n"
                + (0..<40).map { _ in texts.row("POLYGON") }.joined(separator: "\n"))
        let whole = try Data(
            contentsOf: URL(
                filePath: scratch.file(
                    try #require(
                        try DatasetBuilder.importFile(path: path, into: scratch.datasets).first))))
        let entries = scratch.entries()

        func refusal(_ damage: (inout Data) -> Void) throws -> Failure? {
            var bytes = whole
            damage(&bytes)
            // A thread that was there before: the import's own may not look for the file.
            let (written, damaged) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let damaging = try BackgroundThread("damage") { [bytes, datasets = scratch.datasets] in
                defer { damaged.signal() }
                written.wait()
                if let file = Scratch.staged(in: datasets) {
                    try bytes.write(to: URL(filePath: file))
                }
            }
            defer { written.signal() }
            do {
                // The last word before the file is read back is that all is written.
                _ = try DatasetBuilder.importFile(path: path, into: scratch.datasets) { progress in
                    guard case .writing(_, 40, 40) = progress else { return }
                    written.signal()
                    damaged.wait()
                    // Another such word does not wait for what is done.
                    damaged.signal()
                }
                try damaging.value()
                return nil
            } catch let failure as Failure { return failure }
        }
        #expect(try refusal { _ in } == nil)
        for round in 0..<60 {
            let place = Int.random(in: 0..<whole.count)
            let failure = try refusal { bytes in
                switch round {
                case 0: bytes.removeLast()
                case 1: bytes.append(0)
                case 2:
                    bytes = Data(bytes.prefix(12)) + Data(count: bytes.count - 12)
                case 3: bytes = Data()
                default: bytes[place] ^= 1 << UInt8(place % 8)
                }
            }
            #expect(
                failure?.code == .noSpace,
                "seed \(seed), round \(round), byte \(place): \(failure as Any)")
            #expect(scratch.entries() == entries)
        }
    }
}

extension Scratch {
    /// The file of the dataset that an import is just making.
    fileprivate static func staged(in datasets: String) -> String? {
        FileManager.default.enumerator(atPath: datasets)?
            .compactMap { $0 as? String }
            .first { $0.hasPrefix(".import-") && $0.hasSuffix("/layer.fgb") }
            .map { datasets + "/" + $0 }
    }
}

/// Rows of a table with a geometry and values, some of them missing.
private struct RandomTexts {
    private var generator: SeededGenerator
    private let ordinates: String
    var seed: UInt64 { generator.seed }

    init(seed: UInt64, ordinates: String) {
        generator = SeededGenerator(seed: seed)
        self.ordinates = ordinates
    }

    private mutating func number(_ range: ClosedRange<Double>) -> Double {
        Double.random(in: range, using: &generator)
    }

    private mutating func position(_ x: Double, _ y: Double) -> String {
        let further = ordinates.filter { $0 != " " }.map { _ in " \(number(-9...9))" }
        return "\(x) \(y)" + further.joined()
    }

    private mutating func chain(_ count: Int) -> String {
        let (x, y) = (number(-170...170), number(-80...80))
        return "("
            + (0..<count).map { _ in position(x + number(-1...1), y + number(-1...1)) }
            .joined(separator: ", ") + ")"
    }

    private mutating func ring() -> String {
        let chain = chain(Int.random(in: 3...12, using: &generator))
        let first = chain.dropFirst().prefix { $0 != "," }
        return chain.dropLast() + ", " + first + ")"
    }

    private mutating func several(_ each: (inout Self) -> String) -> String {
        let count = Int.random(in: 1...3, using: &generator)
        return "(" + (0..<count).map { _ in each(&self) }.joined(separator: ", ") + ")"
    }

    private mutating func body(_ kind: String) -> String {
        switch kind {
        case "POINT": chain(1)
        case "MULTIPOINT": several { $0.chain(1) }
        case "LINESTRING": chain(Int.random(in: 2...40, using: &generator))
        case "MULTILINESTRING": several { $0.chain(Int.random(in: 2...9, using: &$0.generator)) }
        case "POLYGON": several { $0.ring() }
        default: several { $0.several { $0.ring() } }
        }
    }

    mutating func row(_ kind: String) -> String {
        func maybe(_ text: String) -> String {
            Int.random(in: 0..<4, using: &generator) == 0 ? "" : text
        }
        let letters = ["a", "é", "漢", "\u{1F600}", " "]
        let name = (0..<Int.random(in: 0...9, using: &generator))
            .map { _ in letters.randomElement(using: &generator) ?? "" }.joined()
        let count = Int32.random(in: .min ... .max, using: &generator)
        let second = Int.random(in: 0..<60, using: &generator)
        let fraction = Int.random(in: 0...1, using: &generator) == 0 ? "" : ".25"
        let values = [
            "x" + name, "\(count)", "\(number(-1e9...1e9))",
            "2001-02-03 04:05:\(second < 10 ? "0" : "")\(second)\(fraction)",
            "1999-12-\(10 + second % 20)",
        ].map(maybe)
        return values.joined(separator: ";") + ";\"\(kind)\(ordinates) \(body(kind))\""
    }
}
