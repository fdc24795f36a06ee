// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Glibc

/// Files outside of a program's input, a server, and a record of access to both.
///
/// The kernel reports every opened file below ``path``, and the server accepts every connection;
/// all are removed with the fixture.
public final class Outside: @unchecked Sendable {
    // Written in init only.
    /// Where the files are.
    public let path: String
    /// The port of 127.0.0.1 on which the server listens.
    public let port: UInt16
    /// A text that is in each of the files and nowhere else.
    public let text: String
    private let listener: Int32
    private let watch: Int32

    /// Writes `canary.csv`, `table.csv`, `canary.geojson`, `canary.kml`, `canary.gml`, a shapefile
    /// and a table of MapInfo of the name, and a plain `canary.txt`; needs `ogr2ogr`.
    public init() throws {
        text = "canary" + UUID().uuidString.replacing("-", with: "").lowercased()
        path = NSTemporaryDirectory() + "cairn-outside-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data("WKT,name\n\"POINT (1 2)\",\(text)\n".utf8)
            .write(to: URL(filePath: path + "/canary.csv"))
        try Data("name,x,y\r\n\(text),1,2\r\n".utf8).write(to: URL(filePath: path + "/table.csv"))
        try Data(text.utf8).write(to: URL(filePath: path + "/canary.txt"))
        for (format, name) in [
            ("GeoJSON", "canary.geojson"), ("KML", "canary.kml"), ("GML", "canary.gml"),
            ("ESRI Shapefile", "canary.shp"), ("MapInfo File", "canary.tab"),
        ] {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/ogr2ogr")
            process.arguments = [
                "-f", format, "-a_srs", "EPSG:4326", path + "/" + name, path + "/canary.csv",
            ]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
        }

        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(server, $0, size) == 0 && listen(server, 64) == 0
                    && getsockname(server, $0, &size) == 0
            }
        }
        listener = server
        port = UInt16(bigEndian: address.sin_port)
        watch = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard isListening, watch >= 0,
            unsafe inotify_add_watch(watch, path, UInt32(IN_OPEN)) >= 0,
            fcntl(listener, F_SETFL, O_NONBLOCK) == 0
        else { throw CocoaError(.fileReadUnknown) }
    }

    deinit {
        close(listener)
        close(watch)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Whether a file was opened, the directory listed, or a connection made, since the last call.
    public func wasTouched() -> Bool {
        var isTouched = false
        var bytes = [UInt8](repeating: 0, count: 4096)
        while unsafe read(watch, &bytes, bytes.count) > 0 { isTouched = true }
        while case let connection = accept(listener, nil, nil), connection >= 0 {
            close(connection)
            isTouched = true
        }
        return isTouched
    }

    /// Whether its text is in a file below a directory.
    public func isFound(below directory: String) -> Bool {
        let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String }
        return (names ?? []).contains { name in
            let data = try? Data(
                contentsOf: URL(filePath: directory + "/" + name), options: .mappedIfSafe)
            return data?.range(of: Data(text.utf8)) != nil
        }
    }
}
