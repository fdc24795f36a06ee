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
import Settings
import Site

@main struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn-gateway",
        abstract: "Serves a site's maps and locators over HTTP as ArcGIS REST.")

    @OptionGroup var options: DaemonOptions
    @OptionGroup var gateway: GatewayOptions

    static func main() async {
        // The process is still single-threaded.
        ProcessLimits.shareHeaps()
        await main(nil)
    }

    func run() async {
        let given = options.settings(Setting.gateway, arguments: gateway.arguments)
        let settings = GatewayServer.Configuration(given)
        let identifyAtOnce = given.flag(.identifyAtOnce) ?? true
        let clickLimit = given.whole(.clickLimit) ?? 500
        let rate = given[.record].flatMap(RecordingRate.init(parsing:)) ?? .standard
        TerminationWatch.ignoreHangUp()
        await Daemon.run(
            Self.configuration.commandName ?? "", options, settings: given,
            isSingleInstance: false,
            check: { given, site in
                let hasHalfTLS = (given[.tlsCertificate] == nil) != (given[.tlsKey] == nil)
                let faults =
                    hasHalfTLS
                    ? ["--tls-certificate and --tls-key: expected both or neither"] : []
                var wrong: [String] = []
                do throws(Failure) { _ = try AuditPolicy(given) } catch { wrong = [error.message] }
                return faults + wrong
                    + (options.check ? GatewayServer.faults(settings, access: site?.access) : [])
            }
        ) { daemon in
            // A gateway's descriptors besides its connections, with some to spare.
            let descriptors = settings.connectionLimit + 512
            guard ProcessLimits.raiseDescriptors(to: descriptors) else {
                throw Failure(
                    .unavailable,
                    "--connections \(settings.connectionLimit) needs \(descriptors) open files, "
                        + "more than the limit of this process: raise it (ulimit -n)"
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
            let audit = try AuditPolicy(given).map { policy throws(Failure) in
                try AuditLog(site: daemon.site, policy: policy) { [logger = daemon.logger] error in
                    logger.error("entries of the audit are lost", metadata: ["error": "\(error)"])
                }
            }
            defer { audit?.close() }
            let server = try GatewayServer(
                backend: SiteBackend(
                    client: client, answeringAtOnce: identifyAtOnce ? daemon.site : nil,
                    clickLimit: clickLimit, jobsOf: daemon.site, recorder: recorder),
                access: daemon.site.access, configuration: settings, logger: daemon.logger,
                metrics: daemon.metrics, neighbours: daemon.site.metrics,
                audit: audit, auditFiles: AuditFiles(directory: daemon.site.auditDirectory),
                siteID: daemon.site.identity.siteID)
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
