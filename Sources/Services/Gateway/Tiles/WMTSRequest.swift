// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// A request to the Web Map Tile Service of a map (OGC WMTS 1.0.0, 07-057r7).
///
/// Errors name their parameter as the standard writes it.
enum WMTSRequest: Hashable {
    case capabilities
    case tile(TileAddress)

    /// Names of the scheme: that of the standard, and that of caches of ArcGIS Server, which is the
    /// same here.
    static let matrixSets = ["GoogleMapsCompatible", "default028mm"]
    static let style = "default"
    static let version = "1.0.0"

    /// From parameters by name; a request without any is one for the capabilities.
    ///
    /// - Parameter layer: Identifier of the map's one layer.
    init(_ parameters: Parameters, layer: String) throws(OWSException) {
        let (service, request) = (parameters[Known.wmtsService], parameters[Known.wmtsRequest])
        if service == nil, request == nil, parameters[Known.wmtsLayer] == nil {
            self = .capabilities
            return
        }
        guard let service else { throw Self.missing("Service") }
        guard service.isEqualIgnoringCase("WMTS") else {
            throw Self.invalid("Service", service, "WMTS")
        }
        guard let request else { throw Self.missing("Request") }
        switch request.lowercased() {
        case "getcapabilities":
            if let versions = parameters[Known.wmtsAcceptVersions],
                !versions.split(separator: ",").contains(where: { $0 == Self.version })
            {
                throw OWSException(
                    .versionNegotiationFailed, "AcceptVersions",
                    "version '\(versions.prefix(80))': expected \(Self.version)")
            }
            self = .capabilities
        case "gettile": self = try Self.tile(parameters, layer)
        case "getfeatureinfo":
            throw OWSException(
                .operationNotSupported, "GetFeatureInfo",
                "GetFeatureInfo is not supported: MapServer/identify answers what is at a place")
        default: throw Self.invalid("Request", request, "GetCapabilities or GetTile")
        }
    }

    private static func tile(
        _ parameters: Parameters, _ layer: String
    ) throws(OWSException) -> WMTSRequest {
        if let version = parameters[Known.wmtsVersion], version != Self.version {
            throw invalid("Version", version, Self.version)
        }
        func value(
            _ parameter: Parameter<String?>, _ name: String
        ) throws(OWSException) -> String {
            guard let value = parameters[parameter] else { throw missing(name) }
            return value
        }
        let format = parameters[Known.wmtsFormat] ?? "image/png"
        guard format.isEqualIgnoringCase("image/png") else {
            throw invalid("Format", format, "image/png")
        }
        return try WMTSRequest(
            layer: try value(Known.wmtsLayer, "Layer"), of: layer,
            style: parameters[Known.wmtsStyle] ?? style,
            matrixSet: try value(Known.wmtsMatrixSet, "TileMatrixSet"),
            matrix: try value(Known.wmtsMatrix, "TileMatrix"),
            row: try value(Known.wmtsRow, "TileRow"), column: try value(Known.wmtsColumn, "TileCol")
        )
    }

    /// From the path below `WMTS/tile/1.0.0`: layer, style, matrix set, matrix, row, `column.png`.
    init(path: String, layer: String) throws(OWSException) {
        let parts = path.split(separator: "/").map(String.init)
        guard parts.count == 6, let file = parts.last, file.hasSuffix(".png") else {
            throw OWSException(
                .invalidParameterValue, nil,
                "tile '\(path.prefix(200))': expected "
                    + "{Layer}/{Style}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.png")
        }
        try self.init(
            layer: parts[0], of: layer, style: parts[1], matrixSet: parts[2], matrix: parts[3],
            row: parts[4], column: String(file.dropLast(4)))
    }

    private init(
        layer: String, of own: String, style: String, matrixSet: String, matrix: String,
        row: String, column: String
    ) throws(OWSException) {
        guard layer == own else { throw Self.invalid("Layer", layer, own) }
        guard style == Self.style else { throw Self.invalid("Style", style, Self.style) }
        guard Self.matrixSets.contains(matrixSet) else {
            throw Self.invalid("TileMatrixSet", matrixSet, Self.matrixSets[0])
        }
        let levels = TileAddress.levels
        guard let level = Self.number(matrix), levels ~= level else {
            throw Self.invalid("TileMatrix", matrix, "0 to \(levels.upperBound)")
        }
        let last = TileAddress.count(at: level) - 1
        func place(_ name: String, _ text: String) throws(OWSException) -> Int {
            guard let number = Int(text) else {
                throw Self.invalid(name, text, "0 to \(last)")
            }
            guard 0...last ~= number else {
                throw OWSException(
                    .tileOutOfRange, name,
                    "\(name) \(number): expected 0 to \(last) in TileMatrix \(level)")
            }
            return number
        }
        let address = TileAddress(
            level: level, row: try place("TileRow", row), column: try place("TileCol", column))
        guard let address else { throw Self.invalid("TileMatrix", matrix, "a tile of the scheme") }
        self = .tile(address)
    }

    /// A level as the capabilities write it.
    private static func number(_ text: String) -> Int? {
        Int(text).flatMap { "\($0)" == text ? $0 : nil }
    }

    private static func missing(_ name: String) -> OWSException {
        OWSException(.missingParameterValue, name, "parameter \(name) is required")
    }

    private static func invalid(
        _ name: String, _ text: String, _ expected: String
    ) -> OWSException {
        OWSException(
            .invalidParameterValue, name, "\(name) '\(text.prefix(80))': expected \(expected)")
    }
}
