// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Geometry

/// A query for the features of one layer for drawing.
package struct FeatureQuery: Hashable, Sendable {
    package var map: MapName
    package var layer: LayerID
    /// Version of the layer at the time of the query; an answer to another version is discarded.
    package var make: LayerMake
    /// The rectangle of interest, in the map's spatial reference.
    package var extent: Envelope
    /// Tolerance of generalised lines, in map units.
    package var offset: Double
    /// The map as of this sequence number; nil for the present.
    package var at: Int64?
    /// Number of subdivisions of a truncated answer that led to this query.
    package var depth: Int
}

/// The properties that determine a layer's features: a change makes a new fetch necessary.
package struct LayerMake: Hashable, Sendable {
    package var source: LayerSource
    /// Filter of the features.
    package var definition: String?
    /// The map's spatial reference, in which they are drawn.
    package var spatialReference: SpatialReference
}

/// A feature for drawing.
package struct DrawnFeature: Hashable, Sendable {
    package var objectID: Int64
    /// Its display value, if known.
    package var label: String?
    /// Its generalised geometry, in the map's spatial reference.
    package var shape: Shape

    package init(objectID: Int64, label: String?, shape: Shape) {
        self.objectID = objectID
        self.label = label
        self.shape = shape
    }
}

/// Cached features of one layer: a coarse overview and the detail of the current view.
struct FeatureStore: Sendable {
    /// Maximum number of cached coordinates per layer and level.
    static let coordinateLimit = 600_000
    /// Maximum depth of subdivision of truncated answers.
    static let depthLimit = 5
    /// Maximum number of queries per level.
    static let questionLimit = 100

    /// Features fetched for one rectangle at one resolution.
    struct Level: Sendable {
        var query: FeatureQuery
        var features: [DrawnFeature] = []
        var coordinateCount = 0
        var known: Set<Int64> = []
        /// Number of outstanding queries.
        var openCount = 1
        /// Number of queries so far.
        var askedCount = 1
        /// Whether features are permanently missing.
        var isCut = false
        /// Whether the limit of coordinates is reached.
        var isFull = false
    }

    private(set) var overview: Level?
    private(set) var detail: Level?
    private(set) var loading: Level?
    /// The last failure, until the next answer.
    private(set) var failure: Failure?

    /// Discards the features of another version of the layer.
    mutating func keepOnly(_ make: LayerMake, at: Int64?) {
        func isKept(_ level: Level) -> Bool { level.query.make == make && level.query.at == at }
        if let level = overview, !isKept(level) { overview = nil }
        if let level = detail, !isKept(level) { detail = nil }
        if let level = loading, !isKept(level) { loading = nil }
    }

    /// The query needed to draw `view` at `offset`; nil when nothing is missing or an answer is
    /// outstanding.
    mutating func query(for wanted: FeatureQuery, view: Envelope) -> FeatureQuery? {
        guard loading == nil, failure == nil else { return nil }
        for level in [detail, overview].compactMap({ $0 })
        where level.query.extent.contains(view) && level.query.offset <= wanted.offset * 1.01 {
            return nil
        }
        loading = Level(query: wanted)
        return wanted
    }

    /// Permits queries again after a failure.
    mutating func forgive() { failure = nil }

    /// Takes a complete or truncated answer; returns further queries.
    mutating func take(
        _ features: [DrawnFeature], isCut: Bool, for query: FeatureQuery
    ) -> [FeatureQuery] {
        guard var level = loading, level.query.make == query.make, level.query.at == query.at,
            level.query.offset == query.offset, level.query.extent.contains(query.extent)
        else { return [] }
        failure = nil
        for feature in features where level.known.insert(feature.objectID).inserted {
            level.coordinateCount += feature.shape.coordinateCount
            if level.coordinateCount > Self.coordinateLimit {
                (level.isCut, level.isFull) = (true, true)
                break
            }
            level.features.append(feature)
        }
        level.openCount -= 1
        var further: [FeatureQuery] = []
        if isCut {
            let mayAsk = level.askedCount + 4 <= Self.questionLimit && !level.isFull
            if query.depth < Self.depthLimit, mayAsk {
                further = query.quarters
                level.askedCount += further.count
                level.openCount += further.count
            } else {
                level.isCut = true
            }
        }
        finish(level)
        return further
    }

    /// Takes a failure: received features are kept, and queries pause until something changes.
    mutating func take(_ failure: Failure, for query: FeatureQuery) {
        guard var level = loading, level.query.make == query.make else { return }
        self.failure = failure
        level.openCount -= 1
        level.isCut = true
        finish(level)
    }

    private mutating func finish(_ level: Level) {
        guard level.openCount <= 0 else {
            loading = level
            return
        }
        loading = nil
        if failure != nil, level.features.isEmpty { return }
        detail = level
        if overview == nil || level.query.extent.contains(overview?.query.extent ?? .empty) {
            overview = level
        }
    }

    /// The best levels to draw `view`: one that covers it, else all that exist, including the one
    /// being fetched.
    func best(for view: Envelope) -> [Level] {
        if let detail, detail.query.extent.contains(view) { return [detail] }
        if let overview, overview.query.extent.contains(view) {
            return [overview]
        }
        return [overview ?? detail, loading].compactMap { $0 }
    }
}

extension FeatureQuery {
    /// The query for each of the four quarters of its rectangle.
    var quarters: [FeatureQuery] {
        let middle = extent.center
        let columns = [(extent.minX, middle.x), (middle.x, extent.maxX)]
        let rows = [(extent.minY, middle.y), (middle.y, extent.maxY)]
        return columns.flatMap { column in
            rows.map { row in
                var quarter = self
                quarter.extent = Envelope(
                    minX: column.0, minY: row.0, maxX: column.1, maxY: row.1)
                quarter.depth += 1
                return quarter
            }
        }
    }
}

extension Envelope {
    /// Whether the other envelope is inside or on the border; true for an empty one.
    func contains(_ other: Envelope) -> Bool {
        other.isEmpty
            || (minX <= other.minX && minY <= other.minY && other.maxX <= maxX
                && other.maxY <= maxY)
    }

    /// The intersection; empty if they are disjoint.
    func intersection(_ other: Envelope) -> Envelope {
        Envelope(
            minX: max(minX, other.minX), minY: max(minY, other.minY), maxX: min(maxX, other.maxX),
            maxY: min(maxY, other.maxY))
    }
}
