// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Codecs
internal import Platform

/// Writes a ZIP archive: members stored without compression, of 1980-01-01, in the order they come,
/// with 64-bit lengths only where they are needed (APPNOTE 6.3.9).
struct ZipWriter: ~Copyable {
    private var file: StagedFile
    private var members: [Member] = []

    private struct Member {
        let name: String
        let checksum: UInt32
        let byteCount: UInt64
        let offset: UInt64
    }

    /// 1980-01-01.
    private static let date: UInt16 = 0x21
    private static let great: UInt64 = 0xffff_ffff

    init(inDirectory directory: String) throws(PlatformError) {
        file = try StagedFile(inDirectory: directory)
    }

    /// Adds a whole member.
    mutating func add(_ name: String, _ bytes: [UInt8]) throws(PlatformError) {
        try begin(name, byteCount: UInt64(bytes.count), checksum: CRC32.checksum(bytes))
        try append(bytes)
    }

    /// Begins a member, whose bytes are appended next.
    mutating func begin(
        _ name: String, byteCount: UInt64, checksum: UInt32
    ) throws(PlatformError) {
        let member = Member(
            name: name, checksum: checksum, byteCount: byteCount,
            offset: UInt64(file.byteCount))
        let isGreat = byteCount >= Self.great
        var head = ByteWriter()
        head.append(UInt32(0x0403_4b50))
        Self.append(member, isGreat: isGreat, to: &head)
        head.append(UInt16(name.utf8.count))
        head.append(UInt16(isGreat ? 20 : 0))
        head.append(text: name)
        if isGreat { Self.append(extra: [byteCount, byteCount], to: &head) }
        try file.write(head.bytes)
        members.append(member)
    }

    /// Appends bytes of the member that was begun.
    mutating func append(_ bytes: [UInt8]) throws(PlatformError) { try file.write(bytes) }

    /// Writes the directory and gives the file its name.
    consuming func finish(
        as path: String
    ) throws(PlatformError) -> (byteCount: Int64, sha256: String) {
        let start = UInt64(file.byteCount)
        for member in members { try file.write(Self.directoryEntry(member)) }
        let length = UInt64(file.byteCount) - start
        try file.write(Self.end(members.count, start: start, length: length))
        let summary = (file.byteCount, file.digest.hexadecimal)
        try file.publish(as: path)
        return summary
    }

    /// The fields that a member has alike in front of its bytes and in the directory.
    private static func append(_ member: Member, isGreat: Bool, to head: inout ByteWriter) {
        head.append(UInt16(isGreat ? 45 : 20))
        // Flags, method (stored), time.
        for _ in 0..<3 { head.append(UInt16(0)) }
        head.append(date)
        head.append(member.checksum)
        for _ in 0..<2 { head.append(UInt32(min(member.byteCount, great))) }
    }

    private static func append(extra words: [UInt64], to bytes: inout ByteWriter) {
        bytes.append(UInt16(1))
        bytes.append(UInt16(words.count * 8))
        for word in words { bytes.append(word) }
    }

    private static func directoryEntry(_ member: Member) -> [UInt8] {
        var words: [UInt64] = []
        if member.byteCount >= great { words += [member.byteCount, member.byteCount] }
        if member.offset >= great { words.append(member.offset) }
        var entry = ByteWriter()
        entry.append(UInt32(0x0201_4b50))
        entry.append(UInt16(words.isEmpty ? 20 : 45))
        append(member, isGreat: !words.isEmpty, to: &entry)
        entry.append(UInt16(member.name.utf8.count))
        entry.append(UInt16(words.isEmpty ? 0 : 4 + words.count * 8))
        // Comment, disk, attributes.
        for _ in 0..<3 { entry.append(UInt16(0)) }
        entry.append(UInt32(0))
        entry.append(UInt32(min(member.offset, great)))
        entry.append(text: member.name)
        if !words.isEmpty { append(extra: words, to: &entry) }
        return entry.bytes
    }

    private static func end(_ count: Int, start: UInt64, length: UInt64) -> [UInt8] {
        var end = ByteWriter()
        if count >= 0xffff || start >= great || length >= great {
            end.append(UInt32(0x0606_4b50))
            end.append(UInt64(44))
            for _ in 0..<2 { end.append(UInt16(45)) }
            for _ in 0..<2 { end.append(UInt32(0)) }
            for _ in 0..<2 { end.append(UInt64(count)) }
            end.append(length)
            end.append(start)
            end.append(UInt32(0x0706_4b50))
            end.append(UInt32(0))
            end.append(start + length)
            end.append(UInt32(1))
        }
        end.append(UInt32(0x0605_4b50))
        for _ in 0..<2 { end.append(UInt16(0)) }
        for _ in 0..<2 { end.append(UInt16(min(count, 0xffff))) }
        end.append(UInt32(min(length, great)))
        end.append(UInt32(min(start, great)))
        end.append(UInt16(0))
        return end.bytes
    }
}
