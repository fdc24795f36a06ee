// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import CairnClient
import CairnModel
import Daemon
import Gateway

@main struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn-gateway",
        abstract: "Serves a site's maps and locators over HTTP as ArcGIS REST.")

    @Option(help: "The site's directory; else the environment variable CAIRN_SITE.")
    var site: String?

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for any that is free.")
    var port = 6080

    func validate() throws {
        guard 0...65_535 ~= port else { throw ValidationError("--port: expected 0 to 65535") }
    }

    func run() async {
        let (host, port) = (host, port)
        await Daemon.run(
            Self.configuration.commandName ?? "", sitePath: site, isSingleInstance: false
        ) { daemon in
            var settings = GatewayServer.Configuration()
            settings.host = host
            settings.port = port
            let client = CairnClient(sharing: daemon.bus)
            _ = try client.follow()
            let server = GatewayServer(
                backend: SiteBackend(client: client), configuration: settings,
                logger: daemon.logger)
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
