// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import Daemon
import IdentifyWorker
import Platform
import Recording

@main struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn-identify",
        abstract: "Answers what is where on the maps of a site; start as many as you like.")

    @Option(help: "The site's directory; else the environment variable CAIRN_SITE.")
    var site: String?

    @Option(
        help: "How many requests to record: off, all, or so many a second.",
        transform: RecordingRate.parse)
    var record = RecordingRate.standard

    @Option(help: "Do one chunk alone, a work order that 'cairn job autopsy' wrote, and end.")
    var chunk: String?

    static func main() async {
        // What its dozen threads keep for a while is little; with a heap for each they would leave more free than they
        // use. There is only one thread yet.
        ProcessLimits.shareHeaps(1, keptByteCount: 64 << 10)
        await main(nil)
    }

    func run() async {
        let (rate, order) = (record, chunk)
        await Daemon.run(
            Self.configuration.commandName ?? "", sitePath: site, isSingleInstance: false
        ) { daemon in
            try await IdentifyProcess.run(daemon, recording: rate, alone: order)
        }
    }
}
