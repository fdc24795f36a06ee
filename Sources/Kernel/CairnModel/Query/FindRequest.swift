// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// "Which features hold this text?", with the parameters of Esri's find operation on a map.
public struct FindRequest: PartedRequest, Hashable, Codable {
    /// The most features of one answer.
    public static let resultBound = 1_000
    /// The most bytes of the text.
    public static let textByteBound = 1_000

    /// The map to search.
    public var map: MapName
    /// The text to find.
    public var text: String
    /// Whether values that hold the text count, whatever its letter case; else those that are it.
    public var contains = true
    /// The fields to search, in any letter case, where a layer has them; nil for all.
    public var fields: [String]?
    /// The layers that are searched, a group for those in it; nil for all.
    public var layers: [LayerID]?
    /// A WHERE clause per layer, ANDed with the layer's own; those of other layers are ignored.
    public var layerDefinitions: [LayerID: String] = [:]
    /// The reference of the geometries; nil for the map's.
    public var outReference: SpatialReference?
    /// Whether results have geometries.
    public var returnGeometry = true
    /// Tolerance of generalised geometries, in units of their reference; nil for none.
    public var maxAllowableOffset: Double?
    /// The decimals of the coordinates, 0…15; nil for all.
    public var geometryPrecision: Int?
    /// Whether coordinates carry their Z, where the layer has Z.
    public var returnZ = false
    /// Whether coordinates carry their M, where the layer has M.
    public var returnM = false
    /// Whether attributes have the fields' names as keys, else their aliases.
    public var returnFieldName = false
    /// Whether numbers are numbers and moments epoch milliseconds, else every value is text.
    public var returnUnformattedValues = false
    /// The sequence number as of which the map is read; nil for now.
    public var at: Int64?
    /// The moment as of which the map is read; at most one of `at` and `atTime` may be given.
    public var atTime: Timestamp?
    /// With `at` or `atTime`, excludes features removed, hidden or deleted by this sequence number;
    /// nil for none.
    public var seenFrom: Int64?
    /// Least sequence number the answer must include (read your own writes).
    public var minSequence: Int64?
    /// The requested part of the answer; nil for the first.
    public var part: QueryPart?
    /// Whether failures omit the messages of other servers and files, for callers without `admin`;
    /// nil for no.
    public var hidesInside: Bool?

    /// A search for a text in every field of every layer.
    public init(map: MapName, text: String) {
        self.map = map
        self.text = text
    }
}

/// A request whose answer comes in parts (``QueryAnswer``), all of the map as of the first.
public protocol PartedRequest: PastRequest, Sendable, Encodable {
    /// Least sequence number the answer must include.
    var minSequence: Int64? { get set }
    /// The requested part of the answer; nil for the first.
    var part: QueryPart? { get set }
}

extension QueryRequest: PartedRequest {}
