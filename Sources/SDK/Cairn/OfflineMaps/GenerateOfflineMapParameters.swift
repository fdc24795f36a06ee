// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What the geodatabases of an offline map are made for.
public enum GenerateOfflineMapUpdateMode: Sendable, Hashable {
    /// They are registered with their services, and can be synchronised.
    case syncWithFeatureServices
    /// They are copies, which no service knows of.
    case noUpdates
}

/// What of a map is taken offline.
public final class GenerateOfflineMapParameters: Sendable {
    struct Values: Sendable {
        var area: Geometry
        var minScale: Double?
        var maxScale: Double?
        var includesBasemap = true
        var continuesOnErrors = true
        var updateMode = GenerateOfflineMapUpdateMode.syncWithFeatureServices
        var itemInfo: OfflineMapItemInfo?
    }

    let values: Guarded<Values>

    /// An area, and a range of scales; nil for the map's.
    public init(areaOfInterest: Geometry, minScale: Double? = nil, maxScale: Double? = nil) {
        values = Guarded(Values(area: areaOfInterest, minScale: minScale, maxScale: maxScale))
    }

    /// The area.
    public var areaOfInterest: Geometry {
        get { values.current.area }
        set { values.withLock { $0.area = newValue } }
    }
    /// The smallest scale, as 500000 of 1:500,000; nil for the map's.
    public var minScale: Double? {
        get { values.current.minScale }
        set { values.withLock { $0.minScale = newValue } }
    }
    /// The largest scale, as 5000 of 1:5,000; nil for the map's.
    public var maxScale: Double? {
        get { values.current.maxScale }
        set { values.withLock { $0.maxScale = newValue } }
    }
    /// Whether the basemap is taken.
    public var includesBasemap: Bool {
        get { values.current.includesBasemap }
        set { values.withLock { $0.includesBasemap = newValue } }
    }
    /// Whether a layer that cannot be taken is left out, and not the end of the job.
    public var continuesOnErrors: Bool {
        get { values.current.continuesOnErrors }
        set { values.withLock { $0.continuesOnErrors = newValue } }
    }
    /// What its geodatabases are made for; overrides that were made before this was set keep
    /// theirs.
    public var updateMode: GenerateOfflineMapUpdateMode {
        get { values.current.updateMode }
        set { values.withLock { $0.updateMode = newValue } }
    }
    /// What the package says of itself; nil for nothing.
    public var itemInfo: OfflineMapItemInfo? {
        get { values.current.itemInfo }
        set { values.withLock { $0.itemInfo = newValue } }
    }
}
