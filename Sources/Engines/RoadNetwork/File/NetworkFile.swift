// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The places of an opened, validated file's tables.
///
/// The bytes are passed to each call. Every number was validated on opening.
struct NetworkFile: Sendable {
    let sections: [Range<Int>]
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
        $0.recordByteCount(modes: 0)
    }

    func offset(_ section: NetworkLayout.Section, _ index: Int) -> Int {
        sections[section.rawValue].lowerBound + index * Self.widths[section.rawValue]
    }

    /// A record of 4 bytes as a number.
    func number(_ section: NetworkLayout.Section, _ index: Int, _ bytes: RawSpan) -> Int {
        Int(bytes.uint32(at: sections[section.rawValue].lowerBound + 4 * index))
    }

    func length(_ edge: Int, _ bytes: RawSpan) -> UInt32 {
        let link = number(.edgeLinks, edge, bytes) / 2
        return bytes.uint32(at: offset(.linkLengths, link))
    }

    func duration(_ edge: Int, mode: Int, _ bytes: RawSpan) -> UInt32 {
        bytes.uint32(at: offset(.durations, mode * edgeCount + edge))
    }

    func component(_ edge: Int, mode: Int, _ bytes: RawSpan) -> UInt32 {
        bytes.uint32(at: offset(.components, mode * edgeCount + edge))
    }

    func turnClass(_ turn: Int, _ bytes: RawSpan) -> Int {
        Int(bytes.uint16(at: offset(.turnClasses, turn)))
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
