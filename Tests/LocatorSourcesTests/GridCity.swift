// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import LocatorSources

/// A town of streets at right angles with known house numbers, around (10°, 50°).
///
/// Streets run east (`Alder Street` …) and north (`First Avenue` …) in blocks of 100 m; block *n*
/// has the numbers 100 *n* to 100 *n* + 98 on its left and 100 *n* + 1 to 100 *n* + 99 on its
/// right.
struct GridCity {
    struct Segment {
        var street: String
        /// Metres east and north of the corner.
        var line: [(x: Double, y: Double)]
        var left: (from: Int, to: Int)?
        var right: (from: Int, to: Int)?
        var leftPostal = "10001"
        var rightPostal = "10001"
    }

    static let eastward = ["Alder", "Birch", "Cedar", "Elm", "Hazel"].map { $0 + " Street" }
    static let northward = ["First", "Second", "Third", "Fourth"].map { $0 + " Avenue" }
    static let block = 100.0

    var segments: [Segment] = []

    init() {
        for (row, street) in Self.eastward.enumerated() {
            for n in 0..<Self.northward.count - 1 {
                let (x, y) = (Self.block * Double(n), Self.block * Double(row))
                segments.append(
                    Segment(
                        street: street, line: [(x, y), (x + 30, y), (x + Self.block, y)],
                        left: (100 * n, 100 * n + 98), right: (100 * n + 1, 100 * n + 99)))
            }
        }
        for (column, street) in Self.northward.enumerated() {
            for n in 0..<Self.eastward.count - 1 {
                let (x, y) = (Self.block * Double(column), Self.block * Double(n))
                // Drawn southward, so that the numbers run backwards.
                segments.append(
                    Segment(
                        street: street, line: [(x, y + Self.block), (x, y)],
                        left: (100 * n + 99, 100 * n + 1), right: (100 * n + 98, 100 * n),
                        rightPostal: "10002"))
            }
        }
    }

    static let metersPerDegree = 6_371_008.8 * Double.pi / 180

    static func location(_ x: Double, _ y: Double) -> Coordinate {
        Coordinate(
            x: 10 + x / metersPerDegree / cos(50 * .pi / 180), y: 50 + y / metersPerDegree)
    }

    /// Metres east and north of the corner.
    static func plane(_ location: Coordinate) -> (x: Double, y: Double) {
        (
            (location.x - 10) * metersPerDegree * cos(50 * .pi / 180),
            (location.y - 50) * metersPerDegree
        )
    }

    /// As GeoJSON with the fields of TIGER/Line.
    var geoJSON: String {
        GeoJSON.collection(
            segments.map { segment in
                GeoJSON.line(
                    segment.line.map { Self.location($0.x, $0.y) },
                    [
                        "FULLNAME": segment.street, "LFROMADD": segment.left.map { "\($0.from)" },
                        "LTOADD": segment.left.map { "\($0.to)" },
                        "RFROMADD": segment.right.map { "\($0.from)" },
                        "RTOADD": segment.right.map { "\($0.to)" }, "ZIPL": segment.leftPostal,
                        "ZIPR": segment.rightPostal,
                    ])
            })
    }
}

/// Writes GeoJSON for tests.
enum GeoJSON {
    static func collection(_ features: [String], crs: String? = nil) -> String {
        let system = crs.map {
            #""crs":{"type":"name","properties":{"name":"\#($0)"}},"#
        }
        return #"{"type":"FeatureCollection",\#(system ?? "")"features":["#
            + features.joined(separator: ",\n") + "]}"
    }

    static func feature(_ geometry: String, _ properties: [String: String?]) -> String {
        let members = properties.sorted { $0.key < $1.key }.map { key, value in
            "\"\(key)\":" + (value.map { "\"\($0)\"" } ?? "null")
        }
        return #"{"type":"Feature","geometry":\#(geometry),"properties":{"#
            + members.joined(separator: ",") + "}}"
    }

    static func line(_ line: [Coordinate], _ properties: [String: String?]) -> String {
        let vertices = line.map { "[\($0.x),\($0.y)]" }.joined(separator: ",")
        return feature(#"{"type":"LineString","coordinates":[\#(vertices)]}"#, properties)
    }

    static func point(_ location: Coordinate, _ properties: [String: String?]) -> String {
        feature(
            #"{"type":"Point","coordinates":[\#(location.x),\#(location.y)]}"#, properties)
    }
}

/// Directories that are removed when the process of the tests ends, and locators in them.
enum Scratch {
    private static let root: String = {
        let process = ProcessInfo.processInfo.processIdentifier
        let path = FileManager.default.temporaryDirectory.path + "/cairn-sources-\(process)"
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: Scratch.root) }
        return path
    }()

    static func directory() -> String {
        let path = root + "/" + UUID().uuidString
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        return path
    }

    static func file(_ text: String, _ name: String) throws -> String {
        let path = directory() + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    static func build(
        _ sources: [String], columns: [String] = [], constants: [String] = ["city=Gridham"]
    ) throws -> (built: BuiltLocator, locator: Locator) {
        let directory = directory()
        let built = try LocatorBuilder.build(
            sources: sources, columns: columns, constants: constants,
            vectors: VectorSources.reader(expandingIn: directory), into: directory)
        let path = directory + "/" + built.id.rawValue + "/locator.bin"
        return (built, try Locator(path: path, id: built.id))
    }
}

extension Locator {
    func first(_ text: String, _ change: (inout GeocodeRequest) -> Void = { _ in }) throws
        -> Candidate?
    {
        var request = GeocodeRequest(singleLine: text)
        change(&request)
        return try geocode(request).candidates.first
    }
}

extension Candidate {
    func text(_ name: String) -> String {
        guard case .string(let text)? = attributes[name] else { return "" }
        return text
    }

    func meters(to other: Coordinate) -> Double {
        let radians = Double.pi / 180
        let dy = (location.y - other.y) * radians
        let dx = (location.x - other.x) * radians * cos(other.y * radians)
        return (dx * dx + dy * dy).squareRoot() * 6_371_008.8
    }
}
