// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A failure as OWS Common 1.1 reports it (06-121r3, clause 8), with the HTTP status that
/// WMTS 1.0.0 gives its code.
struct OWSException: Error, Hashable {
    enum Code: String {
        case missingParameterValue = "MissingParameterValue"
        case invalidParameterValue = "InvalidParameterValue"
        case tileOutOfRange = "TileOutOfRange"
        case versionNegotiationFailed = "VersionNegotiationFailed"
        case operationNotSupported = "OperationNotSupported"
    }

    /// The word of a ``Code``, or that of a failure that the standards have none for.
    let code: String
    /// Name of the offending parameter; nil without one.
    var locator: String?
    let text: String
    let status: Int

    init(_ code: Code, _ locator: String? = nil, _ text: String) {
        self.code = code.rawValue
        self.locator = locator
        self.text = text
        status = code == .operationNotSupported ? 501 : 400
    }

    init(_ failure: Failure) {
        code =
            switch failure.code {
            case .invalidParameter: Code.invalidParameterValue.rawValue
            case .internal: "NoApplicableCode"
            default: failure.code.rawValue
            }
        text = failure.message
        status = GatewayService.ogcFailure(failure).status
    }

    var body: [UInt8] {
        var xml = Markup()
        xml.element(
            "ows:ExceptionReport",
            [
                "xmlns:ows": "http://www.opengis.net/ows/1.1", "version": "1.0.0",
                "xml:lang": "en",
            ]
        ) { xml in
            xml.element("ows:Exception", ["exceptionCode": code, "locator": locator]) {
                $0.element("ows:ExceptionText", text: text)
            }
        }
        return xml.document
    }
}

extension GatewayResponse {
    /// A failure with its HTTP status, as an exception report.
    init(_ exception: OWSException) {
        self.init(status: exception.status, contentType: Markup.xml, body: exception.body)
    }

    /// A failure of a tile service, with the header that asks for a token.
    static func wmtsFailure(_ failure: Failure) -> GatewayResponse {
        var response = GatewayService.ogcFailure(failure)
        let exception = OWSException(failure)
        (response.contentType, response.body) = (Markup.xml, exception.body)
        return response
    }
}

extension Markup {
    /// The media type of XML.
    static let xml = "text/xml;charset=UTF-8"

    /// The text as an XML document.
    var document: [UInt8] { Array(#"<?xml version="1.0" encoding="UTF-8"?>"#.utf8) + html.utf8 }
}
