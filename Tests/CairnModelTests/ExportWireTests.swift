// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Testing

@Suite struct ExportWireTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Golden/v1/wire")

    private func golden(_ name: String) throws -> Data {
        try Data(contentsOf: Self.folder.appending(path: name))
    }

    private func request() throws -> ExportRequest {
        var request = ExportRequest(
            map: try MapName(parsing: "World"),
            extent: Envelope(minX: -5, minY: 41, maxX: 10.5, maxY: 52), extentReference: .wgs84,
            imageReference: .webMercator, width: 800, height: 600, dpi: 120, format: .jpg,
            isTransparent: true, layers: DrawnLayers(.show, ids: [1, 4]))
        request.mapScale = 50_000
        request.layerDefinitions = [1: "POP > 0"]
        request.time = TimeExtent(from: 5, to: nil)
        request.timeRelation = .within
        request.at = 12
        request.minSequence = 9
        return request
    }

    private func picture() -> ExportedPicture {
        ExportedPicture(
            head: ExportedPicture.Head(
                extent: Envelope(minX: 0, minY: 1, maxX: 2, maxY: 3), spatialReference: .wgs84,
                width: 20, height: 10, scale: 1_000.5, format: .png, sequence: 77, isStale: true),
            bytes: Data([0x89, 0x50, 0x4E, 0x47, 0]))
    }

    @Test func `an export request keeps its form`() throws {
        let bytes = try golden("export-request.json")

        #expect(try CairnJSON.encode(try request()) == bytes)
        #expect(try CairnJSON.decode(ExportRequest.self, from: bytes) == request())
    }

    @Test func `an export answer keeps its form`() throws {
        let bytes = try golden("exported-picture.bin")

        #expect(try picture().wireForm() == bytes)
        #expect(try ExportedPicture(wireForm: bytes) == picture())
    }

    @Test func `an export answer that was cut short is refused`() throws {
        let whole = try picture().wireForm()
        for count in 0..<whole.count - 5 {
            let failure = #expect(throws: Failure.self) {
                try ExportedPicture(wireForm: whole.prefix(count))
            }
            #expect(failure?.code == .corrupt)
        }
    }
}
