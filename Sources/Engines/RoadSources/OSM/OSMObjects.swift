// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// The tags of an object, in the order of the source.
public struct OSMTags: Hashable, Sendable {
    /// A key with its value.
    public struct Tag: Hashable, Sendable {
        /// The key.
        public var key: String
        /// The value.
        public var value: String

        /// Creates a tag.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// The tags.
    public var list: [Tag]

    /// Creates a set of tags.
    public init(_ list: [Tag] = []) { self.list = list }

    /// The value of a key, of the first tag with it; nil without one.
    public subscript(key: String) -> String? {
        for tag in list where tag.key == key { return tag.value }
        return nil
    }
}

/// A node of OpenStreetMap.
public struct OSMNode: Sendable {
    /// Its id.
    public var id: Int64
    /// Its version; 0 where the file has none.
    public var version: Int32
    /// Longitude and latitude in 10⁻⁷ degrees, in the world.
    public var x: Int32
    /// Latitude in 10⁻⁷ degrees.
    public var y: Int32
    /// Its tags.
    public var tags: OSMTags
}

/// A way of OpenStreetMap.
public struct OSMWay: Sendable {
    /// Its id.
    public var id: Int64
    /// Its version; 0 where the file has none.
    public var version: Int32
    /// The ids of its nodes.
    public var nodes: [Int64]
    /// Its tags.
    public var tags: OSMTags
}

/// A relation of OpenStreetMap.
public struct OSMRelation: Sendable {
    /// Its id.
    public var id: Int64
    /// Its version; 0 where the file has none.
    public var version: Int32
    /// Its members.
    public var members: [Member]
    /// Its tags.
    public var tags: OSMTags

    /// A member of a relation.
    public struct Member: Hashable, Sendable {
        /// What it is.
        public var kind: Kind
        /// Its id.
        public var id: Int64
        /// Its role.
        public var role: String
    }

    /// The kinds of members.
    public enum Kind: UInt8, Sendable { case node, way, relation }
}

/// Takes the objects of an extract, in the order of the file.
public protocol OSMVisitor {
    /// Whether nodes are wanted.
    var wantsNodes: Bool { get }
    /// Whether ways and relations are wanted.
    var wantsWays: Bool { get }
    /// Takes a node.
    mutating func take(_ node: OSMNode) throws(Failure)
    /// Takes a way.
    mutating func take(_ way: OSMWay) throws(Failure)
    /// Takes a relation.
    mutating func take(_ relation: OSMRelation) throws(Failure)
}
