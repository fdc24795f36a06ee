// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Testing

/// Frames as text, kept in `Tests/Golden/terminal`.
///
/// `CAIRN_GOLDEN=write` writes them anew.
enum Golden {
    static func check(
        _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Golden/terminal")
        let file = folder.appending(path: name + ".txt")
        if ProcessInfo.processInfo.environment["CAIRN_GOLDEN"] == "write" {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try (text + "\n").write(to: file, atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOf: file, encoding: .utf8)
        #expect(text + "\n" == expected, "\n\(text)", sourceLocation: sourceLocation)
    }
}
