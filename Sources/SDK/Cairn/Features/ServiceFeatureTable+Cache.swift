// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension ServiceFeatureTable {
    /// When features are asked of the service.
    ///
    /// Of the SDKs' rules those are kept that are said here: queries ask the service unless the
    /// mode is ``manualCache``; what differs is what a ``FeatureLayer`` does that is drawn here.
    public enum FeatureRequestMode: Sendable, Hashable, CaseIterable {
        /// Queries, pictures and identify ask nothing, and know what
        /// ``populateFromService(using:clearCache:outFields:)`` brought.
        case manualCache
        /// For pictures an area is asked once, until the table is edited: what lies in it is kept.
        case onInteractionCache
        /// Every picture asks.
        case onInteractionNoCache
    }

    /// What is kept of the service's features.
    struct Kept: Sendable {
        var mode = FeatureRequestMode.onInteractionCache
        /// In manual mode, in the order in which they came.
        var features: [ArcGISFeature] = []
        /// For pictures: the features of an area.
        var area: Envelope?
        var clause = ""
        var drawn: [ArcGISFeature] = []
    }

    /// When features are asked of the service; `onInteractionCache` unless set.
    ///
    /// A change forgets what was kept.
    public var featureRequestMode: FeatureRequestMode {
        get { kept.current.mode }
        set {
            kept.withLock { kept in
                guard kept.mode != newValue else { return }
                kept = Kept()
                kept.mode = newValue
            }
        }
    }

    /// How many features are kept here, not how many the service has: those that
    /// ``populateFromService(using:clearCache:outFields:)`` brought, else those of the latest
    /// picture's area.
    public var numberOfFeatures: Int {
        kept.withLock { $0.mode == .manualCache ? $0.features.count : $0.drawn.count }
    }

    /// Asks the service for features, which queries, pictures and identify know from then on;
    /// of features that were there already, the new ones take the place.
    ///
    /// Without parameters, all features. `clearCache` forgets what was brought before. Throws
    /// ``CairnError`` (`invalidState`) unless the mode is
    /// ``FeatureRequestMode-swift.enum/manualCache``, ``ServiceError`` and others.
    @discardableResult
    public func populateFromService(
        using parameters: QueryParameters? = nil, clearCache: Bool, outFields: [String] = ["*"]
    ) async throws -> FeatureQueryResult {
        guard featureRequestMode == .manualCache else {
            throw CairnError(
                .invalidState,
                "populateFromService: expected the featureRequestMode manualCache, found "
                    + "\(featureRequestMode)")
        }
        var values = (parameters ?? QueryParameters()).values.current
        try await load()
        let needed = outFields.contains("*") || outFields.contains(objectIDField)
        values.outFields = needed ? outFields : outFields + [objectIDField]
        let found = try await queryFeatures(values, definitionExpression)
        let ids = Set(found.all.compactMap { try? objectID($0) })
        kept.withLock { kept in
            guard kept.mode == .manualCache else { return }
            if clearCache {
                kept.features = found.all
            } else {
                kept.features.removeAll { (try? objectID($0)).map(ids.contains) ?? false }
                kept.features += found.all
            }
        }
        return found
    }

    /// The features for a picture of an area, by the mode.
    func features(
        in area: Envelope, _ clause: String, limit: Int
    ) async throws -> [ArcGISFeature] {
        var values = QueryParameters.Values()
        let now = kept.current
        if now.mode == .manualCache {
            values.whereClause = clause
            return try LocalQuery(values, objectIDField, self).features(of: now.features)
        }
        let isKept =
            now.mode == .onInteractionCache && now.clause == clause
            && now.area?.spatialReference == area.spatialReference
            && (now.area.map { $0.union(area) == $0 } ?? false)
        if isKept { return now.drawn }
        values.outSpatialReference = area.spatialReference
        values.geometry = area
        values.spatialRelationship = .envelopeIntersects
        values.maxFeatures = limit
        let found = try await queryFeatures(values, clause)
        if now.mode == .onInteractionCache, found.all.count < limit {
            kept.withLock { ($0.area, $0.clause, $0.drawn) = (area, clause, found.all) }
        }
        return found.all
    }
}
