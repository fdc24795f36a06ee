// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnIdentify
import Foundation

/// Asks "what is here?" of a site's map, or of one dataset file, in this very process.
///
/// ```
/// identify-offline SITE/datasets/<sha256>/layer.fgb 2.35 48.86
/// identify-offline SITE World 2.35 48.86
/// ```
@main enum IdentifyOffline {
    static func main() throws {
        var arguments = CommandLine.arguments.dropFirst()
        guard 3...4 ~= arguments.count, let y = Double(arguments.removeLast()),
            let x = Double(arguments.removeLast())
        else {
            print("usage: identify-offline (DATASET.fgb | SITE MAP) X Y")
            exit(64)
        }
        do {
            let path = arguments.removeFirst()
            let map = try MapName(parsing: arguments.first ?? "Map")
            let atlas =
                try arguments.isEmpty
                ? Atlas(datasets: [path], map: map) : Atlas(site: path)
            let answer = try atlas.identify(
                IdentifyRequest(
                    map: map, geometry: .point(Coordinate(x: x, y: y)), tolerance: 3,
                    mapExtent: Envelope(minX: x - 1, minY: y - 1, maxX: x + 1, maxY: y + 1),
                    imageDisplay: ImageDisplay(width: 800, height: 800)))
            print(String(decoding: try CairnJSON.encode(answer), as: UTF8.self))
        } catch {
            FileHandle.standardError.write(Data("identify-offline: \(error.message)\n".utf8))
            exit(1)
        }
    }
}
