// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Testing

/// The house rules that a machine can check.
@Suite struct TidyTests {
    let table: PackageTable
    let sources: [SourceFile]

    init() throws {
        table = PackageTable(manifest: try Repository.read("Package.swift"))
        sources = try Repository.sources.get()
    }

    private func target(of file: SourceFile) -> String {
        String(file.path.split(separator: "/")[2])
    }

    @Test func `the table of targets is complete`() throws {
        let sources = Repository.root + "/Sources"
        let tiers = try FileManager.default.contentsOfDirectory(atPath: sources)
        let folders = try tiers.flatMap { tier in
            try FileManager.default.contentsOfDirectory(atPath: sources + "/" + tier)
                .map { tier + "/" + $0 }
        }

        #expect(folders.sorted() == table.rows.values.map(\.folder).sorted())
        #expect(table.rows.count > 30)
    }

    @Test func `no target depends on a higher tier`() {
        for row in table.rows.values {
            for dependency in row.dependencies {
                guard let other = table.rows[dependency] else { continue }
                #expect(
                    other.tier <= row.tier,
                    "\(row.name) (tier \(row.tier)) depends on \(dependency) (tier \(other.tier))")
            }
        }
    }

    @Test func `services do not know each other`() {
        let services = table.rows.values.filter { $0.tier == 5 }.map(\.name)
        let shared: Set<String> = ["Daemon", "Terminal", "Worker"]
        for row in table.rows.values where row.tier == 5 {
            let arrows = row.dependencies.intersection(services).subtracting(shared)
            #expect(arrows.isEmpty, "\(row.name) depends on \(arrows.sorted())")
        }
    }

    @Test func `every import is an arrow of the table`() {
        for file in sources {
            let name = target(of: file)
            guard let row = table.rows[name] else {
                Issue.record("\(file.path): target \(name) is not in Package.swift")
                continue
            }
            for module in file.imports where !PackageTable.toolchain.contains(module) {
                #expect(
                    row.dependencies.contains(module),
                    "\(file.path) imports \(module), which Package.swift does not list for \(name)")
            }
        }
    }

    /// An unused dependency is linked all the same, with the C libraries it needs.
    @Test func `every arrow of the table is an import`() {
        let imports = Dictionary(grouping: sources, by: target(of:))
            .mapValues { Set($0.flatMap(\.imports)) }
        for row in table.rows.values {
            guard let imported = imports[row.name] else { continue }
            let targets = row.dependencies.filter { table.rows[$0] != nil }
            // It is linked in place of the libraries whose headers are imported.
            let idle = targets.subtracting(imported).subtracting(["CDeferred"])
            #expect(idle.isEmpty, "\(row.name) depends on \(idle.sorted()), which it never imports")
        }
    }

    /// An unused dependency of a test target is built before it.
    @Test func `every dependency of a test target is an import`() throws {
        #expect(table.tests.count > 30)
        for target in table.tests {
            let folder = Repository.root + "/Tests/" + target.name
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
            var imported: Set<String> = []
            for name in names where name.hasSuffix(".swift") {
                let path = "Tests/\(target.name)/\(name)"
                imported.formUnion(SourceFile(path: path, text: try Repository.read(path)).imports)
            }
            // A program is no module: its processes are started.
            let modules = target.dependencies.filter { !$0.contains("-") }
            let idle = modules.subtracting(imported)
            #expect(
                idle.isEmpty, "\(target.name) depends on \(idle.sorted()), which it never imports")
        }
    }

    @Test func `only wrappers import C libraries`() {
        for file in sources {
            let tier = table.rows[target(of: file)]?.tier ?? 9
            for module in file.imports where table.rows[module]?.tier == 0 {
                #expect(tier == 1, "\(file.path) imports the C module \(module)")
            }
        }
    }

    @Test func `the inner targets do without Foundation`() {
        let inner: Set<String> = [
            "Platform", "ZeroMQ", "SQLite", "Geometry", "SpatialIndex",
        ]
        for file in sources where inner.contains(target(of: file)) {
            #expect(
                !file.imports.contains { $0.hasPrefix("Foundation") },
                "\(file.path) imports Foundation")
        }
    }

    /// One such import and every process that links the target loads Foundation, its
    /// internationalization and ICU's data as it starts: 40 MB mapped, two thirds of a megabyte of
    /// its own, 7 ms.
    @Test func `FoundationEssentials is what is imported of Foundation`() {
        // Apps have it, and the SDK's public surface is made of it.
        for file in sources where table.rows[target(of: file)]?.tier != 7 {
            let whole: Set<String> = ["Foundation", "FoundationInternationalization"]
            #expect(
                whole.isDisjoint(with: file.imports), "\(file.path) imports more of Foundation")
        }
    }

    @Test func `engines know neither bus nor log`() {
        let engines: Set<String> = [
            "MapState", "Identify", "Locator", "Jobs", "JobKinds", "Expression", "Dataset",
        ]
        let machinery: Set<String> = ["Bus", "ZeroMQ", "EventLog", "SQLite", "Daemon"]
        // An imported file may be a database, which is examined before GDAL opens it.
        let exceptions = ["Sources/Kernel/Dataset/Sources/SourceExamination.swift": ["SQLite"]]
        for file in sources where engines.contains(target(of: file)) {
            let arrows = machinery.intersection(file.imports)
                .subtracting(exceptions[file.path] ?? [])
            #expect(arrows.isEmpty, "\(file.path) imports \(arrows.sorted())")
        }
    }

    @Test func `unsafe code stays where it may be`() {
        let allowed: Set<String> = ["SpatialIndex", "Dataset"]
        for file in sources {
            let name = target(of: file)
            guard let row = table.rows[name], row.tier != 1, !allowed.contains(name) else {
                continue
            }
            for line in file.lines(with: "unsafe") where !line.isComment {
                #expect(
                    line.text.firstMatch(of: /\bunsafe\b/) == nil,
                    "\(file.path):\(line.number) uses unsafe")
            }
        }
    }

    @Test func `escapes from the compiler give their reason`() {
        for file in sources {
            for word in ["@unchecked Sendable", "nonisolated(unsafe)"] {
                for line in file.lines(with: word) {
                    let above = file.lines[max(0, line.number - 7)..<line.number - 1]
                    #expect(
                        above.contains { $0.contains("//") },
                        "\(file.path):\(line.number) has no reason comment above")
                }
            }
        }
    }

    /// Where the value of a generic type is a function, `inout` access wraps it anew each time.
    ///
    /// `withLock` is such an access, and each call then goes deeper. A function in a struct is not
    /// wrapped.
    @Test func `no function lies bare in a lock`() {
        for file in sources {
            for line in file.lines(with: "Mutex<") where !line.isComment {
                #expect(
                    !line.text.contains(/Mutex<[^>]*->/),
                    "\(file.path):\(line.number) keeps a function: put it into a struct")
            }
        }
    }

    @Test func `forbidden words do not occur`() throws {
        let forbidden: [(word: String, exempt: Set<String>)] = [
            ("print(", ["Commands", "Terminal"]), ("try!", []), ("fatalError(", []),
            ("TO" + "DO", []), ("FIX" + "ME", []), ("HEARTBEAT_IVL", []),
        ]
        for file in sources {
            let name = target(of: file)
            for (word, exempt) in forbidden where !exempt.contains(name) {
                // `Geometry!` has no `try!`.
                for line in file.lines(with: word) where line.text.hasWord(startingAs: word) {
                    #expect(line.isComment, "\(file.path):\(line.number) has '\(word)'")
                }
            }
        }
    }

    @Test func `names are the field's, not fillers`() {
        // Esri's own names, which apps expect.
        let promised: Set<Substring> = ["AuthenticationManager"]
        for file in sources {
            for filler in ["Manager", "Helper", "Utils"] {
                for line in file.lines(with: filler) {
                    let declared = line.text.firstMatch(
                        of: /\b(?:struct|class|enum|actor|protocol) (\w*(?:Manager|Helper|Utils))\b/
                    )
                    let isOurs = declared.map { !promised.contains($0.1) } ?? false
                    #expect(!isOurs, "\(file.path): \(declared?.1 ?? "")")
                }
            }
        }
    }

    @Test func `every file carries the licence line`() throws {
        for file in try sources + Repository.swiftFiles(below: "Tests")
            + Repository.swiftFiles(below: "Examples/identify-offline/Sources")
            + Repository.swiftFiles(below: "Examples/sdk/Sources")
        {
            #expect(
                file.text.hasPrefix(
                    "// SPDX-License-Identifier: Apache-2.0\n// Part of Cairn.\n"),
                "\(file.path)")
        }
    }

    /// A test waits for a condition, by `waitUntil`; load generators and benches have a pace.
    @Test func `no test sleeps`() throws {
        let exempt = ["Tests/TestKit/Waiting.swift", "Tests/Torture/", "Tests/Benchmarks/"]
        let files = try Repository.swiftFiles(below: "Tests")
        #expect(files.contains { $0.path == exempt[0] })
        for file in files where !exempt.contains(where: file.path.hasPrefix) {
            for line in file.lines(with: "slee" + "p(") {
                Issue.record("\(file.path):\(line.number) sleeps")
            }
        }
    }

    @Test func `every target has its paragraph`() throws {
        let modules = try Repository.read("Docs/modules.md")
        for name in table.rows.keys.sorted() {
            #expect(modules.contains("`\(name)`"), "Docs/modules.md says nothing of \(name)")
        }
    }

    @Test func `every folder of tests is a target`() throws {
        let package = try Repository.read("Package.swift")
        let folders = Set(
            Repository.files(below: "Tests").compactMap { path -> String? in
                let parts = path.split(separator: "/")
                return parts.count > 2 && parts[1].hasSuffix("Tests") ? String(parts[1]) : nil
            })
        #expect(folders.contains("TidyTests"))
        for folder in folders.sorted() {
            #expect(package.contains("\"\(folder)\""), "the tests in Tests/\(folder) are not built")
        }
    }

    @Test func `process mains are thin`() {
        for file in sources where (table.rows[target(of: file)]?.tier ?? 0) == 6 {
            #expect(file.lines.count <= 120, "\(file.path) has \(file.lines.count) lines")
        }
    }

    @Test func `no large file is committed`() throws {
        for folder in ["Sources", "Tests", "Docs", "deploy"] {
            for path in Repository.files(below: folder) {
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: Repository.root + "/" + path)
                let byteCount = (attributes[.size] as? Int) ?? 0
                let limit = path.hasPrefix("deploy/sample/") ? 6 << 20 : 1 << 20
                #expect(byteCount <= limit, "\(path) has \(byteCount) bytes")
            }
        }
    }

    @Test func `nothing lies at the root but what belongs there`() throws {
        let belongs: Set = [
            ".ci", ".editorconfig", ".gitignore", ".swift-format", "Docs", "Examples", "LICENSE",
            "Package.swift", "README.md", "SECURITY.md", "Sources", "Tests", "deploy",
        ]
        let leftByTools: Set = [".git", ".swiftpm", ".vscode", "Package.resolved", "site"]
        let strangers = try FileManager.default.contentsOfDirectory(atPath: Repository.root)
            .filter { !belongs.contains($0) && !leftByTools.contains($0) }
            .filter { !$0.hasPrefix(".build") }
        #expect(strangers.sorted() == [])
    }

    @Test func `every failpoint is listed and documented`() throws {
        let source = try #require(
            sources.first { $0.path.hasSuffix("Daemon/Failpoints.swift") }?.text)
        var places: [String] = []
        for list in ["let holdPlaces = [", "let places = ["] {
            let listed = try #require(
                source.split(separator: list).last?.split(separator: "]").first)
            places += listed.matches(of: /"([^"]+)"/).map { String($0.1) }
        }
        let document = try Repository.read("Docs/faults.md")
        let passing = sources.filter { $0.text.contains("ailpoints.pass(") }

        #expect(Set(places).count == places.count && places.count >= 25)
        for place in places {
            #expect(document.contains("`\(place)`"), "Docs/faults.md says nothing of \(place)")
            let count = passing.count { $0.text.contains("\"\(place)\"") }
            #expect(count == 1, "\(place) is passed in \(count) files")
        }
        for file in passing {
            for match in file.text.matches(of: /ailpoints\.pass\("([^"]+)"\)/) {
                #expect(places.contains(String(match.1)), "\(file.path) passes \(match.1)")
            }
        }
    }

    @Test func `every metric is in the table of operations, and nothing else is`() throws {
        let names = Set(
            sources.flatMap { file in
                file.text.matches(of: /"(cairn_[a-z]+_[a-z_]+)"/).map { String($0.1) }
            })
        let document = try Repository.read("Docs/operations.md")
        let listed = document.matches(of: /\n\| `(cairn_[a-z_]+)` \|/).map { String($0.1) }

        #expect(names.count > 40)
        #expect(Set(listed).count == listed.count)
        #expect(names.subtracting(listed).sorted() == [])
        #expect(Set(listed).subtracting(names).sorted() == [])
    }

    @Test func `files of more than 600 lines are listed`() {
        for file in sources where file.lines.count > 600 {
            print("\(file.path): \(file.lines.count) lines")
        }
        #expect(!sources.isEmpty)
    }
}

extension StringProtocol {
    /// Whether a text occurs with no letter before it.
    fileprivate func hasWord(startingAs word: String) -> Bool {
        ranges(of: word).contains { range in
            range.lowerBound == startIndex || !self[index(before: range.lowerBound)].isLetter
        }
    }
}
