// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import Geometry
internal import Site

/// A kind of layer on other servers; there is one conformance for each protocol, and
/// `RemoteServices.layer` chooses it.
///
/// Pure: it makes requests and decodes answers, and sends nothing.
protocol RemoteLayer: Sendable {
    /// The service's address.
    var url: String { get }
    /// The name of the credential; nil for none.
    var credential: String? { get }
    /// The layer's description, read through `fetch`; throws `Failure` with one sentence.
    func describe(_ fetch: (RemoteCall) throws(Failure) -> WebResponse) throws(Failure)
        -> LayerProperties
    /// The request for a question; nil when there is nothing to request.
    func call(_ question: RemoteQuestion) throws(Failure) -> RemoteCall?
    /// Decodes the answer to that request.
    func answer(
        _ response: WebResponse, to question: RemoteQuestion
    ) throws(Failure) -> RemoteAnswer
    /// The rounds for the features of a question; nil when there is nothing to request. The default
    /// is one request.
    func search(_ question: RemoteQuestion) throws(Failure) -> (any RemoteRounds<RemoteAnswer>)?
    /// The rounds for the layer's part of a picture; nil when nothing is visible.
    func drawing(
        _ question: RemotePictureQuestion
    ) throws(Failure) -> (any RemoteRounds<RemotePicture>)?
    /// The inquiry for its legend; nil for none, and for layers that are drawn here.
    func legend(_ properties: LayerProperties) -> LegendInquiry?
}

extension RemoteLayer {
    func search(_ question: RemoteQuestion) throws(Failure) -> (any RemoteRounds<RemoteAnswer>)? {
        try call(question).map { OneSearch(layer: self, call: $0, question: question) }
    }
}

/// A request to a service, before a credential is added.
struct RemoteCall {
    /// The address.
    var url: String
    /// Parameters, not yet escaped.
    var parameters: [(name: String, value: String)]
    /// Whether the parameters are in the body of a POST; otherwise they are in the URL.
    var isPosted = false

    /// The request, with the credential where there is one.
    ///
    /// A token goes into the form, or a header: never into the URL, which servers and proxies log.
    func request(
        _ credential: Credential?, timeout: Duration, byteLimit: Int
    ) -> WebRequest {
        var pairs = parameters
        var headers: [String] = []
        if let user = credential?.user, let secret = credential?.secret {
            headers.append("Authorization: Basic " + Base64.encode(Array("\(user):\(secret)".utf8)))
        } else if let token = credential?.secret {
            if isPosted {
                pairs.append(("token", token))
            } else {
                headers.append("Authorization: Bearer " + token)
            }
        }
        let text = pairs.map { Escaped.text($0.name) + "=" + Escaped.text($0.value) }
            .joined(separator: "&")
        let join = url.contains("?") ? (url.hasSuffix("?") || url.hasSuffix("&") ? "" : "&") : "?"
        return WebRequest(
            url: isPosted || pairs.isEmpty ? url : url + join + text, headers: headers,
            form: isPosted ? text : nil, isConfidential: credential != nil, timeout: timeout,
            byteLimit: byteLimit)
    }
}

/// Texts as parameters of a URL or form carry them.
enum Escaped {
    static func text(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95, 126, 44, 58:
                result.unicodeScalars.append(scalar)
            default:
                result += byte < 16 ? "%0" : "%"
                result += String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }
}

/// RFC 4648, section 4.
enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits =
                group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(
                    place <= group.count ? digits[bits >> (18 - 6 * place) & 63] : "=")
            }
        }
        return text
    }
}

extension String {
    /// The first `count` characters on one line, for error sentences that quote a server.
    func excerpt(_ count: Int = 200) -> String {
        String(split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(count))
    }
}
