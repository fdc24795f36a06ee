// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The names within a small edit distance of a text.
///
/// An edit is an inserted, missing or wrong letter, or a transposition of neighbours (optimal
/// string alignment). The tree of names is walked from its root; a branch is pruned as soon as no
/// continuation can be within the limit, so the cost grows with the number of edits, not with the
/// number of names.
///
/// Two edits are searched for in two parts, because a walk that allows two from the first letter on
/// visits most of the upper tree: either the first half of the text has at most one of them, and
/// the walk allows the second from the middle on; or both are in the first half, and then the name
/// ends exactly with the second half, which the list sorted by reversed text finds.
struct TypoSearch {
    private let wanted: [Unicode.Scalar]
    private let limit: Int
    /// Up to this column the limit is one edit less.
    private let strictColumns: Int
    /// One row per depth in letters: distances between the name's prefix of that length and each
    /// prefix of the wanted text.
    private var rows: [UInt8]
    private var letters: [Unicode.Scalar] = []
    private var frames: [Frame] = []
    /// The second half of the text, as a suffix of names with all edits in the first half.
    private let ending: [UInt8]

    /// A node whose children are being visited.
    private struct Frame {
        var skip: Int
        var depthBytes: Int
        var depthLetters: Int
    }

    /// The allowed edit distance for a text of that many letters.
    static func allowedErrors(letters: Int) -> Int { letters < 4 ? 0 : letters < 8 ? 1 : 2 }

    /// Limit of results.
    static let mostKeys = 2_000

    init(_ text: ArraySlice<UInt8>, limit: Int) {
        wanted = Array(String(decoding: text, as: UTF8.self).unicodeScalars)
        self.limit = limit
        strictColumns = limit > 1 ? wanted.count / 2 : -1
        ending = limit > 1 ? Self.utf8(wanted[(wanted.count / 2)...]) : []
        let width = wanted.count + 1
        rows = [UInt8](repeating: UInt8.max, count: width * (wanted.count + limit + 2))
        for column in 0..<width where column <= (column <= strictColumns ? limit - 1 : limit) {
            rows[column] = UInt8(column)
        }
    }

    private var width: Int { wanted.count + 1 }

    private static func utf8(_ scalars: ArraySlice<Unicode.Scalar>) -> [UInt8] {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return Array(String(view).utf8)
    }

    /// The keys within the limit, with their edit distances, in ascending order.
    mutating func run(_ names: StoredNames, _ bytes: RawSpan) -> [(key: Int, errors: Int)] {
        var found = walk(names, bytes)
        guard limit > 1 else { return found }
        let known = Set(found.map(\.key))
        for number in names.range(endingWith: ending[...], bytes).prefix(Self.mostEndings) {
            let key = names.number(fromEnd: number, bytes)
            guard !known.contains(key), abs(names.text(key, bytes).count - wanted.count) <= 8,
                let errors = Self.errors(
                    between: wanted[...], Self.scalars(of: key, names, bytes)[...], limit: limit)
            else { continue }
            found.append((key, errors))
        }
        return found.sorted { $0.key < $1.key }
    }

    /// Limit of names with the right suffix that are compared.
    private static let mostEndings = 2_000

    private static func scalars(
        of key: Int, _ names: StoredNames, _ bytes: RawSpan
    ) -> [Unicode.Scalar] {
        Array(String(decoding: bytes.copy(names.text(key, bytes)), as: UTF8.self).unicodeScalars)
    }

    private mutating func walk(
        _ names: StoredNames, _ bytes: RawSpan
    ) -> [(key: Int, errors: Int)] {
        guard let first = wanted.first else { return [] }
        let script = Self.script(of: first)
        var found: [(key: Int, errors: Int)] = []
        var number = 0
        while number < names.nodeCount, found.count < Self.mostKeys {
            while let frame = frames.last, number >= frame.skip { frames.removeLast() }
            let parent = frames.last
            let node = names.node(number, bytes)
            let text = names.text(node.firstKey, bytes)
            let start = parent?.depthBytes ?? 0
            if parent == nil {
                let lead = Self.scalar(at: text.lowerBound, bytes).scalar
                // Nodes are ascending: nothing follows after the script of the text.
                if lead.value > script.upperBound { break }
                if !script.contains(lead.value) {
                    number = node.skip
                    continue
                }
            }
            guard
                let depth = descend(
                    text.lowerBound + start..<text.lowerBound + max(start, node.depthEnd),
                    from: parent?.depthLetters ?? 0, bytes)
            else {
                number = node.skip
                continue
            }
            // Outside the band of the row the limit is exceeded.
            let isInBand = wanted.count <= depth + limit
            let errors = isInBand ? Int(rows[depth * width + wanted.count]) : limit + 1
            if node.depthEnd == text.count, errors <= limit {
                found.append((node.firstKey, errors))
            }
            if node.skip > number + 1 {
                frames.append(
                    Frame(skip: node.skip, depthBytes: node.depthEnd, depthLetters: depth))
            }
            number += 1
        }
        return found
    }

    /// Computes the rows for the letters of a node; returns the new depth, or nil when nothing
    /// below can be within the limit.
    private mutating func descend(
        _ label: Range<Int>, from start: Int, _ bytes: RawSpan
    ) -> Int? {
        var depth = start
        var at = label.lowerBound
        while at < label.upperBound {
            guard depth < wanted.count + limit else { return nil }
            let (scalar, count) = Self.scalar(at: at, bytes)
            at += count
            if letters.count > depth { letters[depth] = scalar } else { letters.append(scalar) }
            depth += 1
            guard fillRow(depth, scalar) else { return nil }
        }
        return depth
    }

    /// Fills the row of a depth inside the band of the limit; returns whether any entry is within
    /// the limit.
    private mutating func fillRow(_ depth: Int, _ scalar: Unicode.Scalar) -> Bool {
        let row = depth * width
        let above = row - width
        let first = max(1, depth - limit)
        let last = min(wanted.count, depth + limit)
        guard first <= last + 1 else { return false }
        // Column 0: every letter of the name so far is an insertion.
        let most = strictColumns >= 0 ? limit - 1 : limit
        let startsHere = first == 1 && depth <= most
        rows[row + first - 1] = startsHere ? UInt8(depth) : UInt8.max
        var isNear = startsHere
        var column = first
        while column <= last {
            let letter = wanted[column - 1]
            var best = Int(rows[above + column - 1]) + (letter == scalar ? 0 : 1)
            if column < depth + limit { best = min(best, Int(rows[above + column]) + 1) }
            best = min(best, Int(rows[row + column - 1]) + 1)
            if depth > 1, column > 1, letter == letters[depth - 2], wanted[column - 2] == scalar {
                best = min(best, Int(rows[above - width + column - 2]) + 1)
            }
            let allowed = column <= strictColumns ? limit - 1 : limit
            rows[row + column] = best <= allowed ? UInt8(best) : UInt8.max
            // At the border itself a transposition to the other side may be in progress.
            isNear = isNear || best <= (column == strictColumns ? limit : allowed)
            column += 1
        }
        return isNear
    }

    private static func scalar(
        at offset: Int, _ bytes: RawSpan
    ) -> (scalar: Unicode.Scalar, count: Int) {
        let lead = bytes.byte(at: offset)
        if lead < 0x80 { return (Unicode.Scalar(lead), 1) }
        let count = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        guard offset + count <= bytes.byteCount else { return ("\u{FFFD}", 1) }
        var value = UInt32(lead & (0xFF >> UInt8(count + 1)))
        for step in 1..<count {
            value = value << 6 | UInt32(bytes.byte(at: offset + step) & 0x3F)
        }
        return (Unicode.Scalar(value) ?? "\u{FFFD}", count)
    }

    /// The range of initial scalars of a name in the same script.
    private static func script(of scalar: Unicode.Scalar) -> ClosedRange<UInt32> {
        switch scalar.value {
        case 0..<0x370: 0...0x36F
        case 0x370..<0x400: 0x370...0x3FF
        case 0x400..<0x530: 0x400...0x52F
        case 0x530..<0x590: 0x530...0x58F
        case 0x590..<0x600: 0x590...0x5FF
        case 0x600..<0x780: 0x600...0x77F
        case 0x900..<0xE00: (scalar.value & ~0x7F)...(scalar.value | 0x7F)
        case 0xAC00..<0xD7B0: 0xAC00...0xD7AF
        default: (scalar.value & ~0xFF)...(scalar.value | 0xFF)
        }
    }

    /// The edit distance of two texts, or nil above the limit, which is at most ``mostErrors``.
    static func errors(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>, limit: Int) -> Int? {
        // ASCII needs no decoding.
        if left.allSatisfy({ $0 < 0x80 }), right.allSatisfy({ $0 < 0x80 }) {
            return errors(between: left, right, limit: limit)
        }
        return errors(
            between: Array(String(decoding: left, as: UTF8.self).unicodeScalars)[...],
            Array(String(decoding: right, as: UTF8.self).unicodeScalars)[...], limit: limit)
    }

    /// Upper bound of the limit.
    static let mostErrors = 3

    /// The band of the distance matrix that can hold a number within the limit: in each row the
    /// columns up to `limit` to either side of the diagonal.
    private static func errors<Letter: Equatable>(
        between left: ArraySlice<Letter>, _ right: ArraySlice<Letter>, limit: Int
    ) -> Int? {
        var (left, right) = (left, right)
        guard abs(left.count - right.count) <= limit else { return nil }
        // Common prefixes and suffixes cost nothing.
        while let first = left.first, first == right.first {
            left.removeFirst()
            right.removeFirst()
        }
        while let last = left.last, last == right.last {
            left.removeLast()
            right.removeLast()
        }
        let far = UInt8(limit) + 1
        var rows: (InlineArray<7, UInt8>, InlineArray<7, UInt8>)
        rows = (InlineArray(repeating: far), InlineArray(repeating: far))
        for column in 0...limit { rows.1[limit + column] = UInt8(column) }
        for row in 0..<left.count {
            var next = InlineArray<7, UInt8>(repeating: far)
            let letter = left[left.startIndex + row]
            var isNear = false
            for place in 0...2 * limit {
                // Number of letters of `right` before this entry.
                let column = row + 1 + place - limit
                guard column >= 0, column <= right.count else { continue }
                var best = far
                if column == 0 {
                    best = UInt8(min(row + 1, Int(far)))
                } else {
                    let other = right[right.startIndex + column - 1]
                    best = min(far, rows.1[place] + (letter == other ? 0 : 1))
                    if place < 2 * limit { best = min(best, rows.1[place + 1] + 1) }
                    if place > 0 { best = min(best, next[place - 1] + 1) }
                    if row > 0, column > 1, letter == right[right.startIndex + column - 2],
                        left[left.startIndex + row - 1] == other
                    {
                        best = min(best, rows.0[place] + 1)
                    }
                }
                next[place] = best
                if best < far { isNear = true }
            }
            guard isNear else { return nil }
            rows = (rows.1, next)
        }
        let errors = rows.1[right.count - left.count + limit]
        return errors < far ? Int(errors) : nil
    }
}
