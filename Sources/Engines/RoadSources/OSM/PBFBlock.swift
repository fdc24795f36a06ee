// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform

/// A block of objects: its texts, and the scale of its coordinates.
struct PBFBlock {
    private var texts: [Range<Int>] = []
    private var strings: [String?]
    private var groups: [Range<Int>] = []
    private var granularity: Int64 = 100
    private var latitudeOffset: Int64 = 0
    private var longitudeOffset: Int64 = 0

    init(_ bytes: RawSpan) throws(ExtractDamage) {
        var reader = ProtobufReader(0..<bytes.byteCount)
        while let field = try reader.field(bytes) {
            switch (field.number, field.wire) {
            case (1, 2):
                var table = ProtobufReader(try reader.range(bytes))
                while let entry = try table.field(bytes) {
                    guard entry.number == 1, entry.wire == 2 else {
                        try table.skip(entry, bytes)
                        continue
                    }
                    texts.append(try table.range(bytes))
                }
            case (2, 2): groups.append(try reader.range(bytes))
            case (17, 0):
                granularity = Int64(bitPattern: try reader.varint(bytes))
                guard 1...1_000_000_000 ~= granularity else {
                    throw ExtractDamage("its granularity is \(granularity)")
                }
            case (19, 0): latitudeOffset = Int64(bitPattern: try reader.varint(bytes))
            case (20, 0): longitudeOffset = Int64(bitPattern: try reader.varint(bytes))
            default: try reader.skip(field, bytes)
            }
        }
        strings = [String?](repeating: nil, count: texts.count)
    }

    /// Hands every object to a visitor; returns the damage that ends it early, if any.
    mutating func visit<Visitor: OSMVisitor>(
        _ bytes: RawSpan, _ visitor: inout Visitor
    ) throws(Failure) -> ExtractDamage? {
        do {
            for group in groups {
                var reader = ProtobufReader(group)
                while let field = try reader.field(bytes) {
                    switch field.number {
                    case 1 where visitor.wantsNodes:
                        try ProtobufReader.expect(field, wire: 2)
                        if let node = try node(try reader.range(bytes), bytes) {
                            try visitor.take(node)
                        }
                    case 2 where visitor.wantsNodes:
                        try ProtobufReader.expect(field, wire: 2)
                        try visitNodes(try reader.range(bytes), bytes, &visitor)
                    case 3 where visitor.wantsWays:
                        try ProtobufReader.expect(field, wire: 2)
                        try visitor.take(try way(try reader.range(bytes), bytes))
                    case 4 where visitor.wantsWays:
                        try ProtobufReader.expect(field, wire: 2)
                        try visitor.take(try relation(try reader.range(bytes), bytes))
                    default: try reader.skip(field, bytes)
                    }
                }
            }
            return nil
        } catch let damage as ExtractDamage {
            return damage
        } catch let failure as Failure {
            throw failure
        } catch {
            return ExtractDamage("it cannot be read")
        }
    }

    private mutating func text(_ number: UInt64, _ bytes: RawSpan) throws(ExtractDamage) -> String {
        guard number < UInt64(texts.count) else {
            throw ExtractDamage("text \(number) of \(texts.count) is used")
        }
        let index = Int(number)
        if let known = strings[index] { return known }
        let text = bytes.extracting(texts[index]).text()
        strings[index] = text
        return text
    }

    /// A coordinate in 10⁻⁷ degrees; nil outside `limit`.
    private func units(_ value: Int64, _ offset: Int64, limit: Int64) -> Int32? {
        let (scaled, overflow) = value.multipliedReportingOverflow(by: granularity)
        let (nanodegrees, overflowToo) = scaled.addingReportingOverflow(offset)
        guard !overflow, !overflowToo, abs(nanodegrees / 100) <= limit else { return nil }
        let half: Int64 = nanodegrees < 0 ? -50 : 50
        return Int32(clamping: max(-limit, min(limit, (nanodegrees + half) / 100)))
    }

    private func position(
        _ longitude: Int64, _ latitude: Int64
    ) -> (x: Int32, y: Int32)? {
        guard let x = units(longitude, longitudeOffset, limit: 1_800_000_000),
            let y = units(latitude, latitudeOffset, limit: 900_000_000)
        else { return nil }
        return (x, y)
    }

    private func version(_ info: Range<Int>, _ bytes: RawSpan) throws(ExtractDamage) -> Int32 {
        var reader = ProtobufReader(info)
        var version: Int32 = 0
        while let field = try reader.field(bytes) {
            if field.number == 1, field.wire == 0 {
                version = Int32(clamping: Int64(bitPattern: try reader.varint(bytes)))
            } else {
                try reader.skip(field, bytes)
            }
        }
        return version
    }

    private mutating func tags(
        _ keys: Range<Int>, _ values: Range<Int>, _ bytes: RawSpan
    ) throws(ExtractDamage) -> OSMTags {
        var (keys, values) = (ProtobufReader(keys), ProtobufReader(values))
        var tags = OSMTags()
        while !keys.isAtEnd {
            guard !values.isAtEnd else { throw ExtractDamage("a key has no value") }
            let key = try text(try keys.varint(bytes), bytes)
            tags.list.append(
                OSMTags.Tag(key: key, value: try text(try values.varint(bytes), bytes)))
        }
        return tags
    }

    /// A plain node; nil outside the world.
    private mutating func node(
        _ range: Range<Int>, _ bytes: RawSpan
    ) throws(ExtractDamage) -> OSMNode? {
        var reader = ProtobufReader(range)
        var (id, latitude, longitude, version): (Int64, Int64, Int64, Int32) = (0, 0, 0, 0)
        var (keys, values) = (0..<0, 0..<0)
        while let field = try reader.field(bytes) {
            switch (field.number, field.wire) {
            case (1, 0): id = try reader.zigzag(bytes)
            case (2, 2): keys = try reader.range(bytes)
            case (3, 2): values = try reader.range(bytes)
            case (4, 2): version = try self.version(try reader.range(bytes), bytes)
            case (8, 0): latitude = try reader.zigzag(bytes)
            case (9, 0): longitude = try reader.zigzag(bytes)
            default: try reader.skip(field, bytes)
            }
        }
        guard let (x, y) = position(longitude, latitude) else { return nil }
        return OSMNode(
            id: id, version: version, x: x, y: y, tags: try tags(keys, values, bytes))
    }

    private mutating func visitNodes<Visitor: OSMVisitor>(
        _ range: Range<Int>, _ bytes: RawSpan, _ visitor: inout Visitor
    ) throws {
        var reader = ProtobufReader(range)
        var (ids, latitudes, longitudes, tagList) = (0..<0, 0..<0, 0..<0, 0..<0)
        var versionList = 0..<0
        while let field = try reader.field(bytes) {
            switch (field.number, field.wire) {
            case (1, 2): ids = try reader.range(bytes)
            case (5, 2):
                var info = ProtobufReader(try reader.range(bytes))
                while let entry = try info.field(bytes) {
                    if entry.number == 1, entry.wire == 2 {
                        versionList = try info.range(bytes)
                    } else {
                        try info.skip(entry, bytes)
                    }
                }
            case (8, 2): latitudes = try reader.range(bytes)
            case (9, 2): longitudes = try reader.range(bytes)
            case (10, 2): tagList = try reader.range(bytes)
            default: try reader.skip(field, bytes)
            }
        }
        var idReader = ProtobufReader(ids)
        var (latitudeReader, longitudeReader) = (
            ProtobufReader(latitudes), ProtobufReader(longitudes)
        )
        var (tagReader, versionReader) = (ProtobufReader(tagList), ProtobufReader(versionList))
        var (id, latitude, longitude): (Int64, Int64, Int64) = (0, 0, 0)
        while !idReader.isAtEnd {
            id &+= try idReader.zigzag(bytes)
            latitude &+= try latitudeReader.zigzag(bytes)
            longitude &+= try longitudeReader.zigzag(bytes)
            let version =
                versionReader.isAtEnd
                ? 0 : Int32(clamping: Int64(bitPattern: try versionReader.varint(bytes)))
            var tags = OSMTags()
            while !tagReader.isAtEnd {
                let key = try tagReader.varint(bytes)
                if key == 0 { break }
                let value = try tagReader.varint(bytes)
                tags.list.append(
                    OSMTags.Tag(key: try text(key, bytes), value: try text(value, bytes)))
            }
            guard let (x, y) = position(longitude, latitude) else { continue }
            try visitor.take(OSMNode(id: id, version: version, x: x, y: y, tags: tags))
        }
    }

    private mutating func way(_ range: Range<Int>, _ bytes: RawSpan) throws(ExtractDamage) -> OSMWay
    {
        var reader = ProtobufReader(range)
        var way = OSMWay(id: 0, version: 0, nodes: [], tags: OSMTags())
        var (keys, values) = (0..<0, 0..<0)
        while let field = try reader.field(bytes) {
            switch (field.number, field.wire) {
            case (1, 0): way.id = Int64(bitPattern: try reader.varint(bytes))
            case (2, 2): keys = try reader.range(bytes)
            case (3, 2): values = try reader.range(bytes)
            case (4, 2): way.version = try version(try reader.range(bytes), bytes)
            case (8, 2): way.nodes = try Self.deltas(try reader.range(bytes), bytes)
            default: try reader.skip(field, bytes)
            }
        }
        way.tags = try tags(keys, values, bytes)
        return way
    }

    private static func deltas(
        _ range: Range<Int>, _ bytes: RawSpan
    ) throws(ExtractDamage) -> [Int64] {
        var reader = ProtobufReader(range)
        var numbers: [Int64] = []
        var number: Int64 = 0
        while !reader.isAtEnd {
            number &+= try reader.zigzag(bytes)
            numbers.append(number)
        }
        return numbers
    }

    private mutating func relation(
        _ range: Range<Int>, _ bytes: RawSpan
    ) throws(ExtractDamage) -> OSMRelation {
        var reader = ProtobufReader(range)
        var relation = OSMRelation(id: 0, version: 0, members: [], tags: OSMTags())
        var (keys, values, roles, kinds) = (0..<0, 0..<0, 0..<0, 0..<0)
        var ids: [Int64] = []
        while let field = try reader.field(bytes) {
            switch (field.number, field.wire) {
            case (1, 0): relation.id = Int64(bitPattern: try reader.varint(bytes))
            case (2, 2): keys = try reader.range(bytes)
            case (3, 2): values = try reader.range(bytes)
            case (4, 2): relation.version = try version(try reader.range(bytes), bytes)
            case (8, 2): roles = try reader.range(bytes)
            case (9, 2): ids = try Self.deltas(try reader.range(bytes), bytes)
            case (10, 2): kinds = try reader.range(bytes)
            default: try reader.skip(field, bytes)
            }
        }
        relation.tags = try tags(keys, values, bytes)
        var (roleReader, kindReader) = (ProtobufReader(roles), ProtobufReader(kinds))
        for id in ids {
            let role = try text(try roleReader.varint(bytes), bytes)
            let number = UInt8(clamping: try kindReader.varint(bytes))
            guard let kind = OSMRelation.Kind(rawValue: number) else {
                throw ExtractDamage("a member of relation \(relation.id) is of no known kind")
            }
            relation.members.append(OSMRelation.Member(kind: kind, id: id, role: role))
        }
        return relation
    }
}
