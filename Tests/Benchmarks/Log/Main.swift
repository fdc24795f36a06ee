// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import CairnModel
import Foundation
import Site

/// Measures log, bus and dispatch beside plain C over SQLite and libzmq, and Python's
/// `eventsourcing`.
///
/// Prints one JSON line per case. `deploy/bench log` builds and calls it.
@main struct BenchLog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench-log",
        subcommands: [
            Run.self, Pull.self, Push.self, Answer.self, Ask.self, Work.self, Subscribe.self,
            Produce.self, Listen.self, Tasks.self,
        ], defaultSubcommand: Run.self)

    /// Every case, or some.
    struct Run: ParsableCommand {
        @Argument(help: "A directory of its own to work in; its path must be short.")
        var work: String
        @Option(help: "Where the programs lie.") var programs: String
        @Flag(help: "Fewer events, one turn.") var short = false
        @Option(help: "append, store, memory, bus, pipeline or dispatch.") var only: [String] = []
        @Option(help: "Events of the memory case.") var events: Int?
        @Option(help: "Python with eventsourcing.") var python: String?
        @Option(help: "The script for it.") var script: String?

        func run() throws {
            var shop = Workshop(directory: work, programs: programs, isShort: short)
            if let python, let script { shop.python = (python, script) }
            shop.memoryEventCount = events ?? (short ? 300_000 : 10_000_000)
            let cases: [(String, () throws -> Void)] = [
                ("append", AppendCase(shop: shop, eventCount: 1).run),
                ("append", AppendCase(shop: shop, eventCount: 20).run),
                ("store", StoreCases(shop: shop).foldAndVerify),
                ("store", JSONCases(shop: shop).run),
                ("memory", StoreCases(shop: shop).memoryAndStart),
                ("bus", BusCases(shop: shop).run),
                ("bus", TaskStartCases(shop: shop).run),
                ("pipeline", PipelineCase(shop: shop).run),
                ("dispatch", DispatchCases(shop: shop).run),
            ]
            for (name, body) in cases where only.isEmpty || only.contains(name) { try body() }
            if Output.hasShortfall { throw ExitCode(1) }
        }
    }

    struct Role: ParsableArguments {
        @Argument(help: "The site's directory.") var path: String

        func site() throws -> Site { try Site(opening: path) }
    }

    struct Count: ParsableArguments {
        @Option(help: "Messages or events.") var count: Int
    }

    struct Pull: ParsableCommand {
        @OptionGroup var role: Role
        @OptionGroup var count: Count
        func run() throws { try BusRoles.pull(role.site(), count: count.count) }
    }

    struct Push: ParsableCommand {
        @OptionGroup var role: Role
        @OptionGroup var count: Count
        func run() throws { try BusRoles.push(role.site(), count: count.count) }
    }

    struct Answer: ParsableCommand {
        @OptionGroup var role: Role
        func run() throws { try BusRoles.answer(role.site()) }
    }

    struct Ask: ParsableCommand {
        @OptionGroup var role: Role
        @OptionGroup var count: Count
        @Option(help: "Questions under way at once.") var window = 1
        func run() throws { try BusRoles.ask(role.site(), count: count.count, window: window) }
    }

    struct Tasks: ParsableCommand {
        @OptionGroup var role: Role
        @OptionGroup var count: Count
        @Flag(help: "Wait until somebody asks.") var saturated = false
        func run() throws {
            try BusRoles.tasks(role.site(), count: count.count, isSaturated: saturated)
        }
    }

    struct Work: AsyncParsableCommand {
        @OptionGroup var role: Role
        @Option(help: "How long a task takes.") var milliseconds: Int
        @Option(help: "Tasks it holds at once.") var credit: Int
        func run() async throws {
            try await WorkerRole.run(role.site(), milliseconds: milliseconds, credit: credit)
        }
    }

    struct Subscribe: ParsableCommand {
        @OptionGroup var role: Role
        @OptionGroup var count: Count
        func run() throws { try PipelineRoles.subscribe(role.site(), count: count.count) }
    }

    struct Produce: ParsableCommand {
        @OptionGroup var role: Role
        @OptionGroup var count: Count
        @Option(help: "Events of one append.") var ofAppend: Int
        @Option(help: "Events a second; 0 for as many as go.") var perSecond: Int
        func run() throws {
            try PipelineRoles.produce(
                role.site(), count: count.count, ofAppend: ofAppend, perSecond: perSecond)
        }
    }

    struct Listen: ParsableCommand {
        @OptionGroup var role: Role
        func run() throws { try PipelineRoles.listen(role.site()) }
    }
}
