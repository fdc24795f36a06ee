// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A moment of a site's past, which only Cairn answers about.
enum ServiceMoment: Sendable, Hashable {
    case sequence(Int64)
    case date(Date)

    func add(to question: inout Question) {
        switch self {
        case .sequence(let number): question.set("at", String(number))
        case .date(let date): question.set("at", date.ISO8601Format())
        }
    }
}

extension Map {
    /// The map as it was after an event of the site's log.
    ///
    /// A copy: its map image layers and its tables of services answer as of then, and cannot be
    /// edited. Throws ``CairnError`` (`unsupported`) for services that are not Cairn's, and for
    /// layers that show the present alone.
    public func at(sequence: Int64) async throws -> Map { try await past(.sequence(sequence)) }

    /// The map as it was at a time; see ``at(sequence:)``.
    public func at(date: Date) async throws -> Map { try await past(.date(date)) }

    private func past(_ moment: ServiceMoment) async throws -> Map {
        try await load()
        let past = try Map.fromJSON(toJSON())
        for layer in past.operationalLayers { try await Self.put(layer, at: moment) }
        return past
    }

    private static func put(_ layer: Layer, at moment: ServiceMoment) async throws {
        let what = "answers as of a past moment"
        switch layer {
        case let group as GroupLayer:
            for child in group.layers { try await put(child, at: moment) }
        case let image as ArcGISMapImageLayer:
            try await CairnService.require(what, of: image.url)
            image.asOf = moment
        case let features as FeatureLayer:
            guard let table = features.featureTable as? ServiceFeatureTable else {
                throw CairnError.unsupported(what, by: nil)
            }
            try await CairnService.require(what, of: table.url)
            table.asOf = moment
        default: throw CairnError.unsupported(what, by: nil)
        }
    }
}
