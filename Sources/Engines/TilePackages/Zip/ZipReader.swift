// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Codecs
internal import Platform

/// The members of a ZIP archive, read where they lie.
final class ZipReader {
    let file: MappedFile
    private(set) var members: [String: Member] = [:]

    /// A member, as the directory has it.
    struct Member {
        /// Offset of the header in front of its bytes.
        let offset: Int
        let byteCount: Int
        let expandedCount: Int
        /// 0 stored, 8 deflate.
        let method: UInt16
        let checksum: UInt32
    }

    /// The most members of an archive.
    static let memberLimit = 1_000_000
    /// The most bytes of a member that is read whole.
    static let byteLimit = 16 << 20

    init(_ file: MappedFile) throws(Failure) {
        self.file = file
        guard let end = file.withBytes({ Self.directory($0) }) else {
            throw Failure.damaged(file.path, "the directory at its end is missing")
        }
        guard end.count <= Self.memberLimit else {
            throw Failure(
                .tooLarge,
                "'\(file.path)' has \(end.count) members: expected at most \(Self.memberLimit)")
        }
        guard let members = file.withBytes({ Self.members($0, end) }) else {
            throw Failure.damaged(file.path, "the directory at its end cannot be read")
        }
        self.members = members
    }

    func has(_ name: String) -> Bool { members[name] != nil }

    /// A member's bytes, whole, stored or deflated; nil where there is none.
    func read(_ name: String) throws(Failure) -> [UInt8]? {
        guard let member = members[name] else { return nil }
        guard member.byteCount <= Self.byteLimit, member.expandedCount <= Self.byteLimit else {
            throw Failure(.tooLarge, "'\(name)' in '\(file.path)' has too many bytes")
        }
        let range = try range(of: member, name)
        let bytes = file.copy(range)
        let expanded =
            member.method == 8 ? Deflate.expand(bytes, limit: member.expandedCount) : bytes
        guard let expanded, expanded.count == member.expandedCount,
            CRC32.checksum(expanded) == member.checksum
        else { throw Failure.damaged(file.path, "'\(name)' cannot be read") }
        return expanded
    }

    /// Where a member's bytes lie.
    func range(of member: Member, _ name: String) throws(Failure) -> Range<Int> {
        let range = file.withBytes { bytes -> Range<Int>? in
            guard bytes.littleEndian(at: member.offset, as: UInt32.self) == 0x0403_4b50,
                let nameCount: UInt16 = bytes.littleEndian(at: member.offset + 26),
                let extraCount: UInt16 = bytes.littleEndian(at: member.offset + 28)
            else { return nil }
            let start = member.offset + 30 + Int(nameCount) + Int(extraCount)
            guard start <= bytes.byteCount, member.byteCount <= bytes.byteCount - start else {
                return nil
            }
            return start..<start + member.byteCount
        }
        guard let range else {
            throw Failure.damaged(file.path, "'\(name)' is not where the directory has it")
        }
        return range
    }

    private struct Directory {
        var count: Int
        var start: Int
        var length: Int
    }

    /// The directory's place; nil without an end record.
    private static func directory(_ bytes: RawSpan) -> Directory? {
        let last = bytes.byteCount - 22
        guard last >= 0 else { return nil }
        for offset in stride(from: last, through: max(0, last - 0xffff), by: -1) {
            guard bytes.littleEndian(at: offset, as: UInt32.self) == 0x0605_4b50,
                let comment: UInt16 = bytes.littleEndian(at: offset + 20),
                offset + 22 + Int(comment) == bytes.byteCount,
                let count: UInt16 = bytes.littleEndian(at: offset + 10),
                let length: UInt32 = bytes.littleEndian(at: offset + 12),
                let start: UInt32 = bytes.littleEndian(at: offset + 16)
            else { continue }
            guard count == 0xffff || length == 0xffff_ffff || start == 0xffff_ffff else {
                return Directory(count: Int(count), start: Int(start), length: Int(length))
            }
            return great(bytes, before: offset)
        }
        return nil
    }

    /// The directory of an archive with 64-bit lengths.
    private static func great(_ bytes: RawSpan, before end: Int) -> Directory? {
        guard bytes.littleEndian(at: end - 20, as: UInt32.self) == 0x0706_4b50,
            let place: UInt64 = bytes.littleEndian(at: end - 12),
            let offset = Int(exactly: place), offset <= bytes.byteCount,
            bytes.littleEndian(at: offset, as: UInt32.self) == 0x0606_4b50,
            let count = bytes.littleEndian(at: offset + 32, as: UInt64.self)
                .flatMap(Int.init(exactly:)),
            let length = bytes.littleEndian(at: offset + 40, as: UInt64.self)
                .flatMap(Int.init(exactly:)),
            let start = bytes.littleEndian(at: offset + 48, as: UInt64.self)
                .flatMap(Int.init(exactly:))
        else { return nil }
        return Directory(count: count, start: start, length: length)
    }

    private static func members(_ bytes: RawSpan, _ end: Directory) -> [String: Member]? {
        guard end.start <= bytes.byteCount, end.length <= bytes.byteCount - end.start else {
            return nil
        }
        var members: [String: Member] = [:]
        var offset = end.start
        for _ in 0..<end.count {
            guard bytes.littleEndian(at: offset, as: UInt32.self) == 0x0201_4b50,
                let flags: UInt16 = bytes.littleEndian(at: offset + 8), flags & 1 == 0,
                let method: UInt16 = bytes.littleEndian(at: offset + 10),
                method == 0 || method == 8,
                let checksum: UInt32 = bytes.littleEndian(at: offset + 16),
                let nameCount: UInt16 = bytes.littleEndian(at: offset + 28),
                let extraCount: UInt16 = bytes.littleEndian(at: offset + 30),
                let commentCount: UInt16 = bytes.littleEndian(at: offset + 32)
            else { return nil }
            let extra = offset + 46 + Int(nameCount)
            let next = extra + Int(extraCount) + Int(commentCount)
            guard next <= end.start + end.length,
                let fields = fields(bytes, offset, extra..<extra + Int(extraCount)),
                method == 8 || fields.byteCount == fields.expandedCount
            else { return nil }
            let name = String(decoding: bytes.copy(offset + 46..<extra), as: UTF8.self)
            // Of two members of a name no reader knows which one is meant.
            let member = Member(
                offset: fields.offset, byteCount: fields.byteCount,
                expandedCount: fields.expandedCount, method: method, checksum: checksum)
            guard members.updateValue(member, forKey: name) == nil else { return nil }
            offset = next
        }
        return members
    }

    /// Lengths and offset of an entry of the directory, with 64 bits from its extra field where it
    /// has them there; nil unless they are inside the file.
    private static func fields(
        _ bytes: RawSpan, _ entry: Int, _ extra: Range<Int>
    ) -> (byteCount: Int, expandedCount: Int, offset: Int)? {
        var words: [UInt64] = []
        for place in [entry + 24, entry + 20, entry + 42] {
            guard let word: UInt32 = bytes.littleEndian(at: place) else { return nil }
            words.append(UInt64(word))
        }
        var place = extra.lowerBound
        while place + 4 <= extra.upperBound,
            let kind: UInt16 = bytes.littleEndian(at: place),
            let count: UInt16 = bytes.littleEndian(at: place + 2)
        {
            let next = place + 4 + Int(count)
            guard next <= extra.upperBound else { return nil }
            if kind == 1 {
                var field = place + 4
                for index in words.indices where words[index] == 0xffff_ffff {
                    guard field + 8 <= next, let word: UInt64 = bytes.littleEndian(at: field) else {
                        return nil
                    }
                    words[index] = word
                    field += 8
                }
            }
            place = next
        }
        guard let expanded = Int(exactly: words[0]), let stored = Int(exactly: words[1]),
            let offset = Int(exactly: words[2]), stored <= bytes.byteCount,
            offset <= bytes.byteCount
        else { return nil }
        return (stored, expanded, offset)
    }
}
