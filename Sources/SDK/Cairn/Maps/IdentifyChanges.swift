// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// How an answer of identify differs from the one before.
public struct IdentifyChange: Sendable {
    /// The differences in one layer.
    public struct LayerChange: Sendable {
        /// Number and name of the layer.
        public let layerID: Int, layerName: String
        /// Object ids that are there now.
        public let added: [Int64]
        /// Object ids whose features changed.
        public let changed: [Int64]
        /// Object ids that are there no more.
        public let removed: [Int64]
    }

    /// The event of the log that the answer includes.
    public let sequence: Int64
    /// Whether the answer is whole, not a difference.
    public let isComplete: Bool
    /// The layers that differ.
    public let layers: [LayerChange]
}

extension MapServiceIdentify {
    /// The answer to a question, and every difference from then on.
    ///
    /// Only Cairn's services report them.
    public static func changes(
        of question: MapServiceIdentifyQuestion, at url: URL,
        credential: (any ArcGISCredential)? = nil
    ) -> SiteStream<IdentifyChange> {
        SiteStream(
            url: url.below("identify/changes"), parameters: parameters(question),
            credential: credential, what: "stream of an identify's differences"
        ) { data in
            guard let json = JSON(Array(data.utf8)), let sequence = json["sequence"]?.whole else {
                return nil
            }
            func ids(_ json: JSON?) -> [Int64] {
                (json?.elements ?? []).compactMap { $0.whole ?? $0["objectID"]?.whole }
            }
            return IdentifyChange(
                sequence: sequence, isComplete: json.member("after") == nil,
                layers: (json["layers"]?.elements ?? []).map { layer in
                    IdentifyChange.LayerChange(
                        layerID: layer["layerID"]?.int ?? -1,
                        layerName: layer.text("layerName") ?? "", added: ids(layer["added"]),
                        changed: ids(layer["changed"]), removed: ids(layer["removed"]))
                })
        }
    }

    /// Why each layer of a map has what it has in an answer, as the site's JSON text.
    ///
    /// Only Cairn's services explain.
    public static func explanation(
        of question: MapServiceIdentifyQuestion, at url: URL,
        credential: (any ArcGISCredential)? = nil
    ) async throws -> String {
        try await CairnService.require("explanation", of: url)
        var request = Question(url.below("identify"))
        request.parameters = parameters(question) + [("explain", "true")]
        request.credential = credential
        let json = try await Requester.json(request)
        guard let explanation = json.member("explanation") else {
            throw CairnError.unsupported("explanation", by: url)
        }
        return explanation.jsonText
    }
}
