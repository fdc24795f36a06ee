// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import Site

struct MetricsCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Show what the processes of a site count.",
        discussion: """
            Prometheus' text form, of every process that lives, as it was at most a few seconds \
            ago; the labels process and pid say of which. Exits 69 when there is none. JSON lines: \
            one {"process":…,"pid":…,"text":…} per process.
            """)

    @OptionGroup var common: CommonOptions
    @Option(
        help: """
            Only the processes of that name: logd, mapstate, supervisor, gateway or a worker pool, \
            or that process number.
            """) var process: String?

    private struct Line: Encodable {
        var process: String
        var pid: Int32
        var text: String
    }

    func perform(_ session: Session) async throws {
        let pages = session.site.metrics.pages().filter { page in
            process == nil || page.process == process || "\(page.processID)" == process
        }
        guard !pages.isEmpty else {
            let which = process.map { "no process '\($0.prefix(80))'" } ?? "no process"
            throw Failure(
                .unavailable, "\(which) of the site '\(session.site.path)' shows metrics now")
        }
        guard session.output.isJSON else {
            return try session.output.write(MetricsFolder.joined(pages.map(\.text)))
        }
        for page in pages {
            try session.output.record(
                Line(process: page.process, pid: page.processID, text: page.text))
        }
    }
}
