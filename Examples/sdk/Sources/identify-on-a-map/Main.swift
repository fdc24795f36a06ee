// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation

/// What is at a place of a map: `identify-on-a-map SERVICES MAP LONGITUDE LATITUDE`.
@main struct Main {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let services = URL(string: arguments[1]),
            let longitude = Double(arguments[3]), let latitude = Double(arguments[4])
        else {
            print("usage: identify-on-a-map SERVICES MAP LONGITUDE LATITUDE")
            exit(64)
        }
        do {
            try await identify(
                services.appending(path: "\(arguments[2])/MapServer"),
                Viewpoint(latitude: latitude, longitude: longitude, scale: 5_000_000))
        } catch {
            print("identify-on-a-map: \(error)")
            exit(1)
        }
    }

    private static func identify(_ service: URL, _ viewpoint: Viewpoint) async throws {
        let map = Map(basemapStyle: .arcGISTopographic)
        map.addOperationalLayer(ArcGISMapImageLayer(url: service))
        map.initialViewpoint = viewpoint

        let view = MapViewProxy(map: map, size: CGSize(width: 1024, height: 768))
        let found = try await view.identifyLayers(
            screenPoint: CGPoint(x: 512, y: 384), tolerance: 6, maximumResultsPerLayer: nil)
        for result in found {
            if let error = result.error { throw error }
            for part in result.sublayerResults { show(part, indent: "") }
        }
        if found.isEmpty { print("nothing is there") }
    }

    private static func show(_ result: IdentifyLayerResult, indent: String) {
        print(indent + result.layerContent.name)
        for element in result.geoElements {
            let values = element.attributes.sorted { $0.key < $1.key }.prefix(6)
            print(indent + "  " + values.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
        }
        for part in result.sublayerResults { show(part, indent: indent + "  ") }
    }
}
