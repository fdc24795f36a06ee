// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation

/// A map's document kept in a file and opened without its server: `work-offline SERVICES MAP FILE`.
@main struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let services = URL(string: arguments[1]) else {
            print("usage: work-offline SERVICES MAP FILE")
            exit(64)
        }
        let map = Map()
        let layer = ArcGISMapImageLayer(
            url: services.appending(path: "\(arguments[2])/MapServer"))
        map.addOperationalLayer(layer)
        try await map.load()
        let file = URL(filePath: arguments[3])
        try map.toJSON().write(to: file, atomically: true, encoding: .utf8)

        // Another day, without a connection: what is there, and what cannot be asked.
        let kept = try Map.fromJSON(String(contentsOf: file, encoding: .utf8))
        for layer in kept.operationalLayers { print("kept:", layer.name) }
        let capabilities = try await OfflineMapTask(onlineMap: map).offlineMapCapabilities(
            parameters: GenerateOfflineMapParameters(
                areaOfInterest: layer.fullExtent ?? Point(latitude: 0, longitude: 0)))
        for layer in map.operationalLayers {
            print(
                layer.name + ":",
                capabilities.layerErrors[layer.id].map { "\($0)" } ?? "can be taken")
        }
    }
}
