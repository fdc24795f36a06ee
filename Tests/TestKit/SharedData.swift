// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// The data set beside the repository that some tests use when it is there.
public enum SharedData {
    /// The path of a file of it, or nil, with one line printed, when it is not there.
    ///
    /// The directory is `../shared/data` beside the package, or `data` in `CAIRN_SHARED`.
    public static func path(_ relative: String, test: String = #function) -> String? {
        let root =
            ProcessInfo.processInfo.environment["CAIRN_SHARED"]
            ?? URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../../shared"
            )
            .standardized.path()
        let path = root + "/data/" + relative
        guard FileManager.default.fileExists(atPath: path) else {
            print("skipped \(test): no \(path)")
            return nil
        }
        return path
    }

    /// The bytes of a file of it, unpacked if its name ends in `.gz`; nil when it is not there.
    public static func bytes(_ relative: String, test: String = #function) throws -> Data? {
        guard let path = path(relative, test: test) else { return nil }
        guard relative.hasSuffix(".gz") else { return try Data(contentsOf: URL(filePath: path)) }
        return try output(of: "/usr/bin/gzip", ["-dc", path])
    }

    /// One member of a `.tar.gz` of it; nil when the archive is not there.
    public static func bytes(
        _ relative: String, member: String, test: String = #function
    ) throws -> Data? {
        guard let path = path(relative, test: test) else { return nil }
        return try output(of: "/usr/bin/tar", ["xzOf", path, member])
    }

    private static func output(of tool: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: tool)
        process.arguments = arguments
        process.standardOutput = pipe
        try process.run()
        let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return bytes
    }
}
