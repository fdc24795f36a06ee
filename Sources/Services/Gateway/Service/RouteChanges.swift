// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Platform

/// A reader of a followed route.
actor RouteChanges: GatewayChanges {
    private var iterator: LiveRoute.AsyncIterator
    private let body: @Sendable (RouteAnswer) throws(Failure) -> [UInt8]
    private var first: [RouteAnswer]?

    init(
        _ live: LiveRoute,
        body: @escaping @Sendable (RouteAnswer) throws(Failure) -> [UInt8]
    ) {
        iterator = live.makeAsyncIterator()
        self.body = body
    }

    /// Reads the first answer, so that an invalid request fails as any other.
    func begin() async throws(Failure) { first = try await read(within: .seconds(15)) }

    /// Omits the first answer: the reader has it.
    func resume() { first = [] }

    func next(within limit: Duration) async throws(Failure) -> [GatewayEvent]? {
        var next = first.take()
        if next == nil { next = try await read(within: limit) }
        return try next?.map { answer throws(Failure) in
            GatewayEvent(
                name: "route", sequence: answer.context.sequence, data: Data(try body(answer)))
        }
    }

    private func read(within limit: Duration) async throws(Failure) -> [RouteAnswer]? {
        var reading = iterator
        let answers = try await reading.next(within: limit)
        iterator = reading
        return answers
    }
}
