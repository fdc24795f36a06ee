// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import Geometry
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
        var json = JSONWriter()
        json.openObject()
        json.member("type", "FeatureCollection")
        json.openArray("features")
        for reference in references {
            let shape = try dataset.shape(of: reference).map { shape throws(Failure) in
                try transform.forward(shape)
            }
            json.openObject()
            json.member("type", "Feature")
            json.member("id", Int(reference.objectID))
            json.key("properties")
            json.openObject()
            for entry in try dataset.attributes(of: reference).entries.dropFirst() {
                json.key(entry.name)
                switch entry.value {
                case .null: json.null()
                case .integer(let number): json.integer(number)
                case .real(let number): json.number(number)
                case .string(let text): json.string(text)
                case .date: json.string(entry.value.text ?? "")
                }
            }
            json.closeObject()
            json.key("geometry")
            switch shape {
            case nil: json.null()
            case .point(let place)?: geometry("Point", &json) { position(place, &$0) }
            case .multipoint(let places)?:
                geometry("MultiPoint", &json) { line(places, &$0) }
            case .polyline(let paths)?:
                geometry("MultiLineString", &json) { json in
                    json.openArray()
                    for path in paths { line(path, &json) }
                    json.closeArray()
                }
            case .polygon?, .envelope?:
                throw Failure(
                    .invalidParameter,
                    "'\(name)': feature \(reference.objectID) is an area: expected points or lines")
            }
            json.closeObject()
        }
        json.closeArray()
        json.closeObject()
        return json.bytes
    }

    private static func geometry(
        _ type: String, _ json: inout JSONWriter, _ body: (inout JSONWriter) -> Void
    ) {
        json.openObject()
        json.member("type", type)
        json.key("coordinates")
        body(&json)
        json.closeObject()
    }

    private static func position(_ place: Coordinate, _ json: inout JSONWriter) {
        json.openArray()
        json.number(place.x)
        json.number(place.y)
        json.closeArray()
    }

    private static func line(_ places: [Coordinate], _ json: inout JSONWriter) {
        json.openArray()
        for place in places { position(place, &json) }
        json.closeArray()
    }
}
