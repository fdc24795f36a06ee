// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// A PostgreSQL server of a test, with PostGIS at hand, where both are installed.
///
/// Its superuser `postgres` has the password `geheim` at 127.0.0.1, and needs none at the socket.
final class PostgresServer: Sendable {
    /// The port of 127.0.0.1, and of the socket.
    let port: Int
    /// The directory of the socket.
    var socket: String { directory.path }
    private let directory: GuardedDirectory
    private let programs: String
    static let password = "geheim"

    private static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap { version -> String? in
            let extensions = "/usr/share/postgresql/\(version)/extension"
            let programs = "\(root)/\(version)/bin"
            let needed = [
                "\(extensions)/postgis.control", programs + "/initdb", "/usr/bin/setpriv",
            ]
            return needed.allSatisfy(FileManager.default.fileExists(atPath:)) ? programs : nil
        }.max()
    }()

    /// Starts a server; nil, with a printed line, where the programs are not installed.
    static func start(test: String = #function) async throws -> PostgresServer? {
        guard let programs else {
            print("\(test) is skipped: PostgreSQL and PostGIS are not installed")
            return nil
        }
        return try await PostgresServer(programs)
    }

    private init(_ programs: String) async throws {
        self.programs = programs
        port = try Loopback.freePort()
        directory = try GuardedDirectory(path: Programs.newSite())
        let path = directory.path
        let files = FileManager.default
        // The server runs as a user without rights, because it does not run as root.
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        try Data(Self.password.utf8).write(to: URL(filePath: path + "/password"))
        if getuid() == 0 {
            try files.setAttributes(
                [.ownerAccountID: 65_534, .groupOwnerAccountID: 65_534], ofItemAtPath: path)
        }
        try await run(
            "initdb",
            [
                "-D", path + "/data", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-N",
                "--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile=\(path)/password",
            ])
        let settings = "-F -p \(port) -k \(path) -c listen_addresses=127.0.0.1"
        try await run(
            "pg_ctl", ["-D", path + "/data", "-l", path + "/log", "-w", "-o", settings, "start"])
    }

    /// Closes the descriptors that it inherits: `Process` takes a program for running as long as
    /// one of them is open in a program that it left behind, as the server is.
    private static let script = #"""
        for file in /proc/$$/fd/*; do
            number=${file##*/}
            if [ "$number" -gt 2 ]; then eval "exec $number>&-"; fi
        done
        exec "$@"
        """#

    private func run(_ program: String, _ arguments: [String]) async throws {
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"]
        let command = ["/usr/bin/setpriv"] + (getuid() == 0 ? user : [])
        let outcome = try await Programs.run(
            ["-c", Self.script, "sh"] + command + [programs + "/" + program] + arguments,
            site: nil, program: "/bin/bash")
        try #require(outcome.status == 0, "\(program): \(outcome.errors)\(outcome.output)")
    }

    /// Runs statements in a database.
    func run(_ statements: String, in database: String = "postgres") async throws {
        let outcome = try await Programs.run(
            [
                "-h", socket, "-p", "\(port)", "-U", "postgres", "-q", "-v", "ON_ERROR_STOP=1",
                "-d", database,
            ], site: nil, program: programs + "/psql", input: statements)
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    /// Ends it, and removes its files.
    func end() async throws {
        try await run("pg_ctl", ["-D", directory.path + "/data", "-m", "immediate", "stop"])
        directory.end()
    }
}
