// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// Sorted folded texts of the file with the tree over them: the names, or the words of addresses.
///
/// Numbered from 0 in byte order.
struct StoredNames: Sendable {
    let count: Int
    let nodeCount: Int
    /// Byte offsets of the texts, the records (u32 offset and u32 first posting, one more at the
    /// end), the nodes of the tree, and the list sorted by reversed text.
    let textStart: Int
    let recordStart: Int
    let treeStart: Int
    let endingsStart: Int

    /// The order of a stored text relative to a key, bytewise.
    enum Order { case before, beginsWith, equal, after }

    @inline(__always)
    static func compare(
        _ stored: Range<Int>, _ wanted: ArraySlice<UInt8>, _ bytes: RawSpan
    ) -> Order {
        var at = stored.lowerBound
        for byte in wanted {
            guard at < stored.upperBound else { return .before }
            let other = bytes.byte(at: at)
            if other != byte { return other < byte ? .before : .after }
            at += 1
        }
        return at == stored.upperBound ? .equal : .beginsWith
    }

    /// The byte range of a folded name.
    @inline(__always)
    func text(_ number: Int, _ bytes: RawSpan) -> Range<Int> {
        let at = recordStart + 8 * number
        return textStart + Int(bytes.uint32(at: at))..<textStart + Int(bytes.uint32(at: at + 8))
    }

    /// The posting list of a name.
    func postings(_ number: Int, _ bytes: RawSpan) -> Range<Int> {
        let at = recordStart + 8 * number
        return Int(bytes.uint32(at: at + 4))..<Int(bytes.uint32(at: at + 12))
    }

    @inline(__always)
    func node(_ number: Int, _ bytes: RawSpan) -> (firstKey: Int, skip: Int, depthEnd: Int) {
        let at = treeStart + 12 * number
        return (
            Int(bytes.uint32(at: at)), Int(bytes.uint32(at: at + 4)),
            Int(bytes.uint32(at: at + 8))
        )
    }

    /// The number of a name; nil for an unknown one.
    func number(of name: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int? {
        let start = first(from: name, bytes)
        guard start < count, Self.compare(text(start, bytes), name, bytes) == .equal else {
            return nil
        }
        return start
    }

    /// The names with a prefix, the exact one included.
    func range(beginningWith prefix: ArraySlice<UInt8>, _ bytes: RawSpan) -> Range<Int> {
        let start = first(from: prefix, bytes)
        var range = start..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if Self.compare(text(middle, bytes), prefix, bytes) == .after {
                range = range.lowerBound..<middle
            } else {
                range = middle + 1..<range.upperBound
            }
        }
        return start..<range.lowerBound
    }

    /// The first name not less than the given one.
    func first(from name: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int {
        var range = 0..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if Self.compare(text(middle, bytes), name, bytes) == .before {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    /// The name at an index of the list sorted by reversed text.
    func number(fromEnd place: Int, _ bytes: RawSpan) -> Int {
        Int(bytes.uint32(at: endingsStart + 4 * place))
    }

    /// The indices in the list sorted by reversed text of the names with a suffix.
    func range(endingWith ending: ArraySlice<UInt8>, _ bytes: RawSpan) -> Range<Int> {
        func first(where isPast: (Order) -> Bool) -> Int {
            var range = 0..<count
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                let text = text(number(fromEnd: middle, bytes), bytes)
                if isPast(compareFromEnd(text, ending, bytes)) {
                    range = range.lowerBound..<middle
                } else {
                    range = middle + 1..<range.upperBound
                }
            }
            return range.lowerBound
        }
        return first { $0 != .before }..<first { $0 == .after }
    }

    private func compareFromEnd(
        _ stored: Range<Int>, _ wanted: ArraySlice<UInt8>, _ bytes: RawSpan
    ) -> Order {
        var at = stored.upperBound
        for byte in wanted.reversed() {
            guard at > stored.lowerBound else { return .before }
            at -= 1
            let other = bytes.byte(at: at)
            if other != byte { return other < byte ? .before : .after }
        }
        return at == stored.lowerBound ? .equal : .beginsWith
    }

    /// Whether a name has a prefix.
    func name(_ number: Int, beginsWith prefix: ArraySlice<UInt8>, _ bytes: RawSpan) -> Bool {
        switch Self.compare(text(number, bytes), prefix, bytes) {
        case .equal, .beginsWith: true
        case .before, .after: false
        }
    }

    /// Whether the tree and the list sorted by reversed text refer to existing names only.
    func isTreeSound(_ bytes: RawSpan) -> Bool {
        for number in 0..<nodeCount {
            let node = node(number, bytes)
            guard node.firstKey < count, node.skip > number, node.skip <= nodeCount,
                node.depthEnd <= text(node.firstKey, bytes).count
            else { return false }
        }
        return (0..<count).allSatisfy { number(fromEnd: $0, bytes) < count }
    }
}
