// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

@testable import Gateway

@Suite struct RouteTests {
    private static let table = RouteTable.shared

    /// A text that has a capture's form.
    private static func sample(_ capture: Capture) -> String {
        switch capture {
        case .map: "Planning/Zones of 2"
        case .mapID: "Planning.Zones"
        case .locator: "World"
        case .network: "Planning/Roads"
        case .networkID: "Planning.Roads"
        case .analysis: "Route"
        case .profile: "driving"
        case .coordinates: "1,2;3,4"
        case .folder: "Planning"
        case .task: "BatchIdentify"
        case .job: "j1"
        case .result: "output"
        case .input: "map"
        case .collection: "Planning.Zones.3"
        case .feature, .objectId: "17"
        case .layer: "4"
        case .level, .row, .column: "5"
        case .columnFile: "5.pbf"
        case .fontStack: "DejaVu Sans Bold,Arial Regular"
        case .glyphRange: "256-511.pbf"
        case .item: "0123456789abcdef0123456789abcdef"
        case .user: "anna"
        case .portal: "self"
        case .rest: "none/of them"
        }
    }

    @Test func `a path of a row is that row's and no other's`() throws {
        let last = try #require(Self.table.routes.last)
        for row in Self.table.routes {
            for pattern in row.patterns {
                let path = pattern.path(Self.sample)
                let match = Self.table.match(path.utf8)
                #expect(match.route.patterns == row.patterns, "\(path)")
                for capture in pattern.captures {
                    #expect(match.captures != Captures(), "\(pattern.text): \(capture)")
                }
                for other in Self.table.routes
                where other.patterns != row.patterns && !other.isUnknown {
                    let alone = RouteTable([other, last]).match(path.utf8)
                    let isFile = other.patterns[0].captures == [.rest]
                    #expect(alone.route.isUnknown || isFile, "\(path) is \(other.patterns[0].text)")
                }
            }
        }
    }

    @Test func `a slash too many changes nothing, and neither does letter case below arcgis`() {
        for row in Self.table.routes {
            let pattern = row.patterns[0]
            let path = pattern.path(Self.sample)
            #expect(Self.table.match(("/" + path + "//").utf8).route.patterns == row.patterns)
            let capitals = pattern.elements.reduce("") { path, element in
                switch element {
                case .word(let word): path + "/" + word.uppercased()
                case .capture(let capture): path + "/" + Self.sample(capture)
                }
            }
            let found = Self.table.match(capitals.utf8).route
            #expect(
                found.patterns == row.patterns || found.isUnknown != pattern.ignoresCase,
                "\(capitals)")
        }
    }

    @Test func `a type of service in place of a name is no name`() {
        let services = "/arcgis/rest/services"
        for path in ["/A/MapServer/MapServer", "/MapServer/MapServer/x", "/A/B/C/MapServer"] {
            #expect(Self.table.match((services + path).utf8).route.isUnknown, "\(path)")
        }
        #expect(Self.table.match((services + "/MapServer").utf8).route.label == "services")
        #expect(Self.table.match("/".utf8).route.label == "front")
    }

    @Test func `each parameter stands once in its row, with a sentence`() {
        for row in Self.table.routes {
            let names = row.allParameters.map { $0.name.lowercased() }
            #expect(Set(names).count == names.count, "\(row.patterns[0].text): \(names)")
            #expect(row.allParameters.allSatisfy { !$0.summary.isEmpty })
            #expect(
                Set(names).isDisjoint(with: row.refuses.map { $0.lowercased() })
                    || row.label == "featuresQuery")
        }
    }

    @Test func `every row stands in the OpenAPI document with its methods and parameters`()
        async throws
    {
        let ruled = try RuledSite([:])
        let service = GatewayService(
            backend: SimulatedSite(map: try Samples.map()), access: try ruled.control())
        let response = await service.answer(
            GatewayRequest(path: Array("/arcgis/rest/openapi.json".utf8)))
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
        let paths = try #require(json["paths"] as? [String: [String: Any]])
        let rows = Self.table.routes.filter { !$0.isUnknown }
        #expect(Set(paths.keys) == Set(rows.map { "/" + $0.patterns[0].text }))
        for row in rows {
            let path = try #require(paths["/" + row.patterns[0].text])
            let captured = (path["parameters"] as? [[String: Any]] ?? [])
                .compactMap { $0["name"] as? String }
            #expect(captured == row.patterns[0].captures.map(\.rawValue))
            #expect((path["get"] != nil) == [.read, .form].contains(row.methods))
            #expect((path["post"] != nil) == (row.methods != .read))
            for method in ["get", "post"] {
                guard let operation = path[method] as? [String: Any] else { continue }
                let isOpen = (operation["security"] as? [Any])?.isEmpty
                #expect(isOpen == (row.requirement == .nothing))
                guard method == "get" else { continue }
                let named = (operation["parameters"] as? [[String: Any]] ?? [])
                    .compactMap { $0["name"] as? String }
                #expect(named == row.allParameters.map(\.name))
            }
        }
    }

    // MARK: Docs/rest.md

    private static func cell(_ text: String) -> String {
        text.replacing("|", with: "\\|")
    }

    private static func section(of row: Route) -> String {
        var text = "## `/\(row.patterns[0].text)`\n\n\(row.summary)"
        if !row.summary.hasSuffix(".") { text += "." }
        if let sentence = row.requirement.sentence { text += " \(sentence)" }
        switch row.methods {
        case .read: text += " GET alone."
        case .form: break
        case .post: text += " POST alone."
        case .file: text += " POST with a file as the body, or in a form."
        }
        let others = row.patterns.dropFirst().map { "`/\($0.text)`" }
        if !others.isEmpty { text += " Also at \(others.joined(separator: ", "))." }
        if row.takesOther { text += " Takes further parameters." }
        if !row.refuses.isEmpty {
            let names = row.refuses.map { "`\($0)`" }
            text += " Refused: \(names.joined(separator: ", "))."
        }
        text += "\n"
        guard !row.parameters.isEmpty else { return text }
        text += "\n| parameter | default | meaning |\n|---|---|---|\n"
        for parameter in row.parameters {
            let standard =
                parameter.isRequired
                ? "required"
                : parameter.standard.isEmpty ? "none" : "`\(cell(parameter.standard))`"
            text += "| `\(parameter.name)` | \(standard) | \(cell(parameter.summary)) |\n"
        }
        return text
    }

    @Test func `the page of resources says what the rows say`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Docs/rest.md")
        let intro = """
            # Every resource and its parameters

            Written from the rows of `Sources/Services/Gateway/Routes` by `RouteTests` with `CAIRN_WRITE_GOLDEN=1`. The server \
            publishes the same as OpenAPI 3.0 at `/arcgis/rest/openapi.json`. What the resources do: \
            [the gateway](gateway.md), [identify](identify.md), [query](query.md), [export](export.md), \
            [editing](editing.md), [OGC API](ogc.md). All but the bare ones take `token`; those with several forms take `f`.


            """
        let text =
            intro
            + Self.table.routes.filter { !$0.isUnknown }.map(Self.section).joined(separator: "\n")
        if ProcessInfo.processInfo.environment["CAIRN_WRITE_GOLDEN"] != nil {
            try Data(text.utf8).write(to: file)
        }

        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }
}
