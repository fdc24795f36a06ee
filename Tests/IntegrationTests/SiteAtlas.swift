// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnIdentify
import Foundation

/// Identify on a site's folder without its processes, as the SDK and the REST are asked.
struct SiteAtlas {
    /// A question at a place on WGS 84.
    struct Question {
        var x, y, tolerance: Double
        /// `xmin`, `ymin`, `xmax`, `ymax`.
        var area: [Double]
        var width, height: Double
        /// Layers that are visible.
        var layers: [Int]
        /// Clauses by layer.
        var definitions: [Int: String]
    }

    private let atlas: Atlas
    private let map: MapName

    init(site: String, map: String) throws {
        atlas = try Atlas(site: site)
        self.map = try MapName(parsing: map)
    }

    /// The features of each layer, in order.
    func features(_ question: Question) throws -> [Int: [FoundFeature]] {
        var request = IdentifyRequest(
            map: map, geometry: .point(Coordinate(x: question.x, y: question.y)),
            layers: LayerSelection(.visible, ids: question.layers), tolerance: question.tolerance,
            mapExtent: Envelope(
                minX: question.area[0], minY: question.area[1], maxX: question.area[2],
                maxY: question.area[3]),
            imageDisplay: ImageDisplay(width: question.width, height: question.height))
        request.spatialReference = .wgs84
        request.returnFieldName = true
        request.returnUnformattedValues = true
        request.layerDefinitions = question.definitions
        var found: [Int: [FoundFeature]] = [:]
        for result in try atlas.identify(request).results {
            var attributes: [String: String] = [:]
            for entry in result.attributes.entries { attributes[entry.name] = text(entry.value) }
            found[result.layerID, default: []].append(
                FoundFeature(id: result.objectID, attributes: attributes))
        }
        return found
    }

    private func text(_ value: AttributeValue) -> String? {
        switch value {
        case .null: nil
        case .integer(let number), .date(let number): String(number)
        case .real(let number): PlainValue.text(number)
        case .string(let text): "'\(text)'"
        }
    }
}
