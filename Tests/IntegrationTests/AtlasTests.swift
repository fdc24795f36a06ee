// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnIdentify
import Foundation
import TestKit
import Testing

/// The engine inside a program: the answers of a running site, byte for byte.
@Suite(.timeLimit(.minutes(4)), .processes) struct AtlasTests {
    @Test func `an atlas of a site answers as its processes do`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 4)
        let server = try PlayedServer()
        let kinds = try await site.importWorld(server)
        let atlas = try Atlas(site: site.files.path)
        var questions = try RandomQuestions(
            SeededGenerator(seed: .random(in: .min ... .max)), sequence: atlas.sequence)
        let seed = questions.seed
        #expect(atlas.mapNames.map(\.rawValue) == ["Grid", "World"])

        for number in 0..<400 {
            let request = questions.next()
            let (expected, answer) = (await site.reply(to: request), atlas.reply(to: request))
            #expect(answer == expected, "seed \(seed), question \(number): \(request)")
        }
        #expect(questions.hitCount(in: atlas) > 20)
        for (kind, layer) in kinds {
            let answers = questions.asked.prefix(100).lazy.compactMap { try? atlas.identify($0) }
            #expect(
                answers.contains { answer in
                    answer.results.contains { $0.layerID == layer }
                        || answer.failures?.contains { $0.layerID == layer } == true
                }, "seed \(seed): no \(kind)")
        }
    }

    @Test func `an atlas refuses a request in the same words as its site`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2)
        let atlas = try Atlas(site: site.files.path)
        let head = atlas.sequence
        let good = site.request(x: 0, y: 0)
        let changes: [(inout IdentifyRequest) -> Void] = [
            { $0.map = MapName(rawValue: "Nowhere") ?? $0.map },
            { ($0.map, $0.at) = (MapName(rawValue: "Nowhere") ?? $0.map, head) },
            { $0.tolerance = -1 },
            { $0.geometry = .polygon(rings: [[Coordinate(x: 1e13, y: 0)]]) },
            { $0.geometry = .multipoint([]) },
            { $0.spatialReference = SpatialReference(wkid: 999_999) },
            { $0.layerDefinitions = [0: "row ="] },
            { $0.layerDefinitions = [0: "nothing = 1"] },
            { $0.imageDisplay.dpi = 0 },
            { $0.maximumResultsPerLayer = -1 },
            { ($0.at, $0.atTime) = (1, Timestamp(microseconds: 0)) },
            { $0.at = -1 },
            { $0.at = 0 },
            { $0.at = head + 1 },
            { $0.minSequence = head + 1 },
            { $0.atTime = Timestamp(microseconds: 0) },
            { $0.geometry = .multipoint(Array(repeating: Coordinate(x: 0, y: 0), count: 100_001)) },
        ]
        for (number, change) in changes.enumerated() {
            var request = good
            change(&request)
            let answer = atlas.reply(to: request)
            #expect(answer == (await site.reply(to: request)), "request \(number)")
            #expect(answer.contains(#""code":"#), "request \(number): \(answer)")
        }
        #expect(!atlas.reply(to: good).contains(#""code":"#))
    }

    @Test func `an atlas stands still until it is refreshed`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2)
        let atlas = try Atlas(site: site.files.path)
        let before = atlas.sequence
        let request = site.request(x: 1, y: 1)
        let hit = atlas.reply(to: request)

        let hidden = try await site.client.command(
            map: site.map, .setDefinitionExpression(layer: 0, expression: "row = 0"))

        #expect(atlas.reply(to: request) == hit)
        var later = request
        later.minSequence = hidden.sequence
        #expect(try atlas.identify(later).layers.isEmpty)
        #expect(atlas.sequence == hidden.sequence)
        var past = request
        past.at = before
        #expect(atlas.reply(to: past) == hit)
        #expect(try atlas.map(named: site.map, at: .sequence(0)) == nil)
        try atlas.refresh()
        #expect(atlas.sequence == hidden.sequence)
    }

    @Test func `an atlas asks a site and a dataset file without any process`() async throws {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate", "identify-offline"])
        else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let map = try MapName(parsing: "Small")
        let ofSite = try Atlas(site: site.path)
        let layers = try #require(try ofSite.map(named: map)).layers
        let paths = layers.compactMap { layer -> String? in
            guard case .dataset(let id)? = layer.kind.source else { return nil }
            return "\(site.path)/datasets/\(id)/layer.fgb"
        }
        let ofFiles = try Atlas(datasets: paths, map: map)

        for x in 0...8 {
            let request = IdentifyRequest(
                map: map, geometry: .point(Coordinate(x: Double(x), y: 2)),
                layers: LayerSelection(.all), tolerance: 3,
                mapExtent: Envelope(
                    minX: Double(x) - 1, minY: 1, maxX: Double(x) + 1, maxY: 3),
                imageDisplay: ImageDisplay(width: 800, height: 800))
            var (expected, answer) = (try ofSite.identify(request), try ofFiles.identify(request))
            #expect(expected.layers.isEmpty == false)
            #expect(answer.layers == expected.layers)
            (expected.sequence, answer.sequence) = (0, 0)
            #expect(try CairnJSON.encode(answer) == (try CairnJSON.encode(expected)))
        }
        let outcome = try await Programs.run(
            [site.path, "Small", "2", "2"], site: nil, program: "identify-offline")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let request = IdentifyRequest(
            map: map, geometry: .point(Coordinate(x: 2, y: 2)), tolerance: 3,
            mapExtent: Envelope(minX: 1, minY: 1, maxX: 3, maxY: 3),
            imageDisplay: ImageDisplay(width: 800, height: 800))
        #expect(outcome.output == ofSite.reply(to: request) + "\n")
        let alone = try await Programs.run(
            [paths[0], "1", "1"], site: nil, program: "identify-offline")
        #expect(alone.output.contains("west"))
        let missing = try await Programs.run(
            [site.path, "Large", "2", "2"], site: nil, program: "identify-offline")
        #expect(missing.status == 1)
        #expect(missing.errors == "identify-offline: there is no map 'Large'\n")
        #expect(throws: Failure.self) { try Atlas(site: site.folder) }
        #expect(throws: Failure.self) { try Atlas(datasets: [], map: map) }
        #expect(throws: Failure.self) { try Atlas(datasets: [paths[0], paths[0]], map: map) }
    }
}

extension Atlas {
    /// The answer or the refusal as JSON.
    fileprivate func reply(to request: IdentifyRequest) -> String {
        do {
            return String(decoding: try CairnJSON.encode(try identify(request)), as: UTF8.self)
        } catch {
            return IdentifySite.text(error)
        }
    }
}

extension IdentifySite {
    fileprivate static func text(_ error: any Error) -> String {
        guard let failure = error as? Failure, let bytes = try? CairnJSON.encode(failure) else {
            return "\(error)"
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes that an identify worker sent, or the refusal as JSON.
    fileprivate func reply(to request: IdentifyRequest) async -> String {
        do {
            let answer = try await client.ask(
                try client.requester(.supervisorRequests),
                Message(
                    header: MessageHeader(kind: .task, pool: WorkerPool.identify.rawValue),
                    metadata: try RequestMetadata(operation: "identify").wireForm(),
                    payload: try CairnJSON.encode(request)),
                timeout: .seconds(60))
            return String(decoding: answer.payload, as: UTF8.self)
        } catch {
            return Self.text(error)
        }
    }

    /// Imports the sample data as `World` with layers of every kind, and changes the map a little,
    /// so that it has a past; one layer of each kind.
    fileprivate func importWorld(_ server: PlayedServer) async throws -> [String: LayerID] {
        let world = try MapName(parsing: "World")
        let sample = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../deploy/sample/world.gpkg").standardized.path()
        let raster = try RasterFixture()
        let height = try raster.geoTIFF(
            "height", rows: (0..<18).map { y in (0..<36).map { x in Double(x * y) + 0.5 } },
            origin: (-180, -90), cell: 10, wkid: 4326)
        for path in [sample, height] {
            let outcome = try await Programs.run(
                ["import", path, "--map", world.rawValue], site: files.path)
            try #require(outcome.status == 0, "\(outcome.errors)")
        }
        let map = try #require(try await client.map(named: world))
        let heights = try #require(map.layers.last)
        let top = map.layers[2]
        func wms(_ path: String) -> LayerSource {
            .wms(WMSSource(url: server.url + path, layers: ["roads"]))
        }
        let changes: [MapCommand] = [
            .setScaleRange(layer: top.id, scaleRange: ScaleRange(minScale: 5e7, maxScale: 0)),
            .setDefinitionExpression(layer: map.layers[0].id, expression: "OBJECTID > 20"),
            .setVisibility(layer: map.layers[1].id, isVisible: false),
            .renameLayer(layer: top.id, name: "renamed"),
            .setFieldAlias(layer: map.layers[0].id, field: "OBJECTID", alias: "number"),
            .addLayer(
                name: "drawn", source: .graphics(GraphicsSource(spatialReference: .wgs84)),
                place: LayerPlace()),
            // Not on top, where they would hide everything from `layers=top`.
            .addLayer(name: "elsewhere", source: wms("/wms"), place: LayerPlace(index: 1)),
            .addLayer(name: "refuses", source: wms("/exception"), place: LayerPlace(index: 1)),
            .moveLayer(layer: heights.id, place: LayerPlace(index: 2)),
        ]
        var last: Int64 = 0
        var added: [LayerID] = []
        for change in changes {
            let result = try await client.command(map: world, change)
            if case .addLayer = change { added.append(try #require(result.layer)) }
            last = result.sequence
        }
        for (number, shape) in Self.drawings.enumerated() {
            let attributes = Attributes([.init(name: "label", value: .string("n\(number)"))])
            last = try await client.command(
                map: world,
                .addGraphic(
                    layer: added[0], shape: shape, attributes: attributes, zIndex: number % 2)
            ).sequence
        }
        try await until("a loaded layer") { [last] site in
            try await site.client.map(named: world, minSequence: last)?.layers
                .allSatisfy { $0.loadStatus == .loaded } == true
        }
        return [
            "dataset": map.layers[0].id, "raster": heights.id, "graphic": added[0],
            "remote": added[1], "failure": added[2],
        ]
    }

    /// Half of the world, and a net over all of it.
    private static let drawings: [Shape] = {
        let half = [(-180.0, -60.0), (0, -60), (0, 70), (-180, 70), (-180, -60)]
        return [.polygon(rings: [half.map { Coordinate(x: $0.0, y: $0.1) }])]
            + stride(from: -170.0, to: 180, by: 20).map { x in
                .polyline(paths: [[Coordinate(x: x, y: -60), Coordinate(x: x + 5, y: 70)]])
            } + [.multipoint([Coordinate(x: 2, y: 48), Coordinate(x: 13, y: 52)])]
    }()
}

/// Questions of every kind about the map `World`, now and then.
private struct RandomQuestions {
    private var generator: SeededGenerator
    private let world: MapName
    private let nowhere: MapName
    private let sequence: Int64
    private let start = Timestamp(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6))
    private(set) var asked: [IdentifyRequest] = []
    var seed: UInt64 { generator.seed }

    init(_ generator: SeededGenerator, sequence: Int64) throws {
        self.generator = generator
        world = try MapName(parsing: "World")
        nowhere = try MapName(parsing: "Nowhere")
        self.sequence = sequence
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &generator) < percent
    }

    private mutating func number(_ range: ClosedRange<Double>) -> Double {
        Double.random(in: range, using: &generator)
    }

    private mutating func coordinate(near middle: Coordinate, _ reach: Double) -> Coordinate {
        Coordinate(
            x: middle.x + number(-reach...reach), y: middle.y + number(-reach...reach))
    }

    private mutating func shape(around middle: Coordinate, _ reach: Double) -> Shape {
        let corners = (0..<Int.random(in: 3...9, using: &generator)).map { _ in
            coordinate(near: middle, reach)
        }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return .multipoint(corners)
        case 1: return .polyline(paths: [corners])
        case 2: return .polygon(rings: [corners + [corners[0]]])
        case 3:
            return .envelope(
                Envelope(
                    minX: corners[0].x, minY: corners[0].y, maxX: corners[1].x, maxY: corners[1].y))
        default: return .point(middle)
        }
    }

    mutating func next() -> IdentifyRequest {
        let middle = Coordinate(x: number(-175...175), y: number(-55...70))
        let reach = number(0.1...10)
        var request = IdentifyRequest(
            map: chance(97) ? world : nowhere,
            geometry: shape(around: middle, reach), geometrySpatialReference: .wgs84,
            layers: LayerSelection(
                [.top, .visible, .all][Int.random(in: 0..<3, using: &generator)],
                ids: chance(20) ? [Int.random(in: 0...7, using: &generator)] : nil),
            tolerance: chance(30) ? 0 : number(-0.2...20).rounded(),
            mapExtent: Envelope(
                minX: middle.x - reach, minY: middle.y - reach, maxX: middle.x + reach,
                maxY: middle.y + reach),
            imageDisplay: ImageDisplay(width: number(0...2000), height: 900))
        if chance(30) {
            let wkid = [3857, 4326, 54030, 999_999][Int.random(in: 0..<4, using: &generator)]
            request.spatialReference = SpatialReference(wkid: wkid)
        }
        request.returnGeometry = chance(60)
        request.returnFieldName = chance(50)
        request.returnUnformattedValues = chance(50)
        request.returnPopupsOnly = chance(10)
        request.explain = chance(30)
        if chance(20) { request.maxAllowableOffset = number(0...1) }
        if chance(20) { request.geometryPrecision = Int.random(in: 0...8, using: &generator) }
        if chance(20) { request.maximumResultsPerLayer = Int.random(in: 0...5, using: &generator) }
        if chance(20) {
            request.layerDefinitions = [
                Int.random(in: 0...3, using: &generator):
                    chance(80) ? "OBJECTID < 100" : "nothing LIKE"
            ]
        }
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: request.at = Int64.random(in: 0...sequence, using: &generator)
        case 1:
            request.atTime = Timestamp(
                microseconds: start.microseconds
                    - Int64.random(in: 0...5_000_000, using: &generator))
        default: request.minSequence = sequence
        }
        asked.append(request)
        return request
    }

    /// Number of queries so far with a hit.
    func hitCount(in atlas: Atlas) -> Int {
        asked.count { (try? atlas.identify($0))?.layers.isEmpty == false }
    }
}
