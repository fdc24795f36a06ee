// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import Daemon
import LocatorWorker
import Platform
import Recording

@main struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn-locator",
        abstract: "Answers where a name is, and what a place is called; start as many as you like.")

    @Option(help: "The site's directory; else the environment variable CAIRN_SITE.")
    var site: String?

    @Option(
        help: "How many requests to record: off, all, or so many a second.",
        transform: RecordingRate.parse)
    var record = RecordingRate.standard

    @Option(help: "Do one chunk alone, a work order that 'cairn job autopsy' wrote, and end.")
    var chunk: String?

    static func main() async {
        // Two threads answer; with a heap for each, what one has freed would be lost to the other. There is
        // only one thread yet.
        ProcessLimits.shareHeaps(1, keptByteCount: 1 << 20)
        await main(nil)
    }

    func run() async {
        let (rate, order) = (record, chunk)
        await Daemon.run(
            Self.configuration.commandName ?? "", sitePath: site, isSingleInstance: false
        ) { daemon in
            try await LocatorProcess.run(daemon, recording: rate, alone: order)
        }
    }
}
