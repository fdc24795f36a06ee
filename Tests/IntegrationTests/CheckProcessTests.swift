// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Testing

/// `--check` of the real programs.
@Suite(.timeLimit(.minutes(2))) struct CheckProcessTests {
    private static let daemons: [(program: String, arguments: [String])] = [
        ("cairn-logd", []), ("cairn-mapstate", []), ("cairn-supervisor", []),
        ("cairn-worker", ["--pool", "work"]), ("cairn-gateway", []),
    ]

    /// A file of settings, which goes with the test.
    private func withFile<Value>(
        _ text: String, _ body: (String) async throws -> Value
    ) async throws -> Value {
        let path = NSTemporaryDirectory() + "cairn-conf-" + UUID().uuidString.prefix(8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(text.utf8).write(to: URL(filePath: path))
        return try await body(path)
    }

    @Test func `right settings end every daemon with 0, and no site is made`() async throws {
        guard Programs.areBuilt() else { return }
        let site = Programs.newSite()
        try await withFile("CAIRN_SITE=\(site)\nCAIRN_GATEWAY_PORT=7000\n") { path in
            for (program, arguments) in Self.daemons {
                let outcome = try await Programs.run(
                    arguments + ["--config", path, "--check"], site: nil, program: program)
                #expect(outcome.status == 0, "\(program): \(outcome.errors)")
                #expect(outcome.errors.isEmpty && outcome.output.isEmpty, "\(program)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: site))
    }

    @Test func `a wrong file ends every daemon with 78 and a line for each fault`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = Programs.newSite()
        try await withFile("CAIRN_LOG=loud\nCAIRN_PROT=1\n") { path in
            for (program, arguments) in Self.daemons {
                for check in [["--check"], []] {
                    let outcome = try await Programs.run(
                        arguments + check + ["--config", path], site: site, program: program)
                    let lines = outcome.errors.split(separator: "\n")
                    #expect(outcome.status == 78, "\(program)")
                    #expect(lines.count == 2, "\(program): \(outcome.errors)")
                    #expect(lines.first?.hasSuffix("\(path):2: 'CAIRN_PROT' is no setting") == true)
                    #expect(
                        lines.last?.contains("\(path):1: CAIRN_LOG is 'loud': expected one of")
                            == true)
                }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: site))
    }

    @Test func `a gateway names everything that would keep it from serving`() async throws {
        guard Programs.areBuilt() else { return }
        let outcome = try await Programs.run(
            [
                "--check", "--port", "70000", "--host", "0.0.0.0", "--trusted-proxy", "proxy",
                "--tls-key", "/nowhere/key.pem",
            ], site: nil, program: "cairn-gateway")
        #expect(outcome.status == 64)
        for text in [
            "--port is '70000': expected 0 to 65535", "no site: give --site DIRECTORY",
            "--tls-certificate and --tls-key: expected both or neither", "proxy",
            "--host 0.0.0.0 serves a network",
        ] { #expect(outcome.errors.contains(text), "\(text): \(outcome.errors)") }
        #expect(
            outcome.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("cairn-gateway: ") })
    }

    @Test func `cairn config check finds the fault of whichever program`() async throws {
        guard Programs.areBuilt() else { return }
        for (text, status, sentence) in [
            ("CAIRN_GATEWAY_CLICK_LIMIT=0\n", 78, ":1: CAIRN_GATEWAY_CLICK_LIMIT is '0'"),
            ("\nCAIRN_WORKERS=99\n", 78, ":2: CAIRN_WORKERS is '99'"),
            ("CAIRN_GATEWAY_AUDIT=some\n", 64, "CAIRN_GATEWAY_AUDIT is 'some'"),
            ("CAIRN_GATEWAY_AUDIT=0.5\nCAIRN_WORKERS=2\n", 0, ""),
        ] {
            try await withFile(text) { path in
                let outcome = try await Programs.run(["config", "check", path], site: nil)
                #expect(outcome.status == status, "\(text): \(outcome.errors)")
                #expect(sentence.isEmpty || outcome.errors.contains(sentence), "\(outcome.errors)")
            }
        }
        let example = try await Programs.run(["config", "example"], site: nil)
        try await withFile(example.output) { path in
            let outcome = try await Programs.run(["config", "check", path], site: nil)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
    }

    @Test func `cairn up refuses a file that a process refuses`() async throws {
        guard Programs.areBuilt() else { return }
        let site = Programs.newSite()
        defer { try? FileManager.default.removeItem(atPath: site) }
        let port = try Loopback.freePort()
        // Only the gateway reads the second of them.
        let text = "CAIRN_GATEWAY_PORT=\(port)\nCAIRN_GATEWAY_CLICK_LIMIT=0\n"
        try await withFile(text) { path in
            let outcome = try await Programs.run(["up", "--create", "--config", path], site: site)
            #expect(outcome.status == 78)
            #expect(
                outcome.errors
                    == "cairn-gateway: \(path):2: CAIRN_GATEWAY_CLICK_LIMIT is '0': expected 1 to 100000 microseconds\n"
            )
        }
    }

    @Test func `cairn up takes its port and numbers of workers from the file`() async throws {
        guard Programs.areBuilt() else { return }
        let site = Programs.newSite()
        defer { try? FileManager.default.removeItem(atPath: site) }
        let port = try Loopback.freePort()
        let text = "CAIRN_GATEWAY_PORT=\(port)\nCAIRN_IDENTIFY_WORKERS=1\nCAIRN_LOG=error\n"
        try await withFile(text) { path in
            let up = try await Programs.run(
                ["up", "--create", "--detach", "--json", "--config", path], site: site)
            #expect(up.status == 0, "\(up.errors)")
            let processes = up.objects.first?["processes"] as? [[String: Any]] ?? []
            #expect(processes.count { $0["role"] as? String == "identify" } == 1)
            let connection = try #require(Loopback(port: port))
            connection.get("/healthz")
            #expect(connection.answer()?.contains("\"healthy\":true") == true)
            let log = try String(contentsOfFile: site + "/run/log.log", encoding: .utf8)
            #expect(!log.contains(" info "))
            let down = try await Programs.run(["down"], site: site)
            #expect(down.status == 0)
        }
    }
}
