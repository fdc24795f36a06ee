// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import GDAL

/// A picture in a file, as GDAL reads it.
enum RasterPixels {
    static func values(_ path: String, column: Int, row: Int) throws -> [UInt8] {
        try RasterSource(path: path).pixel(column: column, row: row).map { value in
            if case .integer(let number)? = value { UInt8(clamping: number) } else { 0 }
        }
    }
}
