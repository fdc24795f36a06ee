// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

@testable import Gateway

@Suite struct ProductFileTests {
    @Test func `a product that is damaged, cut or gone is answered by an error's status`()
        async throws
    {
        let files = try TestSite()
        let blobs = try Site(openingOrCreating: files.path).blobs
        let blob = try blobs.put(Data("a,b\n".utf8), mediaType: "text/csv")
        let file = GatewayFile(blobs: blobs, blob: blob, name: "product.csv")
        #expect(await file.fault() == nil)

        for text in ["a,c\n", "a,b"] {
            try text.write(toFile: blobs.path(blob.id), atomically: false, encoding: .utf8)
            let fault = try #require(await file.fault())
            #expect(fault.code == .corrupt && GatewayResponse(ofFile: fault).status == 500)
        }
        try FileManager.default.removeItem(atPath: blobs.path(blob.id))
        let fault = try #require(await file.fault())
        #expect(fault.code == .notFound && GatewayResponse(ofFile: fault).status == 404)
    }
}
