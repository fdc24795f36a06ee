// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import EsriForms
internal import Geometry
internal import Platform

/// Writes the features of an answer straight from the dataset's bytes; confined to one thread.
struct FeatureWriter {
    private let request: QueryRequest
    private let layer: QueriedLayer
    private let output: OutputColumns
    private let reference: SpatialReference
    private var geometry: GeometryWriter?
    /// Writes ``QueryForm/rows``; nil for the forms of JSON.
    private var rows: RowWriter?
    private let isGeoJSON: Bool
    private let hasZ: Bool
    private let hasM: Bool

    private static let attributesKey = OutputColumns.key("attributes")
    /// The bytes before the id.
    private static let start = Array(#"{"type":"Feature","id":"#.utf8)
    private static let geometryKey = OutputColumns.key("geometry")
    private static let propertiesKey = OutputColumns.key("properties")

    /// Throws `invalidParameter` for an unknown field or reference.
    init(
        _ request: QueryRequest, _ layer: QueriedLayer, _ properties: LayerProperties
    ) throws(Failure) {
        self.request = request
        self.layer = layer
        output = try OutputColumns(request, layer)
        isGeoJSON = request.form == .geoJSON || request.form == .ogcFeatures
        reference = request.outReference ?? (isGeoJSON ? .wgs84 : layer.reference)
        hasZ = request.returnGeometry && request.returnZ && properties.hasZ
        hasM =
            request.returnGeometry && request.returnM && properties.hasM && !isGeoJSON
        if request.form == .rows {
            rows = try RowWriter(request, layer, properties)
        } else if request.returnGeometry || request.returnCentroid {
            geometry = try GeometryWriter(
                request, properties, to: reference, hasZ: hasZ, hasM: hasM)
        }
    }

    /// The bytes before the first feature.
    func head() throws(Failure) -> JSONWriter {
        var json = JSONWriter()
        if let rows {
            json.raw(try FeatureRows.line(rows.table))
            return json
        }
        guard !isGeoJSON else {
            json.openObject()
            json.member("type", "FeatureCollection")
            if request.form == .geoJSON, reference.latestWkid != 4326 {
                json.member("crs") { json in
                    json.member("type", "name")
                    json.member("properties") { json in
                        let name =
                            reference.latestWkid.map { "EPSG:\($0)" } ?? reference.wkt ?? ""
                        json.member("name", name)
                    }
                }
            }
            json.openArray("features")
            return json
        }
        json.rowsHead(layer, output.columns.map { layer.fields[$0] }) { json in
            if let type = layer.description.properties?.geometryType {
                json.member("geometryType", "esriGeometry" + type.rawValue)
            }
            json.spatialReference(reference)
            geometry?.grid?.write(to: &json)
            if hasZ { json.member("hasZ", true) }
            if hasM { json.member("hasM", true) }
        }
        return json
    }

    /// The bytes after the last feature.
    func tail(isCut: Bool, featureCount: Int) -> String {
        if request.form == .rows { return FeatureRows.end(isCut: isCut) }
        if request.form == .ogcFeatures { return "],\"numberReturned\":\(featureCount)}" }
        guard isCut else { return "]}" }
        let mark = #""exceededTransferLimit":true"#
        return isGeoJSON ? "],\(mark),\"properties\":{\(mark)}}" : "],\(mark)}"
    }

    /// Writes the reader's feature.
    mutating func append(_ reader: FeatureReader, to json: inout JSONWriter) throws(Failure) {
        guard rows == nil else { return try appendRow(reader, to: &json) }
        if isGeoJSON {
            json.key(written: Self.start)
            if case .integer(let id) = try reader.stored(0) {
                json.integer(id)
            } else {
                json.null()
            }
            json.key(written: Self.geometryKey)
            if request.returnGeometry {
                try geometry?.appendGeoJSON(reader, to: &json)
            } else {
                json.null()
            }
            json.key(written: Self.propertiesKey)
        } else {
            json.openObject()
            json.key(written: Self.attributesKey)
        }
        json.openObject()
        for (column, key) in zip(output.columns, output.keys) {
            json.key(written: key)
            try append(column, of: reader, to: &json)
        }
        json.closeObject()
        if !isGeoJSON { try geometry?.append(reader, to: &json) }
        json.closeObject()
    }

    private mutating func appendRow(
        _ reader: FeatureReader, to json: inout JSONWriter
    ) throws(Failure) {
        guard case .integer(let id) = try reader.stored(0),
            let row = try rows?.row(reader, id)
        else { throw Failure(.corrupt, "a feature has no object id") }
        json.raw(try FeatureRows.line(row))
    }

    private func append(
        _ column: Int, of reader: FeatureReader, to json: inout JSONWriter
    ) throws(Failure) {
        switch try reader.stored(column) {
        case .null: json.null()
        case .integer(let integer): json.integer(integer)
        case .real(let real): json.number(real)
        case .date(let milliseconds) where request.form == .ogcFeatures:
            json.string(CalendarClock(milliseconds: milliseconds).text)
        case .date(let milliseconds): json.integer(milliseconds)
        case .text: try reader.withText(column) { json.string(utf8: $0) }
        }
    }
}
