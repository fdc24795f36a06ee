// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import OpenSSL

/// One connection: the HTTP library's channel, with the fast path of identify in front of it.
struct GatewayChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let http: HTTP1Channel
    let service: GatewayService
    let idleTimeout: TimeAmount
    let arrivalTimeout: TimeAmount
    /// Set where connections use TLS.
    let tls: ServedCertificate?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        do {
            if let tls {
                let session = try TLSSession(tls.context())
                try channel.pipeline.syncOperations.addHandler(
                    TLSHandler(session, handshakeTimeout: arrivalTimeout))
            }
            try channel.pipeline.syncOperations.addHandlers([
                IdleStateHandler(allTimeout: idleTimeout),
                IdentifyPath(
                    service: service, isSecure: tls != nil, arrivalTimeout: arrivalTimeout),
            ])
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return http.setup(channel: channel, logger: logger)
    }

    func handle(value: Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }
}
