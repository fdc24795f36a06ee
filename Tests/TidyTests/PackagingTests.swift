// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// The lists of the package and of what watches an installed site, compared with the sources.
///
/// `deploy/package check` installs the package and runs it.
@Suite struct PackagingTests {
    /// The words of a shell list, `programs=(cairn cairn-logd)`.
    private func list(_ name: String, in path: String) throws -> Set<String> {
        let text = try Repository.read(path)
        let line = try #require(
            text.split(separator: "\n").first { $0.hasPrefix(name + "=(") && $0.hasSuffix(")") },
            "\(path)")
        return Set(line.dropFirst(name.count + 2).dropLast().split(separator: " ").map(String.init))
    }

    @Test func `the package has every program, and nothing else`() throws {
        let table = PackageTable(manifest: try Repository.read("Package.swift"))
        let programs = table.rows.values.filter { $0.tier == 6 }.map(\.name)

        #expect(programs.count >= 6)
        #expect(try list("programs", in: "deploy/package") == Set(programs))
        #expect(try list("programs", in: "deploy/debian/check") == Set(programs))
    }

    @Test func `every file of the repository that the package takes exists`() throws {
        for script in ["deploy/package", "deploy/debian/check", "deploy/monitoring/check"] {
            let text = try Repository.read(script)
            for match in text.matches(of: /(?:deploy|Sources)\/[\w@.\-\/]*[\w\/]/) {
                let path = Repository.root + "/" + match.output
                #expect(FileManager.default.fileExists(atPath: path), "\(script): \(match.output)")
            }
        }
    }

    /// The script makes the package's dependencies from these lines.
    @Test func `every library that is loaded when called has functions in the package's stub`()
        throws
    {
        let loader = try Repository.read("Sources/C/CDeferred/load.c")
        let libraries = loader.matches(
            of: /\nHIDDEN struct deferred_library (\w+) = \{"[^"]+",/
        ).map { String($0.1) }
        var used: Set<String> = []
        for path in Repository.files(below: "Sources/C/CDeferred", withExtension: "S") {
            let text = try Repository.read(path)
            used.formUnion(text.matches(of: /#define LIBRARY (\w+)/).map { String($0.1) })
            let functions = text.split(separator: "\n").filter { $0.hasPrefix("FUNCTION") }
            #expect(functions.allSatisfy { $0.contains(/^FUNCTION\(\w+\)$/) }, "\(path)")
        }

        #expect(libraries.count == loader.matches(of: /\nHIDDEN struct deferred_library/).count)
        #expect(Set(libraries) == used)
    }

    @Test func `the unit is well-formed, and sets what the processes read`() throws {
        let unit = try Repository.read("deploy/systemd/cairn@.service")
        var sections: [String] = []
        var values: [String: [String]] = [:]
        for line in unit.split(separator: "\n") where !line.hasPrefix("#") {
            if let section = line.wholeMatch(of: /\[(\w+)\]/) {
                sections.append(String(section.1))
            } else {
                let pair = try #require(line.wholeMatch(of: /([A-Z]\w+)=(.*)/), "\(line)")
                values[String(pair.1), default: []].append(String(pair.2))
            }
        }

        #expect(sections == ["Unit", "Service", "Install"])
        #expect(values["ExecStart"] == ["/usr/bin/cairn up --create --site /var/lib/cairn/%i"])
        #expect(values["StateDirectory"] == ["cairn/%i"])
        #expect(values["Type"] == ["notify"])
        #expect(values["WantedBy"] == ["multi-user.target"])
        // A stop takes as long as the phases of SiteProcesses together, a start a minute more.
        let seconds = try ["TimeoutStopSec", "TimeoutStartSec"].map { key in
            try #require(values[key]?.first.flatMap(Int.init), "\(key)")
        }
        #expect(seconds[0] > 33 + 4 * 8 && seconds[1] >= 60 + 33 + 4 * 8)
        let settings = try Repository.read("Sources/Carriers/Settings/Setting.swift")
        for variable in values["Environment"] ?? [] {
            let name = variable.prefix { $0 != "=" }
            #expect(name == "CAIRN_CONFIG" || settings.contains("\"\(name)\""), "\(name)")
        }
    }

    @Test func `dashboard and rules ask for metrics that the sources make`() throws {
        let sources = try Repository.sources.get()
        let made = Set(
            sources.flatMap { file in
                file.text.matches(of: /"(cairn_[a-z]+_[a-z_]+)"/).map { String($0.1) }
            })
        let suffix = /_(?:bucket|sum|count)$/
        for path in ["cairn-dashboard.json", "cairn-rules.yml", "cairn-rules.test.yml"] {
            let text = try Repository.read("deploy/monitoring/" + path)
            let asked = Set(text.matches(of: /\bcairn_[a-z_]+/).map { String($0.output) })
            let unknown = asked.filter { name in
                let isOfHistogram = name.contains(/_seconds_(?:bucket|sum|count)$/)
                return !made.contains(isOfHistogram ? name.replacing(suffix, with: "") : name)
            }
            #expect(asked.count >= 5, "\(path)")
            #expect(unknown.sorted() == [], "\(path)")
        }
    }

    @Test func `the dashboard shows each panel once, with its questions`() throws {
        let data = Data(try Repository.read("deploy/monitoring/cairn-dashboard.json").utf8)
        let dashboard = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])

        #expect(panels.count > 20)
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
        let shown = panels.filter { $0["type"] as? String != "row" }
        #expect(Set(shown.compactMap { $0["title"] as? String }).count == shown.count)
        for panel in shown {
            let targets = panel["targets"] as? [[String: Any]] ?? []
            let title = panel["title"] as? String ?? ""
            #expect(!targets.isEmpty, "\(title)")
            #expect(targets.allSatisfy { ($0["expr"] as? String)?.contains("cairn_") == true })
        }
    }
}
