// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Codecs
internal import Geometry
internal import Platform

/// Reads PMTiles 3 of any program, with directories without compression or as gzip.
final class PMTilesSource: TileSource {
    private let file: MappedFile
    private let header: PMTilesHeader
    private let root: [PMTilesEntry]
    /// The leaf directory that was read last.
    private var leaf: (offset: UInt64, entries: [PMTilesEntry]) = (.max, [])
    let metadata: TilePackageMetadata
    let content: String?
    /// Directories below each other.
    private static let depthLimit = 4

    init(_ file: MappedFile) throws(Failure) {
        self.file = file
        let path = file.path
        guard let header = file.withBytes({ PMTilesHeader($0) }) else {
            throw Failure.damaged(path, "its header is cut, or not one of PMTiles 3")
        }
        for section in [header.root, header.metadata, header.leaves, header.tiles] {
            let (end, isTooGreat) = section.offset.addingReportingOverflow(section.length)
            guard !isTooGreat, end <= UInt64(file.byteCount) else {
                throw Failure.damaged(path, "it has \(file.byteCount) bytes of \(end)")
            }
        }
        self.header = header
        let bytes = file.copy(header.root)
        guard let root = PMTilesDirectory.decode(bytes, isGzip: header.compression == 2) else {
            throw Failure.damaged(path, "its root directory cannot be read")
        }
        self.root = root
        guard header.metadata.length <= 16 << 20,
            let text = header.compression == 2
                ? Gzip.expand(file.copy(header.metadata), limit: 64 << 20)
                : file.copy(header.metadata),
            let json = JSONTree(text)
        else { throw Failure.damaged(path, "its metadata cannot be read") }
        // An object in packages of earlier versions.
        let own = json["cairn"].flatMap { $0.text.map { JSONTree(Array($0.utf8)) } ?? $0 }
        content = own?["content"]?.text
        if let kept = own.flatMap(TilePackageMetadata.init) {
            metadata = kept
            return
        }
        metadata = try Self.foreign(header, json, path)
    }

    private static func foreign(
        _ header: PMTilesHeader, _ json: JSONTree, _ path: String
    ) throws(Failure) -> TilePackageMetadata {
        let encoding: TileEncoding
        switch (header.tileType, header.tileCompression) {
        case (1, 0...2): encoding = .mvt
        case (2, 0...1): encoding = .png
        case (3, 0...1): encoding = .jpg
        case let (type, compression):
            throw Failure(
                .unreadable,
                "'\(path)' has tiles of type \(type) with compression \(compression): expected "
                    + "vector tiles, PNG or JPEG, without compression or as gzip")
        }
        var metadata = TilePackageMetadata(
            name: json["name"]?.text ?? "", encoding: encoding, levels: header.levels)
        metadata.description = json["description"]?.text ?? ""
        metadata.attribution = json["attribution"]?.text ?? ""
        metadata.vectorLayers = VectorTileLayer.reading(json["vector_layers"], header.levels)
        return metadata.withDegrees(header.bounds)
    }

    private func decodeLeaf(_ entry: PMTilesEntry) throws(Failure) -> [PMTilesEntry] {
        let end = entry.offset + UInt64(entry.length)
        guard end <= header.leaves.length else {
            throw Failure.damaged(file.path, "a leaf directory is outside of its section")
        }
        let section = PMTilesHeader.Section(
            offset: header.leaves.offset + entry.offset, length: UInt64(entry.length))
        let bytes = file.copy(section)
        guard let entries = PMTilesDirectory.decode(bytes, isGzip: header.compression == 2),
            !entries.isEmpty
        else { throw Failure.damaged(file.path, "a leaf directory cannot be read") }
        return entries
    }

    func list(
        _ body: (_ tile: TileAddress, _ place: UInt64) throws(Failure) -> Void
    ) throws(Failure) {
        var next: UInt64 = 0
        try list(root, depth: 1, next: &next, body)
    }

    /// `next`: the least number that the next tile may have, so that no directory is read twice.
    private func list(
        _ entries: [PMTilesEntry], depth: Int, next: inout UInt64,
        _ body: (TileAddress, UInt64) throws(Failure) -> Void
    ) throws(Failure) {
        for entry in entries {
            guard entry.id >= next else {
                throw Failure.damaged(file.path, "its directories are not in order")
            }
            guard entry.runLength > 0 else {
                guard depth < Self.depthLimit else {
                    throw Failure.damaged(file.path, "its directories are nested too deep")
                }
                try list(try decodeLeaf(entry), depth: depth + 1, next: &next, body)
                continue
            }
            let place = try place(entry)
            for id in entry.id..<entry.id + UInt64(entry.runLength) {
                guard let tile = PMTilesID.tile(id) else { break }
                try body(tile, place)
            }
            next = entry.id + UInt64(entry.runLength)
        }
    }

    /// The place of an entry's content: offset within the section, and length.
    private func place(_ entry: PMTilesEntry) throws(Failure) -> UInt64 {
        guard entry.length <= TilePackage.tileByteLimit, entry.offset < 1 << 40,
            entry.offset + UInt64(entry.length) <= header.tiles.length
        else { throw Failure.damaged(file.path, "a tile is outside of its section") }
        return entry.offset << 24 | UInt64(entry.length)
    }

    func bytes(of tile: TileAddress) throws(Failure) -> [UInt8]? {
        let id = PMTilesID.number(of: tile)
        var entries = root
        for _ in 0..<Self.depthLimit {
            guard let entry = Self.entry(for: id, in: entries) else { return nil }
            if entry.runLength > 0 {
                guard id < entry.id + UInt64(entry.runLength) else { return nil }
                return try bytes(at: try place(entry))
            }
            if leaf.offset != entry.offset { leaf = (entry.offset, try decodeLeaf(entry)) }
            entries = leaf.entries
        }
        throw Failure.damaged(file.path, "its directories are nested too deep")
    }

    /// The last entry that does not begin behind a number.
    private static func entry(for id: UInt64, in entries: [PMTilesEntry]) -> PMTilesEntry? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id <= id { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? entries[low - 1] : nil
    }

    func bytes(at place: UInt64) throws(Failure) -> [UInt8] {
        file.copy(
            PMTilesHeader.Section(
                offset: header.tiles.offset + (place >> 24), length: place & 0xff_ffff))
    }
}

extension MappedFile {
    /// A copy of a section that is inside the file.
    func copy(_ section: PMTilesHeader.Section) -> [UInt8] {
        let start = Int(clamping: section.offset)
        let (end, isTooGreat) = start.addingReportingOverflow(Int(clamping: section.length))
        return isTooGreat ? [] : copy(start..<end)
    }
}
