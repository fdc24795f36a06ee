// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation

/// A map's document kept in a file, and places found without a server:
/// `work-offline keep SERVICES MAP FILE`, then `work-offline open FILE LOCATOR TEXT`.
@main struct Main {
    static func main() async {
        let arguments = CommandLine.arguments
        do {
            switch (arguments.dropFirst().first, arguments.count) {
            case ("keep"?, 5):
                guard let services = URL(string: arguments[2]) else {
                    throw CairnError(.invalidArgument, "'\(arguments[2])' is no URL")
                }
                try await keep(
                    services.appending(path: "\(arguments[3])/MapServer"),
                    in: URL(filePath: arguments[4]))
            case ("open"?, 5):
                try await open(URL(filePath: arguments[2]), arguments[3], text: arguments[4])
            default:
                print("usage: work-offline keep SERVICES MAP FILE | open FILE LOCATOR TEXT")
                exit(64)
            }
        } catch {
            print("work-offline: \(error)")
            exit(1)
        }
    }

    private static func keep(_ service: URL, in file: URL) async throws {
        let map = Map()
        let layer = ArcGISMapImageLayer(url: service)
        map.addOperationalLayer(layer)
        try await map.load()
        try await layer.load()
        try map.toJSON().write(to: file, atomically: true, encoding: .utf8)
        let capabilities = try await OfflineMapTask(onlineMap: map).offlineMapCapabilities(
            parameters: GenerateOfflineMapParameters(
                areaOfInterest: layer.fullExtent ?? Point(latitude: 0, longitude: 0)))
        for layer in map.operationalLayers {
            print(
                layer.name + ":",
                capabilities.layerErrors[layer.id].map { "\($0)" } ?? "can be taken")
        }
    }

    /// Asks no server.
    private static func open(_ file: URL, _ locator: String, text: String) async throws {
        let map = try Map.fromJSON(String(contentsOf: file, encoding: .utf8))
        for layer in map.operationalLayers { print("kept:", layer.name) }
        guard let task = LocatorTask(name: locator) else {
            throw CairnError(.file, "there is no locator file '\(locator)'")
        }
        let parameters = GeocodeParameters()
        parameters.maxResults = 3
        for place in try await task.geocode(forSearchText: text, using: parameters) {
            let position = place.displayLocation.map { "\($0.x) \($0.y)" } ?? ""
            print(place.label, position, separator: "  ")
        }
    }
}
