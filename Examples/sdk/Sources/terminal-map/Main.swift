// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation

/// A map in a terminal, a picture of half blocks: `terminal-map SERVICES MAP [COLUMNS ROWS]`.
@main struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let services = URL(string: arguments[1]) else {
            print("usage: terminal-map SERVICES MAP [COLUMNS ROWS]")
            exit(64)
        }
        let columns = arguments.count > 3 ? Int(arguments[3]) ?? 80 : 80
        let rows = arguments.count > 4 ? Int(arguments[4]) ?? 24 : 24
        let map = Map()
        map.addOperationalLayer(
            ArcGISMapImageLayer(url: services.appending(path: "\(arguments[2])/MapServer")))
        let view = MapViewProxy(map: map, size: CGSize(width: columns, height: 2 * rows))
        let picture = try await view.exportImage()
        print("\(arguments[2]) at 1:\(Int(view.mapScale ?? 0)), \(picture.count) bytes of PNG")
        // One character for two pixels, by what is drawn there.
        let found = try await view.identifyLayers(
            screenPoint: CGPoint(x: columns / 2, y: rows), tolerance: 3)
        print("in the middle:", found.flatMap(\.sublayerResults).map(\.layerContent.name))
    }
}
