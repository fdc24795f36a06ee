// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import Geometry
internal import JobKinds
internal import PROJ
internal import Platform
internal import Site

/// The features of a layer, `layer:MAP/LAYER`, or of a file that imports read, as the GeoJSON that
/// jobs read.
enum InputFeatures {
    private static let endings = [
        ".fgb", ".gdb", ".gml", ".gpkg", ".gpx", ".kml", ".kmz", ".shp", ".tab", ".zip",
    ]

    /// Whether an input is to be read here; tables and GeoJSON are stored as they are.
    static func isMeant(by input: String) -> Bool {
        MapLayerSource.isMeant(by: input) || endings.contains(where: input.lowercased().hasSuffix)
    }

    /// Stores the features; the same features are the same blob.
    ///
    /// Throws `Failure`: `invalidParameter` for a file with several layers, and for areas, and what
    /// an import throws.
    static func put(_ input: String, _ session: Session) async throws -> BlobReference {
        let layer =
            MapLayerSource.isMeant(by: input) ? try await MapLayerSource(input, session) : nil
        let site = session.site
        return try await OwnThread.run("input") { () throws(Failure) in
            let staging = try StagingDirectory(in: site.datasetsDirectory)
            let path: String
            if let layer {
                path = try layer.makeFile(in: staging)
            } else {
                path = try imported(input, staging)
            }
            let bytes = try geoJSON(of: try Dataset(path: path), named: input)
            return try site.blobs.put(Data(bytes), mediaType: MediaType.geoJSON.rawValue)
        }.get()
    }

    private static func imported(
        _ input: String, _ staging: borrowing StagingDirectory
    ) throws(Failure) -> String {
        let entry: String
        do { entry = try staging.makeEntry() } catch { throw Failure(importing: error) }
        let layers = try DatasetBuilder.importFile(
            path: input, into: entry, options: ImportOptions()
        ) { _ in }
        guard layers.count == 1, let layer = layers.first else {
            let names = layers.map { "'\($0.name)'" }.joined(separator: ", ")
            throw Failure(
                .invalidParameter,
                "'\(input)' has \(layers.count) layers, \(names): expected one; import it, and "
                    + "state layer:MAP/LAYER")
        }
        return "\(entry)/\(layer.dataset)/layer.fgb"
    }

    /// The features in the order of their ids, in longitude and latitude.
    private static func geoJSON(
        of dataset: Dataset, named name: String
    ) throws(Failure) -> [UInt8] {
        let transform = try CoordinateTransform(
            from: dataset.properties.spatialReference, to: .wgs84)
        var references: [Dataset.FeatureReference] = []
        dataset.forEach { references.append($0) }
        references.sort { $0.objectID < $1.objectID }
        var features = PlaceFeaturesWriter()
        for reference in references {
            let shape = try dataset.shape(of: reference).map { shape throws(Failure) in
                try transform.forward(shape)
            }
            let attributes = try dataset.attributes(of: reference).entries.dropFirst()
            do throws(Failure) {
                try features.write(id: Int(reference.objectID), shape) { json in
                    for entry in attributes { write(entry.value, named: entry.name, to: &json) }
                }
            } catch {
                throw Failure(
                    error.code, "'\(name)': feature \(reference.objectID): \(error.message)")
            }
        }
        return features.finish()
    }

    private static func write(
        _ value: AttributeValue, named name: String, to json: inout JSONWriter
    ) {
        json.key(name)
        switch value {
        case .null: json.null()
        case .integer(let number): json.integer(number)
        case .real(let number): json.number(number)
        case .string(let text): json.string(text)
        case .date: json.string(value.text ?? "")
        }
    }
}
