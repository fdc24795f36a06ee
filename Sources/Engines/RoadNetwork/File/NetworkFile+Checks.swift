// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import SpatialIndex

extension NetworkFile {
    /// The reason why a file is refused.
    private struct Damage: Error {
        var what: String
        var version: UInt32?
        init(_ what: String, version: UInt32? = nil) {
            self.what = what
            self.version = version
        }
    }

    /// Validates a whole file once.
    ///
    /// Throws `newerVersion`, or `corrupt` with the path and what is wrong.
    static func open(
        _ bytes: RawSpan, path: String
    ) throws(Failure) -> (file: NetworkFile, description: NetworkDescription) {
        do throws(Damage) {
            let (sections, columns) = try sections(of: bytes)
            let description = try description(bytes, sections[0])
            let file = try NetworkFile(
                sections, columns, modes: description.modes.count,
                hasAllArcs: bytes.uint32(at: 8) == NetworkLayout.firstVersion)
            try file.checkTexts(bytes)
            try file.checkGraph(bytes)
            try file.checkLinks(bytes)
            try file.checkModes(bytes)
            try file.checkTurns(bytes)
            try file.checkRestrictions(bytes)
            try file.checkTree(bytes)
            return (file, description)
        } catch {
            if let version = error.version {
                throw Failure(
                    .newerVersion,
                    "road network '\(path)' has version \(version); this build reads versions "
                        + "\(NetworkLayout.firstVersion) to \(NetworkLayout.version)")
            }
            throw Failure(.corrupt, "road network '\(path)': \(error.what)")
        }
    }

    private static func sections(
        of bytes: RawSpan
    ) throws(Damage) -> (ranges: [Range<Int>], columns: [NumberColumn]) {
        let names = NetworkLayout.Section.allCases
        let header =
            NetworkLayout.headerByteCount + names.count * NetworkLayout.sectionEntryByteCount
        guard bytes.byteCount >= NetworkLayout.headerByteCount else {
            throw Damage("it is shorter than its header")
        }
        guard bytes.copy(0..<8) == NetworkLayout.magic else {
            throw Damage("it does not begin with 'CRNROADS'")
        }
        let version = bytes.uint32(at: 8)
        guard version <= NetworkLayout.version else { throw Damage("", version: version) }
        guard version >= NetworkLayout.firstVersion || version == 0 else {
            throw Damage(
                "it has version \(version), this build reads versions "
                    + "\(NetworkLayout.firstVersion) to \(NetworkLayout.version): "
                    + "'cairn network build' makes it anew")
        }
        guard version >= NetworkLayout.firstVersion,
            CRC32C.checksum(bytes.extracting(0..<60)) == bytes.uint32(at: 60)
        else { throw Damage("the header's checksum is wrong") }
        guard bytes.uint64(at: 16) == UInt64(bytes.byteCount) else {
            throw Damage(
                "it has \(bytes.byteCount) bytes; its header says \(bytes.uint64(at: 16))")
        }
        let content = bytes.extracting(NetworkLayout.headerByteCount..<bytes.byteCount)
        guard CRC32C.checksum(content) == bytes.uint32(at: 24) else {
            throw Damage("the checksum is wrong")
        }
        guard bytes.uint32(at: 12) == UInt32(names.count), bytes.byteCount >= header else {
            throw Damage("it has \(bytes.uint32(at: 12)) sections; expected \(names.count)")
        }
        var result: [Range<Int>] = []
        var columns: [NumberColumn] = []
        var expected = header
        for section in names {
            let entry =
                NetworkLayout.headerByteCount
                + section.rawValue * NetworkLayout.sectionEntryByteCount
            let (offset, form) = (bytes.uint64(at: entry), bytes.uint64(at: entry + 8))
            let (count, stated) = (form & (1 << 56 - 1), Int(form >> 56))
            guard offset == UInt64(expected), count <= UInt64(bytes.byteCount - expected) else {
                throw Damage("section \(section) exceeds the file")
            }
            let mayState = section.isNumbers && version > NetworkLayout.firstVersion
            guard stated == 0 || mayState && stated <= 4 else {
                throw Damage("section \(section) has numbers of \(stated) bytes")
            }
            columns.append(
                NumberColumn(
                    section, start: expected, width: stated == 0 ? section.usualWidth : stated))
            result.append(expected..<expected + Int(count))
            expected += Int(count)
        }
        guard expected == bytes.byteCount else { throw Damage("bytes follow the last section") }
        return (result, columns)
    }

    private static func description(
        _ bytes: RawSpan, _ range: Range<Int>
    ) throws(Damage) -> NetworkDescription {
        guard range.count <= 1 << 20,
            let description = try? JSONDecoder().decode(
                NetworkDescription.self, from: Data(bytes.copy(range))),
            1...RoadDraft.modeLimit ~= description.modes.count,
            description.modes.allSatisfy({ $0.turns.fault == nil })
        else { throw Damage("its description is invalid") }
        return description
    }

    /// - Parameter hasAllArcs: Whether the section of arcs has the edges themselves, too.
    private init(
        _ sections: [Range<Int>], _ columns: [NumberColumn], modes: Int, hasAllArcs: Bool
    ) throws(Damage) {
        func count(_ section: NetworkLayout.Section, ends: Int = 0) throws(Damage) -> Int {
            let width = section.recordByteCount(
                modes: modes, width: columns[section.rawValue].width)
            let range = sections[section.rawValue]
            guard range.count.isMultiple(of: width), range.count / width >= ends else {
                throw Damage("section \(section) is truncated")
            }
            return range.count / width - ends
        }
        func expect(
            _ section: NetworkLayout.Section, _ expected: Int, ends: Int = 0
        ) throws(Damage) {
            let found = try count(section, ends: ends)
            guard found == expected else {
                throw Damage("section \(section) has \(found) records; expected \(expected)")
            }
        }
        self.sections = sections
        self.columns = columns
        modeCount = modes
        vertexCount = try count(.vertices)
        edgeCount = try count(.tails)
        linkCount = try count(.linkWays)
        ownArcCount = hasAllArcs ? 0 : edgeCount
        arcCount = try count(.arcEdges) + ownArcCount
        turnCount = try count(.turnTargets)
        classCount = try count(.classes)
        restrictionCount = try count(.restrictions, ends: 1)
        _ = try count(.texts, ends: 1)
        _ = try count(.traits)
        _ = try count(.points)
        _ = try count(.restrictionEdges)
        _ = try count(.restrictionTurns)
        try expect(.firstEdges, vertexCount, ends: 1)
        try expect(.heads, edgeCount)
        try expect(.edgeLinks, edgeCount)
        try expect(.bearings, edgeCount)
        try expect(.linkSegments, linkCount)
        try expect(.linkLengths, linkCount)
        try expect(.lengthRemainders, linkCount)
        try expect(.linkTraits, linkCount)
        try expect(.linkEdges, linkCount)
        try expect(.linkStarts, linkCount, ends: 1)
        try expect(.durations, modes * edgeCount)
        try expect(.durationRemainders, modes * edgeCount)
        try expect(.access, modes * edgeCount)
        try expect(.components, modes * edgeCount)
        try expect(.turnStarts, arcCount, ends: 1)
        try expect(.turnClasses, turnCount)
        let tree = sections[NetworkLayout.Section.tree.rawValue]
        guard let snapping = SnapIndex(byteCount: tree.count) else {
            throw Damage("section tree has no form of a tree")
        }
        self.snapping = snapping
    }

    private func count(_ section: NetworkLayout.Section) -> Int {
        sections[section.rawValue].count
            / section.recordByteCount(modes: modeCount, width: columns[section.rawValue].width)
    }

    /// Checks that the starts of lists ascend from 0 to the number of their elements.
    private func checkStarts(
        _ section: NetworkLayout.Section, of lists: Int, end: Int, least: Int = 0,
        _ bytes: RawSpan
    ) throws(Damage) {
        guard number(section, 0, bytes) == 0, number(section, lists, bytes) == end else {
            throw Damage("section \(section) does not cover its lists")
        }
        for list in 0..<lists
        where number(section, list + 1, bytes) < number(section, list, bytes) + least {
            throw Damage("section \(section) does not ascend at \(list)")
        }
    }

    private func checkTexts(_ bytes: RawSpan) throws(Damage) {
        let textCount = count(.texts) - 1
        guard textCount >= 1 else { throw Damage("it has no texts") }
        try checkStarts(.texts, of: textCount, end: count(.text), bytes)
        for set in 0..<count(.traits) {
            let at = offset(.traits, set)
            for place in 0..<7 where Int(bytes.uint32(at: at + 4 + 4 * place)) >= textCount {
                throw Damage("traits \(set) have a text that does not exist")
            }
            let stored = Int(bytes.uint32(at: at + 4 + 4 * 6))
            guard stored == 0 || StoredPassages(text(stored, bytes), modes: modeCount) != nil else {
                throw Damage("traits \(set) have no passages at their times")
            }
        }
    }

    private func checkGraph(_ bytes: RawSpan) throws(Damage) {
        guard edgeCount > 0, edgeCount < 1 << 30 else { throw Damage("it has no edges") }
        for vertex in 0..<vertexCount {
            let at = offset(.vertices, vertex)
            try checkPosition(at, bytes)
        }
        try checkStarts(.firstEdges, of: vertexCount, end: edgeCount, bytes)
        for vertex in 0..<vertexCount {
            let first = number(.firstEdges, vertex, bytes)
            for edge in first..<number(.firstEdges, vertex + 1, bytes) {
                let link = number(.edgeLinks, edge, bytes)
                guard number(.tails, edge, bytes) == vertex,
                    number(.heads, edge, bytes) < vertexCount, link / 2 < linkCount,
                    number(.linkEdges, link, bytes) == edge
                else { throw Damage("edge \(edge) is invalid") }
            }
        }
    }

    private func checkPosition(_ at: Int, _ bytes: RawSpan) throws(Damage) {
        let x = Int32(bitPattern: bytes.uint32(at: at))
        let y = Int32(bitPattern: bytes.uint32(at: at + 4))
        guard -1_800_000_000...1_800_000_000 ~= x, -900_000_000...900_000_000 ~= y else {
            throw Damage("a position is outside the world")
        }
    }

    private func checkLinks(_ bytes: RawSpan) throws(Damage) {
        try checkStarts(.linkStarts, of: linkCount, end: count(.points), least: 2, bytes)
        for point in 0..<count(.points) { try checkPosition(offset(.points, point), bytes) }
        let traits = count(.traits)
        for link in 0..<linkCount {
            var isSound =
                number(.linkTraits, link, bytes) < traits
                && number(.linkLengths, link, bytes) < Int(RoadNetwork.unreachable)
                && way(link, bytes) >= 0
            if link > 0 {
                isSound =
                    isSound
                    && (way(link - 1, bytes), number(.linkSegments, link - 1, bytes))
                        < (way(link, bytes), number(.linkSegments, link, bytes))
            }
            for (place, isBackward) in [(0, false), (1, true)] {
                let edge = number(.linkEdges, 2 * link + place, bytes)
                guard edge != Int(NetworkLayout.none) else { continue }
                isSound =
                    isSound && edge < edgeCount
                    && number(.edgeLinks, edge, bytes) == 2 * link + (isBackward ? 1 : 0)
            }
            guard isSound else { throw Damage("link \(link) is invalid") }
        }
    }

    private func checkModes(_ bytes: RawSpan) throws(Damage) {
        for mode in 0..<modeCount {
            for edge in 0..<edgeCount {
                let duration = duration(edge, mode: mode, bytes)
                let access = bytes.byte(at: offset(.access, mode * edgeCount + edge))
                let component = component(edge, mode: mode, bytes)
                let isClosed = access == RoadAccess.closed.rawValue
                guard access <= 2, duration <= RoadNetwork.unreachable,
                    isClosed == (duration == RoadNetwork.unreachable),
                    isClosed == (component == NetworkLayout.none),
                    isClosed || Int(component) < edgeCount
                else { throw Damage("edge \(edge) is invalid for mode \(mode)") }
            }
        }
    }

    private func checkTurns(_ bytes: RawSpan) throws(Damage) {
        guard arcCount >= edgeCount, arcCount < 1 << 31, turnCount < 1 << 31 else {
            throw Damage("it has fewer arcs than edges")
        }
        for number in 0..<classCount {
            let at = classOffset(number)
            guard abs(Int(Int8(bitPattern: bytes.byte(at: at + 1)))) <= 36,
                (0..<modeCount).allSatisfy({
                    classCost(number, mode: $0, bytes) <= RoadNetwork.unreachable
                })
            else { throw Damage("class \(number) of turns is invalid") }
        }
        try checkStarts(.turnStarts, of: arcCount, end: turnCount, bytes)
        for arc in 0..<arcCount {
            let edge = edge(ofArc: arc, bytes)
            guard edge < edgeCount, arc >= edgeCount || arc == edge else {
                throw Damage("arc \(arc) is invalid")
            }
            let vertex = number(.heads, edge, bytes)
            let first = number(.firstEdges, vertex, bytes)
            let turns =
                number(.turnStarts, arc, bytes)..<number(.turnStarts, arc + 1, bytes)
            guard turns.count == number(.firstEdges, vertex + 1, bytes) - first else {
                throw Damage("arc \(arc) does not have a turn onto each edge behind it")
            }
            for (place, turn) in turns.enumerated() {
                let target = number(.turnTargets, turn, bytes)
                guard target < arcCount, self.edge(ofArc: target, bytes) == first + place,
                    turnClass(turn, bytes) < classCount
                else { throw Damage("turn \(turn) is invalid") }
            }
        }
    }

    private func checkRestrictions(_ bytes: RawSpan) throws(Damage) {
        let (edges, turns) = (count(.restrictionEdges), count(.restrictionTurns))
        var last = (edges: 0, turns: 0)
        for restriction in 0...restrictionCount {
            let at = restrictionOffset(restriction)
            let next = (
                edges: Int(bytes.uint32(at: at + 16)), turns: Int(bytes.uint32(at: at + 20))
            )
            guard next.edges >= last.edges, next.turns >= last.turns, next.edges <= edges,
                next.turns <= turns, Int(bytes.uint32(at: at + 12)) < count(.texts) - 1,
                RoadDraft.Restriction.Kind(rawValue: bytes.byte(at: at + 8)) != nil,
                restriction > 0 || next == (0, 0)
            else { throw Damage("restriction \(restriction) is invalid") }
            var place = last.edges
            while place < next.edges {
                let length = number(.restrictionEdges, place, bytes)
                guard length <= next.edges - place - 1 else {
                    throw Damage("restriction \(restriction) has edges that do not exist")
                }
                for index in place + 1..<place + 1 + length
                where number(.restrictionEdges, index, bytes) >= edgeCount {
                    throw Damage("restriction \(restriction) has edges that do not exist")
                }
                place += length + 1
            }
            last = next
        }
        guard last == (edges, turns) else { throw Damage("restrictions end too early") }
        for place in 0..<turns where number(.restrictionTurns, place, bytes) >= turnCount {
            throw Damage("a restriction has a turn that does not exist")
        }
    }

    private func checkTree(_ bytes: RawSpan) throws(Damage) {
        let range = sections[NetworkLayout.Section.tree.rawValue]
        guard
            snapping.isSound(
                bytes.extracting(range),
                pointCount: { link in
                    link < linkCount ? points(ofLink: link, bytes).count : 0
                })
        else { throw Damage("its spatial index is invalid") }
    }
}
