// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// The capabilities of a map's Web Map Tile Service (OGC WMTS 1.0.0, 07-057r7, clause 7.1), with
/// the paths of ArcGIS Server.
struct WMTSCapabilities {
    private let map: TiledMap
    /// URL of the service, without a query.
    private let service: String
    /// `?token=…` as the client sent it; empty for none.
    private let secret: String

    /// - Parameter secret: A query that every URL of the document has.
    init(_ map: TiledMap, origin: String?, secret: String = "") {
        self.map = map
        service = map.mapServer(origin) + "/WMTS"
        self.secret = secret
    }

    private func url(_ path: String) -> String {
        service + path + secret
    }

    /// The start of a URL with parameters.
    private var query: String { service + (secret.isEmpty ? "?" : secret + "&") }

    private var template: String {
        url(
            "/tile/\(WMTSRequest.version)/\(Parameters.encode(map.layerID))"
                + "/{Style}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.png")
    }

    private var document: String { url("/\(WMTSRequest.version)/WMTSCapabilities.xml") }

    /// The document.
    var body: [UInt8] {
        var xml = Markup()
        xml.element(
            "Capabilities",
            [
                "xmlns": "http://www.opengis.net/wmts/1.0",
                "xmlns:ows": "http://www.opengis.net/ows/1.1",
                "xmlns:xlink": "http://www.w3.org/1999/xlink",
                "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
                "xsi:schemaLocation": "http://www.opengis.net/wmts/1.0 "
                    + "http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd",
                "version": WMTSRequest.version,
            ]
        ) { xml in
            writeIdentification(to: &xml)
            xml.element("ows:OperationsMetadata") { xml in
                write("GetCapabilities", url: document, to: &xml)
                write("GetTile", url: url("/tile/\(WMTSRequest.version)/"), to: &xml)
            }
            xml.element("Contents") { xml in
                writeLayer(to: &xml)
                writeMatrixSet(to: &xml)
            }
            xml.void("ServiceMetadataURL", ["xlink:href": document])
        }
        return xml.document
    }

    private func writeIdentification(to xml: inout Markup) {
        xml.element("ows:ServiceIdentification") { xml in
            xml.element("ows:Title", text: map.title)
            if !map.summary.isEmpty { xml.element("ows:Abstract", text: map.summary) }
            xml.element("ows:ServiceType", text: "OGC WMTS")
            xml.element("ows:ServiceTypeVersion", text: WMTSRequest.version)
            if !map.attribution.isEmpty {
                xml.element("ows:AccessConstraints", text: map.attribution)
            }
        }
    }

    private func write(_ operation: String, url: String, to xml: inout Markup) {
        xml.element("ows:Operation", ["name": operation]) { xml in
            xml.element("ows:DCP") { xml in
                xml.element("ows:HTTP") { xml in
                    for (url, encoding) in [(url, "RESTful"), (query, "KVP")] {
                        xml.element("ows:Get", ["xlink:href": url]) { xml in
                            xml.element("ows:Constraint", ["name": "GetEncoding"]) { xml in
                                xml.element("ows:AllowedValues") {
                                    $0.element("ows:Value", text: encoding)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private func writeLayer(to xml: inout Markup) {
        xml.element("Layer") { xml in
            xml.element("ows:Title", text: map.title)
            if !map.summary.isEmpty { xml.element("ows:Abstract", text: map.summary) }
            xml.element("ows:WGS84BoundingBox", ["crs": "urn:ogc:def:crs:OGC:2:84"]) {
                Self.writeCorners(of: map.extent, to: &$0)
            }
            xml.element("ows:Identifier", text: map.layerID)
            xml.element("ows:BoundingBox", ["crs": Self.crs]) {
                Self.writeCorners(of: WebMercator.project(map.extent), to: &$0)
            }
            xml.element("Style", ["isDefault": "true"]) { xml in
                xml.element("ows:Title", text: "Default Style")
                xml.element("ows:Identifier", text: WMTSRequest.style)
            }
            xml.element("Format", text: "image/png")
            xml.element("TileMatrixSetLink") {
                $0.element("TileMatrixSet", text: WMTSRequest.matrixSets[0])
            }
            xml.element(
                "ResourceURL",
                ["format": "image/png", "resourceType": "tile", "template": template]
            ) { _ in }
        }
    }

    private static let crs = "urn:ogc:def:crs:EPSG::3857"

    private static func writeCorners(of extent: Envelope, to xml: inout Markup) {
        xml.element("ows:LowerCorner", text: "\(extent.minX) \(extent.minY)")
        xml.element("ows:UpperCorner", text: "\(extent.maxX) \(extent.maxY)")
    }

    private func writeMatrixSet(to xml: inout Markup) {
        xml.element("TileMatrixSet") { xml in
            xml.element("ows:Title", text: TileMatrixSet.name)
            xml.element("ows:Identifier", text: WMTSRequest.matrixSets[0])
            xml.element("ows:SupportedCRS", text: Self.crs)
            xml.element(
                "WellKnownScaleSet", text: "urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible")
            for matrix in TileMatrixSet.matrices {
                xml.element("TileMatrix") { xml in
                    xml.element("ows:Identifier", text: matrix.id)
                    xml.element("ScaleDenominator", text: "\(matrix.scaleDenominator)")
                    let corner = TileMatrixSet.corner
                    xml.element("TopLeftCorner", text: "\(corner.x) \(corner.y)")
                    for name: StaticString in ["TileWidth", "TileHeight"] {
                        xml.element(name, text: "\(PictureBlock.tileSide)")
                    }
                    for name: StaticString in ["MatrixWidth", "MatrixHeight"] {
                        xml.element(name, text: "\(matrix.count)")
                    }
                }
            }
        }
    }
}

extension WebMercator {
    /// The envelope of the projected corners.
    fileprivate static func project(_ degrees: Envelope) -> Envelope {
        let least = project(Coordinate(x: degrees.minX, y: degrees.minY))
        let most = project(Coordinate(x: degrees.maxX, y: degrees.maxY))
        return Envelope(minX: least.x, minY: least.y, maxX: most.x, maxY: most.y)
    }
}
