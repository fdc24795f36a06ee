// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import JobKinds
internal import Terminal

struct JobEstimate: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "estimate", abstract: "Estimate an export of tiles before submitting it.",
        discussion: """
            Tiles are counted; bytes and seconds follow from the site's earlier exports of the \
            same kind and format, tile by tile, else they are assumed. Nothing is submitted. JSON: \
            one line with tileCount, byteCount, seconds and jobCount, the earlier exports.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(
        help: "The kind: ExportTiles or ExportVectorTiles.",
        completion: .list([JobKind.exportTiles.rawValue, JobKind.exportVectorTiles.rawValue]),
        transform: Reading.jobKind)
    var kind: JobKindDescription
    @Option(
        name: .customLong("param"), parsing: .singleValue,
        help: "A parameter, 'name=value'. May be repeated.") var parameters: [String] = []

    func perform(_ session: Session) async throws {
        let estimate = try TileExportEstimate(
            kind.kind, try Reading.parameters(parameters), after: try await session.jobs())
        if session.output.isJSON { return try session.output.record(estimate) }
        let basis =
            estimate.jobCount == 0
            ? "assumed, because the site has no earlier export of this kind and format"
            : "by \(estimate.jobCount) earlier exports of this kind and format"
        try session.output.lines([
            "\(estimate.tileCount) tiles",
            "about \(estimate.byteCount) bytes in \(estimate.seconds.displayText(decimals: 1)) "
                + "seconds, \(basis)",
        ])
    }
}
