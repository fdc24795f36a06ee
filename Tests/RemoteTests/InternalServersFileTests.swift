// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

@testable import Remote

/// The servers that a site's `internal-servers.json` allows for layers.
@Suite struct InternalServersFileTests {
    private let path = NSTemporaryDirectory() + "cairn-servers-" + UUID().uuidString

    private func services(_ text: String?) throws -> RemoteServices {
        let site = try Site(openingOrCreating: path)
        if let text { try Data(text.utf8).write(to: URL(filePath: site.internalServersFile)) }
        return try RemoteServices(of: site)
    }

    private func list(_ entries: String) -> String {
        #"{"formatVersion":1,"servers":[\#(entries)]}"#
    }

    @Test func `a layer in an internal network is loaded unless a list leaves its host out`() throws
    {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try PlayedServer()
        let layer = LayerSource.wms(WMSSource(url: server.url + "/wms", layers: ["roads"]))
        let moved = LayerSource.wms(
            WMSSource(
                url:
                    "http://localhost:\(server.port)/to?url=\(server.url)/wms%3FREQUEST=GetCapabilities",
                layers: ["roads"]))
        let isLoaded = { (source: LayerSource, text: String?) in
            (try? services(text).load(source)) != nil
        }
        #expect(isLoaded(layer, nil) && !isLoaded(moved, nil))
        let both = list(#""localhost","127.0.0.0/8""#)
        #expect(isLoaded(layer, both) && isLoaded(moved, both))
        #expect(!isLoaded(layer, list(#""10.0.0.0/8""#)) && !isLoaded(moved, list("")))
    }

    @Test func `a list that is none is refused and named`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        for (text, code) in [
            ("[]", Failure.Code.corrupt), ("{", .corrupt),
            (#"{"formatVersion":2,"servers":[]}"#, .newerVersion),
            (list(#""http://a""#), .invalidParameter),
        ] {
            let failure = #expect(throws: Failure.self) { try services(text) }
            #expect(failure?.code == code)
            #expect(failure?.message.contains("internal-servers.json") == true)
        }
    }
}
