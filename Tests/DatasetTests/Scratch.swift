// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation

/// A directory of its own for each test, removed afterwards.
final class Scratch {
    let path: String
    var datasets: String { path + "/datasets" }

    init() {
        path = FileManager.default.temporaryDirectory.path + "/cairn-dataset-" + UUID().uuidString
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }

    func write(_ name: String, _ text: String) throws -> String {
        try write(name, Data(text.utf8))
    }

    func write(_ name: String, _ bytes: Data) throws -> String {
        let file = path + "/" + name
        try bytes.write(to: URL(filePath: file))
        return file
    }

    /// A GeoJSON feature collection of features as text.
    func features(_ name: String, _ features: [String]) throws -> String {
        try write(
            name,
            "{\"type\":\"FeatureCollection\",\"features\":[\n"
                + features.joined(separator: ",\n") + "]}")
    }

    /// Runs a program to its end; false unless it exits with 0.
    @discardableResult
    func run(_ program: String, _ arguments: [String]) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: path)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    func file(_ layer: ImportedLayer) -> String {
        datasets + "/" + layer.dataset.rawValue + "/layer.fgb"
    }

    func dataset(_ layer: ImportedLayer) throws -> Dataset { try Dataset(path: file(layer)) }

    /// The names in the datasets' directory, hidden ones too.
    func entries() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: datasets)) ?? []).sorted()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// One feature in full.
struct Contents: Hashable {
    var id: Int64
    var parts: [[[Double]]]
    var values: [AttributeValue]
}

extension Dataset {
    /// Every feature by its id.
    func contents() throws -> [Int64: Contents] {
        var result: [Int64: Contents] = [:]
        try forEach { feature in
            result[feature.objectID] = Contents(
                id: feature.objectID, parts: try shape(of: feature)?.numbers ?? [],
                values: try attributes(of: feature).entries.map(\.value))
        }
        return result
    }
}
