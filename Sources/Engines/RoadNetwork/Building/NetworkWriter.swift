// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import SpatialIndex

/// Lays a network out as the bytes of its file.
struct NetworkWriter {
    private let draft: RoadDraft
    private let topology: NetworkTopology
    private var sections: [[UInt8]] = Array(
        repeating: [], count: NetworkLayout.Section.allCases.count)
    /// Bytes of the numbers of each section; 0 for what is not made of numbers.
    private var widths = [Int](repeating: 0, count: NetworkLayout.Section.allCases.count)
    private var textNumbers: [String: UInt32] = [:]

    /// The pieces of the file, in its order.
    static func pieces(
        _ draft: RoadDraft, _ topology: NetworkTopology, _ turns: TurnTable,
        _ resolved: [RestrictionResolver.Resolved], _ modes: ModeTables
    ) throws(Failure) -> [[UInt8]] {
        var writer = NetworkWriter(draft: draft, topology: topology)
        try writer.layOutDescription()
        try writer.layOutTexts(resolved)
        writer.layOutGraph()
        writer.layOutLinks()
        writer.layOut(turns, resolved)
        writer.layOut(modes)
        try writer.layOutTree()
        return writer.assembled()
    }

    private init(draft: RoadDraft, topology: NetworkTopology) {
        self.draft = draft
        self.topology = topology
    }

    private mutating func set(_ section: NetworkLayout.Section, _ writer: ByteWriter) {
        sections[section.rawValue] = writer.bytes
    }

    private mutating func set(_ section: NetworkLayout.Section, _ numbers: some Sequence<UInt32>) {
        let missing = section.missing
        let width = MappedNumbers.width(numbers.lazy.filter { $0 != missing })
        var writer = ByteWriter(capacity: width * numbers.underestimatedCount)
        for number in numbers {
            writer.append(number == missing ? NetworkLayout.none : number, width: width)
        }
        widths[section.rawValue] = width
        set(section, writer)
    }

    private mutating func layOutDescription() throws(Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let description = NetworkDescription(modes: draft.modes, sources: draft.sources)
        guard let json = try? encoder.encode(description) else {
            throw Failure(.internal, "the modes of the network cannot be written as JSON")
        }
        sections[NetworkLayout.Section.description.rawValue] = Array(json)
    }

    private mutating func layOutTexts(
        _ resolved: [RestrictionResolver.Resolved]
    ) throws(Failure) {
        var texts: Set<String> = [""]
        for way in draft.ways {
            let traits = draft.traits[Int(way.traits)]
            texts.formUnion([
                traits.roadClass, traits.name, traits.ref, traits.destination,
                traits.destinationRef, traits.conditions, StoredPassages.text(traits),
            ])
        }
        texts.formUnion(resolved.map { draft.restrictions[$0.restriction].condition })
        var (bytes, starts): ([UInt8], [UInt32]) = ([], [])
        // By bytes: the order of Swift's strings is by what they mean.
        let ordered = texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for (number, text) in ordered.enumerated() {
            guard let start = UInt32(exactly: bytes.count) else {
                throw Failure(.tooLarge, "the network has more than 4 GiB of names")
            }
            starts.append(start)
            textNumbers[text] = UInt32(number)
            bytes += Array(text.utf8)
        }
        guard let end = UInt32(exactly: bytes.count) else {
            throw Failure(.tooLarge, "the network has more than 4 GiB of names")
        }
        sections[NetworkLayout.Section.text.rawValue] = bytes
        set(.texts, starts + [end])
    }

    private func number(_ text: String) -> UInt32 { textNumbers[text] ?? 0 }

    private mutating func layOutGraph() {
        var vertices = ByteWriter(capacity: 16 * topology.vertexNodes.count)
        for index in topology.vertexNodes {
            let node = draft.nodes[Int(index)]
            vertices.append(node.x)
            vertices.append(node.y)
            vertices.append(node.id)
        }
        set(.vertices, vertices)
        set(.firstEdges, topology.firstEdges)
        set(.tails, topology.edges.lazy.map(\.tail))
        set(.heads, topology.edges.lazy.map(\.head))
        set(.edgeLinks, topology.edges.lazy.map { 2 * $0.link + ($0.isBackward ? 1 : 0) })
        var bearings = ByteWriter(capacity: 4 * topology.edges.count)
        for edge in 0..<topology.edges.count {
            let (start, end) = topology.bearings(UInt32(edge), draft)
            for degrees in [start, end] {
                bearings.append(UInt16(Int((degrees / 360 * 65_536).rounded()) & 0xFFFF))
            }
        }
        set(.bearings, bearings)
    }

    private mutating func layOutLinks() {
        var ways = ByteWriter(capacity: 8 * topology.links.count)
        var points = ByteWriter(capacity: 8 * topology.linkNodes.count)
        // Traits are numbered as links use them, so that the order of sources does not matter.
        var numbers: [UInt32: UInt32] = [:]
        var traits = ByteWriter()
        var linkTraits: [UInt32] = []
        for link in topology.links {
            let way = draft.ways[link.way]
            ways.append(way.id)
            for node in topology.linkNodes[link.start..<link.end] {
                points.append(draft.nodes[Int(node)].x)
                points.append(draft.nodes[Int(node)].y)
            }
            if numbers[way.traits] == nil {
                numbers[way.traits] = UInt32(numbers.count)
                let own = draft.traits[Int(way.traits)]
                traits.append(own.flags.rawValue)
                for text in [
                    own.roadClass, own.name, own.ref, own.destination, own.destinationRef,
                    own.conditions, StoredPassages.text(own),
                ] {
                    traits.append(number(text))
                }
            }
            linkTraits.append(numbers[way.traits] ?? 0)
        }
        set(.linkWays, ways)
        set(.points, points)
        set(.traits, traits)
        set(.linkTraits, linkTraits)
        set(.linkSegments, topology.links.lazy.map(\.segment))
        set(.linkLengths, topology.links.lazy.map(\.millimeters))
        var remainders = ByteWriter(capacity: 2 * topology.links.count)
        for link in topology.links {
            let missing = link.length * 1000 - Double(link.millimeters)
            remainders.append(Int16((missing * 1000).rounded()))
        }
        set(.lengthRemainders, remainders)
        set(.linkEdges, topology.linkEdges)
        set(
            .linkStarts,
            topology.links.map { UInt32($0.start) } + [UInt32(topology.linkNodes.count)])
    }

    private mutating func layOut(
        _ turns: TurnTable, _ resolved: [RestrictionResolver.Resolved]
    ) {
        set(.arcEdges, turns.arcEdges.dropFirst(topology.edges.count))
        set(.turnStarts, turns.turnStarts)
        set(.turnTargets, turns.turnTargets)
        set(.turnClasses, turns.turnClasses.lazy.map { UInt32($0) })
        var classes = ByteWriter()
        for turnClass in turns.classes {
            classes.append(turnClass.flags.rawValue)
            classes.append(turnClass.angle)
            classes.append(UInt16(0))
            for cost in turnClass.costs { classes.append(cost) }
        }
        set(.classes, classes)
        var records = ByteWriter()
        var (edges, forbidden): ([UInt32], [UInt32]) = ([], [])
        for (place, entry) in resolved.enumerated() {
            let restriction = draft.restrictions[entry.restriction]
            append(restriction, edges.count, forbidden.count, to: &records)
            for sequence in entry.sequences { edges += [UInt32(sequence.count)] + sequence }
            forbidden += turns.restrictionTurns[place]
        }
        let last = RoadDraft.Restriction(
            id: 0, kind: .no, modes: 0, from: [], via: .ways([]), to: [])
        append(last, edges.count, forbidden.count, to: &records)
        set(.restrictions, records)
        set(.restrictionEdges, edges)
        set(.restrictionTurns, forbidden)
    }

    private func append(
        _ restriction: RoadDraft.Restriction, _ edges: Int, _ turns: Int,
        to records: inout ByteWriter
    ) {
        records.append(restriction.id)
        records.append(restriction.kind.rawValue)
        records.append(restriction.modes)
        records.append(UInt16(0))
        records.append(number(restriction.condition))
        records.append(UInt32(edges))
        records.append(UInt32(turns))
    }

    private mutating func layOut(_ modes: ModeTables) {
        set(.durations, modes.durations)
        var remainders = ByteWriter(capacity: 2 * modes.remainders.count)
        for remainder in modes.remainders { remainders.append(remainder) }
        set(.durationRemainders, remainders)
        sections[NetworkLayout.Section.access.rawValue] = modes.access
        set(.components, modes.components)
    }

    private mutating func layOutTree() throws(Failure) {
        var items: [(envelope: Envelope, offset: UInt64)] = []
        for (number, link) in topology.links.enumerated() {
            for start in stride(
                from: link.start, to: link.end - 1, by: SnapIndex.segmentsOfPiece)
            {
                let nodes = topology.linkNodes[
                    start...min(start + SnapIndex.segmentsOfPiece, link.end - 1)]
                var box = Envelope.empty
                for index in nodes {
                    let node = draft.nodes[Int(index)]
                    box.extend(to: SnapIndex.degrees(node.x, node.y))
                }
                items.append((box, UInt64(number) << 32 | UInt64(start - link.start)))
            }
        }
        let order = PackedHilbertTree.hilbertOrder(items.map(\.envelope))
        guard let tree = PackedHilbertTree.pack(order.map { items[$0] }) else {
            throw Failure(.invalidParameter, "the network has no roads")
        }
        sections[NetworkLayout.Section.tree.rawValue] = tree
    }

    private func assembled() -> [[UInt8]] {
        var table = ByteWriter()
        let headerByteCount =
            NetworkLayout.headerByteCount + sections.count * NetworkLayout.sectionEntryByteCount
        var offset = headerByteCount
        for (section, width) in zip(sections, widths) {
            table.append(UInt64(offset))
            table.append(UInt64(section.count) | UInt64(width) << 56)
            offset += section.count
        }
        var crc = CRC32C()
        crc.update(table.bytes)
        for section in sections { crc.update(section) }
        var header = ByteWriter()
        header.append(NetworkLayout.magic)
        header.append(NetworkLayout.version)
        header.append(UInt32(sections.count))
        header.append(UInt64(offset))
        header.append(crc.value)
        header.append([UInt8](repeating: 0, count: 60 - header.byteCount))
        header.append(header.checksum)
        return [header.bytes, table.bytes] + sections
    }
}
