// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import GDAL
import Geometry
import SpatialIndex

/// Measures the identify engine against GEOS and shapely, and imports against ogr2ogr.
///
/// `bench-engine WORK SAMPLE [--short] [--only CASE] [--python PROGRAM SCRIPT] [--layer NAME
/// FILE]…` works in the directory WORK on SAMPLE (deploy/sample) and layers of its own; with
/// `--layer` on further files.
@main
struct Main {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else {
            try FileHandle.standardError.write(contentsOf: Data("usage: see deploy/bench\n".utf8))
            exit(64)
        }
        var bench = Bench(work: arguments[1], isShort: arguments.contains("--short"))
        if let place = arguments.firstIndex(of: "--python") {
            bench.shapely = (arguments[place + 1], arguments[place + 2])
        }
        if let place = arguments.firstIndex(of: "--only") { bench.only = arguments[place + 1] }
        var further: [(String, String)] = []
        for place in arguments.indices where arguments[place] == "--layer" {
            further.append((arguments[place + 1], arguments[place + 2]))
        }
        try bench.run(sample: arguments[2], further: further)
        exit(bench.isShortOfSomething ? 1 : 0)
    }
}

struct Bench {
    let work: String
    let isShort: Bool
    /// Only cases with this in their name, and `growth`, `files` and `own code`.
    var only: String?
    var shapely: (python: String, script: String)?
    private(set) var isShortOfSomething = false

    init(work: String, isShort: Bool) {
        self.work = work
        self.isShort = isShort
    }

    private var questions: Int { isShort ? 50_000 : 200_000 }
    private var rounds: Int { isShort ? 1 : 5 }

    mutating func run(sample: String, further: [(String, String)]) throws {
        if only.map({ "own code".contains($0) }) ?? true { try OwnCode(isShort: isShort).run() }
        if only == "own code" { return }
        let world = work + "/sources"
        try FileManager.default.createDirectory(
            atPath: world, withIntermediateDirectories: true)
        func source(_ name: String, _ make: (String) throws -> Void) throws -> String {
            let path = world + "/" + name + ".fgb"
            if !FileManager.default.fileExists(atPath: path) { try make(path) }
            return path
        }
        for name in ["countries", "states_provinces"] {
            let path = try source(name) {
                try run("/usr/bin/ogr2ogr", [$0, sample + "/world.gpkg", name])
            }
            try compare(name, path)
        }
        for (name, path) in further where !name.hasPrefix("footprints") {
            try compare(name, path, name == "communes" ? .features : .extent)
        }
        let large = try source("large") { try SyntheticLayers.large($0) }
        try compare("large", large)
        try compare("large, near corners", large, .corners)
        let count = isShort ? 100_000 : 1_000_000
        let footprints =
            try further.first { $0.0.hasPrefix("footprints") }?.1
            ?? source("footprints-\(count)") {
                try SyntheticLayers.footprints($0, count: count)
            }
        try compare("footprints", footprints, .features)
        let tenth = try source("footprints-\(count / 10)") {
            try SyntheticLayers.footprints($0, count: count / 10)
        }
        let whole = try source("footprints-\(count)") {
            try SyntheticLayers.footprints($0, count: count)
        }
        if only.map({ "growth".contains($0) }) ?? true { try growth(tenth, whole) }
        if only.map({ "files".contains($0) }) ?? true { try files(footprints) }
    }

    private mutating func report(_ line: Line) throws {
        try line.write()
        if !line.pass { isShortOfSomething = true }
    }

    private func open(_ name: String, _ source: String, _ spread: BenchLayer.Spread) throws
        -> BenchLayer
    {
        try BenchLayer(
            name, source: source, into: work + "/datasets", questions: questions,
            spread: spread)
    }

    /// One layer against GEOS and shapely.
    private mutating func compare(
        _ name: String, _ source: String, _ spread: BenchLayer.Spread = .extent
    ) throws {
        guard only.map({ name.contains($0) }) ?? true else { return }
        let layer = try open(name, source, spread)
        guard let search = PointSearch(layer.dataset, in: layer.dataset.properties.spatialReference)
        else { throw Failure(.internal, "\(name) has no index") }
        let features = try layer.features()
        let peer = GEOSPeer(features)
        let positions = layer.positions
        // The answers first: which features hold which position.
        var mismatches = 0
        var found: [NearFeature] = []
        let many = try search.features(near: positions)
        var pairs = 0
        for (number, position) in positions.enumerated() {
            found.removeAll(keepingCapacity: true)
            try search.features(near: position, within: 0, into: &found)
            var theirs: [Int] = []
            peer.features(at: position) { theirs.append($0) }
            let ours = found.map(\.feature).sorted()
            if ours != theirs.sorted() || ours != many[number].map(\.feature).sorted() {
                mismatches += 1
            }
            pairs += ours.count
        }
        var hits = 0
        let times = try Timing.medians(
            rounds: rounds,
            [
                {
                    for position in positions {
                        found.removeAll(keepingCapacity: true)
                        try search.features(near: position, within: 0, into: &found)
                        hits &+= found.count
                    }
                },
                { hits &+= try search.features(near: positions).features.count },
                { for position in positions { peer.features(at: position) { hits &+= $0 } } },
            ])
        let count = Double(positions.count)
        let rates = times.map { count / $0 / 1e6 }
        func line(_ kind: String, _ peer: String, _ ours: Double, _ theirs: Double, _ asked: Double)
            -> Line
        {
            Line(
                case: "\(name), \(kind)", peer: peer, ratio: ours / theirs, asked: "≥ \(asked)",
                pass: ours / theirs >= asked && mismatches == 0, questions: positions.count,
                mismatches: mismatches, ours: ours, theirs: theirs, unit: "million a second, CPU")
        }
        try report(line("one by one", "GEOS", rates[0], rates[2], 2.5))
        try report(line("many at once", "GEOS", rates[1], rates[2], 4))
        if let theirs = try shapelyRate(layer, features, pairs, &mismatches) {
            try report(line("many at once", "shapely", rates[1], theirs, 4))
        }
    }

    /// Millions a second of shapely in bulk, which must find as many pairs.
    private func shapelyRate(
        _ layer: BenchLayer, _ features: [[[[Coordinate]]]], _ pairs: Int, _ mismatches: inout Int
    ) throws -> Double? {
        guard let shapely else { return nil }
        var bytes = Data()
        func append(_ value: some FixedWidthInteger) {
            unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
        }
        append(UInt32(layer.positions.count))
        for position in layer.positions {
            append(position.x.bitPattern)
            append(position.y.bitPattern)
        }
        let path = work + "/positions.bin"
        try bytes.write(to: URL(filePath: path))
        let text = try run(
            shapely.python,
            [shapely.script, path, layer.directory + "/layer.fgb", "\(rounds)"])
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == 2 else {
            throw Failure(.internal, "shapely said '\(text)'")
        }
        if Int(numbers[1]) != pairs { mismatches += 1 }
        return Double(layer.positions.count) / numbers[0] / 1e6
    }

    /// Ten times the features, with requests all over them.
    ///
    /// There are ten copies of the smaller layer, too, queried in turn, so that both cases read as
    /// much memory: the comparison is of searches, not of cache sizes.
    private mutating func growth(_ tenth: String, _ whole: String) throws {
        let layers = try [tenth, whole].map { try open("footprints", $0, .features) }
        let copies = work + "/copies"
        try? FileManager.default.removeItem(atPath: copies)
        try FileManager.default.createDirectory(
            atPath: copies, withIntermediateDirectories: true)
        let spread = try (0..<10).map { number in
            try FileManager.default.copyItem(
                atPath: layers[0].directory, toPath: "\(copies)/\(number)")
            return try Dataset(path: "\(copies)/\(number)/layer.fgb")
        }
        let asked = [
            (spread, layers[0].positions),
            (Array(repeating: layers[0].dataset, count: 10), layers[0].positions),
            (Array(repeating: layers[1].dataset, count: 10), layers[1].positions),
        ]
        var found: [NearFeature] = []
        let times = try Timing.medians(
            rounds: max(3, rounds),
            asked.map { datasets, positions in
                let searches = datasets.compactMap { PointSearch($0, in: .wgs84) }
                return {
                    for (number, position) in positions.enumerated() {
                        found.removeAll(keepingCapacity: true)
                        try searches[number % 10].features(
                            near: position, within: 0, into: &found)
                    }
                }
            })
        let nanoseconds = times.map { $0 / Double(questions) * 1e9 }
        func line(_ what: String, _ theirs: Double, _ limit: Double?) -> Line {
            let ratio = nanoseconds[2] / theirs
            return Line(
                case: "footprints, ten times as many, \(what)", peer: "ourselves", ratio: ratio,
                asked: limit.map { "≤ \($0)" } ?? "nothing", pass: ratio <= limit ?? .infinity,
                questions: questions, ours: nanoseconds[2], theirs: theirs,
                unit: "nanoseconds a question")
        }
        try report(line("one by one", nanoseconds[0], 1.5))
        try report(line("beside one copy of the fewer", nanoseconds[1], nil))
    }

    /// Time to import, size, time to open.
    private mutating func files(_ source: String) throws {
        let plain = work + "/plain.fgb"
        let datasets = work + "/import"
        // Both may use every core, wherever this process was kept until now.
        try run("/usr/bin/taskset", ["-ap", "ffffffff", "\(getpid())"])
        var times: [(ours: Timing.Cost, theirs: Timing.Cost)] = []
        var directory = ""
        for _ in 0..<(isShort ? 1 : 3) {
            try? FileManager.default.removeItem(atPath: plain)
            try? FileManager.default.removeItem(atPath: datasets)
            let theirs = try Timing.cost(ofChildren: true) {
                try run("/usr/bin/ogr2ogr", ["-f", "FlatGeobuf", plain, source])
            }
            let ours = try Timing.cost {
                let layer = try DatasetBuilder.importFile(path: source, into: datasets)[0]
                directory = datasets + "/" + layer.dataset.rawValue
            }
            times.append((ours, theirs))
        }
        times.sort { $0.ours.wall / $0.theirs.wall < $1.ours.wall / $1.theirs.wall }
        let (ours, theirs) = times[times.count / 2]
        for (name, ours, theirs) in [
            ("wall", ours.wall, theirs.wall), ("processor", ours.processor, theirs.processor),
        ] {
            try report(
                Line(
                    case: "footprints, import", peer: "ogr2ogr", ratio: ours / theirs,
                    asked: name == "wall" ? "≤ 1.5" : "-",
                    pass: name != "wall" || ours / theirs <= 1.5, ours: ours, theirs: theirs,
                    unit: "seconds, \(name)"))
        }
        func size(_ path: String) throws -> Double {
            Double(try Data(contentsOf: URL(filePath: path), options: .alwaysMapped).count)
        }
        let bytes = try size(directory + "/layer.fgb") + size(directory + "/layer.index")
        let plainBytes = try size(plain)
        try report(
            Line(
                case: "footprints, size", peer: "ogr2ogr", ratio: bytes / plainBytes,
                asked: "≤ 1.3", pass: bytes / plainBytes <= 1.3, ours: bytes, theirs: plainBytes,
                unit: "bytes"))
        let start = Timing.wall()
        for _ in 0..<100 { _ = try Dataset(path: directory + "/layer.fgb") }
        let milliseconds = (Timing.wall() - start) * 10
        try report(
            Line(
                case: "footprints, open", peer: "5 ms", ratio: milliseconds / 5, asked: "≤ 1",
                pass: milliseconds < 5, ours: milliseconds, theirs: 5, unit: "milliseconds"))
    }

    @discardableResult
    private func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(.internal, "\(program) \(arguments) failed")
        }
        return String(decoding: text, as: UTF8.self)
    }
}
