// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Geometry

/// Which features of one layer are wanted for drawing.
package struct FeatureQuery: Hashable, Sendable {
    /// The map.
    package var map: MapName
    /// The layer.
    package var layer: LayerID
    /// What the layer was made of when the question was asked; an answer to another make is
    /// useless.
    package var make: LayerMake
    /// The rectangle of interest, in the map's spatial reference.
    package var extent: Envelope
    /// How far a generalised line may leave the true one, in map units.
    package var offset: Double
    /// The map as of this sequence number; nil: now.
    package var at: Int64?
    /// How often an answer that was cut has been asked again in quarters.
    package var depth: Int
}

/// What decides a layer's features: when it changes, features have to be fetched again.
package struct LayerMake: Hashable, Sendable {
    /// Where the features come from.
    package var source: LayerSource
    /// Which of them are shown.
    package var definition: String?
    /// The map's spatial reference, in which they are drawn.
    package var spatialReference: SpatialReference
}

/// A feature as it is drawn.
package struct DrawnFeature: Hashable, Sendable {
    /// Its object id.
    package var objectID: Int64
    /// Its display value, where known.
    package var label: String?
    /// Its generalised geometry, in the map's spatial reference.
    package var shape: Shape

    /// Makes a feature.
    package init(objectID: Int64, label: String?, shape: Shape) {
        self.objectID = objectID
        self.label = label
        self.shape = shape
    }
}

/// The features kept for drawing one layer: a rough whole and the detail of where one looks.
struct FeatureStore: Sendable {
    /// At most so many coordinates are kept for one layer and level.
    static let coordinateLimit = 600_000
    /// Answers that were cut are asked again in quarters at most so deep.
    static let depthLimit = 5
    /// At most so many questions are asked for one level.
    static let questionLimit = 100

    /// Features that were fetched for one rectangle at one resolution.
    struct Level: Sendable {
        var query: FeatureQuery
        var features: [DrawnFeature] = []
        var coordinateCount = 0
        var known: Set<Int64> = []
        /// Quarters still to come.
        var openCount = 1
        /// Questions asked so far.
        var askedCount = 1
        /// Whether features are missing for good.
        var isCut = false
        /// Whether no more coordinates are taken.
        var isFull = false
    }

    private(set) var overview: Level?
    private(set) var detail: Level?
    private(set) var loading: Level?
    /// The last failure, until an answer comes.
    private(set) var failure: Failure?

    /// Forgets what belongs to another make of the layer.
    mutating func keepOnly(_ make: LayerMake, at: Int64?) {
        func isKept(_ level: Level) -> Bool { level.query.make == make && level.query.at == at }
        if let level = overview, !isKept(level) { overview = nil }
        if let level = detail, !isKept(level) { detail = nil }
        if let level = loading, !isKept(level) { loading = nil }
    }

    /// The question to ask so that `view` can be drawn at `offset`; nil when nothing is missing or
    /// an answer is still on its way.
    mutating func query(for wanted: FeatureQuery, view: Envelope) -> FeatureQuery? {
        guard loading == nil, failure == nil else { return nil }
        for level in [detail, overview].compactMap({ $0 })
        where level.query.extent.contains(view) && level.query.offset <= wanted.offset * 1.01 {
            return nil
        }
        loading = Level(query: wanted)
        return wanted
    }

    /// Lets questions be asked again after a failure.
    mutating func forgive() { failure = nil }

    /// Takes an answer, in part or whole; returns further questions.
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

    /// Takes a refusal: what has come so far is kept, and nothing is asked until something changes.
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

    /// The level that draws `view` best: one that covers it, else whatever there is, the level that
    /// is just coming in included.
    func best(for view: Envelope) -> [Level] {
        if let detail, detail.query.extent.contains(view) { return [detail] }
        if let overview, overview.query.extent.contains(view) {
            return [overview]
        }
        return [overview ?? detail, loading].compactMap { $0 }
    }
}

extension FeatureQuery {
    /// The same question for the four quarters of its rectangle.
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
    /// Whether the other lies inside or on the border; an empty one always does.
    func contains(_ other: Envelope) -> Bool {
        other.isEmpty
            || (minX <= other.minX && minY <= other.minY && other.maxX <= maxX
                && other.maxY <= maxY)
    }

    /// The common part; empty when there is none.
    func intersection(_ other: Envelope) -> Envelope {
        Envelope(
            minX: max(minX, other.minX), minY: max(minY, other.minY), maxX: min(maxX, other.maxX),
            maxY: min(maxY, other.maxY))
    }
}
