// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Paths that GDAL takes for a file or a directory, and for nothing else.
///
/// One that is not absolute may be a connection (`PG:…`, `http://…`), a document itself
/// (`{"type":…`), or a driver's own syntax (`GPKG:…`).
public enum PlainPath {
    /// Whether a path is absolute, and in none of GDAL's own file systems.
    public static func isPlain(_ path: String) -> Bool {
        path.hasPrefix("/") && !isVirtual(path)
    }

    /// Whether a path begins as one in GDAL's own file systems does (`/vsicurl/…`), in any case and
    /// with any slashes.
    public static func isVirtual(_ path: String) -> Bool {
        guard path.hasPrefix("/") || path.hasPrefix("\\") else { return false }
        return path.drop { $0 == "/" || $0 == "\\" }.lowercased().hasPrefix("vsi")
    }

    static func error(_ path: String) -> GDALError {
        GDALError(
            operation: "open '\(path)'",
            messages: ["expected the path of a file or a directory"], isInputOutput: false)
    }
}
