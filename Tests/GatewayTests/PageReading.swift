// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Expat
import Testing

@testable import Gateway

extension GatewayResponse {
    /// The page of the answer; throws for one that is none.
    func page() throws -> XMLElement {
        try #require(contentType == "text/html;charset=UTF-8")
        return try XMLReader.read(
            Array(String(decoding: body, as: UTF8.self).drop { $0 != "\n" }.utf8))
    }
}

extension XMLElement {
    /// This element and all below it.
    var whole: [XMLElement] { [self] + children.flatMap(\.whole) }

    /// The elements of that name, at any depth.
    func every(_ name: String) -> [XMLElement] { whole.filter { $0.name == name } }

    /// The element with that id.
    func with(id: String) -> XMLElement? { whole.first { $0.attributes["id"] == id } }

    /// All text of the element and those below it.
    var words: String { whole.map(\.text).joined(separator: " ") }

    /// Targets of the links.
    var links: [String] { every("a").compactMap { $0.attributes["href"] } }
}

extension GatewayService {
    /// The answer to a browser's GET.
    func browse(_ url: String, _ client: RequestClient = RequestClient(isPrivate: true)) async
        -> GatewayResponse
    {
        let parts = url.split(separator: "?", maxSplits: 1)
        return await answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
                wantsPage: true, origin: "http://h:1", client: client))
    }
}
