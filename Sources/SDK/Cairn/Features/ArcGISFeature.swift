// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// A feature of an ArcGIS service.
///
/// A query that asked for all fields gives features that are loaded. Of others ``load()`` reads
/// what is missing, and after ``refresh()`` everything anew.
public final class ArcGISFeature: Feature, Loadable, @unchecked Sendable {
    private let loader: Guarded<Loader>

    override init(
        geometry: Geometry?, attributes: [String: any Sendable], featureTable: FeatureTable?
    ) {
        loader = Guarded(Loader())
        super.init(geometry: geometry, attributes: attributes, featureTable: featureTable)
    }

    /// A feature that has not all of its fields.
    init(
        partOf featureTable: FeatureTable, geometry: Geometry?, attributes: [String: any Sendable]
    ) {
        loader = Guarded(Loader())
        super.init(geometry: geometry, attributes: attributes, featureTable: featureTable)
        refresh()
    }

    /// How far it has been loaded.
    public var loadStatus: LoadStatus { loader.current.state }
    /// Why it failed; nil unless it did.
    public var loadError: (any Error)? { loader.current.loadError }

    /// Has all fields and the geometry from its service; one of no service, and one that is not
    /// there yet, is as it is.
    ///
    /// Throws ``CairnError`` (`invalidState`) where the service has it no more, ``ServiceError``
    /// and others.
    public func load() async throws {
        let loader = loader.current
        if !loader.isWhole { try await loader.load() }
    }
    /// Tries again after a failure; otherwise as ``load()``.
    public func retryLoad() async throws {
        let loader = loader.current
        if !loader.isWhole { try await loader.retryLoad() }
    }
    /// Ends an attempt; see ``Loadable/cancelLoad()``.
    public func cancelLoad() { loader.current.cancelLoad() }

    /// Lets the next ``load()`` read it anew: what was set and not applied is lost by then.
    public func refresh() { loader.current = Loader(of: self) }

    private final class Loader: LoadableBase, @unchecked Sendable {
        private weak var feature: ArcGISFeature?
        /// Whether nothing is to be read.
        let isWhole: Bool

        override init() {
            isWhole = true
            super.init()
        }

        init(of feature: ArcGISFeature) {
            isWhole = false
            self.feature = feature
            super.init()
        }

        var state: LoadStatus { isWhole ? .loaded : loadStatus }

        override func performLoad() async throws {
            guard let feature, let table = feature.featureTable as? ServiceFeatureTable else {
                return
            }
            try await table.read(feature)
        }
    }
}
