// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

@testable import Gateway

@Suite struct PlainRequestTests {
    private static let url = "/arcgis/rest/services/City/MapServer/identify?geometry=1,2&f=json"

    private func read(_ text: String) -> FastIdentifyRequest? {
        FastIdentifyRequest(Array(text.utf8))
    }

    private func get(_ url: String = Self.url, _ headers: String = "Host: localhost\r\n") -> String
    {
        "GET \(url) HTTP/1.1\r\n\(headers)\r\n"
    }

    @Test(arguments: [
        "", "Host: localhost\r\n", "Connection: keep-alive\r\n", "connection:\tKeep-Alive \r\n",
        "Accept: */*\r\nUser-Agent: curl/8\r\nAccept-Encoding: gzip\r\n", "X-Odd: \u{e9}\r\n",
    ])
    func `an ordinary identify is read`(_ headers: String) throws {
        let request = try #require(read(get(Self.url, headers)))
        #expect(request.map == "City")
        #expect(String(decoding: request.query, as: UTF8.self) == "geometry=1,2&f=json")
    }

    @Test(arguments: [
        "Connection: close\r\n", "CONNECTION: close\r\n", "Content-Length: 3\r\n",
        "Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n", "Upgrade: h2c\r\n",
        "TE: trailers\r\n", "Accept: text/html,*/*\r\n", "Accept: application/json, TEXT/HTML\r\n",
        "no colon\r\n", ": no name\r\n", "Bad Name: x\r\n", "Host: localhost\n", " Folded: x\r\n",
        "Host: \u{1}\r\n",
    ])
    func `headers that may change the answer are left to the library`(_ headers: String) {
        #expect(read(get(Self.url, headers)) == nil)
    }

    @Test(arguments: [
        "/arcgis/rest/services/City/MapServer/identify",
        "/arcgis/rest/services/City/MapServer?f=json",
        "/arcgis/rest/services//MapServer/identify?f=json", "/healthz",
        "/arcgis/rest/services/a//MapServer/identify?f=json",
        "/arcgis/rest/services/a/b/c/MapServer/identify?f=json",
        "/ArcGIS/rest/services/City/MapServer/identify?f=json",
        "/arcgis/rest/services/Ci%74y/MapServer/identify?f=json",
        "/arcgis/rest/services/City/MapServer/identify/?f=json",
    ])
    func `other resources are left to the library`(_ url: String) {
        #expect(read(get(url)) == nil)
    }

    @Test func `only one whole GET of HTTP 1_1 is read`() {
        let whole = get()
        #expect(read(whole) != nil)
        for count in 0..<whole.utf8.count {
            #expect(FastIdentifyRequest(Array(whole.utf8.prefix(count))) == nil)
            #expect(!FastIdentifyRequest.isWholeRequest(Array(whole.utf8.prefix(count))))
        }
        for text in [
            whole + "G", whole + whole, whole.replacingOccurrences(of: "1.1", with: "1.0"),
            whole.replacingOccurrences(of: "GET", with: "POST"),
            get(Self.url, String(repeating: "A: b\r\n", count: 200)),
            get(Self.url + String(repeating: "1", count: FastIdentifyRequest.byteLimit)),
        ] {
            #expect(read(text) == nil)
        }
        #expect(FastIdentifyRequest.isWholeRequest(Array(whole.utf8)))
        #expect(!FastIdentifyRequest.isWholeRequest(Array((whole + "G").utf8)))
    }

    @Test func `a request of any bytes is read or refused, never a trap`() {
        var random = SeededGenerator(seed: 0x9E7)
        let whole = Array(get().utf8)
        for _ in 0..<5_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1..<5, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            _ = FastIdentifyRequest(
                Array(bytes.prefix(.random(in: 0...bytes.count, using: &random))))
            _ = FastIdentifyRequest.isWholeRequest(bytes)
        }
    }

    @Test func `dates are Foundation's`() {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        var random = SeededGenerator(seed: 12)
        let fixed: [Int64] = [0, 951_782_399, 951_782_400, 1_709_164_800, 4_107_542_399]
        let some = (0..<500).map { _ in Int64.random(in: 0..<4_200_000_000, using: &random) }
        for seconds in fixed + some {
            #expect(
                FastIdentifyResponse.date(seconds)
                    == format.string(from: Date(timeIntervalSince1970: Double(seconds))))
        }
    }
}
