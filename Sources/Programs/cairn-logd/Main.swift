// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import Daemon
import LogService

@main struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn-logd",
        abstract: "Keeps the event log of a site: one order, durable before it is acknowledged.")

    @OptionGroup var options: DaemonOptions

    func run() async {
        await Daemon.run(Self.configuration.commandName ?? "", options) { daemon in
            let service = try LogService(
                site: daemon.site, bus: daemon.bus, logger: daemon.logger,
                metrics: daemon.metrics)
            await daemon.untilShutdown()
            service.stop()
        }
    }
}
