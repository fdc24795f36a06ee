// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation

/// A map in a terminal of 24-bit colors: `terminal-map SERVICES MAP [COLUMNS ROWS]`.
@main struct Main {
    static func main() async {
        let arguments = CommandLine.arguments
        let sizes = arguments.dropFirst(3).map { Int($0) ?? 0 }
        guard [3, 5].contains(arguments.count), let services = URL(string: arguments[1]),
            sizes.allSatisfy({ 1...1_000 ~= $0 })
        else {
            print("usage: terminal-map SERVICES MAP [COLUMNS ROWS]")
            exit(64)
        }
        do {
            try await draw(
                services.appending(path: "\(arguments[2])/MapServer"),
                columns: sizes.first ?? 80, rows: sizes.last ?? 24)
        } catch {
            print("terminal-map: \(error)")
            exit(1)
        }
    }

    private static func draw(_ service: URL, columns: Int, rows: Int) async throws {
        let map = Map()
        map.addOperationalLayer(ArcGISMapImageLayer(url: service))
        let view = MapViewProxy(map: map, size: CGSize(width: columns, height: 2 * rows))
        let picture = try await view.exportRaster()
        for row in 0..<rows {
            // A half block has two pixels: its own color, and the color behind it.
            let line = (0..<columns).map { column in
                foreground(picture.pixel(column, 2 * row))
                    + background(picture.pixel(column, 2 * row + 1)) + "▀"
            }
            print(line.joined() + "\u{1b}[0m")
        }
        let found = try await view.identifyLayers(
            screenPoint: CGPoint(x: columns / 2, y: rows), tolerance: 3)
        let names = found.flatMap(\.sublayerResults).map(\.layerContent.name)
        print("in the middle:", names.isEmpty ? "nothing" : names.joined(separator: ", "))
    }

    private static func foreground(_ color: SymbolColor) -> String { escape(38, color) }
    private static func background(_ color: SymbolColor) -> String { escape(48, color) }

    /// Over white, as paper.
    private static func escape(_ code: Int, _ color: SymbolColor) -> String {
        func part(_ value: UInt8) -> Int {
            (Int(value) * Int(color.alpha) + 255 * (255 - Int(color.alpha))) / 255
        }
        return "\u{1b}[\(code);2;\(part(color.red));\(part(color.green));\(part(color.blue))m"
    }
}
