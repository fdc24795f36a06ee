// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import Dataset

/// Options for what counts before the statements of a source.
struct ImportChoiceOptions: ParsableArguments {
    @Option(
        help: """
            The spatial reference of the coordinates, whatever the source states: a number, \
            EPSG:n, ESRI:n or WKT.
            """,
        transform: Reading.spatialReference)
    var sr: SpatialReference?
    @Option(help: "The column of a table that holds x: easting or longitude.") var x: String?
    @Option(help: "The column of a table that holds y: northing or latitude.") var y: String?
    @Option(
        help: """
            The column of a table that holds geometries: WKT, GeoJSON or hexadecimal WKB.
            """)
    var geometry: String?
    @Option(help: "The encoding of the text of tables, JSON and shapefiles, as windows-1252.")
    var encoding: String?
    @Option(
        help: """
            NAME:TYPE, the type of a column: text, smallinteger, integer, biginteger, single, \
            double or date. May be given several times.
            """)
    var field: [String] = []
    @Option(help: "A layer of the source to take; all without it. May be given several times.")
    var layer: [String] = []

    func validate() throws {
        guard (x == nil) == (y == nil) else { throw ValidationError("Give both --x and --y.") }
        guard x == nil || geometry == nil else {
            throw ValidationError("Give --x and --y, or --geometry.")
        }
    }

    /// The choices; throws `invalidParameter` for a malformed type of a column.
    func options() throws(Failure) -> ImportOptions {
        var options = ImportOptions()
        options.fields = try field.map { text throws(Failure) in try FieldStatement(text) }
        options.spatialReference = sr
        options.encoding = encoding
        options.layers = layer
        if let x, let y { options.geometry = .coordinates(x: x, y: y) }
        if let geometry { options.geometry = .shape(geometry) }
        return options
    }
}
