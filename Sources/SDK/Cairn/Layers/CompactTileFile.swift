// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// The tiles of a TPKX or VTPK: bundles of a compact cache V2 that lie unpacked in a ZIP archive
/// (https://github.com/Esri/tile-package-spec, https://github.com/Esri/raster-tiles-compactcache).
///
/// The file is read where tiles are asked for. Any thread may ask.
final class CompactTileFile: Sendable {
    private struct Member: Sendable {
        var header: UInt64
        var byteCount: Int
        var expandedCount: Int
        var method: Int
    }

    /// Rows and columns of a bundle.
    private static let side = 128
    /// Bytes in front of a bundle's index.
    private static let headerCount = 64
    /// The most bytes of the archive's directory, and of a document in it.
    private static let directoryLimit = 128 << 20
    private static let documentLimit = 16 << 20

    private let url: URL
    private let file: Guarded<FileHandle>
    /// By name in lower case.
    private let members: [String: Member]
    private let bundles: String
    /// `root.json`.
    let root: JSON

    /// Opens a package.
    ///
    /// Throws ``CairnError``: `file` where it cannot be read, `invalidDocument` for what is no such
    /// package or is cut short.
    init(_ url: URL) throws {
        self.url = url
        let handle: FileHandle
        do { handle = try FileHandle(forReadingFrom: url) } catch {
            throw CairnError(.file, "'\(url.path(percentEncoded: false))' cannot be read: \(error)")
        }
        let file = Guarded(handle)
        let members = try Self.members(of: file, url)
        let folder = members["root.json"] == nil ? "p12/" : ""
        guard let member = members[folder + "root.json"] else {
            throw Self.damaged(url, "it has no root.json")
        }
        let bytes = try Self.document(member, of: file, url)
        guard let root = JSON(bytes) else {
            throw Self.damaged(url, "its root.json is no JSON")
        }
        let path = root.text("tileBundlesPath") ?? "./tile"
        bundles = folder + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path).lowercased()
        self.file = file
        self.members = members
        self.root = root
    }

    /// The bytes of a tile; nil where there is none.
    func tile(level: Int, row: Int, column: Int) throws -> Data? {
        guard 0...99 ~= level, 0..<1 << 30 ~= row, 0..<1 << 30 ~= column else { return nil }
        func name(_ number: Int) -> String {
            let text = String(number / Self.side * Self.side, radix: 16)
            return String(repeating: "0", count: max(0, 4 - text.count)) + text
        }
        let folder = level < 10 ? "l0\(level)" : "l\(level)"
        guard let bundle = members["\(bundles)/\(folder)/r\(name(row))c\(name(column)).bundle"]
        else { return nil }
        guard bundle.method == 0 else { throw Self.damaged(url, "a bundle in it is packed") }
        let start = try Self.start(of: bundle, in: file, url)
        let slot = row % Self.side * Self.side + column % Self.side
        let place = Self.headerCount + 8 * slot
        guard place + 8 <= bundle.byteCount else { throw Self.damaged(url, "a bundle ends early") }
        let entry = try Self.read(file, start + UInt64(place), 8, url).littleEndian(at: 0, 8)
        let (offset, count) = (entry & (1 << 40 - 1), Int(entry >> 40))
        guard count > 0 else { return nil }
        guard offset + UInt64(count) <= UInt64(bundle.byteCount) else {
            throw Self.damaged(url, "tile \(level)/\(row)/\(column) is not in its bundle")
        }
        return Data(try Self.read(file, start + offset, count, url))
    }

    // MARK: The archive

    private static func damaged(_ url: URL, _ what: String) -> CairnError {
        CairnError(
            .invalidDocument, "'\(url.path(percentEncoded: false))' is no package of tiles: \(what)"
        )
    }

    private static func read(
        _ file: Guarded<FileHandle>, _ offset: UInt64, _ count: Int, _ url: URL
    ) throws -> [UInt8] {
        let data: Data?
        do {
            data = try file.withLock { file in
                try file.seek(toOffset: offset)
                return try file.read(upToCount: count)
            }
        } catch {
            throw CairnError(.file, "'\(url.path(percentEncoded: false))' cannot be read: \(error)")
        }
        guard count == 0 || data?.count == count else { throw damaged(url, "it is cut short") }
        return data.map { [UInt8]($0) } ?? []
    }

    /// Where a member's bytes begin.
    private static func start(
        of member: Member, in file: Guarded<FileHandle>, _ url: URL
    ) throws -> UInt64 {
        let header = try read(file, member.header, 30, url)
        guard header.littleEndian(at: 0, 4) == 0x0403_4b50 else {
            throw damaged(url, "a member is not where its directory has it")
        }
        return member.header + 30 + header.littleEndian(at: 26, 2) + header.littleEndian(at: 28, 2)
    }

    private static func document(
        _ member: Member, of file: Guarded<FileHandle>, _ url: URL
    ) throws -> [UInt8] {
        guard member.byteCount <= documentLimit, member.expandedCount <= documentLimit,
            [0, 8].contains(member.method)
        else { throw damaged(url, "its root.json is too large, or packed in an unknown way") }
        let bytes = try read(
            file, try start(of: member, in: file, url), member.byteCount, url)
        guard member.method == 8 else { return bytes }
        do {
            return try Inflate.unpack(bytes, byteCount: member.expandedCount, hasHeader: false)
        } catch { throw damaged(url, "its root.json cannot be unpacked") }
    }

    private static func members(
        of file: Guarded<FileHandle>, _ url: URL
    ) throws -> [String: Member] {
        let end: UInt64
        do { end = try file.withLock { try $0.seekToEnd() } } catch {
            throw CairnError(.file, "'\(url.path(percentEncoded: false))' cannot be read: \(error)")
        }
        let directory = try directory(of: file, end, url)
        guard directory.byteCount <= directoryLimit,
            directory.start <= end, UInt64(directory.byteCount) <= end - directory.start
        else { throw damaged(url, "its directory is not in it") }
        let bytes = try read(file, directory.start, directory.byteCount, url)
        var members: [String: Member] = [:]
        var place = 0
        while place + 46 <= bytes.count, bytes.littleEndian(at: place, 4) == 0x0201_4b50 {
            let nameCount = Int(bytes.littleEndian(at: place + 28, 2))
            let extraCount = Int(bytes.littleEndian(at: place + 30, 2))
            let commentCount = Int(bytes.littleEndian(at: place + 32, 2))
            let next = place + 46 + nameCount + extraCount + commentCount
            guard next <= bytes.count else { break }
            var numbers = [
                bytes.littleEndian(at: place + 24, 4), bytes.littleEndian(at: place + 20, 4),
                bytes.littleEndian(at: place + 42, 4),
            ]
            let extra = place + 46 + nameCount
            widen(&numbers, bytes[extra..<(extra + extraCount)])
            let name = String(
                decoding: bytes[(place + 46)..<(place + 46 + nameCount)], as: UTF8.self)
            if let expanded = Int(exactly: numbers[0]), let packed = Int(exactly: numbers[1]),
                numbers[2] < end
            {
                members[name.lowercased()] = Member(
                    header: numbers[2], byteCount: packed, expandedCount: expanded,
                    method: Int(bytes.littleEndian(at: place + 10, 2)))
            }
            place = next
        }
        return members
    }

    /// Takes the lengths and the offset of 64 bits of a member, in that order where they are there.
    private static func widen(_ numbers: inout [UInt64], _ extra: ArraySlice<UInt8>) {
        let bytes = Array(extra)
        var place = 0
        while place + 4 <= bytes.count {
            let count = Int(bytes.littleEndian(at: place + 2, 2))
            if bytes.littleEndian(at: place, 2) == 1 {
                var value = place + 4
                for index in numbers.indices where numbers[index] == 0xffff_ffff {
                    guard value + 8 <= min(bytes.count, place + 4 + count) else { return }
                    numbers[index] = bytes.littleEndian(at: value, 8)
                    value += 8
                }
            }
            place += 4 + count
        }
    }

    private static func directory(
        of file: Guarded<FileHandle>, _ end: UInt64, _ url: URL
    ) throws -> (start: UInt64, byteCount: Int) {
        let count = Int(min(end, 22 + 0xffff))
        let first = end - UInt64(count)
        let bytes = try read(file, first, count, url)
        let places = stride(from: count - 22, through: 0, by: -1)
        let found = places.first {
            bytes.littleEndian(at: $0, 4) == 0x0605_4b50
                && $0 + 22 + Int(bytes.littleEndian(at: $0 + 20, 2)) == count
        }
        guard let place = found else { throw damaged(url, "it is no ZIP archive") }
        let (length, start) = (
            bytes.littleEndian(at: place + 12, 4), bytes.littleEndian(at: place + 16, 4)
        )
        guard length == 0xffff_ffff || start == 0xffff_ffff else {
            return (start, Int(length))
        }
        // The directory of an archive with 64-bit lengths, by its locator in front of the end.
        guard place >= 20, bytes.littleEndian(at: place - 20, 4) == 0x0706_4b50 else {
            throw damaged(url, "its directory is not found")
        }
        let record = try read(file, bytes.littleEndian(at: place - 12, 8) & (1 << 62 - 1), 56, url)
        guard record.littleEndian(at: 0, 4) == 0x0606_4b50,
            let byteCount = Int(exactly: record.littleEndian(at: 40, 8))
        else { throw damaged(url, "its directory is not found") }
        return (record.littleEndian(at: 48, 8), byteCount)
    }
}

extension [UInt8] {
    /// A number of so many bytes, the lowest first.
    fileprivate func littleEndian(at place: Int, _ byteCount: Int) -> UInt64 {
        (0..<byteCount).reduce(0) { $0 | UInt64(self[place + $1]) << (8 * UInt64($1)) }
    }
}
