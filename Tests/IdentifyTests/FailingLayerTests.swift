// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import Identify
import Testing

/// A layer whose data are gone or damaged, or in a spatial reference that cannot be used, leaves
/// the others.
@Suite struct FailingLayerTests {
    enum Fault: CaseIterable {
        case unknownSystem, localSystem, gone, cutShort
    }

    private let site: Site
    private let good: LayerDescription

    init() throws {
        site = try Site()
        good = .feature(
            0,
            try site.importFeatures(
                [
                    #"{"type":"Feature","id":1,"properties":{},"geometry":{"type":"Point","coordinates":[5,5]}}"#
                ], named: "good"))
    }

    /// A layer of the point 5, 5 in Web Mercator, whose file has that fault.
    private func bad(_ id: LayerID, _ fault: Fault) throws -> LayerDescription {
        let text =
            #"{"type":"Feature","id":9,"properties":{},"geometry":{"type":"Point","coordinates":[500000,5000000]}}"#
        let imported = try site.importFeatures([text], named: "bad \(id)", wkid: 32631)
        let path = site.directory + "/datasets/\(imported.dataset)/layer.fgb"
        var bytes = try Data(contentsOf: URL(filePath: path))
        var layer = LayerDescription.feature(id, imported)
        switch fault {
        case .gone:
            try FileManager.default.removeItem(atPath: path)
            return layer
        case .cutShort:
            try FileManager.default.removeItem(atPath: path)
            try bytes.prefix(bytes.count / 2).write(to: URL(filePath: path))
            return layer
        case .unknownSystem, .localSystem: break
        }
        // As an import of before may have left it: the number in the header.
        let place = try #require(bytes.firstRange(of: Self.bytes(32631)))
        let other: Int32 = fault == .unknownSystem ? 999_999 : 5_800
        bytes.replaceSubrange(place, with: Self.bytes(other))
        layer.properties?.spatialReference = SpatialReference(wkid: Int(other))
        try FileManager.default.removeItem(atPath: path)
        try bytes.write(to: URL(filePath: path))
        return layer
    }

    /// Little-endian.
    private static func bytes(_ number: Int32) -> Data {
        Data((0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
    }

    @Test(arguments: Fault.allCases)
    func `identify answers for the other layers and names the failing one`(fault: Fault) throws {
        let map = makeMap([good, try bad(1, fault)])
        for option in [LayerSelection.Option.all, .visible, .top] {
            let answer = try site.engine().identify(
                makeRequest(.point(Coordinate(x: 5, y: 5)), tolerance: 1) {
                    $0.layers = LayerSelection(option)
                }, in: map)
            #expect(answer.layers.map(\.layerID) == [0], "\(option)")
            #expect(answer.failures?.map(\.layerID) == [1], "\(option)")
            #expect(answer.failures?.map(\.layerName) == ["bad 1"], "\(option)")
        }
    }

    @Test(arguments: Fault.allCases)
    func `a picture has the other layers and names the failing one`(fault: Fault) throws {
        let map = PreparedMap(makeMap([good, try bad(1, fault)]))
        let request = ExportRequest(
            map: world, extent: Envelope(minX: 0, minY: 0, maxX: 10, maxY: 10), width: 50,
            height: 50)
        let engine = site.engine()
        var drawn = 0
        let missing = try engine.forEachDrawnFeature(
            of: request, in: map, frame: try engine.frame(of: request, in: map),
            isCancelled: { false }, wish: { _ in DrawnWish(reach: 0) },
            layer: { _ in }, raster: { _ in }, feature: { _ in drawn += 1 })
        #expect(drawn == 1)
        #expect(missing.map(\.layerID) == [1])
    }

    @Test func `a faulty request is still an error`() throws {
        let map = makeMap([good])
        #expect(throws: Failure.self) {
            try site.engine().identify(
                makeRequest(.point(Coordinate(x: 5, y: 5))) {
                    $0.spatialReference = SpatialReference(wkid: 999_999)
                }, in: map)
        }
    }
}
