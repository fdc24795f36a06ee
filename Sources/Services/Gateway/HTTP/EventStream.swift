// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import HummingbirdCore
internal import NIOCore

/// Server-sent events of an answer or a job for one client.
struct EventStream: Sendable {
    let changes: any GatewayChanges
    /// Held for the lifetime of the stream.
    let place: FollowerPlace
    let connections: OpenConnections
    let channel: any Channel
    /// Checked before every write; throws once the client is no longer allowed to follow.
    let isStillAdmitted: @Sendable () throws(Failure) -> Void

    /// Interval of comments that keep idle connections open through proxies.
    private static let beat = Duration.seconds(15)

    /// Written at the client's pace: a client that reads nothing causes no work.
    var body: ResponseBody {
        ResponseBody { writer in
            defer { withExtendedLifetime(place) {} }
            while connections.isOpen(channel) {
                let next = await connections.answering(channel, isEndless: true) { [changes] in
                    await Result { () async throws(Failure) in
                        try await changes.next(within: Self.beat)
                    }
                }
                do throws(Failure) {
                    try isStillAdmitted()
                    guard let batch = try next.get() else { break }
                    var text = batch.isEmpty ? ": still here\n\n" : ""
                    for event in batch { text += Self.text(event) }
                    guard (try? await writer.write(ByteBuffer(string: text))) != nil else { return }
                } catch {
                    let line = String(decoding: ErrorBody.json(error.outside), as: UTF8.self)
                    _ = try? await writer.write(
                        ByteBuffer(string: "event: error\ndata: \(line)\n\n"))
                    break
                }
            }
            try await writer.finish(nil)
        }
    }

    private static func text(_ event: GatewayEvent) -> String {
        let data = String(decoding: event.data, as: UTF8.self)
        return "event: \(event.name)\nid: \(event.sequence)\ndata: \(data)\n\n"
    }
}

extension Result where Failure == CairnModel.Failure, Success: Sendable {
    fileprivate init(_ body: () async throws(CairnModel.Failure) -> Success) async {
        do throws(CairnModel.Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
