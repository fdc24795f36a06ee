// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Site
import TestKit
import Testing

@testable import Gateway

/// A site whose secrets are words that begin with `CANARY`, and nine kinds of callers.
///
/// Each word names the rule that hides it from a reader of the map `Open` that requests the past or
/// another map.
private struct CanarySite {
    /// Words that only the past of `Open` holds.
    static let past: Set<String> = [
        "CANARYDEFINITION", "CANARYDELETED", "CANARYUNQUERYABLE", "CANARYLAYER", "CANARYEDITED",
    ]
    /// Words of services, jobs and settings that only the owner has.
    static let others: Set<String> = [
        "CANARYSHUT", "CANARYLOCATOR", "CANARYUPLOAD", "CANARYURL",
    ]
    static let words = past.union(others)

    /// The words in a text, most of which have none.
    static func words(in text: String) -> Set<String> {
        guard Loopback.offset(of: "CANARY", in: Array(text.utf8)) != nil else { return [] }
        return words.filter { text.contains($0) }
    }

    /// The callers: name, what they are allowed, the words they may read.
    static let callers: [(name: String, grants: [String], words: Set<String>)] = [
        ("none", [], []),
        ("reader", ["query:Open"], []),
        ("jobs", ["jobs"], []),
        ("editor", ["edit"], []),
        ("figures", ["metrics"], []),
        ("auditor", ["audit"], []),
        ("historian", ["query:Open", "history:Open"], past),
        (
            "owner", ["query", "edit", "jobs", "metrics", "history", "manageJobs", "admin"], words
        ),
    ]

    let site: SmallSite
    let port: Int
    /// The sequence number at which everything was still to be seen.
    var before = 0
    /// Jobs of the owner, by kind.
    var jobs: [String: String] = [:]
    var upload = ""
    var tokens: [String: String] = [:]

    private static func point(_ x: Int, _ name: String, _ kind: String) -> String {
        #"{"type":"Feature","properties":{"name":"\#(name)","kind":"\#(kind)"},"#
            + #""geometry":{"type":"Point","coordinates":[\#(x),\#(x)]}}"#
    }

    init() async throws {
        site = try SmallSite()
        port = try Loopback.freePort()
        try site.write(
            "places",
            [
                Self.point(1, "plain", "open"), Self.point(2, "CANARYDEFINITION", "shut"),
                Self.point(3, "CANARYDELETED", "open"), Self.point(4, "CANARYEDITED", "open"),
            ])
        try site.write("wells", [Self.point(5, "CANARYUNQUERYABLE", "open")])
        try site.write("gone", [Self.point(6, "CANARYLAYER", "open")])
        try site.write("shut", [Self.point(5, "CANARYSHUT", "open")])
        try """
        1A-1,1,Rue CANARYLOCATOR,08090,Aiglemont,OSM,49.780100,4.764200
        1A-3,3,Rue CANARYLOCATOR,08090,Aiglemont,OSM,49.780300,4.764400
        """.write(toFile: site.folder + "/bano-08.csv", atomically: true, encoding: .utf8)
        for name in ["places", "wells", "gone"] {
            try await run("import \(site.folder)/\(name).geojson --map Open")
        }
        for _ in 0..<4 { try await run("import \(site.folder)/shut.geojson --map Shut") }
        try await run("locator build World \(site.folder)/bano-08.csv")
        try await run("up --detach --port \(port)")
        try await run("map add-service Open far http://127.0.0.1:9/CANARYURL/MapServer")
        try await run("map editable Open places on")
        for caller in Self.callers {
            let allowed = caller.grants.flatMap { ["--allow", $0] }
            let added = try await Programs.run(
                ["user", "add", caller.name] + allowed, site: site.path,
                input: "long enough for \(caller.name)\n")
            try #require(added.status == 0, "\(added.errors)")
        }
        let port = port
        tokens = try await Self.onThread { () throws in
            var tokens: [String: String] = [:]
            for caller in Self.callers {
                let body = try MatrixClient(port: port).text(
                    "/arcgis/tokens/generateToken",
                    [("username", caller.name), ("password", "long enough for " + caller.name)],
                    isPost: true)
                let token: String = try #require(
                    body.matched("\"token\":\"([^\"]+)\""), "\(body)")
                tokens[caller.name] = token
            }
            return tokens
        }
        try #require(tokens.count == Self.callers.count)
        try await makeJobs()
        before = try await head()
        try await hide()
    }

    /// Uploads of the owner, and jobs on them whose products contain the content of `Shut` and the
    /// locator.
    private mutating func makeJobs() async throws {
        let (port, token) = (port, tokens["owner"] ?? "")
        let path = "/arcgis/rest/services/Jobs/GPServer"
        (upload, jobs) = try await Self.onThread { () throws in
            let client = try MatrixClient(port: port)
            func upload(_ content: String) throws -> String {
                let answer = try client.text(
                    path + "/uploads/upload?f=json&token=" + token, body: content)
                return try #require(answer.matched("\"itemID\":\"([^\"]+)\""), "\(answer)")
            }
            func submit(_ kind: String, _ parameters: [(String, String)]) throws -> String {
                let answer = try client.text(
                    "\(path)/\(kind)/submitJob",
                    parameters + [("f", "json"), ("token", token)], isPost: true)
                return try #require(answer.matched("\"jobId\":\"([^\"]+)\""), "\(answer)")
            }
            let places = try upload(#"{"geometry":{"x":5,"y":5},"id":"CANARYUPLOAD"}"# + "\n")
            let addresses = try upload("query\n1 Rue CANARYLOCATO Aiglemont\n")
            return (
                places,
                [
                    "BatchIdentify": try submit(
                        "BatchIdentify",
                        [("input", places), ("map", "Shut"), ("layers", "all")]),
                    "BatchGeocode": try submit("BatchGeocode", [("input", addresses)]),
                    "ExportTiles": try submit("ExportTiles", [("map", "Shut"), ("levels", "0")]),
                ]
            )
        }
        for job in jobs.values { try await run("job watch \(job)") }
    }

    /// Hides in each way there is what could be read until now.
    private func hide() async throws {
        let (port, token) = (port, tokens["owner"] ?? "")
        try await Self.onThread { () throws in
            let edited = try MatrixClient(port: port).text(
                "/arcgis/rest/services/Open/FeatureServer/0/applyEdits",
                [
                    ("deletes", "3"),
                    ("updates", #"[{"attributes":{"OBJECTID":4,"kind":"shut"}}]"#),
                    ("rollbackOnFailure", "true"), ("f", "json"), ("token", token),
                ], isPost: true)
            try #require(
                edited.components(separatedBy: "\"success\":true").count == 3, "\(edited)")
        }
        try await run("map definition Open places kind='open'")
        try await run("map queryable Open wells off")
        try await run("map remove Open gone")
    }

    private func head() async throws -> Int {
        let text = try await site.run("log head").output
        return try #require(Int(text.filter(\.isNumber)))
    }

    private func run(_ text: String) async throws {
        let outcome = try await site.run(text)
        try #require(outcome.status == 0, "\(text): \(outcome.errors)")
    }

    /// Calls `body`, which may block, on a thread of its own.
    static func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }
}

extension String {
    /// The first group of a pattern's match.
    fileprivate func matched(_ pattern: String) -> String? {
        guard let regex = try? Regex(pattern), let match = firstMatch(of: regex) else {
            return nil
        }
        return match.output.count > 1 ? match.output[1].substring.map(String.init) : nil
    }
}

/// Requests one after the other, on a connection that is kept while the server keeps it.
private final class MatrixClient {
    private let port: Int
    private var connection: Loopback

    init(port: Int) throws {
        self.port = port
        connection = try #require(Loopback(port: port))
    }

    /// The head and the body of an answer; of a stream what comes with its head.
    func text(
        _ path: String, _ parameters: [(String, String)] = [], isPost: Bool = false,
        isStream: Bool = false, body: String? = nil
    ) throws -> String {
        for _ in 0..<2 {
            if let text = attempt(path, parameters, isPost, isStream, body) { return text }
            connection = try #require(Loopback(port: port))
        }
        throw MatrixFailure(description: "no answer to \(path) \(parameters)")
    }

    private func attempt(
        _ path: String, _ parameters: [(String, String)], _ isPost: Bool, _ isStream: Bool,
        _ body: String?
    ) -> String? {
        let form = parameters.map { Parameters.encode($0.0) + "=" + Parameters.encode($0.1) }
            .joined(separator: "&")
        let url = isPost || form.isEmpty ? path : path + "?" + form
        let content = body ?? (isPost ? form : "")
        var head = "\(isPost || body != nil ? "POST" : "GET") \(url) HTTP/1.1\r\n"
        head += "Host: 127.0.0.1:\(port)\r\n"
        if isPost || body != nil {
            let type = body == nil ? "application/x-www-form-urlencoded" : "text/plain"
            head += "Content-Type: \(type)\r\nContent-Length: \(content.utf8.count)\r\n"
        }
        connection.send(head + "\r\n" + content)
        guard isStream else { return connection.wholeAnswer().map { $0.head + "\n" + $0.body } }
        var bytes: [UInt8] = []
        while Self.missingCount(bytes) ?? 1 > 0, let more = connection.read(), !more.isEmpty {
            bytes += more
            if Self.isHeadComplete(bytes), Self.missingCount(bytes) == nil { break }
        }
        // A refusal is no stream.
        if Self.missingCount(bytes) == 0 { return String(decoding: bytes, as: UTF8.self) }
        // The stream continues while the caller listens: the bytes so far are its answer.
        while let more = connection.read(milliseconds: 20), !more.isEmpty { bytes += more }
        connection.leave()
        connection = Loopback(port: port) ?? connection
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

extension MatrixClient {
    private static func isHeadComplete(_ bytes: [UInt8]) -> Bool {
        Loopback.endOfHead(bytes) != nil
    }

    /// Number of bytes of the body still to come; nil for an incomplete head or one without a
    /// length.
    private static func missingCount(_ bytes: [UInt8]) -> Int? {
        guard let end = Loopback.endOfHead(bytes) else { return nil }
        let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
        guard let match = head.firstMatch(of: /content-length: *([0-9]+)/), let count = Int(match.1)
        else { return nil }
        return max(0, end + 4 + count - bytes.count)
    }
}

private struct MatrixFailure: Error, CustomStringConvertible {
    var description: String
}

/// Every resource × every parameter left out, empty and doubled × nine kinds of callers × now and
/// as of a moment.
@Suite(.serialized, .timeLimit(.minutes(10)), .processes) struct AuthorisationMatrixTests {
    /// A caller's view of one site.
    private struct Sighting: Hashable, Sendable {
        var word: String
        var kind: String
    }

    @Test func `the matrix has every kind of resource, and every parameter that the gateway reads`()
        throws
    {
        let subject = MatrixSubject(
            map: "m", locator: "l", jobs: ["BatchIdentify": "j"], upload: "u")
        let requests = RouteTable.shared.labels.map { ($0, subject.requests(for: $0)) }
        for (kind, requests) in requests {
            #expect(!requests.isEmpty, "\(kind)")
            for request in requests {
                let match = RouteTable.shared.match(request.path.utf8)
                #expect(match.route.label == kind, "\(request.path)")
            }
        }

        let read = Set(
            RouteTable.shared.routes.flatMap { $0.allParameters.map(\.name) + $0.refuses })
        #expect(read.count > 50)
        let asked = Set(requests.flatMap { $0.1.flatMap { $0.parameters.map(\.name) } })
            .union(["at", "token", "historicMoment"])
        let lowered = Set(asked.map { $0.lowercased() })
        #expect(read.filter { !lowered.contains($0.lowercased()) }.sorted() == [])
    }

    @Test func `nothing that a caller was not given appears in any answer`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await CanarySite()
        defer { site.site.remove() }
        let callers =
            [("anonymous", "", Set<String>())]
            + CanarySite.callers.map { ($0.name, site.tokens[$0.name] ?? "", $0.words) }
        var seen: [String: Set<Sighting>] = [:]
        // Those that change nothing are heard two at a time.
        var left = callers[...]
        while let first = left.popFirst() {
            var heard = [first]
            if let second = left.first, ![first.0, second.0].contains(where: Self.changes) {
                heard.append(second)
                left.removeFirst()
            }
            try await withThrowingTaskGroup { group in
                for (name, token, words) in heard {
                    group.addTask {
                        (name, try await Self.check(name, token, words, of: site))
                    }
                }
                for try await (name, sightings) in group { seen[name] = sightings }
            }
        }
        // Else the requests would not have found what they look for.
        #expect(Set((seen["historian"] ?? []).map(\.word)) == CanarySite.past)
        #expect(Set((seen["owner"] ?? []).map(\.word)) == CanarySite.words)
        _ = try await site.site.run("down")
    }

    /// The owner may read `Shut`, and the editor edit it.
    private static func changes(_ name: String) -> Bool { name == "owner" || name == "editor" }

    /// What a caller sees, which must be what it was given.
    private static func check(
        _ name: String, _ token: String, _ words: Set<String>, of site: CanarySite
    ) async throws -> Set<Sighting> {
        let (sightings, count, faults) = try await CanarySite.onThread { () throws in
            try Self.sightings(site, token)
        }
        #expect(count > 1_000)
        #expect(faults == [], "\(name)")
        let stray = sightings.filter { !words.contains($0.word) }
        #expect(
            stray.map { "\($0.word) by \($0.kind)" }.sorted() == [],
            "\(name) was shown what it may not read")
        guard !changes(name) else { return sightings }
        let told = try await CanarySite.onThread { () throws in
            try Self.differences(site, token)
        }
        #expect(told == [], "\(name) can tell a map it may not read from none")
        return sightings
    }

    /// The requests that are answered otherwise of a map that the caller may not read than of one
    /// that is not there.
    private static func differences(_ site: CanarySite, _ token: String) throws -> [String] {
        let client = try MatrixClient(port: site.port)
        let siteID = try Site(opening: site.site.path).identity.siteID
        func answer(_ request: MatrixRequest) throws -> String {
            let parameters =
                (request.variants.first ?? []).map { ($0.name, $0.value) }
                + (token.isEmpty ? [] : [("token", token)])
            let text = try client.text(
                request.path, parameters, isPost: request.isPost, isStream: request.isStream)
            return text.split(whereSeparator: \.isNewline)
                .filter { !$0.lowercased().hasPrefix("date:") }
                .joined(separator: "\n").replacing("None", with: "Shut")
                .replacing("none", with: "shut")
        }
        func requests(_ map: String) -> [MatrixRequest] {
            let subject = MatrixSubject(
                map: map, locator: "World", jobs: site.jobs, upload: site.upload,
                site: siteID)
            return RouteTable.shared.labels.flatMap { subject.requests(for: $0) }
        }
        return try zip(requests("Shut"), requests("None")).compactMap { shut, none in
            // A request without a map is checked elsewhere.
            guard shut != none else { return nil }
            let (there, absent) = (try answer(shut), try answer(none))
            return there == absent ? nil : "\(shut.path): \(there) instead of \(absent)"
        }
    }

    /// The words in the answers to one caller, how many requests there were, and what was no answer
    /// at all.
    private static func sightings(
        _ site: CanarySite, _ token: String
    ) throws -> (Set<Sighting>, count: Int, faults: [String]) {
        let client = try MatrixClient(port: site.port)
        let siteID = try Site(opening: site.site.path).identity.siteID
        var (found, count, faults): (Set<Sighting>, Int, [String]) = ([], 0, [])
        let moments = [nil, "\(site.before)"]
        for map in ["Open", "Shut"] {
            let subject = MatrixSubject(
                map: map, locator: "World", jobs: site.jobs, upload: site.upload,
                site: siteID)
            for kind in RouteTable.shared.labels {
                for request in subject.requests(for: kind) {
                    for moment in moments {
                        for variant in request.variants {
                            var parameters = variant.map { ($0.name, $0.value) }
                            if let moment { parameters.append(("at", moment)) }
                            if !token.isEmpty { parameters.append(("token", token)) }
                            let text = try client.text(
                                request.path, parameters, isPost: request.isPost,
                                isStream: request.isStream)
                            count += 1
                            for word in CanarySite.words(in: text) {
                                guard !parameters.contains(where: { $0.1.contains(word) })
                                else { continue }
                                found.insert(Sighting(word: word, kind: "\(kind)"))
                            }
                            if text.lowercased().hasPrefix("http/1.1 5") {
                                faults.append("\(request.path): \(text.prefix(80))")
                            }
                        }
                    }
                }
            }
        }
        return (found, count, faults)
    }
}
