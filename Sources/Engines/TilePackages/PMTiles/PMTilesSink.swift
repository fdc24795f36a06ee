// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Codecs
internal import Geometry
internal import Platform

/// Writes PMTiles 3, clustered, each content once.
///
/// Tiles come by row and are kept by Hilbert number, so their bytes wait in a scratch file: twice
/// the package's size on the disk. Rows of (hash, number, place) are sorted to find equal contents,
/// then rows of (number, place of the content's first tile) to write them.
final class PMTilesSink: TileSink {
    private let path: String
    private let directory: String
    /// Of each tile: eight bytes for its later offset, then its content.
    private let data: ScratchFile
    private let hashed: RowSorter

    init(_ path: String, scratch directory: String) throws(Failure) {
        self.path = path
        self.directory = directory
        do throws(PlatformError) { data = try ScratchFile(inDirectory: directory) } catch {
            throw Failure(error)
        }
        hashed = RowSorter(scratch: directory)
    }

    func put(_ tile: TileAddress, _ stored: [UInt8]) throws(Failure) {
        let place: Int
        do throws(PlatformError) {
            place = try data.append([0, 0, 0, 0, 0, 0, 0, 0])
            try data.append(stored)
        } catch { throw Failure(error) }
        let hash = SHA256.digest(stored).bytes
        func word(_ start: Int) -> UInt64 {
            hash[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        try hashed.add(
            SortableRow(
                first: word(0), second: word(8), third: PMTilesID.number(of: tile),
                fourth: UInt64(place) << 24 | UInt64(stored.count)))
    }

    func finish(
        _ metadata: TilePackageMetadata, content: String
    ) throws(Failure) -> (byteCount: Int64, sha256: String) {
        let plan = try PMTilesPlan(
            contents: try contentsByNumber(), data: data, scratch: directory)
        var header = PMTilesHeader()
        header.addressedCount = plan.addressedCount
        header.entryCount = UInt64(plan.entries.count)
        header.contentCount = UInt64(plan.contents.count)
        header.tileCompression = metadata.encoding == .mvt ? 2 : 1
        header.tileType =
            switch metadata.encoding {
            case .mvt: 1
            case .png: 2
            case .jpg: 3
            }
        header.levels = metadata.levels
        header.bounds = metadata.degrees
        let json = Gzip.compress(Self.json(metadata, content: content))
        var offset = UInt64(PMTilesHeader.byteCount)
        func section(_ length: Int) -> PMTilesHeader.Section {
            defer { offset += UInt64(length) }
            return PMTilesHeader.Section(offset: offset, length: UInt64(length))
        }
        header.root = section(plan.root.count)
        header.metadata = section(json.count)
        header.leaves = section(plan.leaves.byteCount)
        header.tiles = section(Int(plan.dataCount))
        return try write(header.bytes + plan.root + json, plan)
    }

    /// Writes the file, and gives it its name.
    private func write(
        _ beginning: [UInt8], _ plan: PMTilesPlan
    ) throws(Failure) -> (byteCount: Int64, sha256: String) {
        do {
            var file = try StagedFile(inDirectory: directory)
            try file.write(beginning)
            try plan.leaves.copy(to: &file)
            var contents = plan.contents.reader()
            while let row = try contents.next() {
                let start = Int(row.first >> 24) + 8
                try file.write(try data.read(start..<start + Int(row.first & 0xff_ffff)))
            }
            let summary = (file.byteCount, file.digest.hexadecimal)
            try file.publish(as: path)
            return summary
        } catch { throw Failure(package: error) }
    }

    /// Rows of a tile's number, the place of its content, and whether it is the content's first.
    private func contentsByNumber() throws(Failure) -> MergedRows {
        let sorter = RowSorter(scratch: directory)
        var rows = try hashed.sorted()
        var first: SortableRow?
        while let row = try rows.next() {
            let isRepeat = first?.first == row.first && first?.second == row.second
            let content = isRepeat ? first ?? row : row
            if !isRepeat { first = row }
            try sorter.add(
                SortableRow(
                    first: row.third, second: content.fourth, third: isRepeat ? 0 : 1))
        }
        return try sorter.sorted()
    }

    private static func json(_ metadata: TilePackageMetadata, content: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { json in
            json.member("name", metadata.name)
            json.member("description", metadata.description)
            json.member("attribution", metadata.attribution)
            json.member("type", metadata.encoding == .jpg ? "baselayer" : "overlay")
            json.member("version", "1")
            if metadata.encoding == .mvt { json.vectorLayers(metadata.vectorLayers) }
            // As text: tippecanoe reports any other value that it does not know.
            json.member(
                "cairn", String(decoding: metadata.json(content: content), as: UTF8.self))
        }
        return writer.bytes
    }
}

extension ScratchFile {
    /// Appends all its bytes to a file, in pieces of 1 MiB.
    func copy(to file: inout StagedFile) throws(PlatformError) {
        var offset = 0
        while offset < byteCount {
            let end = min(offset + (1 << 20), byteCount)
            try file.write(try read(offset..<end))
            offset = end
        }
    }
}
