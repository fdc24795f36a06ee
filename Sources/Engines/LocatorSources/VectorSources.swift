// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import GDAL
internal import Geometry
public import Locator
internal import PROJ
internal import Platform

/// Reads vector files of the formats in `VectorFormats` for a locator's build.
public enum VectorSources {
    /// Creates a reader for
    /// ``LocatorBuilder/build(sources:columns:constants:ranking:vectors:into:progress:)``, which
    /// expands gzip files into `directory`.
    ///
    /// Each file is read on a confined thread of its own (`SourceFile`), which calls the progress
    /// handler. Extracts of OpenStreetMap are detected by their first bytes. Throws `unreadable`
    /// for a file that GDAL cannot read to its end, that has neither a layer with fields known from
    /// a file of columns nor one with a field `name`, or in an unknown spatial reference;
    /// `noSpace`.
    public static func reader(expandingIn directory: String) -> LocatorBuilder.VectorReader {
        { (path, draft, progress) throws(Failure) in
            let staging = try StagingDirectory(in: directory)
            do {
                try SourceFile.read(path, in: staging) { file in
                    if OpenStreetMap.isExtract(file.path) {
                        return try OpenStreetMap.read(
                            file, into: &draft, expandingIn: staging, progress)
                    }
                    try read(file.open(), path, into: &draft, progress)
                }
            } catch {
                throw Failure(importing: error).naming(path)
            }
        }
    }

    private static func read(
        _ source: VectorSource, _ path: String, into draft: inout LocatorDraft,
        _ progress: (Int) throws(Failure) -> Void
    ) throws {
        let layers = source.layers.enumerated().filter(\.element.hasGeometry)
        func layouts(
            _ layout: ([String]) -> LayerLayout?
        ) -> [(index: Int, layer: SourceLayer, layout: LayerLayout)] {
            layers.compactMap { index, layer in
                layout(layer.fields.map(\.name)).map { (index, layer, $0) }
            }
        }
        var known = layouts(draft.layout(fields:))
        if known.isEmpty { known = layouts(LayerLayout.plain(fields:)) }
        for (index, layer, layout) in known {
            let name = source.layers.count == 1 ? path : "\(path), \(layer.name)"
            var reader = FeatureReader(
                toDegrees: try transform(layer, path), layout: layout, name: name)
            draft.begin(layout, source: name, fields: layer.fields.map(\.name))
            try source.forEachFeature(inLayer: index) { feature in
                reader.read(feature, into: &draft)
                if reader.count.isMultiple(of: 1_000) { try progress(reader.count) }
            }
        }
        guard !known.isEmpty else {
            let fields = source.layers.first?.fields.map(\.name).joined(separator: ", ") ?? ""
            throw Failure(
                .unreadable,
                "'\(path)': expected a layer with fields that a file of columns names, or a field "
                    + "'name'; its fields "
                    + "are: \(fields.prefix(400))")
        }
    }

    /// Nil for a layer in longitude and latitude, WGS 84, or without a spatial reference.
    static func transform(
        _ layer: SourceLayer, _ path: String
    ) throws(Failure) -> CoordinateTransform? {
        guard let stated = layer.spatialReference else { return nil }
        let reference =
            stated.wkid.map { SpatialReference(wkid: $0) } ?? SpatialReference(wkt: stated.wkt)
        let transform = try CoordinateTransform(from: reference, to: .wgs84)
        return transform.isIdentity ? nil : transform
    }
}

/// Reads the features of one layer.
struct FeatureReader {
    let toDegrees: CoordinateTransform?
    let layout: LayerLayout
    /// The file and layer.
    let name: String
    private(set) var count = 0
    private var shapes = SourceShapes()

    init(toDegrees: CoordinateTransform?, layout: LayerLayout, name: String) {
        self.toDegrees = toDegrees
        self.layout = layout
        self.name = name
    }

    mutating func read(_ feature: borrowing SourceFeature, into draft: inout LocatorDraft) {
        count += 1
        do throws(Failure) {
            var found: [Shape] = []
            for shape in try shapes.shapes(of: feature) {
                found.append(try toDegrees?.forward(shape) ?? shape)
            }
            var texts: [Int: String] = [:]
            for field in layout.fields { texts[field] = feature.value(at: field).text }
            draft.take(found, layout, source: name, number: count) { texts[$0] ?? "" }
        } catch {
            draft.reject(error.message, source: name, number: count)
        }
    }
}

extension SourceValue {
    /// As text, trimmed; empty for null and for bytes that are not UTF-8.
    var text: String {
        switch self {
        case .null, .moment: ""
        case .integer(let value): "\(value)"
        case .real(let value):
            Int64(exactly: value).map { "\($0)" } ?? (value.isFinite ? "\(value)" : "")
        case .text(let bytes): Self.trimmed(String(validating: bytes, as: UTF8.self) ?? "")
        }
    }

    private static func trimmed(_ text: String) -> String {
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }
}
