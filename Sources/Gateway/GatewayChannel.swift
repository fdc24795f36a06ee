// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// One connection: the HTTP library's own, with the short way of identify in front of it.
struct GatewayChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let http: HTTP1Channel
    let service: GatewayService
    let idleTimeout: TimeAmount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        do {
            try channel.pipeline.syncOperations.addHandlers([
                IdleStateHandler(allTimeout: idleTimeout), IdentifyPath(service: service),
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
