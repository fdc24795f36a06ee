// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Questions to a map service about what a view shows.
///
/// `layers` are the service's words for them, as `show:1,2`; `definitions` are WHERE clauses of
/// layers, by their numbers.
extension Question {
    /// What is at a place of the view.
    static func identify(
        _ service: URL, _ question: IdentifyQuestion, layers: String,
        definitions: [(layer: Int, clause: String)]
    ) -> Question {
        let frame = question.frame
        return Question(
            service.below("identify"),
            [
                "geometry": question.point.json.jsonText, "geometryType": "esriGeometryPoint",
                "sr": frame.spatialReference.parameter, "layers": layers,
                "tolerance": question.tolerance.plainText,
                "mapExtent": frame.unrotatedExtent.sides,
                "imageDisplay": "\(Int(frame.width)),\(Int(frame.height)),\(Int(frame.dpi))",
                "returnGeometry": "true", "returnFieldName": "true",
                "returnUnformattedValues": "true", "layerDefs": text(definitions),
            ])
    }

    /// A PNG of the view's ``ViewFrame/pictureExtent``, transparent where nothing is drawn.
    static func export(
        _ service: URL, _ frame: ViewFrame, layers: String,
        definitions: [(layer: Int, clause: String)]
    ) -> Question {
        Question(
            service.below("export"),
            [
                "bbox": frame.pictureExtent.sides, "bboxSR": frame.spatialReference.parameter,
                "imageSR": frame.spatialReference.parameter,
                "size": "\(frame.pictureWidth),\(frame.pictureHeight)",
                "dpi": String(Int(frame.dpi)), "format": "png32", "transparent": "true",
                "f": "image", "layers": layers, "layerDefs": text(definitions),
            ])
    }

    private static func text(_ definitions: [(layer: Int, clause: String)]) -> String? {
        guard !definitions.isEmpty else { return nil }
        return JSON.object(
            definitions.map { (name: String($0.layer), value: .string($0.clause)) }
        ).jsonText
    }
}
