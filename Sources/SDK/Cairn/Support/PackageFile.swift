// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Files of packages.
enum PackageFile {
    static func check(_ url: URL) throws {
        guard url.isFileURL, FileManager.default.fileExists(atPath: url.path(percentEncoded: false))
        else {
            throw CairnError(.file, "there is no file '\(url.path(percentEncoded: false))'")
        }
    }
}
