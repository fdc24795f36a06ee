// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Glibc
import TestKit
import Testing

/// `cairn up` as a service: what it sends to the service manager, and when.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct NotifyProcessTests {
    @Test func `a service manager hears when the site answers, that it lives, and that it stops`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let manager = try ServiceSocket(site.folder + "/notify")
        let port = try Loopback.freePort()
        let up = Process()
        up.executableURL = URL(filePath: Programs.folder + "/cairn")
        up.arguments = ["up", "--port", "\(port)", "--identify-workers", "2"]
        up.environment = ProcessInfo.processInfo.environment.merging([
            "CAIRN_SITE": site.path, "NOTIFY_SOCKET": site.folder + "/notify",
            "WATCHDOG_USEC": "200000",
        ]) { $1 }
        up.standardOutput = FileHandle.nullDevice
        up.standardError = FileHandle.nullDevice
        try up.run()
        defer {
            if up.isRunning { kill(up.processIdentifier, SIGKILL) }
            up.waitUntilExit()
        }

        let before = manager.datagrams(through: "READY=1")
        try #require(before.last == "READY=1", "\(before)")
        let connection = try #require(Loopback(port: port))
        connection.get("/healthz")
        #expect(connection.answer()?.contains("\"healthy\":true") == true)
        #expect(try await site.run("identify --map Small --point 1,1").status == 0)
        #expect(before.contains("STATUS=9 of 9 processes run"))

        for _ in 0..<3 {
            #expect(manager.datagrams(through: "WATCHDOG=1").last == "WATCHDOG=1")
        }
        kill(up.processIdentifier, SIGSTOP)
        while manager.next(milliseconds: 100) != nil {}
        #expect(manager.next(milliseconds: 400) == nil, "a process that is held is not alive")
        kill(up.processIdentifier, SIGCONT)
        #expect(manager.datagrams(through: "WATCHDOG=1").last == "WATCHDOG=1")

        let worker = try await site.run("status --json").objects.first {
            $0["name"] as? String == "identify-1"
        }
        kill(Int32(try #require(worker?["pid"] as? Int)), SIGKILL)
        for status in ["STATUS=8 of 9 processes run", "STATUS=9 of 9 processes run"] {
            #expect(manager.datagrams(through: status).last == status)
        }

        kill(up.processIdentifier, SIGTERM)
        let stopping = manager.datagrams(through: "STOPPING=1")
        #expect(stopping.last == "STOPPING=1" && !stopping.contains("READY=1"), "\(stopping)")
        #expect(
            manager.datagrams(through: "STATUS=0 of 9 processes run").last
                == "STATUS=0 of 9 processes run")
        up.waitUntilExit()
        #expect(up.terminationStatus == 0)
    }

    @Test func `a site whose gateway speaks TLS is up, at its own URL`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let port = try Loopback.freePort()
        let files = (chain: site.folder + "/chain.pem", key: site.folder + "/key.pem")
        try LoopbackCertificate.chain.write(
            toFile: files.chain, atomically: false, encoding: .utf8)
        try LoopbackCertificate.key.write(toFile: files.key, atomically: false, encoding: .utf8)
        let config = site.folder + "/cairn.conf"
        try """
        CAIRN_GATEWAY_PORT=\(port)
        CAIRN_GATEWAY_TLS_CERTIFICATE=\(files.chain)
        CAIRN_GATEWAY_TLS_KEY=\(files.key)

        """.write(toFile: config, atomically: false, encoding: .utf8)

        let up = try await site.run("up --detach --config \(config)")

        #expect(up.status == 0, "\(up.errors)")
        let services = "https://127.0.0.1:\(port)/arcgis/rest/services"
        #expect(up.output.contains(services), "\(up.output)")
        let answer = try await Programs.run(
            ["-sS", "--noproxy", "*", "--cacert", files.chain, services + "?f=json"], site: nil,
            program: "/usr/bin/curl")
        #expect(answer.output.contains("\"Small\""), "\(answer.errors)")
        #expect(try await site.run("down").status == 0)
    }
}
