// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Geometry
import Site
import TestKit
import Testing

/// A site whose log has gone: what can be answered is answered, and nothing is acknowledged.
@Suite(.serialized, .timeLimit(.minutes(2)), .processes) struct DegradedProcessTests {
    @Test func `without the log identify answers and says stale, and nothing is acknowledged`()
        async throws
    {
        let site = try await IdentifySite(side: 3)
        let before = try await site.client.ask(.identify, site.request(x: 1, y: 2))
        #expect(!before.isStale && before.layers.first?.results.count == 1)
        let head = try await LogReader(bus: site.client.bus).head().head

        try site.kill("cairn-logd")

        // Two seconds without a word from the log make an answer stale.
        try await site.until("a stale answer") {
            try await $0.client.ask(.identify, $0.request(x: 1, y: 2)).isStale
        }
        let after = try await site.client.ask(.identify, site.request(x: 1, y: 2))
        #expect(after.layers == before.layers && after.sequence == before.sequence)
        let answer = try http(site)
        #expect(answer.head.contains("x-cairn-stale: true"))
        #expect(answer.body.contains("\"1/2\""))

        let patient = try CairnClient(site: site.site, patience: .seconds(5))
        defer { patient.close() }
        await refuses {
            _ = try await patient.command(
                map: site.map, .addGroup(name: "Late", place: .init()))
        }
        let input = try site.site.blobs.put(Data("x,y\n1,1\n".utf8), mediaType: "text/csv")
        let job = JobSubmission(
            id: JobID(rawValue: .timeOrdered()), kind: .batchGeocode, parameters: [:],
            input: input)
        await refuses { _ = try await patient.submit(job) }

        try site.start("cairn-logd")
        try await site.until("a fresh answer") {
            try await !$0.client.ask(.identify, $0.request(x: 1, y: 2)).isStale
        }
        try await site.until("a fresh answer over HTTP") {
            try !http($0).head.contains("x-cairn-stale: ")
        }
        let log = try LogReader(bus: site.client.bus)
        let events = try await log.read(ReadRequest(after: head, limit: 100)).events
        // Refused requests are decided anew by their clients; nothing was retried by itself.
        #expect(!events.contains { $0.stream == .map(site.map) })
    }

    @Test(arguments: [SIGSTOP, SIGKILL])
    func `commands answer without the log, and say stale`(
        signal: Int32
    ) async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 3)
        let logd = try #require(site.processIDs("cairn-logd").first)
        let question = [
            "identify", "--map", "Grid", "--point", "1.7,2.9", "--layers", "all:squares",
        ]
        let before = try await Programs.run(question, site: site.files.path)
        #expect(before.status == 0 && before.output.contains("1/2"), "\(before)")
        #expect(!before.output.contains("stale"))
        if signal == SIGSTOP { try site.files.freeze(logd) } else { try site.kill("cairn-logd") }

        // Two seconds without a word from the log make an answer stale.
        try await site.until("a stale answer") { site in
            let answer = try await Programs.run(question, site: site.files.path)
            #expect(answer.status == 0 && answer.output.contains("1/2"), "\(answer.errors)")
            return answer.output.contains(", stale: the log was unreachable")
        }
        let past = try await Programs.run(
            question + ["--at", "1", "--timeout", "0.5"], site: site.files.path)
        #expect(past.status != 0 && past.output.isEmpty)
        let unknown = try await Programs.run(
            ["identify", "--map", "None", "--point", "1,1"], site: site.files.path)
        #expect(unknown.status == 1 && unknown.errors.contains("there are: Grid"))
        let batch = try await Programs.run(
            ["identify", "--map", "Grid", "--batch", "-", "--layers", "all"],
            site: site.files.path, input: #"{"geometry":{"x":1.7,"y":2.9}}"# + "\n")
        #expect(batch.output.contains("1/2"), "\(batch)")

        let status = try await Programs.run(["status"], site: site.files.path)
        #expect(status.status == 69 && status.output.contains("log   no answer\n"))
        #expect(status.output.contains("identify"), "what the supervisor says is shown")
        #expect(
            status.errors.contains(
                signal == SIGSTOP ? "process \(logd), is stopped by a signal" : "from the log"))
        let lines = try await Programs.run(["status", "--json"], site: site.files.path).objects
        let log = try #require(lines.first { $0["kind"] as? String == "log" })
        #expect(log["head"] == nil && log["site"] as? String == site.files.path)

        // With a stopped supervisor there is no answer: the command takes exactly its timeout.
        try site.files.freeze(try #require(site.processIDs("cairn-supervisor").first))
        let silent = try await Programs.run(
            question + ["--timeout", "0.2"], site: site.files.path)
        #expect(silent.status == 69 && silent.output.isEmpty, "\(silent)")
        let both = try await Programs.run(
            ["status", "--timeout", "0.2"], site: site.files.path)
        #expect(both.status == 69 && both.errors.contains(" and from the supervisor"))
    }

    @Test func `without the log places are found and said to be stale`() async throws {
        let site = try await JobSite()
        let port = try Loopback.freePort()
        try site.start("cairn-worker --pool locator")
        try site.files.start("cairn-gateway", ["--port", "\(port)"])
        try await site.waitForWorkers(1)
        let client = site.client
        let before = try await client.ask(.geocode, GeocodeRequest(singleLine: "Paris"))
        #expect(!before.isStale && !before.candidates.isEmpty)
        let paris = try #require(before.candidates.first).location
        func staleness() async throws -> [Bool] {
            let root = "/arcgis/rest/services/World/GeocodeServer/"
            func header(_ path: String, _ form: String) throws -> Bool {
                let connection = try #require(Loopback(port: port))
                connection.post(root + path, form + "&f=json")
                return try #require(connection.wholeAnswer()).head.contains("x-cairn-stale: true")
            }
            return [
                try await client.ask(.geocode, GeocodeRequest(singleLine: "Paris")).isStale,
                try await client.ask(.suggest, SuggestRequest(text: "Par")).isStale,
                try await client.ask(.reverse, ReverseGeocodeRequest(location: paris)).isStale,
                try header("findAddressCandidates", "singleLine=Paris"),
                try header("suggest", "text=Par"),
                try header("reverseGeocode", "location=\(paris.x),\(paris.y)"),
            ]
        }
        func until(_ expected: Bool) async throws -> Bool {
            try await eventually(within: .seconds(40)) {
                try await staleness() == Array(repeating: expected, count: 6)
            }
        }
        #expect(await eventually { Loopback(port: port) != nil })
        #expect(try await until(false))

        let paths = [
            ["geocode", "Paris"], ["suggest", "Par"], ["reverse", "\(paris.x),\(paris.y)"],
        ]
        for words in paths {
            let fresh = try await Programs.run(words, site: site.files.path)
            #expect(fresh.status == 0 && !fresh.output.contains("stale"), "\(fresh)")
        }

        site.files.kill(try #require(site.processIDs("cairn-logd").first))
        #expect(try await until(true))
        for words in paths {
            let stale = try await Programs.run(words, site: site.files.path)
            #expect(stale.status == 0 && stale.output.contains("stale: the log"), "\(stale)")
            let lines = try await Programs.run(words + ["--json"], site: site.files.path).objects
            #expect(!lines.isEmpty && lines.allSatisfy { $0["isStale"] as? Bool == true })
        }
        var answer = try await client.ask(.geocode, GeocodeRequest(singleLine: "Paris"))
        answer.isStale = false
        #expect(answer == before)

        try site.start("cairn-logd")
        #expect(try await until(false))
    }

    private func http(_ site: IdentifySite) throws -> (head: String, body: String) {
        let connection = try #require(Loopback(port: site.port))
        connection.post(site.path, site.form(x: 1, y: 2) + "&f=json")
        return try #require(connection.wholeAnswer())
    }

    /// Every refusal calls for another attempt.
    private func refuses(_ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("acknowledged without a log")
        } catch {
            #expect((error as? Failure)?.isRetriable == true, "\(error)")
        }
    }

    @Test(arguments: [
        "cairn-worker --pool identify", "cairn-worker --pool locator", "cairn-worker --pool work",
        "cairn-mapstate", "cairn-supervisor",
    ])
    func `a process that is asked to end waits no longer for a log that is away`(
        name: String
    ) async throws {
        guard Programs.areBuilt() else { return }
        let files = try TestSite()
        defer { files.end() }
        _ = try Site(openingOrCreating: files.path)
        let processID = try files.start(name, environment: ["CAIRN_LOG": "info"])
        try await waitUntil("\(name) has started", detail: files.output()) {
            files.output().contains("started")
        }

        files.signal(processID, SIGTERM)

        #expect(files.waitForExit(processID) == 0)
        let output = files.output()
        #expect(output.contains("ended"), "\(output)")
        // As it would after its ten seconds.
        #expect(!output.contains("before the log has been read"), "\(output)")
    }
}
