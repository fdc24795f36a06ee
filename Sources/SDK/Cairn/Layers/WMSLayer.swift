// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Layers of a WMS (1.3.0), drawn by the server; identified by `GetFeatureInfo`.
public final class WMSLayer: Layer, @unchecked Sendable {
    /// The URL, without the parameters of a request.
    public let url: URL
    /// Its layers, the bottom one first.
    public let layerNames: [String]

    /// A layer; nothing is asked before it is loaded.
    public init(url: URL, layerNames: [String]) {
        self.url = url
        self.layerNames = layerNames
    }

    private func question(_ request: String, _ more: KeyValuePairs<String, String>) -> Question {
        var question = Question(url)
        question.parameters =
            [("SERVICE", "WMS"), ("VERSION", "1.3.0"), ("REQUEST", request)]
            + more.map { ($0.key, $0.value) }
        return question
    }

    override func performLoad() async throws {
        guard !layerNames.isEmpty else {
            throw CairnError(.invalidArgument, "layerNames: expected at least one name")
        }
        let answer = try await Requester.bytes(question("GetCapabilities", [:])).data
        let text = String(decoding: answer, as: UTF8.self)
        guard text.contains("WMS_Capabilities") || text.contains("WMT_MS_Capabilities") else {
            throw CairnError(
                .invalidDocument,
                "\(url.withoutQuery.absoluteString) answers no capabilities of a WMS")
        }
        let missing = layerNames.filter {
            !text.contains("<Name>\(XMLText.escaped($0))</Name>")
        }
        guard missing.isEmpty else {
            throw CairnError(
                .invalidArgument,
                "\(url.withoutQuery.absoluteString) has no layer '\(missing[0])'")
        }
        facts.withLock { facts in
            facts.name = layerNames.joined(separator: ", ")
            facts.fullExtent = XMLText.geographicBox(text)
        }
    }

    /// Axis order is that of the reference's authority: degrees of EPSG:4326 have latitude first.
    private func place(_ frame: ViewFrame, _ area: Envelope) throws -> (crs: String, box: String) {
        guard let wkid = frame.spatialReference.wkid else {
            throw CairnError.unsupported("reference by text", by: url)
        }
        let isMercator = frame.spatialReference == .webMercator
        let crs = isMercator ? "EPSG:3857" : "EPSG:\(wkid)"
        let sides =
            frame.spatialReference.isGeographic
            ? [area.yMin, area.xMin, area.yMax, area.xMax]
            : [area.xMin, area.yMin, area.xMax, area.yMax]
        return (crs, sides.map(\.plainText).joined(separator: ","))
    }

    override func picture(_ frame: ViewFrame) async throws -> LayerPicture? {
        let area = frame.pictureExtent
        let (crs, box) = try place(frame, area)
        let answer = try await Requester.bytes(
            question(
                "GetMap",
                [
                    "LAYERS": layerNames.joined(separator: ","), "STYLES": "", "CRS": crs,
                    "BBOX": box, "WIDTH": String(frame.pictureWidth),
                    "HEIGHT": String(frame.pictureHeight), "FORMAT": "image/png",
                    "TRANSPARENT": "TRUE",
                ]))
        guard answer.type.contains("png") else { throw XMLText.error(answer.data, url) }
        return LayerPicture(png: answer.data, extent: area)
    }

    override func identify(_ question: IdentifyQuestion) async throws -> IdentifyLayerResult? {
        let frame = question.frame
        let (crs, box) = try place(frame, frame.unrotatedExtent)
        let (column, row) = frame.unrotatedPixel(of: question.point)
        let answer = try await Requester.bytes(
            self.question(
                "GetFeatureInfo",
                [
                    "LAYERS": layerNames.joined(separator: ","), "STYLES": "", "CRS": crs,
                    "BBOX": box, "WIDTH": String(Int(frame.width)),
                    "HEIGHT": String(Int(frame.height)), "FORMAT": "image/png",
                    "QUERY_LAYERS": layerNames.joined(separator: ","),
                    "INFO_FORMAT": "application/json", "I": String(column), "J": String(row),
                    "FEATURE_COUNT": String(question.limit.map { $0 + 1 } ?? 1_000),
                ]))
        guard let json = JSON([UInt8](answer.data)) else { throw XMLText.error(answer.data, url) }
        let features: [Feature] = (json["features"]?.elements ?? []).map { element in
            Feature(
                geometry: GeoJSON.geometry(element.member("geometry")),
                attributes: AttributeReader([]).attributes(element["properties"]),
                featureTable: nil)
        }
        let result = IdentifyLayerResult(layerContent: self, features, nil, [], question)
        return result.isEmpty ? nil : result
    }

    override var webMapLayer: JSON? {
        .object(
            webMapMembers("WMS", url) + [
                ("visibleLayers", .array(layerNames.map { .string($0) })),
                ("version", .string("1.3.0")),
            ])
    }
}
