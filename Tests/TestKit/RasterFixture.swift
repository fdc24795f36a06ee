// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation

/// Rasters made with GDAL's own tools, and what those tools find in them.
public final class RasterFixture: Sendable {
    /// A directory of its own, gone with the fixture.
    public let directory: String

    /// Makes the directory.
    public init() throws {
        directory = NSTemporaryDirectory() + "cairn-raster-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Runs a program; its standard output.
    @discardableResult
    public func run(_ arguments: [String], input: String = "") throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        let given = directory + "/input-" + UUID().uuidString
        try Data(input.utf8).write(to: URL(filePath: given))
        process.standardInput = try FileHandle(forReadingFrom: URL(filePath: given))
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ProgramFailure(arguments: arguments) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The failure of a tool.
    public struct ProgramFailure: Error { var arguments: [String] }

    /// Writes a file; its path.
    @discardableResult
    public func write(_ text: String, as name: String) throws -> String {
        let path = directory + "/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// Writes a picture of grey pixels without a georeference; returns its path.
    public func writePicture(_ rows: [[UInt8]], as name: String) throws -> String {
        let path = directory + "/" + name
        var data = Data("P5\n\(rows[0].count) \(rows.count)\n255\n".utf8)
        for row in rows { data.append(contentsOf: row) }
        try data.write(to: URL(filePath: path))
        return path
    }

    /// A GeoTIFF of one band of `rows`, with its lower left corner at `origin`.
    public func geoTIFF(
        _ name: String, rows: [[Double]], origin: (x: Double, y: Double), cell: Double, wkid: Int,
        type: String = "Float64", noData: Double? = nil
    ) throws -> String {
        var lines = [
            "ncols \(rows[0].count)", "nrows \(rows.count)", "xllcorner \(origin.x)",
            "yllcorner \(origin.y)", "cellsize \(cell)",
        ]
        if let noData { lines.append("NODATA_value \(noData)") }
        lines += rows.map { $0.map { "\($0)" }.joined(separator: " ") }
        let grid = try write(lines.joined(separator: "\n") + "\n", as: name + ".asc")
        let path = directory + "/" + name + ".tif"
        try run([
            "gdal_translate", "-q", "-of", "GTiff", "-ot", type, "-a_srs", "EPSG:\(wkid)",
            grid, path,
        ])
        return path
    }

    /// The values of a band by `gdallocationinfo`; nil off the raster.
    public func values(
        _ path: String, band: Int, at places: [(x: Double, y: Double)], isWGS84: Bool = false
    ) throws -> [Double?] {
        let text = try run(
            [
                "gdallocationinfo", "-valonly", "-b", "\(band)", isWGS84 ? "-wgs84" : "-geoloc",
                path,
            ],
            input: places.map { "\($0.x) \($0.y)\n" }.joined())
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .prefix(places.count).map { Double($0) }
    }
}
