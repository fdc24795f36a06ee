// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import Testing

/// The metrics of dead and of stopped processes are absent.
@Suite struct MetricsFolderTests {
    private let scratch: Scratch
    private let site: Site
    private let own = ProcessInfo.processInfo.processIdentifier

    init() throws {
        scratch = try Scratch()
        site = try Site(openingOrCreating: scratch.path + "/s")
    }

    @Test func `a page is what its process wrote last`() throws {
        for number in 1...2 { try site.metrics.write("a \(number)\n", of: "logd", own) }
        let pages = site.metrics.pages()
        #expect(pages.map(\.text) == ["a 2\n"])
        #expect(pages.map(\.process) == ["logd"] && pages.map(\.processID) == [own])
        site.metrics.remove("logd", own)
        #expect(site.metrics.pages().isEmpty)
    }

    @Test func `a dead process has no page, and the next process removes its file`() throws {
        // No process has a number that great.
        let dead = Int32.max
        try site.metrics.write("a 1\n", of: "work", dead)
        let folder = site.runDirectory + "/metrics"
        #expect(site.metrics.pages().isEmpty)
        #expect(try scratch.names(folder) == ["work-\(dead).prom"])
        try site.metrics.write("a 2\n", of: "work", own)
        #expect(try scratch.names(folder) == ["work-\(own).prom"])
    }

    @Test func `a page that is not replaced any more is not shown`() throws {
        try site.metrics.write("a 1\n", of: "logd", own)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -20)],
            ofItemAtPath: site.runDirectory + "/metrics/logd-\(own).prom")
        #expect(site.metrics.pages().isEmpty)
    }

    @Test func `joined texts have each metric once with the lines of all`() {
        func text(_ process: String, _ names: [String]) -> String {
            names.map {
                "# HELP \($0) Help.\n# TYPE \($0) counter\n\($0){process=\"\(process)\"} 1\n"
            }.joined()
        }
        let joined = MetricsFolder.joined([text("a", ["x", "y"]), text("b", ["y", "z"])])
        let expected = [
            "# HELP x Help.", "# TYPE x counter", "x{process=\"a\"} 1",
            "# HELP y Help.", "# TYPE y counter", "y{process=\"a\"} 1", "y{process=\"b\"} 1",
            "# HELP z Help.", "# TYPE z counter", "z{process=\"b\"} 1", "",
        ]
        #expect(joined == expected.joined(separator: "\n"))
    }
}
