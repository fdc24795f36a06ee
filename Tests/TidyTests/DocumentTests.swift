// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// The house rules of documents that a machine can check.
@Suite struct DocumentTests {
    let pages: [Document]
    let records: [Document]
    let sources: [SourceFile]

    init() throws {
        sources = try Repository.sources.get()
        let docs = try Repository.files(below: "Docs", withExtension: "md").map(Document.init)
        records = docs.filter { $0.path.contains(/^Docs\/decisions\/\d{4}-/) }
        pages =
            try docs.filter { !$0.path.contains(/^Docs\/decisions\/\d{4}-/) }
            + ["README.md", "SECURITY.md"].map(Document.init)
    }

    @Test func `the index lists every decision once, with its title and status`() throws {
        let index = try Repository.read("Docs/decisions/index.md")
        let listed = index.split(separator: "\n").filter { $0.hasPrefix("| [") }.map(String.init)

        let expected = try records.map { record in
            let name = try #require(record.path.split(separator: "/").last)
            let heading = try #require(
                record.text.firstMatch(of: /^# (\d{4}) (.+)\n/), "\(record.path): no heading")
            #expect(name.hasPrefix("\(heading.1)-"), "\(record.path) is headed \(heading.1)")
            return "| [\(heading.1)](\(name)) | \(heading.2) | \(Self.status(of: record)) |"
        }

        #expect(Set(listed).count == listed.count)
        #expect(listed.sorted() == expected.sorted())
    }

    /// The status as the index states it: `accepted`, or `amended by 0174, 0177`.
    private static func status(of record: Document) -> String {
        guard let line = record.text.firstMatch(of: /\n\*\*Status\.\*\* (.+)\.\n/) else {
            return "accepted"
        }
        let plain = line.1.replacing(/\[(\d{4})\]\([^)]*\)/) { "\($0.1)" }
        return plain.prefix(1).lowercased() + plain.dropFirst()
    }

    @Test func `every link of a document has a target`() throws {
        let anchors = Dictionary(
            uniqueKeysWithValues: (pages + records).map { ($0.path, $0.anchors) })
        for document in pages + records {
            let folder = URL(fileURLWithPath: document.path, relativeTo: nil)
                .deletingLastPathComponent().relativePath
            for (number, link) in document.links where !link.contains("://") {
                let parts = link.split(
                    separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let path =
                    parts[0].isEmpty
                    ? document.path : Self.resolve(String(parts[0]), in: folder)
                #expect(
                    FileManager.default.fileExists(atPath: Repository.root + "/" + path),
                    "\(document.path):\(number) links to \(path), which does not exist")
                guard parts.count == 2, let known = anchors[path] else { continue }
                #expect(
                    known.contains(String(parts[1])),
                    "\(document.path):\(number) links to \(link), a heading that does not exist")
            }
        }
    }

    /// A relative path, taken from a folder of the repository.
    private static func resolve(_ path: String, in folder: String) -> String {
        var components: [Substring] = folder == "." ? [] : folder.split(separator: "/")
        for component in path.split(separator: "/") where component != "." {
            if component == ".." {
                _ = components.popLast()
            } else {
                components.append(component)
            }
        }
        return components.joined(separator: "/")
    }

    @Test(.slow) func `every document and decision that a source names exists`() throws {
        let numbers = Set(records.compactMap { $0.path.firstMatch(of: /\/(\d{4})-/)?.1 })
        let sources =
            try Repository.sources.get()
            + Repository.swiftFiles(below: "Tests").filter {
                !$0.path.hasPrefix("Tests/TidyTests/")
            }
        for file in sources {
            for line in file.lines(with: "Docs/") {
                for match in line.text.matches(of: /Docs\/[\w\-\/]+\.md/) {
                    #expect(
                        FileManager.default.fileExists(
                            atPath: Repository.root + "/" + match.output),
                        "\(file.path):\(line.number) names \(match.output)")
                }
            }
            for word in ["ecision 0", "ecisions 0"] {
                for line in file.lines(with: word) {
                    for match in line.text.matches(of: /ecisions? (\d{4})/) {
                        #expect(
                            numbers.contains(match.1),
                            "\(file.path):\(line.number) names decision \(match.1)")
                    }
                }
            }
        }
    }

    /// Two files fit beside each other.
    @Test func `lines are at most 100 columns wide`() {
        for file in sources {
            for (index, line) in file.lines.enumerated()
            where line.utf8.count > 100 && line.count > 100 {
                Issue.record("\(file.path):\(index + 1) has \(line.count) columns")
            }
        }
    }

    @Test func `comments do not speak of programs as of persons`() {
        let words = ["who", "whoever", "nobody", "somebody", "someone", "told"]
        for file in sources {
            for word in words {
                for line in file.lines(with: word) where line.isComment {
                    let used = line.text.lowercased().split { !$0.isLetter }
                    #expect(
                        !used.contains(Substring(word)),
                        "\(file.path):\(line.number) has '\(word)'")
                }
            }
        }
    }

    /// Programs and data are named as what they are; words for persons hide which component acts.
    @Test func `pages do not speak of programs as of persons`() {
        let words: Set<String> = [
            "whoever", "nobody", "somebody", "someone", "everybody", "everyone", "told", "tells",
        ]
        let phrases = [
            "lies about", "is none of", "are none of", "is none,", "are none,", "is none.",
            "are none.", "is none:", "are none:", "is none;", "are none;",
        ]
        // A person, or text that is quoted.
        let allowed: [String: Set<String>] = ["Docs/access.md": ["everybody"]]
        for page in pages {
            for (number, line) in page.prose {
                let lowercased = line.lowercased()
                let used = Set(
                    lowercased.split { !$0.isLetter }.map(String.init)
                ).intersection(words).subtracting(allowed[page.path] ?? [])
                let found =
                    used.sorted()
                    + phrases.filter { phrase in
                        lowercased.replacing("there " + phrase, with: "").contains(phrase)
                    }
                #expect(found.isEmpty, "\(page.path):\(number) has \(found)")
            }
        }
    }
}

/// A Markdown file of the repository.
struct Document: Sendable {
    /// From the root of the repository.
    let path: String
    let text: String
    /// The lines outside code blocks, with their numbers from 1.
    let prose: [(number: Int, text: String)]

    init(path: String) throws {
        self.path = path
        text = try Repository.read(path)
        var isCode = false
        var prose: [(number: Int, text: String)] = []
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("```") {
                isCode.toggle()
            } else if !isCode {
                prose.append((index + 1, line))
            }
        }
        self.prose = prose
    }

    /// The targets of its links, with the numbers of their lines.
    var links: [(number: Int, target: String)] {
        prose.flatMap { line in
            guard line.text.contains("](") else { return [(number: Int, target: String)]() }
            let plain = line.text.replacing(/`[^`]*`/, with: "")
            return plain.matches(of: /\]\(([^)\s]+)\)/).map { (line.number, String($0.1)) }
        }
    }

    /// The anchors of its headings on GitHub.
    var anchors: Set<String> {
        Set(
            prose.filter { $0.text.hasPrefix("#") }.map { line in
                line.text.drop { $0 == "#" || $0 == " " }
                    .replacing(/\[([^\]]*)\]\([^)]*\)/) { "\($0.1)" }
                    .lowercased()
                    .filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                    .replacing(" ", with: "-")
            })
    }
}
