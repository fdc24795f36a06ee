// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import JobKinds

/// The file with a query's rows, `f=csv`, `f=gpkg` or `f=shapefile`.
struct QueryFile: Sendable {
    /// The formats by their value of `f`, with their names for people.
    static let formats: [(name: String, format: ExportFormat, title: String)] = [
        ("csv", .csv, "CSV"), ("gpkg", .geoPackage, "GeoPackage"),
        ("shapefile", .shapefile, "Shapefile"),
    ]

    /// The header that says that there are more rows.
    static let cutHeader = "X-Cairn-Exceeded-Transfer-Limit"

    let format: ExportFormat
    private let name: String

    /// Nil where `f` asks for another form; throws `invalidParameter`, naming the parameter, for
    /// what a file does not have.
    init?(_ parameters: Parameters) throws(Failure) {
        let wanted = parameters[Known.f]?.lowercased()
        guard let known = Self.formats.first(where: { $0.name == wanted }) else { return nil }
        (name, format) = (known.name, known.format)
        func refuse(_ parameter: String) -> Failure {
            Failure(
                .invalidParameter,
                "parameter '\(parameter)': f=\(known.name) has rows with their geometry as it is: "
                    + "ask for f=json")
        }
        for flag in [
            Known.returnIdsOnly, Known.returnCountOnly, Known.returnExtentOnly,
            Known.returnCentroid,
        ] where try parameters.flag(flag) {
            throw refuse(flag.name)
        }
        for name in [
            Known.maxAllowableOffset.name, Known.geometryPrecision.name,
            Known.quantizationParameters.name,
        ] where parameters[name] != nil {
            throw refuse(name)
        }
    }

    /// The download of an answer in the form ``QueryForm/rows``.
    ///
    /// Blocks the thread; the file is made inside `directory` and removed again.
    func response(
        to answer: QueryAnswer, of layer: LayerID, named layerName: String?,
        within directory: String
    ) throws(Failure) -> GatewayResponse {
        let rows: FeatureRows
        do throws(Failure) { rows = try FeatureRows(body: answer.body) } catch {
            throw Failure(.internal, "the rows of the answer cannot be read: \(error.message)")
        }
        let bytes = try ExportedFile.bytes(
            of: rows, in: format, layerName: layerName ?? "layer \(layer)", within: directory)
        var response = GatewayResponse(
            contentType: format.mediaType.contentType, body: bytes, sequence: answer.sequence,
            isStale: answer.isStale)
        response.headers["Content-Disposition"] =
            "attachment; filename=\"\(Self.fileName(layerName, layer))\(format.ending)\""
        if rows.isCut {
            response.headers[Self.cutHeader] = "true"
            response.headers["Link"] =
                "<\(JobResource.path)/\(JobKind.exportFeatures.rawValue)>; rel=\"alternate\"; "
                + "title=\"The job \(JobKind.exportFeatures.rawValue) writes all rows\""
        }
        return response
    }

    /// The layer's name in letters that every system has in file names.
    private static func fileName(_ name: String?, _ layer: LayerID) -> String {
        let plain = (name ?? "").utf8.prefix(80).map { byte -> Character in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                Character(UnicodeScalar(byte))
            default: "_"
            }
        }
        let text = String(plain)
        return text.contains { $0 != "_" } ? text : "layer-\(layer)"
    }
}
