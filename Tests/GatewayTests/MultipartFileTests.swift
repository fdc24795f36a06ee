// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import TestKit
import Testing

@testable import Gateway

@Suite struct MultipartFileTests {
    private static func body(_ file: [UInt8], boundary: String, extra: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        func part(_ head: String, _ content: [UInt8]) {
            bytes += Array("--\(boundary)\r\n\(head)\r\n\r\n".utf8) + content + Array("\r\n".utf8)
        }
        if extra { part("Content-Disposition: form-data; name=\"f\"", Array("json".utf8)) }
        part(
            "Content-Disposition: form-data; name=\"file\"; filename=\"a b.csv\"\r\n"
                + "Content-Type: text/csv", file)
        if extra {
            part("Content-Disposition: form-data; name=\"x\"; filename=\"y\"", Array("no".utf8))
        }
        return bytes + Array("--\(boundary)--\r\n".utf8)
    }

    /// Bytes that often look like the beginning of a delimiter.
    private static func content(_ boundary: String, _ random: inout SeededGenerator) -> [UInt8] {
        let delimiter = Array("\r\n--\(boundary)".utf8)
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...30, using: &random) {
            bytes += delimiter.prefix(Int.random(in: 0..<delimiter.count, using: &random))
            bytes.append(UInt8.random(in: 0...255, using: &random))
        }
        // A delimiter that occurs by chance would rightly end the file.
        return String(decoding: bytes, as: UTF8.self).contains("--\(boundary)") ? [] : bytes
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a file comes out as it went in, however the body is cut`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let boundary = ["x", "----abc", "-"].randomElement(using: &random) ?? "x"
        let file = Self.content(boundary, &random)
        let body = Self.body(file, boundary: boundary, extra: Bool.random(using: &random))
        var form = try MultipartFile(contentType: "multipart/form-data; boundary=\"\(boundary)\"")
        var (found, start) = ([UInt8](), 0)
        while start < body.count {
            let end = min(body.count, start + Int.random(in: 1...40, using: &random))
            found += try form.feed(body[start..<end])
            start = end
        }
        #expect(found == file, "seed \(seed)")
        #expect(form.isWhole)
        #expect(form.name == "a b.csv")
    }

    @Test func `a form that breaks off, or has no file, is not whole`() throws {
        let body = Self.body(Array("abc".utf8), boundary: "x", extra: false)
        for count in 0..<body.count - 10 {
            var form = try MultipartFile(contentType: "multipart/form-data; boundary=x")
            _ = try form.feed(body.prefix(count))
            #expect(!form.isWhole, "\(count) bytes")
        }
        var form = try MultipartFile(contentType: "multipart/form-data; boundary=x")
        let none = "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nabc\r\n--x--\r\n"
        #expect(try form.feed(none.utf8).isEmpty)
        #expect(!form.isWhole)
    }

    @Test func `heads without end and boundaries that are none are refused`() throws {
        var form = try MultipartFile(contentType: "multipart/form-data; boundary=x")
        _ = try form.feed("--x\r\n".utf8)
        #expect(throws: Failure.self) {
            for _ in 0..<3 { _ = try form.feed([UInt8](repeating: 65, count: 10_000)) }
        }
        for type in [
            "multipart/form-data", "multipart/form-data; boundary=",
            "multipart/form-data; boundary=" + String(repeating: "x", count: 71),
        ] {
            #expect(throws: Failure.self) { try MultipartFile(contentType: type) }
        }
    }
}
