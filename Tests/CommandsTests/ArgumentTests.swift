// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import CairnModel
import Geometry
import Glibc
import Recording
import Settings
import TestKit
import Testing

@testable import Commands

@Suite struct ArgumentTests {
    private func parse<Command>(_ text: String, as type: Command.Type) throws -> Command {
        let words = text.split(separator: " ").map(String.init)
        let command = try CairnCommand.parseAsRoot(CairnCommand.readable(words))
        return try #require(command as? Command, "\(text) is \(Swift.type(of: command))")
    }

    @Test func `every subcommand has a summary and help`() {
        func check(_ type: any ParsableCommand.Type) {
            #expect(!type.configuration.abstract.isEmpty, "\(type)")
            #expect(CairnCommand.helpMessage(for: type).contains("USAGE"))
            for subcommand in type.configuration.subcommands { check(subcommand) }
        }
        check(CairnCommand.self)
    }

    @Test func `every command that works takes --site and --json`() {
        func check(_ type: any ParsableCommand.Type) {
            if type.configuration.subcommands.isEmpty {
                let help = CairnCommand.helpMessage(for: type)
                #expect(help.contains("--site"), "\(type)")
                #expect(help.contains("--json"), "\(type)")
            }
            for subcommand in type.configuration.subcommands { check(subcommand) }
        }
        check(CairnCommand.self)
    }

    @Test(arguments: WorkerPool.table)
    func `the number of every pool's processes is an option, from 1 to 64`(
        settings: WorkerPool.Settings
    ) throws {
        let option = "--\(settings.countOption)"

        #expect(try parse("up \(option) 5", as: UpCommand.self).pools.counts == [settings.pool: 5])
        #expect(settings.pool.countSetting.form == .whole(1...64))
        for count in ["0", "65"] {
            #expect(throws: (any Error).self) {
                try parse("up \(option) \(count)", as: UpCommand.self)
            }
        }
    }

    @Test func `a site's plans are those of its pools, each with its number of processes`() {
        let shape = SiteShape(workerCounts: [.identify: 3], recording: .off)

        let plans = shape.plans(site: "/s", runDirectory: "/s/run", programs: "/bin")

        #expect(
            plans.map(\.name) == [
                "log", "mapstate", "supervisor", "identify-1", "identify-2", "identify-3",
                "locator-1", "work-1", "router-1", "gateway",
            ])
        #expect(
            plans[5].arguments == ["--pool", "identify", "--site", "/s", "--record", "off"])
        #expect(plans[7].path == "/bin/cairn-worker")
        #expect(plans[7].arguments == ["--pool", "work", "--site", "/s"])
    }

    @Test func `a process's role is recorded by its name`() throws {
        #expect(
            String(decoding: try CairnJSON.encode(ProcessRole.all), as: UTF8.self)
                == #"["log","mapstate","supervisor","identify","locator","work","router","gateway"]"#
        )
        #expect(
            try CairnJSON.decode(
                [ProcessRole].self, from: CairnJSON.encode(ProcessRole.all)) == ProcessRole.all)
    }

    @Test func `arguments in the documented forms are understood`() throws {
        let up = try parse(
            "up --detach --port 7000 --identify-workers 3 --locators 2", as: UpCommand.self)
        #expect(up.detach && up.port == 7000 && up.pools.counts == [.identify: 3, .locator: 2])
        let identify = try parse(
            "identify --map W --at-point 1,2 --layers all --tolerance 4 --sr 4326 "
                + "--extent -5,41,10,52 --size 800,600 --at 9", as: IdentifyCommand.self)
        #expect(identify.point == "1,2" && identify.extent == " -5,41,10,52")
        #expect(identify.at == .sequence(9) && identify.sr == SpatialReference(wkid: 4326))
        let past = try parse(
            "identify --map W --point 1,2 --at 2026-11-21T09:30Z --time 2020-01-01,.. --explain "
                + "--time-relation within --max-results 5 --z --m --field-names --formatted "
                + "--popups-only --sr ESRI:54009", as: IdentifyCommand.self)
        #expect(past.at == Timestamp(iso: "2026-11-21T09:30Z").map { .time($0.endOfMillisecond) })
        #expect(past.sr?.wkid == 54_009 && past.options.maxResults == 5 && past.options.explain)
        let time = try parse("map time World roads BUILT RAZED", as: MapTime.self)
        #expect(time.start == "BUILT" && time.end == "RAZED")
        let move = try parse("map move World states --into Admin", as: MapMove.self)
        #expect(move.place.into == "Admin" && move.layer == "states")
        #expect(try parse("reverse -5.5,41", as: ReverseCommand.self).location == " -5.5,41")
        _ = try parse("import a.gpkg b.shp --map World", as: ImportCommand.self)
        _ = try parse("job submit BatchGeocode --input x.csv --param a=b", as: JobSubmit.self)
        _ = try parse(
            "job watch j00000000000070008000000000000001 --until 50", as: JobWatch.self)
        _ = try parse("log tail --follow", as: LogTail.self)
        _ = try parse("replay --map World --from 1 --to 5", as: ReplayCommand.self)
    }

    @Test(arguments: [
        "up --port 0", "up --port x", "up --identify-workers 0", "up --locators 65",
        "identify --map W", "identify --map W --point 1,2 --geometry 1,2", "identify --point 1,2",
        "identify --map 1W --point 1,2", "identify --map W --point 1,2 --tolerance -1",
        "identify --map W --point 1,2 --tolerance nan", "geocode", "geocode x --max 51",
        "suggest x --max 16", "map show", "map move W a --index 1 --below b",
        "map scale W a --min nan", "map visibility W a maybe", "job show nothing", "job submit",
        "replay --jobs", "replay --into s --compare",
        "replay --map W --job j00000000000070008000000000000001", "log tail -n -1",
        "log tail --stream nothing", "nonsense",
    ])
    func `arguments that are not understood are refused`(text: String) {
        let error = #expect(throws: (any Error).self) {
            try CairnCommand.parseAsRoot(text.split(separator: " ").map(String.init))
        }
        if let error { #expect(CairnCommand.exitCode(for: error).rawValue == 64, "\(text)") }
    }

    @Test func `a place is counted among the siblings it will have`() throws {
        let map = try Self.map()
        func place(_ text: String, moving: LayerID? = nil) throws -> LayerPlace {
            try parse("map move W x \(text)", as: MapMove.self).place.place(on: map, moving: moving)
        }

        #expect(try place("") == LayerPlace())
        #expect(try place("--into g") == LayerPlace(parent: 1))
        #expect(try place("--into 1 --index 0") == LayerPlace(parent: 1, index: 0))
        #expect(try place("--below d") == LayerPlace(parent: 1, index: 1))
        #expect(try place("--above d") == LayerPlace(parent: 1, index: 2))
        #expect(try place("--below d", moving: 2) == LayerPlace(parent: 1, index: 0))
        #expect(try place("--above a") == LayerPlace(parent: nil, index: 1))
        #expect(throws: Failure.self) { try place("--into nothing") }
    }

    /// `a` at the bottom, above it the group `g` with `c` and `d`.
    private static func map() throws -> MapDescription {
        func layer(_ id: LayerID, _ name: String, in parent: LayerID?, _ children: [LayerID] = [])
            -> LayerDescription
        {
            LayerDescription(
                id: id, name: name, parent: parent, children: children, kind: .group,
                isVisible: true, scaleRange: .unlimited, definitionExpression: nil,
                displayField: nil, loadStatus: .loaded, loadError: nil, properties: nil)
        }
        return MapDescription(
            name: try MapName(parsing: "W"), sequence: 5, rootLayers: [0, 1],
            layers: [
                layer(0, "a", in: nil), layer(1, "g", in: nil, [2, 3]), layer(2, "c", in: 1),
                layer(3, "d", in: 1),
            ], basemap: nil, spatialReference: nil, initialExtent: nil)
    }

    @Test func `a layer is found by number, name or folded name`() throws {
        let map = try Self.map()

        #expect(try map.layer(named: "2").name == "c")
        #expect(try map.layer(named: "d").id == 3)
        #expect(try map.layer(named: "D").id == 3)
        let failure = #expect(throws: Failure.self) { try map.layer(named: "zz") }
        #expect(failure?.message.contains("there are: 0 'a', 1 'g'") == true)
    }

    @Test func `rests between starts double to five seconds, and a steady run resets them`() {
        var policy = RestartPolicy()
        let rests = (0..<8).map { _ in policy.rest(afterRunning: 5) }

        #expect(rests == [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
        #expect(policy.crashesInRow == 8)
        #expect(policy.rest(afterRunning: 10_000) == 100)
        #expect(policy.crashesInRow == 1)
    }

    @Test func `a process that keeps ending is started ever more rarely, and its record says so`()
        throws
    {
        let log = "/tmp/cairn-slot-\(UInt64.random(in: .min ... .max)).log"
        defer { unsafe unlink(log) }
        var slot = ProcessSlot(
            ProcessPlan(
                role: .worker(.identify), number: 1, path: "/bin/false", arguments: [], logPath: log
            ))
        var starts: [Int64] = []
        try blockUntil("the process has been started five times", detail: "\(starts)") {
            let restarts = slot.record.restarts
            slot.startIfDue { _ in }
            if slot.record.restarts > restarts { starts.append(slot.record.since.microseconds) }
            slot.look { _ in }
            return starts.count == 5
        }
        try blockUntil("the fifth process has ended") {
            slot.look { _ in }
            return !slot.isRunning
        }

        let rests = zip(starts.dropFirst(), starts).map { $0 - $1 }
        #expect(rests.count == 4)
        for (rest, least) in zip(rests, [100_000, 200_000, 400_000, 800_000] as [Int64]) {
            #expect(rest >= least - 2_000, "\(rests)")
        }
        #expect(slot.record.crashesInRow == 5)
        #expect(slot.record.state == .waiting)
        #expect(slot.record.lastEnd == "exit 1")
        #expect(slot.record.startsAt.map { $0.microseconds > starts[4] + 1_500_000 } == true)
    }

    @Test func `a table is aligned by what is seen`() {
        var table = Table(["name", "n"], numbers: [1])
        table.add(["東京", "1"])
        table.add(["ab\u{1B}c", "23"])

        #expect(table.lines == ["NAME   N", "東京   1", "ab·c  23"])
    }
}
