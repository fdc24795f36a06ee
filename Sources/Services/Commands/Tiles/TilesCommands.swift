// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import TilePackages

struct TilesCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tiles", abstract: "Packages of tiles: show, verify, update.",
        discussion: """
            Packages are files that 'cairn job submit ExportTiles' and 'ExportVectorTiles' make: \
            MBTiles, GeoPackage, PMTiles, TPKX, VTPK; no site is needed.
            """,
        subcommands: [
            TilesShow.self, TilesGet.self, TilesVerify.self, TilesDiff.self, TilesApply.self,
        ])
}

struct TilesShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what a package is of, and what it was made from.",
        discussion: """
            JSON: one line with format, name, encoding, minLevel, maxLevel, extent (EPSG:3857), \
            content and provenance, a list of names and values.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The package.", completion: .file()) var package: String

    private struct Line: Encodable {
        struct Entry: Encodable { var name: String, value: String }

        var format: String
        var name: String
        var encoding: String
        var minLevel: Int
        var maxLevel: Int
        var extent: [Double]
        var content: String?
        var provenance: [Entry]
    }

    func run() async throws {
        try await withExitCodes {
            let reader = try TilePackage.open(FileSystem.absolute(package))
            let metadata = reader.metadata
            let box = metadata.extent
            let line = Line(
                format: reader.format.rawValue, name: metadata.name,
                encoding: metadata.encoding.rawValue, minLevel: metadata.levels.lowerBound,
                maxLevel: metadata.levels.upperBound,
                extent: [box.minX, box.minY, box.maxX, box.maxY], content: reader.statedContent,
                provenance: metadata.provenance.map { .init(name: $0.name, value: $0.value) })
            let output = Output(isJSON: common.json)
            if output.isJSON { return try output.record(line) }
            let degrees = metadata.degrees
            try output.lines(
                [
                    "\(line.format) of \(line.encoding) tiles, levels \(line.minLevel) to "
                        + "\(line.maxLevel): \(line.name)",
                    "extent \(degrees.minX),\(degrees.minY),\(degrees.maxX),\(degrees.maxY)",
                    "content \(line.content ?? "is not stated")",
                ] + line.provenance.map { "\($0.name) \($0.value)" })
        }
    }
}

struct TilesGet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Write one tile of a package into a file.",
        discussion: "Vector tiles are written without gzip. JSON: one line with byteCount.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The package.", completion: .file()) var package: String
    @Argument(help: "The tile: LEVEL/ROW/COLUMN, rows from the top.") var tile: String
    @Option(help: "The file to write.", completion: .file()) var output: String

    func run() async throws {
        try await withExitCodes {
            let numbers = tile.split(separator: "/", omittingEmptySubsequences: false).map {
                Int($0)
            }
            guard numbers.count == 3, let level = numbers[0], let row = numbers[1],
                let column = numbers[2],
                let address = TileAddress(level: level, row: row, column: column)
            else {
                throw UsageFailure(
                    "tile '\(tile.prefix(80))': expected LEVEL/ROW/COLUMN of the scheme")
            }
            let reader = try TilePackage.open(FileSystem.absolute(package))
            guard let bytes = try reader.tile(address) else {
                throw Failure(.notFound, "'\(package)' has no tile \(tile)")
            }
            do { try Data(bytes).write(to: URL(filePath: FileSystem.absolute(output))) } catch {
                throw Failure(.unreadable, "'\(output)' cannot be written")
            }
            let answer = Output(isJSON: common.json)
            if answer.isJSON { return try answer.record(["byteCount": bytes.count]) }
            try answer.line("\(bytes.count) bytes")
        }
    }
}

struct TilesVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read every tile, and compare with what is stated.",
        discussion: "Exits 1 for a damaged package. JSON: one line with content.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The package.", completion: .file()) var package: String

    func run() async throws {
        try await withExitCodes {
            let content = try TilePackage.open(FileSystem.absolute(package)).verify()
            let output = Output(isJSON: common.json)
            if output.isJSON { return try output.record(["content": content]) }
            try output.line("the tiles are whole: content \(content)")
        }
    }
}

struct TilesDiff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Write the update that leads from one package to another.",
        discussion: """
            'cairn tiles apply' makes the second of the first with it, the same file byte for \
            byte. JSON: one line with changedCount, removedCount and byteCount.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The package that is there.", completion: .file()) var base: String
    @Argument(help: "The package to come to.", completion: .file()) var target: String
    @Option(help: "The update to write.", completion: .file()) var output: String

    private struct Line: Encodable { var changedCount: Int, removedCount: Int, byteCount: Int64 }

    func run() async throws {
        try await withExitCodes {
            let update = try TilePackageUpdate.make(
                from: TilePackage.open(FileSystem.absolute(base)),
                to: TilePackage.open(FileSystem.absolute(target)),
                at: FileSystem.absolute(output))
            let answer = Output(isJSON: common.json)
            if answer.isJSON {
                return try answer.record(
                    Line(
                        changedCount: update.changedCount, removedCount: update.removedCount,
                        byteCount: update.byteCount))
            }
            try answer.line(
                "\(update.changedCount) tiles changed or new, \(update.removedCount) removed, "
                    + "\(update.byteCount) bytes")
        }
    }
}

struct TilesApply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Make the newer package of a package and an update.",
        discussion: """
            The update applies to packages of any format with the tiles of its base; another is \
            refused. JSON: one line with tileCount, byteCount and sha256.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The package.", completion: .file()) var package: String
    @Argument(help: "The update.", completion: .file()) var update: String
    @Option(help: "The package to write.", completion: .file()) var output: String

    private struct Line: Encodable { var tileCount: Int, byteCount: Int64, sha256: String }

    func run() async throws {
        try await withExitCodes {
            let made = try TilePackageUpdate.apply(
                FileSystem.absolute(update), to: TilePackage.open(FileSystem.absolute(package)),
                at: FileSystem.absolute(output))
            let answer = Output(isJSON: common.json)
            if answer.isJSON {
                return try answer.record(
                    Line(
                        tileCount: made.tileCount, byteCount: made.byteCount, sha256: made.sha256))
            }
            try answer.line("\(made.tileCount) tiles, \(made.byteCount) bytes: \(output)")
        }
    }
}
