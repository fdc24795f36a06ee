// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Geometry
import Identify
import Testing

private func square(_ id: Int, _ name: String = "x") -> String {
    """
    {"type":"Feature","id":\(id),"properties":{"name":"\(name)"},"geometry":{"type":"Polygon",
    "coordinates":[[[0,0],[10,0],[10,10],[0,10],[0,0]]]}}
    """
}

@Suite struct LayerResolutionTests {
    let site: Site
    let layer: ImportedLayer

    init() throws {
        site = try Site()
        layer = try site.importFeatures([square(1)])
    }

    /// Bottom first: 0, group 1 with 2 and group 3 with 4, then 5 on top.
    private func map(_ change: (inout LayerDescription) -> Void = { _ in }) -> MapDescription {
        let layers: [LayerDescription] = [
            .feature(0, layer), .group(1, [2, 3]), .feature(2, layer, in: 1),
            .group(3, [4], in: 1), .feature(4, layer, in: 3), .feature(5, layer),
        ]
        return makeMap(layers.map { $0.with(change) })
    }

    private func layers(
        _ selection: LayerSelection, in map: MapDescription,
        _ change: (inout IdentifyRequest) -> Void = { _ in }
    ) throws -> [LayerID] {
        let request = makeRequest(.point(Coordinate(x: 5, y: 5))) {
            $0.layers = selection
            change(&$0)
        }
        return try site.engine().identify(request, in: map).results.map(\.layerID)
    }

    @Test(arguments: [
        (LayerSelection(.all), [5, 4, 2, 0]), (LayerSelection(.visible), [5, 4, 2, 0]),
        (LayerSelection(.top), [5]), (LayerSelection(.all, ids: []), []),
        (LayerSelection(.all, ids: [1]), [4, 2]),
        (LayerSelection(.all, ids: [3, 1, 4, 4]), [4, 2]),
        (LayerSelection(.top, ids: [1, 0]), [4]), (LayerSelection(.top, ids: [0]), [0]),
        (LayerSelection(.all, ids: [0, 99, -1]), [0]), (LayerSelection(.all, ids: [3]), [4]),
    ])
    func `ids and groups are expanded, each layer once, top first`(
        selection: LayerSelection, expected: [LayerID]
    ) throws {
        #expect(try layers(selection, in: map()) == expected)
    }

    @Test(arguments: [
        (0, [5, 4, 2]), (1, [5, 0]), (3, [5, 2, 0]), (4, [5, 2, 0]), (5, [4, 2, 0]),
    ])
    func `a hidden layer or group hides all it holds, but not from all`(
        hidden: LayerID, visible: [LayerID]
    ) throws {
        let map = map { if $0.id == hidden { $0.isVisible = false } }

        #expect(try layers(LayerSelection(.visible), in: map) == visible)
        #expect(try layers(LayerSelection(.top), in: map) == [visible[0]])
        #expect(try layers(LayerSelection(.all), in: map) == [5, 4, 2, 0])
        #expect(try layers(LayerSelection(.visible, ids: [hidden]), in: map) == [])
    }

    @Test func `scale ranges count for visible and top, own and of groups`() throws {
        // One degree per pixel at 96 dpi is a scale of 1 : 420,735,076.
        let outOfRange = ScaleRange(minScale: 420_000_000, maxScale: 0)
        let inRange = ScaleRange(minScale: 421_000_000, maxScale: 420_000_000)
        let map = map {
            $0.scaleRange = $0.id == 5 || $0.id == 3 ? outOfRange : inRange
        }

        #expect(try layers(LayerSelection(.visible), in: map) == [2, 0])
        #expect(try layers(LayerSelection(.top), in: map) == [2])
        #expect(try layers(LayerSelection(.all), in: map) == [5, 4, 2, 0])
        let unsized = try layers(LayerSelection(.visible), in: map) {
            $0.imageDisplay = ImageDisplay(width: 0, height: 0)
        }
        #expect(unsized == [5, 4, 2, 0])
        let coarse = try layers(LayerSelection(.visible), in: map) { $0.imageDisplay.dpi = 72 }
        #expect(coarse == [5])
    }

    @Test func `top is the first layer that has a hit`() throws {
        let far = try site.importFeatures(
            [
                #"{"type":"Feature","id":1,"properties":{},"geometry":{"type":"Point","coordinates":[50,50]}}"#
            ],
            named: "far")
        let map = makeMap([.feature(0, layer), .feature(1, layer), .feature(2, far)])

        #expect(try layers(LayerSelection(.top), in: map) == [1])
    }

    @Test(arguments: [LoadStatus.notLoaded, .loading, .failedToLoad])
    func `a layer that is not loaded contributes nothing`(status: LoadStatus) throws {
        let map = map {
            guard $0.id == 5 else { return }
            $0.loadStatus = status
            $0.properties = nil
        }

        #expect(try layers(LayerSelection(.all), in: map) == [4, 2, 0])
        #expect(try layers(LayerSelection(.top), in: map) == [4])
    }

    @Test func `a blank map has nothing anywhere`() throws {
        let answer = try site.engine().identify(
            makeRequest(.point(Coordinate(x: 5, y: 5))),
            in: makeMap([.feature(0, layer)], wkid: nil))

        #expect(answer.layers.isEmpty && answer.sequence == 42)
        #expect(answer.spatialReference == .wgs84)
    }

    @Test func `results come as a tree with the groups around them`() throws {
        let answer = try site.engine().identify(
            makeRequest(.point(Coordinate(x: 5, y: 5))) { $0.layers.ids = [4, 0] }, in: map(),
            isStale: true)

        #expect(answer.isStale)
        #expect(answer.layers.map(\.layerID) == [1, 0])
        let group = try #require(answer.layers.first)
        #expect(group.layerName == "group 1" && group.results.isEmpty)
        #expect(group.sublayerResults.map(\.layerID) == [3])
        #expect(group.sublayerResults[0].sublayerResults.map(\.layerID) == [4])
        #expect(group.sublayerResults[0].sublayerResults[0].results.map(\.objectID) == [1])
    }

    @Test func `a parent that is its own child does not trap`() throws {
        let strange = makeMap([
            .group(1, [2, 1], in: 2), .group(2, [1], in: 1), .feature(0, layer, in: 1),
        ])

        _ = try layers(LayerSelection(.visible, ids: [1]), in: strange)
    }
}
