// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Codecs
internal import Geometry
internal import Platform

/// Writes TPKX and VTPK: a ZIP of documents and bundles.
///
/// Tiles come by row and are kept by bundle, so their bytes wait in a scratch file: twice the
/// package's size on the disk.
final class CompactSink: TileSink {
    private let path: String
    private let format: TilePackageFormat
    private let directory: String
    private let data: ScratchFile
    private let sorter: RowSorter
    private var resources: [(name: String, bytes: [UInt8])] = []
    /// The most bundles of a package, each of 128 KiB at least.
    private static let bundleLimit = 500_000

    init(_ path: String, _ format: TilePackageFormat, scratch directory: String) throws(Failure) {
        self.path = path
        self.format = format
        self.directory = directory
        do throws(PlatformError) { data = try ScratchFile(inDirectory: directory) } catch {
            throw Failure(error)
        }
        sorter = RowSorter(scratch: directory)
    }

    func put(_ tile: TileAddress, _ stored: [UInt8]) throws(Failure) {
        let place: Int
        do throws(PlatformError) { place = try data.append(stored) } catch { throw Failure(error) }
        let key = Bundle(containing: tile).sortKey(slot: Bundle.slot(of: tile))
        try sorter.add(
            SortableRow(first: key, second: UInt64(place) << 24 | UInt64(stored.count)))
    }

    func put(resource name: String, _ bytes: [UInt8]) {
        if format == .vtpk { resources.append((name, bytes)) }
    }

    func finish(
        _ metadata: TilePackageMetadata, content: String
    ) throws(Failure) -> (byteCount: Int64, sha256: String) {
        let folder = format == .vtpk ? "p12/tile/" : "tile/"
        do {
            var archive = try ZipWriter(inDirectory: directory)
            let documents =
                format == .vtpk
                ? VTPKDocuments.members(metadata, content: content, resources)
                : TPKXDocuments.members(metadata, content: content)
            for (name, bytes) in documents { try archive.add(name, bytes) }
            var rows = try sorter.sorted()
            var next = try rows.next()
            var count = 0
            while let first = next {
                var tiles = [first]
                next = try rows.next()
                while let row = next, row.first >> 14 == first.first >> 14 {
                    tiles.append(row)
                    next = try rows.next()
                }
                count += 1
                guard count <= Self.bundleLimit else {
                    throw Failure(
                        .tooLarge,
                        "the tiles are in more than \(Self.bundleLimit) squares of 128 rows and "
                            + "columns: another format holds them")
                }
                try add(Bundle(sortKey: first.first), tiles, folder, to: &archive)
            }
            return try archive.finish(as: path)
        } catch { throw Failure(package: error) }
    }

    /// Adds a bundle; its tiles are read twice, since the checksum is in front of them.
    private func add(
        _ bundle: Bundle, _ tiles: [SortableRow], _ folder: String, to archive: inout ZipWriter
    ) throws(PlatformError) {
        let beginning = Bundle.beginning(
            tiles.map { (Int($0.first & 0x3fff), Int($0.second & 0xff_ffff)) })
        var checksum = CRC32()
        checksum.update(beginning.bytes)
        for tile in tiles { checksum.update(try sized(tile)) }
        try archive.begin(
            folder + bundle.name, byteCount: beginning.end, checksum: checksum.value)
        try archive.append(beginning.bytes)
        for tile in tiles { try archive.append(try sized(tile)) }
    }

    /// A tile's bytes behind their number.
    private func sized(_ tile: SortableRow) throws(PlatformError) -> [UInt8] {
        let (start, count) = (Int(tile.second >> 24), Int(tile.second & 0xff_ffff))
        var writer = ByteWriter(capacity: count + 4)
        writer.append(UInt32(count))
        writer.append(try data.read(start..<start + count))
        return writer.bytes
    }
}
