// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import Daemon
import Worker

@main struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn-worker",
        abstract: "Plans and assembles jobs. Start as many as you like.")

    @Option(help: "The site's directory; else the environment variable CAIRN_SITE.")
    var site: String?

    @Option(help: "Do one chunk alone, a work order that 'cairn job autopsy' wrote, and end.")
    var chunk: String?

    func run() async {
        await Daemon.run(
            Self.configuration.commandName ?? "", sitePath: site, isSingleInstance: false
        ) { daemon in
            try await WorkerProcess.runJobWork(daemon, alone: chunk)
        }
    }
}
