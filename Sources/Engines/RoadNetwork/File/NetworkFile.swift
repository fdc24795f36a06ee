// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// Where the numbers of a section lie.
struct NumberColumn: Sendable {
    let start: Int
    let width: Int
    /// The largest number of this width, which stands for ``missing``.
    private let largest: UInt32
    private let missing: UInt32

    init(_ section: NetworkLayout.Section, start: Int, width: Int) {
        self.start = start
        self.width = width
        largest = UInt32.max >> UInt32(8 * (4 - width))
        missing = section.missing
    }

    /// A number; up to three bytes behind it are touched, which are those of a later section.
    @inline(__always)
    subscript(index: Int, bytes: RawSpan) -> UInt32 {
        let value = bytes.uint32(at: start + index * width) & largest
        return value == largest ? missing : value
    }
}

/// The places of an opened, validated file's tables.
///
/// The bytes are passed to each call. Every number was validated on opening.
struct NetworkFile: Sendable {
    let sections: [Range<Int>]
    /// Of the sections that are made of numbers.
    let columns: [NumberColumn]
    /// Number of arcs whose edge is not in ``NetworkLayout/Section/arcEdges``.
    let ownArcCount: Int
    let modeCount: Int
    let vertexCount: Int
    let edgeCount: Int
    let linkCount: Int
    let arcCount: Int
    let turnCount: Int
    let classCount: Int
    let restrictionCount: Int
    let snapping: SnapIndex

    private static let widths = NetworkLayout.Section.allCases.map {
        $0.recordByteCount(modes: 0, width: 0)
    }

    /// The place of a record in a section that is not made of numbers.
    func offset(_ section: NetworkLayout.Section, _ index: Int) -> Int {
        sections[section.rawValue].lowerBound + index * Self.widths[section.rawValue]
    }

    /// A number of a section that is made of them.
    func number(_ section: NetworkLayout.Section, _ index: Int, _ bytes: RawSpan) -> Int {
        Int(columns[section.rawValue][index, bytes])
    }

    func length(_ edge: Int, _ bytes: RawSpan) -> UInt32 {
        let link = number(.edgeLinks, edge, bytes) / 2
        return columns[NetworkLayout.Section.linkLengths.rawValue][link, bytes]
    }

    func duration(_ edge: Int, mode: Int, _ bytes: RawSpan) -> UInt32 {
        columns[NetworkLayout.Section.durations.rawValue][mode * edgeCount + edge, bytes]
    }

    func component(_ edge: Int, mode: Int, _ bytes: RawSpan) -> UInt32 {
        columns[NetworkLayout.Section.components.rawValue][mode * edgeCount + edge, bytes]
    }

    func turnClass(_ turn: Int, _ bytes: RawSpan) -> Int { number(.turnClasses, turn, bytes) }

    func edge(ofArc arc: Int, _ bytes: RawSpan) -> Int {
        arc < ownArcCount ? arc : number(.arcEdges, arc - ownArcCount, bytes)
    }

    func classOffset(_ number: Int) -> Int {
        sections[NetworkLayout.Section.classes.rawValue].lowerBound
            + number * (4 + 4 * modeCount)
    }

    func classCost(_ number: Int, mode: Int, _ bytes: RawSpan) -> UInt32 {
        bytes.uint32(at: classOffset(number) + 4 + 4 * mode)
    }

    func restrictionOffset(_ number: Int) -> Int { offset(.restrictions, number) }

    func way(_ link: Int, _ bytes: RawSpan) -> Int64 {
        Int64(bitPattern: bytes.uint64(at: offset(.linkWays, link)))
    }

    /// The first link whose way and segment are not less.
    func firstLink(from way: Int64, _ segment: UInt32, _ bytes: RawSpan) -> Int {
        var range = 0..<linkCount
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let isBefore =
                (self.way(middle, bytes), number(.linkSegments, middle, bytes))
                < (way, Int(segment))
            range =
                isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    func points(ofLink link: Int, _ bytes: RawSpan) -> Range<Int> {
        number(.linkStarts, link, bytes)..<number(.linkStarts, link + 1, bytes)
    }

    func point(_ index: Int, _ bytes: RawSpan) -> (x: Int32, y: Int32) {
        let at = offset(.points, index)
        return (
            Int32(bitPattern: bytes.uint32(at: at)), Int32(bitPattern: bytes.uint32(at: at + 4))
        )
    }

    func text(_ number: Int, _ bytes: RawSpan) -> String {
        let start = sections[NetworkLayout.Section.text.rawValue].lowerBound
        let range = self.number(.texts, number, bytes)..<self.number(.texts, number + 1, bytes)
        return bytes.extracting(start + range.lowerBound..<start + range.upperBound).text()
    }
}
