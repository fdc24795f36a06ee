// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import Foundation
import JobKinds
import Platform
import Site
import Synchronization
import TestKit
import Testing

@testable import Gateway

private let tasks = "/arcgis/rest/services/Jobs/GPServer/"

/// Visible jobs by caller, in every resource that lists any.
@Suite struct JobRightsTests {
    private static let everything: [AccessRules.Grant] = [.init(.jobs), .init(.query)]
    private static let users: [String: [AccessRules.Grant]] = [
        "anna": [
            .init(.jobs), .init(.query, on: "City"), .init(.query, on: "world"),
            .init(.query, on: "town"),
        ],
        "bert": everything, "jobsOnly": [.init(.jobs)],
        "cityOnly": [.init(.jobs), .init(.query, on: "City")],
        "manager": everything + [.init(.manageJobs), .init(.history)],
        "blindManager": [.init(.jobs), .init(.manageJobs)],
    ]

    private static let anonymous: [AccessRules.Grant] = [.init(.jobs), .init(.query, on: "City")]

    private let jobs: SimulatedJobs
    private let ruled: RuledSite
    private let service: GatewayService

    init() throws {
        jobs = try SimulatedJobs()
        ruled = try RuledSite(Self.users, anonymous: Self.anonymous)
        service = GatewayService(
            backend: SimulatedSite(map: try Samples.map(), jobs: jobs),
            access: try ruled.control())
    }

    private func add(
        _ kind: JobKind, _ parameters: [String: String], actor: String?
    ) async throws -> JobDescription {
        let input = try jobs.blobs.put(Data("x\n".utf8), mediaType: "text/csv")
        let product = try jobs.blobs.put(Data("secret\n".utf8), mediaType: "text/csv")
        let job = try await jobs.submit(
            JobSubmission(
                id: JobID(rawValue: .unguessable()), kind: kind, parameters: parameters,
                input: input, actor: actor))
        jobs.change(job.id) { $0.result = product }
        return try await jobs.job(job.id)
    }

    private func token(_ user: String?) async throws -> String {
        guard let user else { return "" }
        let answer = await ask(
            "/arcgis/tokens/generateToken", form: "username=\(user)&password=password&f=json")
        return try #require(JSONTree(answer.body)?["token"]?.text)
    }

    private func ask(_ url: String, form: String = "") async -> GatewayResponse {
        let parts = url.split(separator: "?", maxSplits: 1)
        return await service.answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
                form: Array(form.utf8), client: RequestClient(isPrivate: true)))
    }

    private static let details = [
        "", "/cancel", "/changes", "/inputs/input", "/inputs/locator", "/inputs/map",
        "/results/output", "/results/output/file",
    ]

    /// The parts of a job that a user receives; every refusal equals that of a missing job.
    private func seen(_ job: JobDescription, by user: String?) async throws -> Set<String> {
        let token = try await token(user)
        let task = tasks + job.kind.rawValue
        var seen: Set<String> = []
        for detail in Self.details {
            let answer = await ask("\(task)/jobs/\(job.id)\(detail)?f=json&token=\(token)")
            let other = JobID(rawValue: .unguessable())
            let missing = await ask("\(task)/jobs/\(other)\(detail)?f=json&token=\(token)")
            let (text, absent) = (
                String(decoding: answer.body, as: UTF8.self),
                String(decoding: missing.body, as: UTF8.self)
            )
            if text.replacing("\(job.id)", with: "\(other)") == absent {
                #expect(answer.status == missing.status && answer.headers == missing.headers)
                #expect(answer.sequence == nil && answer.file == nil && answer.changes == nil)
            } else if !text.contains("has no input") {
                seen.insert(detail)
            }
        }
        let list = await ask("\(task)/jobs?f=json&token=\(token)")
        if String(decoding: list.body, as: UTF8.self).contains("\(job.id)") { seen.insert("list") }
        let all = await ask("\(tasks)jobs?f=json&token=\(token)")
        #expect(
            String(decoding: all.body, as: UTF8.self).contains("\(job.id)")
                == seen.contains("list"))
        return seen
    }

    private static let ownGeocode: Set = [
        "", "/cancel", "/changes", "/inputs/input", "/inputs/locator", "/results/output",
        "/results/output/file", "list",
    ]

    @Test(.slow, arguments: [[:], ["locator": ""], ["locator": " "], ["locator": "WORLD"]])
    func `a geocode job is its submitter's, and of those who manage jobs and may ask its locator`(
        _ parameters: [String: String]
    ) async throws {
        let job = try await add(.batchGeocode, parameters, actor: "user:anna")

        for user in ["anna", "manager"] {
            #expect(try await seen(job, by: user) == Self.ownGeocode, "\(user)")
        }
        for user in [nil, "bert", "jobsOnly", "cityOnly", "blindManager"] {
            #expect(try await seen(job, by: user) == [], "\(user ?? "no token")")
        }
        #expect(Set(jobs.cancelled) == ["user:anna", "user:manager"])
    }

    @Test func `a submitter who may not ask the locator any more has lost the job`() async throws {
        let job = try await add(.batchGeocode, [:], actor: "user:anna")
        try ruled.store.change { rules throws(Failure) in
            for index in rules.users.indices where rules.users[index].name == "anna" {
                rules.users[index].grants = [.init(.jobs), .init(.query, on: "City")]
            }
        }
        service.access.refresh()
        #expect(try await seen(job, by: "anna") == [])
    }

    @Test func `a removed user's job is left to those who manage jobs`() async throws {
        let job = try await add(.batchIdentify, ["map": "City"], actor: "user:anna")
        let token = try await token("anna")
        try ruled.store.change { rules throws(Failure) in
            rules.users.removeAll { $0.name == "anna" }
        }
        service.access.refresh()

        let answer = await ask("\(tasks)BatchIdentify/jobs/\(job.id)?f=json&token=\(token)")
        #expect(JSONTree(answer.body)?["error"]?["code"]?.whole == 498)
        #expect(try await seen(job, by: "bert") == [])
        #expect(try await seen(job, by: "manager").contains("list"))
    }

    @Test func `a job without a token is its id's holder's, and in no list but a manager's`()
        async throws
    {
        let job = try await add(.batchIdentify, ["map": "City"], actor: "gateway:anonymous")
        let all: Set = Self.ownGeocode.subtracting(["/inputs/locator"]).union(["/inputs/map"])
        for user in [nil, "bert", "cityOnly", "anna"] {
            #expect(
                try await seen(job, by: user) == all.subtracting(["list"]),
                "\(user ?? "no token")")
        }
        #expect(try await seen(job, by: "manager") == all)
        let secret = try await add(.batchIdentify, ["map": "Secret"], actor: "gateway:anonymous")
        for user in [nil, "cityOnly", "jobsOnly"] {
            #expect(try await seen(secret, by: user) == [])
        }
    }

    @Test(.slow, arguments: ["gateway", "anna", "anonymous", nil])
    func `a job that no user of the gateway submitted is seen by those who manage jobs`(
        _ actor: String?
    ) async throws {
        let job = try await add(.batchIdentify, ["map": "City"], actor: actor)
        for user in [nil, "anna", "bert"] { #expect(try await seen(job, by: user) == []) }
        #expect(try await seen(job, by: "manager").contains("list"))
    }

    @Test(
        .slow,
        arguments: [
            (JobKind.batch, [:]), (.batchGeocode, ["LOCATOR": "World"]),
            (.batchGeocode, ["colour": "red"]), (JobKind(rawValue: "Batch"), ["sideBySide": "1"]),
        ] as [(JobKind, [String: String])])
    func `a job whose reading is not known is read by those who may read everything`(
        _ kind: JobKind, _ parameters: [String: String]
    ) async throws {
        let job = try await add(kind, parameters, actor: "user:anna")
        #expect(try await seen(job, by: "anna") == [])
        #expect(try await seen(job, by: "manager").contains("list"))
    }

    @Test func `every caller of an open site sees every job`() async throws {
        let open = GatewayService(backend: SimulatedSite(map: try Samples.map(), jobs: jobs))
        for actor in ["user:anna", "gateway:anonymous", "gateway", nil] {
            let job = try await add(.batchGeocode, [:], actor: actor)
            let answer = await open.answer(
                GatewayRequest(path: Array("\(tasks)BatchGeocode/jobs/\(job.id)".utf8)))
            #expect(JSONTree(answer.body)?["jobId"]?.text == "\(job.id)")
        }
        #expect(Caller.unruled.actor == "gateway")
    }

    @Test(arguments: [nil, "anna", "jobsOnly", "blindManager"])
    func `a job on what one may not read is refused alike whether that exists or not`(
        _ user: String?
    ) async throws {
        let token = try await token(user)
        let refusal: Int64 = user == nil ? 499 : 403
        for (task, parameter) in [
            ("BatchIdentify", "map=Secret"), ("BatchIdentify", "map=None"),
            ("BatchIdentify", "map=%20City"), ("BatchGeocode", "locator=Secret"),
            ("BatchGeocode", "LOCATOR=None"), ("BatchGeocode", "locator=Secret&locator=World"),
            ("Batch", "sideBySide=1"), ("BatchRoute", "network=Secret"),
            ("ODMatrix", "network=None"), ("ServiceAreas", "network=Secret&breaks=1"),
        ] {
            for input in [String(repeating: "a", count: 64), "nothing"] {
                let answer = await ask(
                    "\(tasks)\(task)/submitJob",
                    form: "\(parameter)&input=\(input)&f=json&token=\(token)")
                #expect(
                    JSONTree(answer.body)?["error"]?["code"]?.whole == refusal,
                    "\(task) \(parameter)")
            }
        }
        #expect(jobs.known.isEmpty)
    }

    /// The service that jobs of a kind read by their parameters, written by hand: a new kind is an
    /// entry here.
    private static func read(_ kind: String, _ given: [String: String]) -> (
        service: String?, isPast: Bool
    )? {
        switch kind {
        case "Batch": (nil, true)
        case "BatchGeocode": (given["locator"] ?? "World", false)
        case "BatchIdentify", "ExportFeatures": (given["map"], given["at"] != nil)
        case "ExportTiles", "ExportVectorTiles":
            (given["map"], given["at"] != nil || given["since"] != nil)
        case "BatchRoute", "ODMatrix", "ServiceAreas": (given["network"], given["at"] != nil)
        case "FindRoutes", "FindClosestFacilities", "GenerateServiceAreas",
            "GenerateOriginDestinationCostMatrix":
            (given["network"], false)
        default: nil
        }
    }

    private static func value(_ parameter: JobKindDescription.Parameter) -> String {
        if let known = [
            "map": "City", "locator": "World", "at": "1", "levels": "0", "area": "1,1,2,2",
            "layers": "0", "network": "Town",
        ][parameter.name] {
            return known
        }
        if let value = parameter.defaultValue ?? parameter.choices.first { return value }
        return parameter.type == .text ? "x" : "1"
    }

    @Test(.slow, arguments: JobKindDescription.all)
    func `a user submits jobs on what they may read alone, whatever parameter is left out`(
        _ kind: JobKindDescription
    ) async throws {
        for user in Self.users.keys.sorted() {
            let token = try await token(user)
            let grants = (Self.users[user] ?? []) + Self.anonymous
            for left in [nil] + kind.parameters.map({ Optional($0.name) }) {
                var given: [String: String] = [:]
                for parameter in kind.parameters where parameter.name != left {
                    given[parameter.name] = Self.value(parameter)
                }
                let form = given.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
                let answer = await ask(
                    "\(tasks)\(kind.kind.rawValue)/submitJob",
                    form: "\(form)&input=nothing&f=json&token=\(token)")

                let read = try #require(Self.read(kind.kind.rawValue, given))
                let mayRead = grants.contains { grant in
                    grant.operation == .query
                        && (grant.service == "*"
                            || grant.service.lowercased() == read.service?.lowercased())
                }
                let maySeePast = !read.isPast || grants.contains { $0.operation == .history }
                let isMissing = kind.parameters.contains { $0.name == left && $0.isRequired }
                let isRefused = !isMissing && !(mayRead && maySeePast)
                let code = JSONTree(answer.body)?["error"]?["code"]?.whole
                #expect((code == 403) == isRefused, "\(user) without \(left ?? "nothing"): \(form)")
                #expect(isRefused || code != nil || kind.input == nil)
            }
        }
        #expect(kind.input == nil || jobs.known.isEmpty)
    }

    @Test func `a follower loses a job with the right to what it reads`() async throws {
        let job = try await add(.batchIdentify, ["map": "City"], actor: "gateway:anonymous")
        let answer = await ask("\(tasks)BatchIdentify/jobs/\(job.id)/changes")
        let isStillAdmitted = try #require(answer.isStillAdmitted)
        try isStillAdmitted()
        try ruled.store.change { $0.anonymous = [.init(.jobs), .init(.query, on: "Other")] }
        service.access.refresh()

        let failure = #expect(throws: Failure.self) { try isStillAdmitted() }
        #expect(failure?.code == .notFound)
    }

    @Test func `an id that belongs to its holder does not follow from another`() {
        func random(_ id: UUID) -> UInt64 { id.words.1 & 0x3fff_ffff_ffff_ffff }
        let (first, second) = (UUID.unguessable(), UUID.unguessable())
        // The next values of SplitMix64 from each state that could have produced the first.
        var following: Set<UInt64> = []
        for top in 0..<4 as Range<UInt64> {
            var state = Self.unmixed(random(first) | top << 62)
            for _ in 0..<1_000 {
                state &+= 0x9e37_79b9_7f4a_7c15
                following.insert(Self.mixed(state) & 0x3fff_ffff_ffff_ffff)
            }
        }
        #expect(!following.contains(random(second)))
    }

    private static func mixed(_ state: UInt64) -> UInt64 {
        var number = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ number >> 27) &* 0x94d0_49bb_1331_11eb
        return number ^ number >> 31
    }

    private static func unmixed(_ number: UInt64) -> UInt64 {
        func unshifted(_ number: UInt64, _ count: UInt64) -> UInt64 {
            var result = number
            for _ in 0..<3 { result = number ^ result >> count }
            return result
        }
        var state = unshifted(number, 31) &* 0x3196_42b2_d24d_8ec3
        state = unshifted(state, 27) &* 0x96de_1b17_3f11_9089
        return unshifted(state, 30)
    }
}
