// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// An order of results.
public struct OrderBy: Sendable, Hashable {
    /// The directions of an order.
    public enum SortOrder: Sendable, Hashable { case ascending, descending }

    /// The field.
    public var fieldName: String
    /// Which comes first.
    public var sortOrder: SortOrder

    /// Makes an order.
    public init(fieldName: String, sortOrder: SortOrder = .ascending) {
        self.fieldName = fieldName
        self.sortOrder = sortOrder
    }

    var parameter: String { fieldName + (sortOrder == .descending ? " DESC" : " ASC") }
}

/// How a found feature lies to the geometry of a query.
public enum SpatialRelationship: String, Sendable {
    case intersects = "esriSpatialRelIntersects"
    case contains = "esriSpatialRelContains"
    case within = "esriSpatialRelWithin"
    case crosses = "esriSpatialRelCrosses"
    case touches = "esriSpatialRelTouches"
    case overlaps = "esriSpatialRelOverlaps"
    case envelopeIntersects = "esriSpatialRelEnvelopeIntersects"
}

/// Which fields a query returns.
public enum QueryFeatureFields: Sendable, Hashable {
    /// The object ids alone.
    case idsOnly
    /// What the parameters' ``QueryParameters/outFields`` say.
    case minimum
    /// All.
    case loadAll
}

/// Which features a query finds, and what it returns of them.
public final class QueryParameters: Sendable {
    struct Values: Sendable {
        var whereClause = ""
        var geometry: Geometry?
        var spatialRelationship = SpatialRelationship.intersects
        var objectIDs: [Int64] = []
        var outFields: [String] = ["*"]
        var orderByFields: [OrderBy] = []
        var returnsGeometry = true
        var maxFeatures = 0
        var resultOffset = 0
        var outSpatialReference: SpatialReference?
        var timeExtent: ClosedRange<Date>?
    }

    let values: Guarded<Values>

    /// All features with all fields and geometries.
    public init() { values = Guarded(Values()) }

    /// A WHERE clause; empty for all.
    public var whereClause: String {
        get { values.current.whereClause }
        set { values.withLock { $0.whereClause = newValue } }
    }
    /// What features lie at; nil for anywhere.
    public var geometry: Geometry? {
        get { values.current.geometry }
        set { values.withLock { $0.geometry = newValue } }
    }
    /// How features lie to ``geometry``.
    public var spatialRelationship: SpatialRelationship {
        get { values.current.spatialRelationship }
        set { values.withLock { $0.spatialRelationship = newValue } }
    }
    /// Object ids; empty for any.
    public var objectIDs: [Int64] { values.current.objectIDs }
    /// Adds object ids.
    public func addObjectIDs(_ ids: [Int64]) { values.withLock { $0.objectIDs += ids } }
    /// Adds ids of features, of any type of whole number; those beyond 64 bits find nothing.
    public func addObjectIDs(_ ids: some Sequence<some BinaryInteger>) {
        addObjectIDs(ids.map { Int64(clamping: $0) })
    }
    /// Adds an object id.
    public func addObjectID(_ id: Int64) { addObjectIDs([id]) }
    /// Fields that are returned; `*` for all.
    public var outFields: [String] {
        get { values.current.outFields }
        set { values.withLock { $0.outFields = newValue } }
    }
    /// The order of results.
    public var orderByFields: [OrderBy] { values.current.orderByFields }
    /// Adds to the order of results.
    public func addOrderByField(_ order: OrderBy) { addOrderByFields([order]) }
    /// Adds to the order of results.
    public func addOrderByFields(_ orders: [OrderBy]) {
        values.withLock { $0.orderByFields += orders }
    }
    /// Leaves the order of results to the service.
    public func removeAllOrderByFields() { values.withLock { $0.orderByFields = [] } }
    /// Whether geometries are returned.
    public var returnsGeometry: Bool {
        get { values.current.returnsGeometry }
        set { values.withLock { $0.returnsGeometry = newValue } }
    }
    /// Most features; 0 for all that there are, page after page.
    public var maxFeatures: Int {
        get { values.current.maxFeatures }
        set { values.withLock { $0.maxFeatures = newValue } }
    }
    /// Features that are passed over.
    public var resultOffset: Int {
        get { values.current.resultOffset }
        set { values.withLock { $0.resultOffset = newValue } }
    }
    /// The reference of geometries; nil for the layer's.
    public var outSpatialReference: SpatialReference? {
        get { values.current.outSpatialReference }
        set { values.withLock { $0.outSpatialReference = newValue } }
    }
    /// The time that features are of; nil for any.
    public var timeExtent: ClosedRange<Date>? {
        get { values.current.timeExtent }
        set { values.withLock { $0.timeExtent = newValue } }
    }
}

extension QueryParameters.Values {
    /// The parameters of the REST that choose features.
    func selection(_ definition: String) -> [(name: String, value: String)] {
        let clauses = [definition, whereClause].filter { !$0.isEmpty }
        let condition =
            clauses.count == 2
            ? clauses.map { "(\($0))" }.joined(separator: " AND ") : clauses.first
        var parameters = [(name: "where", value: condition ?? "1=1")]
        if let geometry {
            parameters.append(("geometry", geometry.json.jsonText))
            parameters.append(("geometryType", geometry.typeName))
            parameters.append(("spatialRel", spatialRelationship.rawValue))
            if let reference = geometry.spatialReference {
                parameters.append(("inSR", reference.parameter))
            }
        }
        if !objectIDs.isEmpty {
            parameters.append(
                ("objectIds", objectIDs.map(String.init).joined(separator: ",")))
        }
        if let timeExtent {
            parameters.append(
                (
                    "time",
                    "\(timeExtent.lowerBound.millisecondsSince1970),"
                        + "\(timeExtent.upperBound.millisecondsSince1970)"
                ))
        }
        return parameters
    }

    /// The parameters that say what is returned.
    var output: [(name: String, value: String)] {
        var parameters = [
            (name: "outFields", value: outFields.joined(separator: ",")),
            ("returnGeometry", String(returnsGeometry)),
        ]
        if !orderByFields.isEmpty {
            parameters.append(
                (
                    "orderByFields",
                    orderByFields.map(\.parameter).joined(separator: ",")
                ))
        }
        if let outSpatialReference {
            parameters.append(("outSR", outSpatialReference.parameter))
        }
        return parameters
    }
}

/// The features that a query found.
public struct FeatureQueryResult: Sendable {
    let all: [ArcGISFeature]
    /// The fields.
    public let fields: [Field]
    /// Whether there are more than the service gives.
    public let isTransferLimitExceeded: Bool
    /// The reference of the geometries.
    public let spatialReference: SpatialReference?
    /// The kind of geometry; nil for a table without.
    public let geometryType: Geometry.Type?

    /// The features, in order; of a service each is an ``ArcGISFeature``.
    public func features() -> QueryElements<Feature> { QueryElements(all: all) }

    /// The features as an array, where one is asked for by its type.
    @_disfavoredOverload
    public func features() -> [Feature] { all }
}
