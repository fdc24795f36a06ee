// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import CairnModel
import Daemon
import Platform
import Recording
import Settings
import WorkerPools

@main struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: WorkerPool.program,
        abstract: "Serves one worker pool; any number of workers may run.",
        discussion: WorkerPool.table.map { "Workers of the pool \($0.name) \($0.work)." }
            .joined(separator: "\n"))

    @OptionGroup var options: DaemonOptions

    @Option(
        help: "The pool: \(PoolProcess.all.map(\.pool.name).joined(separator: ", ")).",
        transform: Self.process)
    var pool: PoolProcess

    @Option(help: ArgumentHelp(Setting.record.help)) var record: String?

    @Option(help: "Execute a single chunk, a work order of 'cairn job autopsy', and exit.")
    var chunk: String?

    static func main() async {
        do {
            let command = try parse()
            // The process is still single-threaded; a heap per thread would keep more free memory
            // than is used.
            if let count = command.pool.keptHeapByteCount {
                ProcessLimits.shareHeaps(1, keptByteCount: count)
            }
            await command.run()
        } catch {
            exit(withError: error)
        }
    }

    func validate() throws {
        guard record == nil || pool.pool.settings.recordedName != nil else {
            throw ValidationError("The pool '\(pool.pool)' records no requests.")
        }
    }

    func run() async {
        let settings = options.settings([.record], arguments: [.record: record])
        let rate = settings[.record].flatMap(RecordingRate.init(parsing:)) ?? .standard
        let (pool, order) = (pool, chunk)
        await Daemon.run(
            pool.pool.processName, options, settings: settings, isSingleInstance: false
        ) { daemon in
            try await pool.run(daemon, recording: rate, alone: order)
        }
    }

    private static func process(_ name: String) throws -> PoolProcess {
        guard let process = WorkerPool(name: name).flatMap(PoolProcess.init(of:)) else {
            throw ValidationError(
                "There is no worker pool '\(name)': expected one of "
                    + PoolProcess.all.map(\.pool.name).joined(separator: ", ") + ".")
        }
        return process
    }
}
