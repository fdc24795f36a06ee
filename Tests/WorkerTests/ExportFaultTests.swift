// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FedSite
import Foundation
import Geometry
import JobKinds
import Remote
import Site
import TestKit
import Testing

@testable import Worker

/// Exports of tiles where something goes wrong in the middle.
@Suite(.timeLimit(.minutes(3))) struct ExportFaultTests {
    private static let kinds: [JobKind] = [.exportTiles, .exportVectorTiles]
    private let exporter: TileExporter

    init() throws {
        exporter = try TileExporter()
        let points = (0..<2_000).map { number in
            let (x, y) = (Double(number % 50) * 7 - 175, Double(number / 50) * 4 - 80)
            return #"{"type":"Feature","properties":{"name":"point \#(number)"},"geometry":"#
                + #"{"type":"Point","coordinates":[\#(x),\#(y)]}}"#
        }
        try exporter.add(points, "points", as: 0)
    }

    private func edit(_ id: Int64) throws {
        try exporter.history.map.append(
            FeaturesEdited(
                layer: 0, added: [],
                changed: [
                    EditedFeature(
                        id: id, shape: .point(Coordinate(x: 11.5, y: 47.25)),
                        attributes: Attributes([
                            .init(name: "name", value: .string("moved"))
                        ]))
                ], deleted: [], nextID: 9_999, refused: nil))
    }

    @Test(arguments: kinds)
    func `a map that is edited and deleted during its export is packed as it was`(
        _ kind: JobKind
    ) throws {
        try exporter.history.map.append(LayerEditableChanged(layer: 0, isEditable: true))
        let parameters = ["levels": "0-6", "at": String(try exporter.last())]
        let whole = try exporter.run(kind, parameters)
        var calls = 0
        let disturbed = try exporter.run(kind, parameters) { number in
            calls += 1
            if number < 3 { try edit(Int64(number) + 1) }
            if number == 3 { try exporter.history.map.append(MapDeleted()) }
        }
        #expect(calls > 3 && disturbed.blob == whole.blob)
        // Nothing is exported of it as it is now.
        #expect(throws: Failure.self) { try exporter.run(kind, ["levels": "0"]) }
    }

    @Test func `pictures with a layer whose server does not answer are none, and it is named`()
        throws
    {
        let history = exporter.history
        let server = try PlayedServer()
        let far = LayerSource.featureService(
            ArcGISSource(url: server.url + "/features/good/FeatureServer/0"))
        let loader = RemoteServices(credentials: history.site.credentials)
        try history.map.add(far, try loader.load(far), as: 1)
        server.kill()
        #expect {
            try exporter.run(.exportTiles, ["levels": "0-1"])
        } throws: { error in
            let failure = error as? Failure
            return failure?.code == .unavailable
                && failure?.message.hasPrefix("layer 1 'layer 1' cannot be drawn: ") == true
        }
        #expect(try halfWritten() == [])
        // Without it, and as vector tiles, which have no layers of other servers, it goes on.
        _ = try exporter.run(.exportTiles, ["levels": "0-1", "layers": "0"])
        _ = try exporter.run(.exportVectorTiles, ["levels": "0-1"])
    }

    private var blobs: String { exporter.history.site.blobs.directory }

    /// Files that are no blobs: what is staged, and what has a name of its own.
    private func halfWritten() throws -> [String] {
        let staging = exporter.history.site.blobs.stagingDirectory
        let staged =
            FileManager.default.fileExists(atPath: staging)
            ? try FileManager.default.contentsOfDirectory(atPath: staging) : []
        return staged
            + (try FileManager.default.contentsOfDirectory(atPath: blobs)).filter {
                $0.hasPrefix(".") && $0 != ".staging"
            }
    }

    private func mount(_ arguments: String...) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test(.processes, arguments: kinds)
    func `a disk that is full in the middle of an export is named, and the next attempt ends it`(
        _ kind: JobKind
    ) throws {
        let parameters = ["levels": "0-5", "at": String(try exporter.last())]
        let whole = try exporter.run(kind, parameters).blob
        guard try mount("mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", blobs) else {
            print("skipped: no right to mount a small disk")
            return
        }
        defer { _ = try? mount("umount", "-l", blobs) }
        var refusals = 0
        var size = 64
        while true {
            do {
                #expect(try exporter.run(kind, parameters).blob == whole)
                break
            } catch let failure as Failure {
                #expect(failure.code == .noSpace, "\(failure)")
                refusals += 1
            }
            #expect(try halfWritten() == [])
            size += size
            #expect(try mount("mount", "-o", "remount,size=\(size)k", blobs))
            guard size < 1 << 20 else { break }
        }
        #expect(refusals > 1 && size < 1 << 20)
    }
}
