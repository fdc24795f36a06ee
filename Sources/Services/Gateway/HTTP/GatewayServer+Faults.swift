// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
package import Site

extension GatewayServer {
    /// What would keep a server with that configuration from starting, a sentence each.
    ///
    /// Files are read, and nothing is made or bound; `access` has the rules of the site, where
    /// there is one.
    package static func faults(_ configuration: Configuration, access: AccessStore?) -> [String] {
        var sentences: [String] = []
        func check(_ body: () throws(Failure) -> Void) {
            do throws(Failure) { try body() } catch { sentences.append(error.description) }
        }
        check { () throws(Failure) in _ = try TrustedProxies(configuration.trustedProxies) }
        check { () throws(Failure) in
            _ = try HostNames(
                configuration.hostNames, publicURL: configuration.publicURL,
                machine: configuration.machineName, listening: configuration.host)
        }
        check { () throws(Failure) in _ = try configuration.tls?.context() }
        check { () throws(Failure) in
            let users = try access?.rules()?.users ?? []
            try checkNetwork(configuration, hasUsers: !users.isEmpty)
        }
        return sentences
    }

    /// Refuses to serve a network without access rules, unless anonymous access is configured.
    static func checkNetwork(
        _ configuration: Configuration, hasUsers: Bool
    ) throws(Failure) {
        guard !configuration.isOnLoopback, !hasUsers, !configuration.allowsAnonymousNetwork else {
            return
        }
        throw Failure(
            .conflict,
            "--host \(configuration.host) serves a network, and the site has no users: add one "
                + "with 'cairn user add', "
                + "or give --allow-anonymous-network, which lets every client do everything")
    }
}
