// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Geometry
internal import Platform

/// Reads TPKX and VTPK of any program whose bundles are stored.
final class CompactSource: TileSource {
    private let archive: ZipReader
    /// Where the bytes of each bundle lie in the file.
    private let bundles: [Bundle: Range<Int>]
    let metadata: TilePackageMetadata
    let content: String?

    init(_ archive: ZipReader, _ format: TilePackageFormat) throws(Failure) {
        self.archive = archive
        let path = archive.file.path
        let name = format == .vtpk ? "p12/root.json" : "root.json"
        guard let bytes = try archive.read(name) else {
            throw Failure(.unreadable, "'\(path)' is no tile package: it has no \(name)")
        }
        guard let root = JSONTree(bytes) else {
            throw Failure.damaged(path, "its \(name) cannot be read")
        }
        let json = try archive.read("cairn.json").flatMap { JSONTree($0) }
        content = json?["content"]?.text
        metadata =
            if let kept = json.flatMap(TilePackageMetadata.init) { kept } else {
                try Self.foreign(archive, format, root)
            }
        let folder =
            format == .vtpk
            ? "p12/tile/" : Self.folder(root["tileBundlesPath"]?.text ?? "./tile")
        bundles = try Self.bundles(archive, folder)
    }

    private static let resources = "p12/resources/"

    var resourcePaths: [String] {
        archive.members.keys.compactMap { name in
            guard name.hasPrefix(Self.resources) else { return nil }
            let path = String(name.dropFirst(Self.resources.count))
            return path.hasPrefix("fonts/") || path.hasPrefix("sprites/") ? path : nil
        }
    }

    func resource(_ path: String) throws(Failure) -> [UInt8]? {
        try archive.read(Self.resources + path)
    }

    private static func folder(_ path: String) -> String {
        var path = path[...]
        if path.hasPrefix("./") { path = path.dropFirst(2) }
        return path.hasSuffix("/") ? String(path) : path + "/"
    }

    private static func bundles(
        _ archive: ZipReader, _ folder: String
    ) throws(Failure) -> [Bundle: Range<Int>] {
        var bundles: [Bundle: Range<Int>] = [:]
        for (name, member) in archive.members where name.hasPrefix(folder) {
            guard let bundle = Bundle(name: name.dropFirst(folder.count)) else { continue }
            guard member.method == 0 else {
                throw Failure(
                    .unreadable,
                    "'\(name)' in '\(archive.file.path)' is compressed: expected stored"
                )
            }
            let range = try archive.range(of: member, name)
            guard range.count >= Bundle.indexEnd, range.count < 1 << 40,
                archive.file.copy(range.prefix(4)) == [3, 0, 0, 0]
            else {
                throw Failure.damaged(archive.file.path, "'\(name)' is no compact cache V2 bundle")
            }
            bundles[bundle] = range
        }
        return bundles
    }

    private static func foreign(
        _ archive: ZipReader, _ format: TilePackageFormat, _ root: JSONTree
    ) throws(Failure) -> TilePackageMetadata {
        let path = archive.file.path
        let info = root["tileInfo"]
        let lods = info?["lods"]?.elements ?? []
        guard let side = info?["rows"]?.whole, 1...4_096 ~= side,
            let first = lods.first?["level"]?.whole, let last = lods.last?["level"]?.whole,
            let levels = TilePackageMetadata.levels(
                .integer(root["minLOD"]?.whole ?? first), .integer(root["maxLOD"]?.whole ?? last))
        else { throw Failure.damaged(path, "its tileInfo cannot be read") }
        let isWebScheme = lods.allSatisfy { lod in
            guard let level = lod["level"]?.whole, 0...23 ~= level,
                let resolution = lod["resolution"]?.number
            else { return lod["level"]?.whole ?? 24 > 23 }
            let expected = TileAddress.side(at: Int(level)) / Double(side)
            return abs(resolution / expected - 1) < 1e-6
        }
        let reference = root["spatialReference"] ?? info?["spatialReference"]
        let isMercator =
            [3_857, 102_100].contains(reference?["latestWkid"]?.whole ?? 0)
            || [3_857, 102_100].contains(reference?["wkid"]?.whole ?? 0)
        guard isWebScheme, isMercator else {
            throw Failure(
                .unreadable, "the tiles of '\(path)' are not those of web maps: expected EPSG:3857")
        }
        let picture = root["tileImageInfo"]?["format"]?.text?.uppercased() ?? "PNG"
        guard format == .vtpk || picture.hasPrefix("PNG") || picture == "JPEG" else {
            throw Failure(
                .unreadable, "'\(path)' has tiles of format '\(picture)': expected PNG or JPEG")
        }
        var metadata = TilePackageMetadata(
            name: root["name"]?.text ?? "",
            encoding: format == .vtpk ? .mvt : picture == "JPEG" ? .jpg : .png, levels: levels,
            tileSide: Int(side))
        metadata.description = root["serviceDescription"]?.text ?? ""
        metadata.attribution = root["copyrightText"]?.text ?? ""
        if format == .vtpk {
            metadata.style = try archive.read("p12/resources/styles/root.json")
                .map { String(decoding: $0, as: UTF8.self) }
        }
        let bounds = ["xmin", "ymin", "xmax", "ymax"].compactMap {
            root["fullExtent"]?[$0]?.number
        }
        if bounds.count == 4 {
            let extent = Envelope(
                minX: bounds[0], minY: bounds[1], maxX: bounds[2], maxY: bounds[3])
            if extent.isFinite, !extent.isEmpty { metadata.extent = extent }
        }
        return metadata
    }

    func list(
        _ body: (_ tile: TileAddress, _ place: UInt64) throws(Failure) -> Void
    ) throws(Failure) {
        for (bundle, range) in bundles {
            let index = archive.file.copy(
                range.lowerBound + Bundle.headerCount..<range.lowerBound + Bundle.indexEnd)
            var writer = ByteWriter()
            writer.append(index)
            for slot in 0..<Bundle.tileCount {
                let record = writer.withBytes { $0.littleEndian(at: slot * 8) ?? 0 as UInt64 }
                guard let place = try place(record, in: range) else { continue }
                guard let tile = bundle.tile(slot: slot) else {
                    throw Failure.damaged(
                        archive.file.path, "'\(bundle.name)' has a tile outside of its level")
                }
                try body(tile, place)
            }
        }
    }

    /// The place in the file of a record's tile; nil for a record without one.
    private func place(_ record: UInt64, in range: Range<Int>) throws(Failure) -> UInt64? {
        let (offset, count) = (Int(record & 0xff_ffff_ffff), Int(record >> 40))
        guard count > 0 else { return nil }
        guard offset >= Bundle.indexEnd, offset + count <= range.count,
            range.lowerBound + offset < 1 << 40
        else { throw Failure.damaged(archive.file.path, "a tile is outside of its bundle") }
        return UInt64(range.lowerBound + offset) << 24 | UInt64(count)
    }

    func bytes(of tile: TileAddress) throws(Failure) -> [UInt8]? {
        guard let range = bundles[Bundle(containing: tile)] else { return nil }
        let place = range.lowerBound + Bundle.headerCount + 8 * Bundle.slot(of: tile)
        let record = archive.file.withBytes { $0.littleEndian(at: place) ?? 0 as UInt64 }
        return try self.place(record, in: range).map { place throws(Failure) in
            try bytes(at: place)
        }
    }

    func bytes(at place: UInt64) throws(Failure) -> [UInt8] {
        let start = Int(place >> 24)
        return archive.file.copy(start..<start + Int(place & 0xff_ffff))
    }
}
