// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Settings
import Testing

@Suite struct SettingsTests {
    /// Settings with a file of that text.
    private func settings(
        arguments: [String: String] = [:], environment: [String: String] = [:], file: String? = nil
    ) throws -> Settings {
        let path = NSTemporaryDirectory() + "settings-" + UUID().uuidString.prefix(8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try file.map { try Data($0.utf8).write(to: URL(filePath: path)) }
        let read = Settings(
            Setting.common + Setting.gateway, arguments: arguments, environment: environment,
            file: file == nil ? nil : path)
        return read
    }

    private func faults(
        arguments: [String: String] = [:], environment: [String: String] = [:], file: String? = nil
    ) throws -> [String] {
        try settings(arguments: arguments, environment: environment, file: file).faults.map {
            // Its path is another each time.
            $0.description.replacing(#/[^ ']*settings-[0-9A-F]{8}/#, with: "FILE")
        }
    }

    @Test func `an argument overrides the environment, which overrides the file`() throws {
        let file = "CAIRN_GATEWAY_PORT=1\nCAIRN_GATEWAY_CONNECTIONS=1\nCAIRN_LOG=error\n"
        let read = try settings(
            arguments: ["--port": "3"],
            environment: ["CAIRN_GATEWAY_PORT": "2", "CAIRN_GATEWAY_CONNECTIONS": "2"], file: file)
        #expect(read.faults == [])
        #expect(read.whole(.port) == 3)
        #expect(read.whole(.connections) == 2)
        #expect(read[.log] == "error")
        #expect(read.whole(.rateLimit) == nil)
    }

    @Test func `a file has comments, quotes, lists and flags`() throws {
        let read = try settings(
            file: """
                # A comment.

                CAIRN_SITE = "/srv/my site"
                CAIRN_GATEWAY_HOST_NAMES=a.example,b.example
                CAIRN_GATEWAY_ALLOW_PLAIN_TOKENS=yes
                """)
        #expect(read.faults == [])
        #expect(read[.site] == "/srv/my site")
        #expect(read.list(.hostNames) == ["a.example", "b.example"])
        #expect(read.flag(.allowPlainTokens) == true)
        #expect(read.flag(.identifyAtOnce) == nil)
    }

    @Test func `every wrong value is named with its source`() throws {
        #expect(
            try faults(
                arguments: ["--port": "70000"], environment: ["CAIRN_LOG": "loud"],
                file: "\nCAIRN_GATEWAY_TRANSPORT_SECURITY=-1\n"
                    + "CAIRN_GATEWAY_IDENTIFY_AT_ONCE=maybe\n"
            ) == [
                "CAIRN_LOG is 'loud': expected one of trace, debug, info, notice, warning, error, critical",
                "--port is '70000': expected 0 to 65535",
                "FILE:3: CAIRN_GATEWAY_IDENTIFY_AT_ONCE is 'maybe': expected true or false",
                "FILE:2: CAIRN_GATEWAY_TRANSPORT_SECURITY is '-1': expected 0 to 63072000 seconds",
            ])
    }

    @Test func `an overridden value is not looked at`() throws {
        #expect(
            try faults(arguments: ["--port": "1"], environment: ["CAIRN_GATEWAY_PORT": "x"]) == [])
    }

    @Test func `unknown names, repeated ones and lines without a value are named`() throws {
        #expect(
            try faults(
                environment: ["CAIRN_GATEWAY_PROT": "1", "CAIRN_TESTS": "1"],
                file: "CAIRN_GATEWAY_PROT=1\nport\nCAIRN_LOG=info\nCAIRN_LOG=debug\n"
            ) == [
                "FILE:1: 'CAIRN_GATEWAY_PROT' is no setting",
                "FILE:2: 'port': expected NAME=value",
                "FILE:4: CAIRN_LOG stands in line 3 too",
                "CAIRN_GATEWAY_PROT in the environment is no setting",
            ])
    }

    @Test func `a file that cannot be read is a fault of the file`() {
        for environment in [[:], [Settings.fileVariable: "/nowhere/cairn.conf"]] {
            let read = Settings(
                [.site], environment: environment,
                file: environment.isEmpty ? "/nowhere/cairn.conf" : nil)
            #expect(
                read.faults.map(\.description) == [
                    "the file of settings '/nowhere/cairn.conf' cannot be read"
                ])
            #expect(read.faults.map(\.isInFile) == [true])
        }
    }

    @Test func `the example, with its comment signs taken off, has no fault`() throws {
        #expect(try faults(file: Setting.example) == [])
        let lines = Setting.example.split(separator: "\n").filter { $0.hasPrefix("#CAIRN_") }
        // Those without a value unless set are left out.
        let set = lines.filter { !$0.hasSuffix("=") }.map { $0.dropFirst() }
        #expect(set.count > 10 && lines.count > 20)
        #expect(try faults(file: set.joined(separator: "\n")) == [])
    }

    @Test func `the example in the repository is what the programs print`() throws {
        let path =
            URL(filePath: #filePath).deletingLastPathComponent().path
            + "/../../deploy/cairn.example.conf"
        #expect(try String(contentsOfFile: path, encoding: .utf8) == Setting.example)
    }

    @Test func `no two settings have a name or an option in common`() {
        let options = Setting.all.compactMap(\.option)
        #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
        #expect(Set(options).count == options.count)
    }
}
