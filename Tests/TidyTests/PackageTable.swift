// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit

/// The target table of `Package.swift`, read as text: the tier of each target and its declared
/// dependencies.
struct PackageTable {
    struct Row {
        var name: String
        var tier: Int
        var dependencies: Set<String>

        /// Below `Sources`.
        var folder: String { PackageTable.folders[tier] + "/" + name }
    }

    /// The folders of the tiers, from 0.
    static let folders = [
        "C", "Wrappers", "Kernel", "Carriers", "Engines", "Services", "Programs", "SDK",
    ]

    var rows: [String: Row] = [:]
    /// Dependencies of each test target on the package.
    private(set) var tests: [(name: String, dependencies: Set<String>)] = []

    /// Modules that a named product brings.
    static let products: [String: Set<String>] = [
        "arguments": ["ArgumentParser"],
        "logging": ["Logging"],
        "metrics": ["CoreMetrics"],
        "configuration": ["Configuration"],
        "lifecycle": ["ServiceLifecycle"],
        "collections": ["DequeModule"],
        "hummingbird": [
            "HummingbirdCore", "HTTPTypes", "NIOCore", "NIOPosix", "NIOHTTPTypes",
            "ServiceLifecycle",
        ],
    ]

    /// Modules that every target may import without listing them.
    static let toolchain: Set<String> = [
        "Swift", "Synchronization", "Glibc", "FoundationEssentials", "Foundation", "Dispatch",
    ]

    init(manifest: String) {
        for tier in Self.folders.indices {
            for entry in Self.entries(of: "tier\(tier)", in: manifest) {
                rows[entry.name] = Row(
                    name: entry.name, tier: tier, dependencies: entry.dependencies)
            }
        }
        tests = Self.entries(of: "testTargets", in: manifest).filter { $0.name.hasSuffix("Tests") }
    }

    private static func entries(
        of list: String, in manifest: String
    ) -> [(name: String, dependencies: Set<String>)] {
        guard let start = manifest.range(of: "let \(list): [Target] = [\n"),
            let end = manifest.range(of: "\n]\n", range: start.upperBound..<manifest.endIndex)
        else { return [] }
        return entries(in: manifest[start.upperBound..<end.lowerBound])
    }

    /// Splits `library("A", ["B", logging]), process(…)` at the commas of the outermost level.
    private static func entries(
        in text: Substring
    ) -> [(name: String, dependencies: Set<String>)] {
        var result: [(String, Set<String>)] = []
        var depth = 0
        var current = ""
        for character in text {
            if character == "(" || character == "[" { depth += 1 }
            if character == ")" || character == "]" { depth -= 1 }
            if character == ",", depth == 0 {
                if let entry = parse(current) { result.append(entry) }
                current = ""
            } else {
                current.append(character)
            }
        }
        if let entry = parse(current) { result.append(entry) }
        return result
    }

    private static func parse(_ entry: String) -> (String, Set<String>)? {
        let literals = entry.matches(of: /"([^"]*)"/).map { String($0.1) }
        guard let name = literals.first else { return nil }
        var dependencies: Set<String> = []
        if !entry.contains("path:") { dependencies.formUnion(literals.dropFirst()) }
        for (product, modules) in products
        where entry.split(whereSeparator: { !$0.isLetter }).contains(Substring(product)) {
            dependencies.formUnion(modules)
        }
        if entry.contains("process(") { dependencies.insert("ArgumentParser") }
        return (name, dependencies)
    }
}

/// A Swift file of the repository.
struct SourceFile: Sendable {
    let path: String
    let text: String
    /// The modules it imports, with or without access level.
    let imports: [String]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        imports = Self.lines(with: "import ", in: text).compactMap { line in
            line.text.firstMatch(
                of:
                    /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public |package |internal |private )?import (?:struct |enum |class |func |protocol )?(\w+)/
            )
            .map { String($0.1) }
        }
    }

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// A line and its number, from 1.
    struct Line {
        var number: Int
        var text: Substring

        var isComment: Bool { text.trimmingPrefix(while: \.isWhitespace).hasPrefix("//") }
    }

    /// The lines that contain a word.
    ///
    /// Bytes are compared: most files have none, and iterating over characters takes most of a
    /// minute.
    func lines(with word: String) -> [Line] { Self.lines(with: word, in: text) }

    private static func lines(with word: String, in text: String) -> [Line] {
        var found: [Line] = []
        var (number, counted) = (1, text.startIndex)
        var start = text.startIndex
        while let place = text.range(
            of: word, options: .literal, range: start..<text.endIndex)?.lowerBound
        {
            let lineStart =
                text.utf8[..<place].lastIndex(of: 0x0A).map(text.utf8.index(after:))
                ?? text.startIndex
            let lineEnd = text.utf8[place...].firstIndex(of: 0x0A) ?? text.endIndex
            number += text.utf8[counted..<lineStart].count { $0 == 0x0A }
            counted = lineStart
            found.append(Line(number: number, text: text[lineStart..<lineEnd]))
            start = lineEnd
        }
        return found
    }
}

/// The repository as the tests see it.
enum Repository {
    static let root: String = {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        return url.path
    }()

    static func read(_ path: String) throws -> String {
        try String(contentsOfFile: root + "/" + path, encoding: .utf8)
    }

    /// Every file below a folder, as paths relative to the root, sorted.
    static func files(below folder: String, withExtension suffix: String? = nil) -> [String] {
        let enumerator = FileManager.default.enumerator(atPath: root + "/" + folder)
        var paths: [String] = []
        while let path = enumerator?.nextObject() as? String {
            let attributes = try? FileManager.default.attributesOfItem(
                atPath: root + "/" + folder + "/" + path)
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { continue }
            if let suffix, !path.hasSuffix("." + suffix) { continue }
            paths.append(folder + "/" + path)
        }
        return paths.sorted()
    }

    /// The files checked, read once.
    static let sources = Result { try swiftFiles(below: "Sources") }

    static func swiftFiles(below folder: String) throws -> [SourceFile] {
        try files(below: folder, withExtension: "swift").map {
            SourceFile(path: $0, text: try read($0))
        }
    }
}
