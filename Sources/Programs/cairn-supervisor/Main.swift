// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import Daemon
import Supervisor

@main struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn-supervisor",
        abstract: "Dispatches tasks and chunks of jobs to workers, and records jobs' progress."
    )

    @OptionGroup var options: DaemonOptions

    func run() async {
        await Daemon.run(Self.configuration.commandName ?? "", options) { daemon in
            let supervisor = try await Supervisor(
                site: daemon.site, bus: daemon.bus, logger: daemon.logger,
                pace: daemon.snapshotPace, metrics: daemon.metrics
            ) {
                daemon.requestShutdown(because: $0)
            }
            await daemon.untilShutdown()
            await supervisor.drain()
        }
    }
}
