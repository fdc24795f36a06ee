// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import CairnClient
import CairnModel
import Platform
import Site

/// Keeps a site busy through its own client library and writes the answers as JSON lines;
/// `deploy/torture` breaks the site meanwhile and checks the lines against the log.
///
/// SIGTERM ends it in order: every client finishes what it has begun.
@main struct TortureLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "torture-load")

    @Option(help: "The site's directory.") var site: String
    @Option(help: "Chooses what is asked; names what is made.") var seed: UInt64 = 1
    @Option(help: "Clients that append to the log.") var appenders = 3
    @Option(help: "Clients that change a map of their own.") var editors = 2
    @Option(help: "Clients that ask what is on those maps.") var askers = 2
    @Option(help: "Clients that submit jobs.") var submitters = 2
    @Option(help: "Where to begin to follow the log.") var after: Int64 = 0
    @Flag(help: "Submit each kind of job once, undisturbed, and end.") var baseline = false

    func run() async throws {
        let history = History()
        let opened = try Site(opening: site)
        let load = Load(
            site: opened, client: try CairnClient(site: opened, patience: .seconds(60)),
            history: history, seed: seed)
        try TerminationWatch.start { history.end() }
        if baseline {
            for table in 0..<Load.tableCount { await load.submit(table: table, disturbing: nil) }
            return load.client.close()
        }
        let follower = try LogFollower(load, after: after)
        let maps = (0..<editors).map { KnownMap(MapName(rawValue: "T\(seed)x\($0)")) }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<appenders { group.addTask { await load.append(number) } }
            for map in maps { group.addTask { await load.edit(map) } }
            for number in 0..<askers {
                group.addTask { await load.ask(maps, number) }
            }
            for number in 0..<submitters { group.addTask { await load.submitJobs(number) } }
            group.addTask { await load.geocode() }
            group.addTask { await load.editFeatures() }
            group.addTask { await load.loadLayers() }
        }
        await follower.finish()
        load.client.close()
    }
}
