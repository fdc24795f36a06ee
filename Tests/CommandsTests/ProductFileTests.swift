// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Glibc
import Platform
import Site
import TestKit
import Testing

@testable import Commands

@Suite(.timeLimit(.minutes(1))) struct ProductFileTests {
    private let files: TestSite
    private let blobs: BlobStore
    private let product: BlobReference
    private let bytes = Data("a,b\n".utf8)

    init() throws {
        files = try TestSite()
        blobs = try Site(openingOrCreating: files.path).blobs
        product = try blobs.put(bytes, mediaType: "text/csv")
    }

    private func type(_ path: String) throws -> FileAttributeType? {
        try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    }

    @Test func `a file is replaced, at the end of a symbolic link too`() throws {
        let (file, link) = (files.path + "/out", files.path + "/link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "out")
        for old in [nil, "older and longer"] {
            try old?.write(toFile: file, atomically: false, encoding: .utf8)
            try ProductFile(path: link).write(product, of: blobs)
            #expect(try Data(contentsOf: URL(filePath: file)) == bytes)
            #expect(try type(link) == .typeSymbolicLink && type(file) == .typeRegular)
            try FileManager.default.removeItem(atPath: file)
        }
        try ProductFile(path: file).write(product, of: blobs)
        #expect(try Data(contentsOf: URL(filePath: file)) == bytes)
    }

    @Test func `a pipe is written into and stays, a directory is refused`() throws {
        let path = files.path + "/pipe"
        let code = unsafe mkfifo(path, 0o600)
        try #require(code == 0)
        // Both ends wait for each other.
        let reader = try BackgroundThread("reader") {
            try FileHandle(forReadingAtPath: path)?.readToEnd()
        }
        try ProductFile(path: path).write(product, of: blobs)
        #expect(try reader.value() == bytes)
        #expect(try type(path) != .typeRegular)

        let found = #expect(throws: Failure.self) {
            try ProductFile(path: files.path).write(product, of: blobs)
        }
        #expect(found?.code == .conflict)
    }
}
