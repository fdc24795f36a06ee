// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// The `legend` of a map service.
enum MapServiceLegend {
    static func infos(
        of id: Int, at url: URL, _ credential: (any ArcGISCredential)?
    ) async throws -> [LegendInfo] {
        let json = try await ServiceDescriptions.shared.description(
            of: url.below("legend"), credential)
        guard let layers = json.member("layers")?.elements else {
            throw TransportError(
                .invalidAnswer,
                "\(url.withoutQuery.absoluteString)/legend: expected layers in the answer")
        }
        let own = layers.first { $0["layerId"]?.int == id }
        return (own?["legend"]?.elements ?? []).map { entry in
            // The sizes of a legend are pixels.
            let picture = entry.text("imageData").flatMap { Data(base64Encoded: $0) }
                .map { PictureMarkerSymbol(imageData: $0) }
            if let picture, let width = entry["width"]?.number,
                let height = entry["height"]?.number
            {
                (picture.width, picture.height) = (width * 0.75, height * 0.75)
            }
            return LegendInfo(name: entry.text("label") ?? "", symbol: picture)
        }
    }
}
