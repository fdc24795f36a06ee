// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import HummingbirdCore
internal import NIOCore

/// What happens to one answer or job as server-sent events, for one client, for as long as it
/// stays.
struct EventStream: Sendable {
    let changes: any GatewayChanges
    /// Held as long as the stream.
    let place: FollowerPlace
    let connections: OpenConnections
    let channel: any Channel
    /// Throws once the client may not follow any more; asked before everything that is written.
    let isStillAdmitted: @Sendable () throws(Failure) -> Void

    /// Without a change for so long, a comment keeps what lies between awake.
    private static let beat = Duration.seconds(15)

    /// Written as the client reads: while it does not, nothing is asked.
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
