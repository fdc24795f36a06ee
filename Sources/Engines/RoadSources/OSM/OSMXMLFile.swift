// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Expat
internal import Platform

/// Extracts of OpenStreetMap in the XML form (wiki.openstreetmap.org/wiki/OSM_XML), read piece by
/// piece.
///
/// Objects may be in any order; deleted ones (`visible`, `action`) are passed over.
public enum OSMXMLFile {
    /// Most tags, nodes and members of one object.
    static let partLimit = 1 << 20

    /// Reads a file from its start to its end.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - visitor: Takes the objects.
    ///   - progress: Called for each piece with the bytes read so far.
    /// - Throws: `unreadable` with the path, the line and the reason; the errors of `visitor` and
    ///   `progress`.
    public static func read<Visitor: OSMVisitor>(
        _ path: String, into visitor: inout Visitor,
        progress: (Int64) throws(Failure) -> Void = { _ throws(Failure) in }
    ) throws(Failure) {
        let pending = PendingObjects()
        let source: ByteSource
        do { source = try ByteSource(path: path) } catch {
            throw Failure(.unreadable, error.description)
        }
        func fail(_ reason: String) -> Failure { Failure(.unreadable, "'\(path)': \(reason)") }
        let stream: XMLStream
        do {
            stream = try XMLStream(
                opened: { [pending] in pending.open($0, $1) },
                closed: { [pending] in pending.close($0) })
        } catch {
            throw fail(error.description)
        }
        var byteCount: Int64 = 0
        while true {
            let bytes: [UInt8]
            do { bytes = try source.read(upTo: 256 << 10) } catch {
                throw fail(error.description)
            }
            do { try stream.take(bytes, isLast: bytes.isEmpty) } catch {
                throw fail(error.description)
            }
            if let fault = pending.fault { throw fail(fault) }
            for object in pending.finished {
                switch object {
                case .node(let node): if visitor.wantsNodes { try visitor.take(node) }
                case .way(let way): if visitor.wantsWays { try visitor.take(way) }
                case .relation(let relation):
                    if visitor.wantsWays { try visitor.take(relation) }
                }
            }
            pending.finished.removeAll(keepingCapacity: true)
            if bytes.isEmpty { break }
            byteCount += Int64(bytes.count)
            try progress(byteCount)
        }
        guard pending.isExtract else { throw fail("its outermost element is not 'osm'") }
    }
}

/// The objects of the piece that is being read.
private final class PendingObjects {
    enum Object {
        case node(OSMNode)
        case way(OSMWay)
        case relation(OSMRelation)
    }

    var finished: [Object] = []
    private(set) var fault: String?
    private(set) var isExtract = false
    private var depth = 0
    private var object: Object?
    private var isDeleted = false
    private var tags = OSMTags()
    private var nodes: [Int64] = []
    private var members: [OSMRelation.Member] = []

    func open(_ name: String, _ attributes: [(name: String, value: String)]) {
        depth += 1
        func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
        if depth == 1 {
            isExtract = name == "osm"
            return
        }
        switch name {
        case "node", "way", "relation": begin(name, value)
        case "tag" where object != nil:
            guard let key = value("k"), let text = value("v") else { return }
            tags.list.append(OSMTags.Tag(key: key, value: text))
        case "nd" where object != nil:
            guard let id = value("ref").flatMap({ Int64($0) }) else {
                return refuse("a node of a way has no id")
            }
            nodes.append(id)
        case "member" where object != nil:
            let kinds: [String: OSMRelation.Kind] = [
                "node": .node, "way": .way, "relation": .relation,
            ]
            guard let id = value("ref").flatMap({ Int64($0) }),
                let kind = kinds[value("type") ?? ""]
            else { return refuse("a member of a relation has no id or no known type") }
            members.append(OSMRelation.Member(kind: kind, id: id, role: value("role") ?? ""))
        default: return
        }
        if max(tags.list.count, nodes.count, members.count) > OSMXMLFile.partLimit {
            refuse("an object has more than \(OSMXMLFile.partLimit) parts")
        }
    }

    private func begin(_ name: String, _ value: (String) -> String?) {
        guard let id = value("id").flatMap({ Int64($0) }) else {
            return refuse("a \(name) has no id")
        }
        let version = value("version").flatMap { Int32($0) } ?? 0
        isDeleted = value("visible") == "false" || value("action") == "delete"
        (tags, nodes, members) = (OSMTags(), [], [])
        switch name {
        case "node":
            guard let x = Self.units(value("lon"), limit: 180),
                let y = Self.units(value("lat"), limit: 90)
            else {
                if !isDeleted { refuse("node \(id) has no position in the world") }
                object = nil
                return
            }
            object = .node(OSMNode(id: id, version: version, x: x, y: y, tags: tags))
        case "way": object = .way(OSMWay(id: id, version: version, nodes: [], tags: tags))
        default:
            object = .relation(OSMRelation(id: id, version: version, members: [], tags: tags))
        }
    }

    private static func units(_ text: String?, limit: Double) -> Int32? {
        guard let degrees = text.flatMap({ Double($0) }), abs(degrees) <= limit else { return nil }
        return Int32((degrees * 1e7).rounded())
    }

    func close(_ name: String) {
        depth -= 1
        guard ["node", "way", "relation"].contains(name), let begun = object else { return }
        object = nil
        guard !isDeleted else { return }
        switch begun {
        case .node(var node):
            node.tags = tags
            finished.append(.node(node))
        case .way(var way):
            (way.nodes, way.tags) = (nodes, tags)
            finished.append(.way(way))
        case .relation(var relation):
            (relation.members, relation.tags) = (members, tags)
            finished.append(.relation(relation))
        }
    }

    private func refuse(_ reason: String) { if fault == nil { fault = reason } }
}
