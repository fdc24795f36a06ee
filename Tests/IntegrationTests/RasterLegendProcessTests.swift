// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Cairo
import Foundation
import Geometry
import Site
import TestKit
import Testing

/// The legend of a raster, read by a worker, over HTTP and over the bus, against the picture of it.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct RasterLegendProcessTests {
    private struct Body: Decodable {
        struct Layer: Decodable {
            struct Entry: Decodable {
                var label: String, imageData: Data, contentType: String, width: Int, height: Int
            }
            var layerId: LayerID, layerType: String, legend: [Entry]
        }
        var layers: [Layer]
    }

    private func legend(_ site: IdentifySite, _ map: MapName) async throws -> Body {
        let connection = try #require(Loopback(port: site.port))
        let answer: (head: String, body: String)? = await withCheckedContinuation { continuation in
            // A blocking read has no place on the threads that tasks share.
            Thread.detachNewThread {
                connection.get(
                    "/arcgis/rest/services/\(map)/MapServer/legend?f=json&timeout=60")
                continuation.resume(returning: connection.wholeAnswer())
            }
        }
        return try JSONDecoder().decode(Body.self, from: Data(try #require(answer).body.utf8))
    }

    /// A colour in a picture of `width` columns.
    private func pixel(_ png: Data, _ column: Int, _ row: Int, of width: Int) throws -> [UInt8] {
        let start = (row * width + column) * 4
        return Array(try Canvas(png: Array(png)).rgba()[start..<start + 4])
    }

    @Test func `a legend's rows are the named classes in the colours they are drawn in`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2)
        let fixture = try RasterFixture()
        // Four quarters, of 0 and 1 above 2 and 3.
        let quarters: [[Double]] = (0..<10).map { row in
            (0..<10).map { column in
                let value: Int = column / 5 + 2 * (row / 5)
                return Double(value)
            }
        }
        let path = try fixture.geoTIFF(
            "cover", rows: quarters, origin: (x: 0, y: 0), cell: 10, wkid: 3857, type: "Byte")
        try fixture.write(
            """
            <PAMDataset><PAMRasterBand band="1"><GDALRasterAttributeTable tableType="thematic">
            <FieldDefn index="0"><Name>Value</Name><Type>0</Type><Usage>5</Usage></FieldDefn>
            <FieldDefn index="1"><Name>Label</Name><Type>2</Type><Usage>2</Usage></FieldDefn>
            <Row index="0"><F>0</F><F>Wasser</F></Row><Row index="1"><F>1</F><F>Wald</F></Row>
            <Row index="2"><F>3</F><F>Fels</F></Row>
            </GDALRasterAttributeTable></PAMRasterBand></PAMDataset>
            """, as: "cover.tif.aux.xml")
        let map = try MapName(parsing: "Cover")
        let outcome = try await Programs.run(
            ["import", path, "--map", map.rawValue], site: site.files.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let layer = try #require(try await site.client.map(named: map)?.layers.first?.id)
        let request = ExportRequest(
            map: map, extent: Envelope(minX: 0, minY: 0, maxX: 100, maxY: 100), width: 100,
            height: 100)

        let told = try #require(try await legend(site, map).layers.first)
        let asked = try await site.client.ask(
            .legend, LegendRequest(map: map), timeout: .seconds(60))
        let picture = try await site.client.ask(.export, request, timeout: .seconds(60))

        #expect(told.layerId == layer && told.layerType == "Raster Layer")
        #expect(told.legend.map(\.label) == ["Wasser", "Wald", "2", "Fels"])
        let side = LegendEntry.symbolSide
        var colors: Set<[UInt8]> = []
        for (entry, (column, row)) in zip(told.legend, [(20, 20), (80, 20), (20, 80), (80, 80)]) {
            #expect(
                entry.contentType == "image/png" && [entry.width, entry.height] == [side, side])
            let color = try pixel(entry.imageData, side / 2, side / 2, of: side)
            #expect(try pixel(Data(picture.bytes), column, row, of: 100) == color)
            colors.insert(color)
        }
        #expect(colors.count == 4)
        #expect(asked.missing.isEmpty && asked.entries.keys.sorted() == [layer])
        #expect(asked.entries[layer]?.map(\.picture) == told.legend.map(\.imageData))
    }

    @Test func `a raster whose file has gone is named, and the picture's server lives on`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2)
        let fixture = try RasterFixture()
        let path = try fixture.geoTIFF(
            "gone", rows: [[1, 2], [3, 4]], origin: (x: 0, y: 0), cell: 10, wkid: 3857)
        let map = try MapName(parsing: "Gone")
        let outcome = try await Programs.run(
            ["import", path, "--map", map.rawValue], site: site.files.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let layer = try #require(try await site.client.map(named: map)?.layers.first?.id)
        try FileManager.default.removeItem(atPath: site.site.rastersDirectory)

        let asked = try await site.client.ask(
            .legend, LegendRequest(map: map), timeout: .seconds(60))

        #expect(asked.entries[layer] == nil && asked.missing.map(\.layerID) == [layer])
        #expect(try await legend(site, map).layers.first?.legend.isEmpty == true)
        #expect(try await site.client.ask(.identify, site.request(x: 1, y: 1)).results.count == 1)
    }
}
