// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import CairnClient
import CairnModel
import Daemon
import Gateway
import Logging
import Platform
import Recording
import Site

@main struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn-gateway",
        abstract: "Serves a site's maps and locators over HTTP as ArcGIS REST.")

    @Option(help: "The site's directory; else the environment variable CAIRN_SITE.")
    var site: String?

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for any free one.")
    var port = 6080

    @Flag(
        inversion: .prefixedNo,
        help: "Answer identify and query here where the data is local, not through workers.")
    var identifyAtOnce = true

    @Option(help: "Time limit of an identify answered in this process, in microseconds.")
    var clickLimit = 500

    @Option(
        help: "Requests answered in this process to record: off, all, or a number per second.",
        transform: RecordingRate.parse)
    var record = RecordingRate.standard

    @OptionGroup var network: NetworkOptions

    func validate() throws {
        guard 0...65_535 ~= port else { throw ValidationError("--port: expected 0 to 65535") }
        guard 1...100_000 ~= clickLimit else {
            throw ValidationError("--click-limit: expected 1 to 100000 microseconds")
        }
    }

    static func main() async {
        // The process is still single-threaded.
        ProcessLimits.shareHeaps()
        await main(nil)
    }

    func run() async {
        let (settings, identifyAtOnce, clickLimit, rate) = (
            network.settings(host: host, port: port), identifyAtOnce, clickLimit, record
        )
        TerminationWatch.ignoreHangUp()
        await Daemon.run(
            Self.configuration.commandName ?? "", sitePath: site, isSingleInstance: false
        ) { daemon in
            // A gateway's descriptors besides its connections, with some to spare.
            let descriptors = settings.connectionLimit + 512
            guard ProcessLimits.raiseDescriptors(to: descriptors) else {
                throw Failure(
                    .unavailable,
                    "--connections \(settings.connectionLimit) needs \(descriptors) open files, more than the limit of this process: raise it (ulimit -n)"
                )
            }
            let client = CairnClient(sharing: daemon.bus, site: daemon.site) { reason in
                daemon.logger.warning("snapshot not used", metadata: ["reason": "\(reason)"])
            }
            // The folded state, which clients have seen, contradicts the log: a new process starts
            // afresh.
            let follower = try client.follow {
                if $0.code == .conflict { daemon.requestShutdown(because: $0) }
            }
            let noting = Task {
                guard (try? await follower.catchUp(timeout: .seconds(60))) != nil else { return }
                daemon.logger.info(
                    "map state loaded", metadata: ["folded": "\(follower.foldedCount)"])
            }
            defer { noting.cancel() }
            let recorder = try Recorder(
                site: daemon.site, process: daemon.name, version: Release.version, rate: rate)
            defer { recorder.close() }
            recorder.nameLog { follower.incarnation }
            let server = try GatewayServer(
                backend: SiteBackend(
                    client: client, answeringAtOnce: identifyAtOnce ? daemon.site : nil,
                    clickLimit: clickLimit, jobsOf: daemon.site, recorder: recorder),
                access: daemon.site.access, configuration: settings, logger: daemon.logger,
                metrics: daemon.metrics, neighbours: daemon.site.metrics)
            let work = Task {
                do throws(Failure) {
                    try await server.run()
                    daemon.requestShutdown()
                } catch {
                    daemon.requestShutdown(because: error)
                }
            }
            await daemon.untilShutdown()
            await server.stop()
            await work.value
            client.close()
        }
    }
}
