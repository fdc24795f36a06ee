// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Platform
import Secrets
import Site
import TestKit
import Testing

/// A whole site as `cairn up` runs it.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct UpTests {
    private func pid(_ role: String, _ site: SmallSite) async throws -> Int32 {
        let found = try await site.run("status --json").objects.first {
            $0["role"] as? String == role && $0["state"] as? String == "running"
        }
        return (found?["pid"] as? Int).map(Int32.init) ?? 0
    }

    @Test func `a site comes up once, answers, survives a death and goes down`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let port = try Loopback.freePort()

        let up = try await site.run("up --detach --port \(port)")
        try #require(up.status == 0, "\(up.errors)")
        #expect(up.output.contains("http://127.0.0.1:\(port)/arcgis/rest/services"))

        try await refusals(site, port)
        try await answers(site)
        try await jobs(site, port)
        try await restart(site)
        try await rights(site, port)

        let down = try await site.run("down")
        #expect(down.status == 0, "\(down.errors)")
        #expect(try await site.run("status").status == 69)
        #expect(!FileManager.default.fileExists(atPath: site.path + "/run/up.json"))
    }

    @Test func `a mistyped path is refused, and options hold for later starts`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try SmallSite()
        defer { site.remove() }
        let port = try Loopback.freePort()
        let missing = try await site.run("up --detach --port \(port)")
        #expect(missing.status == 1 && missing.errors.contains("--create"), "\(missing.errors)")
        #expect(!FileManager.default.fileExists(atPath: site.path))

        let first = try await site.run("up --create --detach --port \(port) --workers 2")
        try #require(first.status == 0, "\(first.errors)")
        _ = try await site.run("down")
        let second = try await site.run("up --detach")
        try #require(second.status == 0, "\(second.errors)")
        #expect(
            second.errors
                == "cairn: as at earlier starts: --port \(port) --workers 2; --forget clears them\n"
        )
        #expect(second.output.contains(":\(port)/arcgis"))
        let works = try await site.run("status --json").objects.filter {
            $0["kind"] as? String == "process" && $0["role"] as? String == "work"
        }
        #expect(works.count == 2)
        _ = try await site.run("down")
        let other = try Loopback.freePort()
        let third = try await site.run("up --detach --forget --port \(other)")
        try #require(third.status == 0, "\(third.errors)")
        #expect(third.errors.isEmpty)
        _ = try await site.run("down")
        let fourth = try await site.run("up --detach --identify-workers 2")
        #expect(fourth.errors.contains("--port \(other);"), "\(fourth.errors)")
        _ = try await site.run("down")
    }

    private func refusals(_ site: SmallSite, _ port: Int) async throws {
        let again = try await site.run("up")
        #expect(again.status == 1)
        #expect(again.errors.contains("is up already: process"))
        #expect(again.errors.split(separator: "\n").count == 1)
        let other = try SmallSite()
        defer { other.remove() }
        let taken = try await other.run("up --create --detach --port \(port)")
        #expect(taken.status == 1)
        #expect(
            taken.errors
                == "cairn: port \(port) is taken by another program: choose one with --port\n")
        for text in [
            "map show Nothing", "map hide Small nothing", "map hide Nothing squares",
            "job show j00000000000070008000000000000001", "log show 100000",
            "identify --map Small --point 1,1 --at 100000", "map create Small",
            "replay --map Nothing", "identify --map Small --point 1,1 --layers all:nothing",
            "map definition Small squares name=",
        ] {
            let outcome = try await site.run(text)
            #expect(outcome.status == 1, "\(text): \(outcome.output)")
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        }
        for text in [
            "identify --map Small --point nan,1", "identify --map Small --point 1",
            "identify --map Small --geometry POINT(1",
            "identify --map Small --point 1,1 --size 0,0",
            "identify --map Small --point 1,1 --extent 2,2,1",
            "identify --map Small --point 1,1 --layers some",
        ] {
            let outcome = try await site.run(text)
            #expect(outcome.status == 64, "\(text): \(outcome.errors)")
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        }
    }

    private func answers(_ site: SmallSite) async throws {
        let ask = "identify --map Small --point 2,2 --layers visible --tolerance 1"
        let before = try await site.run("log head").output.trimmingCharacters(in: .newlines)
        let both = try await site.run(ask)
        #expect(both.status == 0, "\(both.errors)")
        #expect(both.output.contains("points") && both.output.contains("west"))

        #expect(try await site.run("map hide Small points").status == 0)
        #expect(try await !site.run(ask).output.contains("points"))
        #expect(try await site.run(ask + " --at \(before)").output.contains("points"))

        let replay = try await site.run("replay --map Small --json").objects
        let sequences = replay.compactMap { ($0["event"] as? [String: Any])?["sequence"] as? Int }
        #expect(sequences == sequences.sorted() && sequences.count == replay.count)
        let state = try #require(replay.last?["state"] as? NSDictionary)
        let shown = try await site.run("map show Small --json").objects
        #expect((shown.first as NSDictionary?) == state, "the fold is the present")

        let frame = try await site.run("view Small --frame 60x20")
        #expect(frame.status == 0, "\(frame.errors)")
        #expect(frame.output.contains("Small") && frame.output.contains("⢸"))
        #expect(try await site.run("log verify").status == 0)
        try await completions(site)
        try await stateHash(site, at: before)
        try await changes(site, from: before)
        try await comparison(site)
    }

    /// What a shell asks for when the tabulator key is pressed behind these words.
    private func completions(_ site: SmallSite) async throws {
        func words(_ subcommands: [String], _ argument: String, _ typed: [String]) async throws
            -> [Substring]
        {
            let line = ["cairn"] + typed + [""]
            let outcome = try await Programs.run(
                ["---completion"] + subcommands + ["--", argument, "\(line.count - 1)", "0"] + line,
                site: site.path)
            return outcome.output.split(separator: "\n")
        }
        #expect(try await words(["map", "hide"], "positional@0", ["map", "hide"]) == ["Small"])
        #expect(
            try await words(["map", "hide"], "positional@1", ["map", "hide", "Small"]).sorted()
                == ["points", "squares"])
        #expect(try await words(["map", "hide"], "positional@1", ["map", "hide", "Other"]) == [])
        #expect(try await words(["identify"], "--map", ["identify", "--map"]) == ["Small"])
        #expect(
            try await words(
                ["map", "hide"], "positional@0", ["map", "hide", "--site", site.folder]) == [],
            "another site is asked")
    }

    /// Earlier requests are re-executed, and the past is replayed on another site.
    private func comparison(_ site: SmallSite) async throws {
        let same = try await site.run("replay --compare --jobs --json")
        #expect(same.status == 0, "\(same.output)\(same.errors)")
        let summary = try #require(same.objects.last)
        #expect(summary["comparedCount"] as? Int ?? 0 >= 3, "identify was asked three times")
        #expect(summary["differingCount"] as? Int == 0 && same.objects.count == 1)

        let folder = site.path + "/recordings"
        let file = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder).min())
        let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
        let lied = site.folder + "/lied.jsonl"
        try text.replacing("west", with: "veiled").replacing(
            /"answerDigest":"[0-9a-f]{4}/, with: #""answerDigest":"0000"#
        ).write(toFile: lied, atomically: true, encoding: .utf8)
        let other = try await site.run("replay --compare --json --requests \(lied)")
        #expect(other.status == 1 && other.errors.contains("differ, the first at"))
        #expect(other.objects.first?["cause"] as? String == "recordingChanged", "\(other.output)")
        let fields = (other.objects.first?["changes"] as? [[String: Any]] ?? []).compactMap {
            $0["after"] as? String
        }
        #expect(fields.contains("west"))

        let reversed = try await site.run("replay --compare --from 3 --to 2")
        #expect(reversed.status == 1 && reversed.errors.contains("in this order"))

        let head = try await site.run("log head").output
        let driven = site.folder + "/driven"
        let drive = try await site.run("replay --from 3 --speed 0 --into \(driven) --json")
        #expect(drive.status == 0, "\(drive.errors)")
        #expect(drive.objects.compactMap { $0["sequence"] as? Int }.first == 3)
        #expect(drive.objects.last?["sequence"] as? Int == Int(head.dropLast()))
        let again = try await site.run("replay --speed 0 --into \(driven)")
        #expect(again.status == 1 && again.errors.contains("takes an empty site"))
    }

    /// Changes since then, with their causes.
    private func changes(_ site: SmallSite, from before: String) async throws {
        let now = try await site.run("log head").output.trimmingCharacters(in: .newlines)
        let diff = try await site.run("log diff \(before) \(now) --map Small --json").objects
        let fields = diff.compactMap { ($0["path"] as? [String])?.joined(separator: "/") }
        #expect(fields.sorted() == ["lastChange", "layers/1/isVisible", "streamPosition"])
        #expect(diff.allSatisfy { $0["part"] as? String == "map/Small" })
        let back = try await site.run("log diff \(now) \(before)")
        #expect(back.output.contains("~ layers/1/isVisible: false → true"), "\(back.output)")
        let same = try await site.run("log diff \(now) \(now)")
        #expect(same.status == 0 && same.output.isEmpty)

        let why = try await site.run("why Small/squares --json").objects
        let types = why.compactMap { ($0["event"] as? [String: Any])?["type"] as? String }
        #expect(types == ["map.layer.added", "map.layer.loadStarted", "map.layer.loaded"])
        #expect(why.allSatisfy { $0["inferred"] as? Bool == false }, "services record causes")
        for step in why {
            let sequence = (step["event"] as? [String: Any])?["sequence"] as? Int ?? 0
            let seen = (step["saw"] as? [String: Any])?["sequence"] as? Int ?? 0
            #expect(seen == sequence - 1, "nothing but this map is written to: \(step)")
        }
        let hidden = try await site.run("why Small/points")
        #expect(hidden.output.contains("layer 1 hidden"), "\(hidden.errors)")
        #expect(hidden.output.contains("began with command"))
        #expect(try await site.run("why Small/nothing").status == 1)
    }

    /// The state of three services in memory equals the fold of the log, and the past has its
    /// earlier hash.
    private func stateHash(_ site: SmallSite, at before: String) async throws {
        let live = try await site.run("log state-hash --live --json")
        #expect(live.status == 0, "\(live.errors)")
        #expect(live.objects.count == 3)
        for line in live.objects {
            #expect((line["differences"] as? [Any])?.isEmpty == true, "\(line)")
            let compared = line["comparedCount"] as? Int ?? -1
            #expect(compared >= (line["service"] as? String == "cairn-supervisor" ? 0 : 2))
        }
        func hash(_ options: String) async throws -> String? {
            try await site.run("log state-hash --json " + options).objects.first?["hash"] as? String
        }
        let past = try await hash("--at \(before)")
        #expect(past != nil)
        #expect(try await hash("--at \(before)") == past)
        #expect(try await hash("") != past)
        #expect(try await site.run("log state-hash --at 100000").status == 1)
    }

    /// A job over HTTP, from its input to its product, by curl.
    private func jobs(_ site: SmallSite, _ port: Int) async throws {
        let service = "http://127.0.0.1:\(port)/arcgis/rest/services/Jobs/GPServer"
        func curl(_ arguments: String...) async throws -> String {
            let outcome = try await Programs.run(
                ["-s", "-S", "--max-time", "60"] + arguments, site: nil, program: "/usr/bin/curl")
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.output
        }
        func ask(_ arguments: String...) async throws -> [String: Any] {
            let text = try await curl(
                arguments[0], "-d", arguments.dropFirst().joined(separator: "&"))
            return try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)"
            )
        }
        let queries = site.folder + "/queries.jsonl"
        let lines = (0..<1_200).map { #"{"id":\#($0),"x":\#(Double($0) / 400),"y":1}"# }
        try lines.joined(separator: "\n").write(toFile: queries, atomically: true, encoding: .utf8)
        let form = try await curl(
            "-F", "f=json", "-F", "file=@\(queries)", service + "/uploads/upload")
        let plain = try await curl(
            "-H", "Content-Type: application/jsonl", "--data-binary", "@\(queries)",
            service + "/uploads/upload")
        let item = try #require(form.firstMatch(of: /"itemID":"([0-9a-f]{64})"/)?.1)
        #expect(plain.contains(item), "the same bytes are the same item")
        #expect(form.contains(#""itemName":"queries.jsonl""#))

        let task = service + "/BatchIdentify"
        let refused = try await ask(task + "/submitJob", "f=json", "input=\(item)")
        #expect("\(refused)".contains("is missing: The map that is asked"))
        let receipt = try await ask(
            task + "/submitJob", "f=json", "map=Small", "layers=all",
            "input={\"itemID\":\"\(item)\"}")
        let job = task + "/jobs/\(try #require(receipt["jobId"] as? String, "\(receipt)"))"
        var status = receipt["jobStatus"] as? String
        let end = ContinuousClock.now + .seconds(60)
        while ["esriJobSubmitted", "esriJobWaiting", "esriJobExecuting"].contains(status),
            ContinuousClock.now < end
        {
            status = try await ask(job, "f=json")["jobStatus"] as? String
        }
        #expect(status == "esriJobSucceeded")
        let whole = try await ask(job, "f=json")
        #expect(!(whole["messages"] as? [Any] ?? []).isEmpty)
        let quiet = try await ask(job, "f=json", "returnMessages=false")
        #expect((quiet["messages"] as? [Any])?.isEmpty == true)
        #expect(try await "\(ask(job + "/inputs/map", "f=json"))".contains("Small"))
        #expect(try await "\(ask(job + "/inputs/input", "f=json"))".contains("itemID"))
        let result = try await ask(job + "/results/output", "f=json")
        let url = try #require((result["value"] as? [String: Any])?["url"] as? String)
        #expect(url.hasPrefix("http://127.0.0.1:\(port)/arcgis/rest/"))
        let product = try await curl(url)
        let id = String(job.split(separator: "/").last ?? "")
        #expect(try await site.run("job result \(id)").output == product)
        #expect(product.split(separator: "\n").count == 1_200)
        let events = try await curl(job + "/changes")
        let last = try #require(events.matches(of: /id: (\d+)/).last?.1)
        #expect(events.contains("event: job") && events.contains("esriJobSucceeded"))
        let messages = whole["messages"] as? [[String: Any]] ?? []
        for message in messages.compactMap({ $0["description"] as? String }) {
            #expect(events.components(separatedBy: "\"description\":\"\(message)\"").count == 2)
        }
        let none = try await curl("-i", "-H", "Last-Event-ID: \(last)", job + "/changes")
        #expect(none.contains(" 204 "), "there is no more, so do not ask again: \(none)")
        let before = try #require(Int(last)) - 1
        let rest = try await curl("-H", "Last-Event-ID: \(before)", job + "/changes")
        #expect(rest.count < events.count && rest.contains("esriJobSucceeded"))
        let again = try await ask(job + "/cancel", "f=json")
        #expect(again["jobStatus"] as? String == "esriJobSucceeded", "it had ended")
        for path in ["/jobs/j00000000000070008000000000000001", "/jobs/x"] {
            #expect(try await ask(task + path, "f=json")["error"] != nil)
        }
        let listed = try await ask(task + "/jobs", "f=json")["jobs"] as? [[String: Any]] ?? []
        let own = try #require(listed.first { $0["jobId"] as? String == id })
        #expect(own["jobStatus"] as? String == "esriJobSucceeded")
        #expect(try await ask(service + "/BatchGeocode/jobs/" + id, "f=json")["error"] != nil)
    }

    /// The site gets users while it is up: a job and its input are their owner's.
    private func rights(_ site: SmallSite, _ port: Int) async throws {
        let hash = try #require(PasswordHash.make("password"))
        try Site(opening: site.path).access.change { rules in
            for name in ["anna", "bert"] {
                rules.users.append(
                    .init(
                        name: name, passwordHash: hash,
                        grants: [.init(.jobs), .init(.query, on: "Small")]))
            }
        }
        let quota = try await site.run("user quota anna --jobs 3 --json")
        #expect(quota.status == 0 && quota.output.contains(#""jobs":3"#), "\(quota)")
        let root = "http://127.0.0.1:\(port)/arcgis"
        let service = root + "/rest/services/Jobs/GPServer"
        func ask(_ url: String, _ form: String...) async throws -> [String: Any] {
            let outcome = try await Programs.run(
                [
                    "-s", "-S", "--max-time", "60", url, "-d",
                    (form + ["f=json"]).joined(separator: "&"),
                ],
                site: nil, program: "/usr/bin/curl")
            let found = try? JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
            return found as? [String: Any] ?? ["text": outcome.output]
        }
        func code(_ answer: [String: Any]) -> Int? {
            (answer["error"] as? [String: Any])?["code"] as? Int
        }
        func token(_ user: String) async throws -> String {
            let end = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < end {
                let given = try await ask(
                    root + "/tokens/generateToken", "username=\(user)", "password=password")
                if let token = given["token"] as? String { return "token=" + token }
            }
            Issue.record("the gateway does not know \(user)")
            return ""
        }
        let (anna, bert) = (try await token("anna"), try await token("bert"))
        let sent = try await Programs.run(
            [
                "-s", "-H", "Content-Type: application/jsonl", "--data-binary",
                "{\"id\":1,\"x\":1,\"y\":1}", service + "/uploads/upload?" + anna,
            ], site: nil, program: "/usr/bin/curl")
        let item = try #require(sent.output.firstMatch(of: /"itemID":"([0-9a-f]{64})"/)?.1)

        let submit = service + "/BatchIdentify/submitJob"
        #expect(code(try await ask(submit, "map=Small", "input=\(item)", bert)) == 404)
        let receipt = try await ask(submit, "map=Small", "input=\(item)", anna)
        let id = try #require(receipt["jobId"] as? String, "\(receipt)")
        let job = service + "/BatchIdentify/jobs/" + id
        var state: [String: Any] = [:]
        let end = ContinuousClock.now + .seconds(60)
        while state["jobStatus"] as? String != "esriJobSucceeded", ContinuousClock.now < end {
            state = try await ask(job, anna)
        }
        #expect(state["jobStatus"] as? String == "esriJobSucceeded", "\(state)")
        let product = try await ask(job + "/results/output/file", anna)
        #expect(product["answer"] != nil, "\(product)")
        for path in ["", "/results/output/file", "/inputs/input", "/cancel"] {
            #expect(code(try await ask(job + path, bert)) == 404)
            #expect(code(try await ask(job + path)) == 499)
        }
        let shown = try #require(try await site.run("job show \(id) --json").objects.first)
        #expect(shown["actor"] as? String == "user:anna")

        #expect(try await site.run("user quota anna --bytes 0").status == 0)
        var refused: [String: Any] = [:]
        while code(refused) != 429, ContinuousClock.now < end {
            refused = try await ask(submit, "map=Small", "input=\(item)", anna)
            // Meanwhile the gateway may not have read the rules.
            if code(refused) == nil {
                _ = try await site.run("job cancel \(refused["jobId"] as? String ?? "")")
            }
        }
        #expect(code(refused) == 429, "\(refused)")
    }

    private func restart(_ site: SmallSite) async throws {
        for role in ["identify", "mapstate"] {
            let first = try await pid(role, site)
            try #require(first > 0)
            kill(first, SIGKILL)
            var second = first
            for _ in 0..<200 where second == first || second == 0 {
                second = try await pid(role, site)
            }
            #expect(second != first && second > 0)
        }
        let answer = try await site.run("identify --map Small --point 1,1 --layers all")
        #expect(answer.status == 0 && answer.output.contains("west"), "\(answer.errors)")
        // The site is up although its log is away for a moment.
        let log = try await pid("log", site)
        try #require(log > 0)
        kill(log, SIGKILL)
        let head = try await site.run("log head")
        #expect(head.status == 0, "\(head.errors)")
    }
}
