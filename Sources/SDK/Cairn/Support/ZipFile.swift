// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// A ZIP archive, read where members are asked for, by any thread.
final class ZipFile: Sendable {
    struct Member: Sendable {
        var name: String
        var header: UInt64
        var byteCount: Int
        var expandedCount: Int
        var method: Int
    }

    /// The most bytes of the archive's directory.
    private static let directoryLimit = 128 << 20
    /// The most bytes of a packed member: it is unpacked in memory.
    private static let packedLimit = 256 << 20

    private let url: URL
    private let file: Guarded<FileHandle>
    /// What the file is to be, for errors: `package of tiles`.
    private let what: String
    /// By name in lower case.
    let members: [String: Member]

    /// Opens an archive.
    ///
    /// Throws ``CairnError``: `file` where it cannot be read, `invalidDocument` for what is no
    /// archive or is cut short.
    init(_ url: URL, of what: String) throws {
        self.url = url
        self.what = what
        let handle: FileHandle
        do { handle = try FileHandle(forReadingFrom: url) } catch {
            throw CairnError(.file, "'\(url.path(percentEncoded: false))' cannot be read: \(error)")
        }
        file = Guarded(handle)
        members = try Self.members(of: Source(file: file, url: url, what: what))
    }

    private struct Source: Sendable {
        var file: Guarded<FileHandle>
        var url: URL
        var what: String

        func damaged(_ reason: String) -> CairnError {
            CairnError(
                .invalidDocument,
                "'\(url.path(percentEncoded: false))' is no \(what): \(reason)")
        }

        func read(_ offset: UInt64, _ count: Int) throws -> [UInt8] {
            let data: Data?
            do {
                data = try file.withLock { file in
                    try file.seek(toOffset: offset)
                    return try file.read(upToCount: count)
                }
            } catch {
                throw CairnError(
                    .file, "'\(url.path(percentEncoded: false))' cannot be read: \(error)")
            }
            guard count == 0 || data?.count == count else { throw damaged("it is cut short") }
            return data.map { [UInt8]($0) } ?? []
        }
    }

    private var source: Source { Source(file: file, url: url, what: what) }

    func damaged(_ reason: String) -> CairnError { source.damaged(reason) }
    func read(_ offset: UInt64, _ count: Int) throws -> [UInt8] {
        try source.read(offset, count)
    }

    /// Where a member's bytes begin.
    func start(of member: Member) throws -> UInt64 {
        let header = try read(member.header, 30)
        guard header.littleEndian(at: 0, 4) == 0x0403_4b50 else {
            throw damaged("a member is not where its directory has it")
        }
        return member.header + 30 + header.littleEndian(at: 26, 2) + header.littleEndian(at: 28, 2)
    }

    /// The bytes of a member of no more than so many.
    func bytes(of member: Member, atMost limit: Int) throws -> [UInt8] {
        guard member.byteCount <= limit, member.expandedCount <= limit,
            [0, 8].contains(member.method)
        else {
            throw damaged("its \(member.name) is too large, or packed in an unknown way")
        }
        let bytes = try read(try start(of: member), member.byteCount)
        guard member.method == 8 else { return bytes }
        do {
            return try Inflate.unpack(bytes, byteCount: member.expandedCount, hasHeader: false)
        } catch { throw damaged("its \(member.name) cannot be unpacked") }
    }

    /// Writes all members into a folder.
    ///
    /// A packed member may have 256 MiB; others are copied as they lie. Names that lead out of the
    /// folder are refused.
    func unpack(into folder: URL) throws {
        for member in members.values.sorted(by: { $0.name < $1.name })
        where !member.name.hasSuffix("/") {
            let parts = member.name.split(separator: "/", omittingEmptySubsequences: false)
            guard !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }),
                !member.name.contains("\\"), !member.name.contains("\0")
            else { throw damaged("it has a member '\(member.name.prefix(200))'") }
            let target = folder.appending(path: member.name)
            do {
                try FileManager.default.createDirectory(
                    at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
                guard
                    FileManager.default.createFile(
                        atPath: target.path(percentEncoded: false), contents: nil)
                else { throw CocoaError(.fileWriteUnknown) }
                let handle = try FileHandle(forWritingTo: target)
                defer { try? handle.close() }
                if member.method == 0 {
                    try copy(member, to: handle)
                } else {
                    try handle.write(
                        contentsOf: Data(try bytes(of: member, atMost: Self.packedLimit)))
                }
            } catch let error as CairnError {
                throw error
            } catch {
                try Task.checkCancellation()
                throw CairnError(
                    .file, "'\(target.path(percentEncoded: false))' cannot be written: \(error)")
            }
        }
    }

    private func copy(_ member: Member, to handle: FileHandle) throws {
        guard member.byteCount == member.expandedCount else {
            throw damaged("its \(member.name) has two lengths")
        }
        var (place, left) = (try start(of: member), member.byteCount)
        while left > 0 {
            try Task.checkCancellation()
            let count = min(left, 4 << 20)
            try handle.write(contentsOf: Data(try read(place, count)))
            place += UInt64(count)
            left -= count
        }
    }

    // MARK: The directory

    private static func members(of source: Source) throws -> [String: Member] {
        let end: UInt64
        do { end = try source.file.withLock { try $0.seekToEnd() } } catch {
            throw CairnError(
                .file, "'\(source.url.path(percentEncoded: false))' cannot be read: \(error)")
        }
        let directory = try directory(of: source, end)
        guard directory.byteCount <= directoryLimit,
            directory.start <= end, UInt64(directory.byteCount) <= end - directory.start
        else { throw source.damaged("its directory is not in it") }
        let bytes = try source.read(directory.start, directory.byteCount)
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
                    name: name, header: numbers[2], byteCount: packed,
                    expandedCount: expanded, method: Int(bytes.littleEndian(at: place + 10, 2)))
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
        of source: Source, _ end: UInt64
    ) throws -> (start: UInt64, byteCount: Int) {
        let count = Int(min(end, 22 + 0xffff))
        let first = end - UInt64(count)
        let bytes = try source.read(first, count)
        let places = stride(from: count - 22, through: 0, by: -1)
        let found = places.first {
            bytes.littleEndian(at: $0, 4) == 0x0605_4b50
                && $0 + 22 + Int(bytes.littleEndian(at: $0 + 20, 2)) == count
        }
        guard let place = found else { throw source.damaged("it is no ZIP archive") }
        let (length, start) = (
            bytes.littleEndian(at: place + 12, 4), bytes.littleEndian(at: place + 16, 4)
        )
        guard length == 0xffff_ffff || start == 0xffff_ffff else {
            return (start, Int(length))
        }
        // The directory of an archive with 64-bit lengths, by its locator in front of the end.
        guard place >= 20, bytes.littleEndian(at: place - 20, 4) == 0x0706_4b50 else {
            throw source.damaged("its directory is not found")
        }
        let record = try source.read(bytes.littleEndian(at: place - 12, 8) & (1 << 62 - 1), 56)
        guard record.littleEndian(at: 0, 4) == 0x0606_4b50,
            let byteCount = Int(exactly: record.littleEndian(at: 40, 8))
        else { throw source.damaged("its directory is not found") }
        return (record.littleEndian(at: 48, 8), byteCount)
    }
}

extension [UInt8] {
    /// A number of so many bytes, the lowest first.
    func littleEndian(at place: Int, _ byteCount: Int) -> UInt64 {
        (0..<byteCount).reduce(0) { $0 | UInt64(self[place + $1]) << (8 * UInt64($1)) }
    }
}
