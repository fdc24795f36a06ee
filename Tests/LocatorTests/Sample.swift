// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Locator
import TestKit

/// The locator of the repository's sample gazetteer, built once for all tests.
enum Sample {
    static let directory = Scratch.directory("sample")

    static let root: String = {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        return url.path
    }()

    static let built = Result { () throws(Failure) -> BuiltLocator in
        try LocatorBuilder.build(
            sources: [root + "/deploy/sample/gazetteer"], into: directory)
    }

    private static let opened = Result { () throws -> Locator in
        let id = try built.get().id
        return try Locator(path: directory + "/" + id.rawValue + "/locator.bin", id: id)
    }

    static func locator() throws -> Locator { try opened.get() }

    /// One settlement of the sample, as its source states it.
    struct City {
        var id: Int64
        var name: String
        var location: (x: Double, y: Double)
        var population: Int
        var country: String
    }

    /// Every settlement of the sample.
    static let cities: [City] = {
        let path = root + "/deploy/sample/gazetteer/cities.tsv.gz"
        guard let text = try? unpacked(path) else { return [] }
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count > 8, let id = Int64(fields[0]), let y = Double(fields[3]),
                let x = Double(fields[4])
            else { return nil }
            return City(
                id: id, name: String(fields[1]), location: (x, y),
                population: Int(fields[8]) ?? 0, country: String(fields[5]))
        }
    }()

    private static func unpacked(_ path: String) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/gzip")
        process.arguments = ["-dc", path]
        process.standardOutput = pipe
        try process.run()
        let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Directories that are removed when the process of the tests ends.
enum Scratch {
    private static let root: String = {
        let process = ProcessInfo.processInfo.processIdentifier
        let path = FileManager.default.temporaryDirectory.path + "/cairn-locator-\(process)"
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: Scratch.root) }
        return path
    }()

    static func directory(_ name: String) -> String {
        let path = root + "/" + name + "-" + UUID().uuidString
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// Writes a source file and returns its path.
    static func source(_ text: String, name: String = "places.tsv") throws -> String {
        let path = directory("source") + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Builds and opens a locator of sources as text.
    static func locator(_ texts: [String], suffix: String = "tsv") throws -> Locator {
        let built = try build(texts, suffix: suffix)
        return try Locator(path: built.path, id: built.locator.id)
    }

    static func build(
        _ texts: [String], suffix: String = "tsv"
    ) throws -> (locator: BuiltLocator, path: String) {
        let directory = directory("built")
        let sources = try texts.enumerated().map { try source($1, name: "\($0).\(suffix)") }
        let built = try LocatorBuilder.build(sources: sources, into: directory)
        return (built, directory + "/" + built.id.rawValue + "/locator.bin")
    }
}

extension Candidate {
    /// The GeoNames id.
    var sourceID: Int64? {
        guard case .integer(let id)? = attributes["GeoNamesID"] else { return nil }
        return id
    }
}

/// A few places, enough to meet every kind of record.
enum Tiny {
    static let countries = """
        code\tcode3\tname\tcapital\tpopulation
        FR\tFRA\tFrance\tParis\t65000000
        US\tUSA\tUnited States\tWashington\t310000000
        FJ\tFJI\tFiji\tSuva\t900000
        """
    static let regions = """
        code\tname\tascii_name\tid
        FR.11\tÎle-de-France\tIle-de-France\t11
        US.TX\tTexas\tTexas\t12
        """
    static let places = """
        id\tname\tlatitude\tlongitude\tcountry\tadmin1\tfeature_code\tpopulation\talternate_names
        1\tParis\t48.85341\t2.3488\tFR\t11\tPPLC\t2138551\tParys|Париж|パリ
        2\tParis\t33.66094\t-95.55551\tUS\tTX\tPPLA2\t25171\t
        3\tSuva\t-18.14161\t178.44149\tFJ\t\tPPLC\t77366\t
        4\tWaiyevo\t-16.8\t-179.98\tFJ\t\tPPL\t1500\t
        5\tSaint-Louis\t38.0\t-90.0\tUS\t\tPPL\t300000\tSt. Louie
        6\tMünchen\t48.1\t11.5\tDE\t\tPPLA\t1260391\t
        """
    static let all = [countries, regions, places]
}
