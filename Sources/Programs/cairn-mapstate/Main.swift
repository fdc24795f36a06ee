// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import CairnModel
import Daemon
import MapStateService

@main struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn-mapstate",
        abstract: "Carries out the commands on a site's maps and loads their layers.")

    @OptionGroup var options: DaemonOptions

    func run() async {
        await Daemon.run(Self.configuration.commandName ?? "", options) { daemon in
            let service = try MapStateService(
                site: daemon.site, bus: daemon.bus, logger: daemon.logger,
                pace: daemon.snapshotPace, compactionFeatureCount: daemon.compactionFeatureCount,
                metrics: daemon.metrics)
            let work = Task {
                do throws(Failure) {
                    try await service.run()
                    daemon.requestShutdown()
                } catch {
                    daemon.requestShutdown(because: error)
                }
            }
            await daemon.untilShutdown()
            service.stop()
            work.cancel()
            await work.value
        }
    }
}
