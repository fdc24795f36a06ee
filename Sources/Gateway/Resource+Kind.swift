// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension Resource {
    /// What resources are counted as.
    enum Kind: Int, CaseIterable, Sendable {
        case health, ready, metrics, info, services, generateToken, communitySelf
        case map, mapLayers, mapLegend, mapLayer, mapQuery, mapIdentify, mapFollow, mapFind,
            mapChanges
        case mapExport,
            mapTile
        case mapFeature
        case features, featuresLayers, featuresLayer, featuresQuery, featuresEdit, featuresFeature
        case locator, findAddressCandidates, geocodeAddresses, suggest, reverseGeocode
        case jobs, jobsUpload, jobsTask, jobsSubmit, jobsJob
        case ogc, ogcCollections, ogcCollection, ogcItems, ogcItem
        case asset, session
        case unknown
    }

    /// What it is counted as.
    var kind: Kind {
        switch self {
        case .health: .health
        case .ready: .ready
        case .metrics: .metrics
        case .info: .info
        case .services: .services
        case .generateToken: .generateToken
        case .communitySelf: .communitySelf
        case .nowhere, .unknownService: .unknown
        case .asset: .asset
        case .session: .session
        case .map(_, let part):
            switch part {
            case .root: .map
            case .layers: .mapLayers
            case .legend: .mapLegend
            case .layer: .mapLayer
            case .query: .mapQuery
            case .feature: .mapFeature
            case .identify: .mapIdentify
            case .follow: .mapFollow
            case .find: .mapFind
            case .changes: .mapChanges
            case .export: .mapExport
            case .tile: .mapTile
            }
        case .features(_, let part):
            switch part {
            case .root: .features
            case .layers: .featuresLayers
            case .layer: .featuresLayer
            case .query, .queryAll: .featuresQuery
            case .feature: .featuresFeature
            case .edit, .editAll: .featuresEdit
            }
        case .locator(_, let part):
            switch part {
            case .root: .locator
            case .findAddressCandidates: .findAddressCandidates
            case .geocodeAddresses: .geocodeAddresses
            case .suggest: .suggest
            case .reverseGeocode: .reverseGeocode
            }
        case .jobs(let part):
            switch part {
            case .root: .jobs
            case .upload: .jobsUpload
            case .task: .jobsTask
            case .submit: .jobsSubmit
            case .job, .jobs: .jobsJob
            }
        case .ogc(let part):
            switch part {
            case .landing, .conformance, .api: .ogc
            case .collections: .ogcCollections
            case .collection: .ogcCollection
            case .items: .ogcItems
            case .item: .ogcItem
            case .unknown: .unknown
            }
        }
    }
}
