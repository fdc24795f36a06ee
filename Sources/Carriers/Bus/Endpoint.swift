// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials

/// A socket's name inside a site's run directory, and how large its messages may be.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The file name of the socket.
    public let name: String
    /// The most bytes of a message, header and metadata included: 8 MiB where requests are answered
    /// and on their way to workers and back, 1 MiB elsewhere.
    public let maximumMessageByteCount: Int

    private init(trusted name: String) {
        self.name = name
        let carriesRequests =
            name.hasSuffix(".req") || name.hasPrefix(Self.lanePrefix)
            || name.hasPrefix(Self.answersPrefix) || name == Self.sinkName
        maximumMessageByteCount = carriesRequests ? OperationPlace.messageBound : 1 << 20
    }

    /// Names a further endpoint: 1–60 of `a–z 0–9 . -`; nil for anything else.
    public init?(name: String) {
        let isAllowed: (UInt8) -> Bool = { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
        }
        guard 1...60 ~= name.utf8.count, name.utf8.allSatisfy(isAllowed),
            name.utf8.first != UInt8(ascii: ".")
        else { return nil }
        self.init(trusted: name)
    }

    /// Requests to the log.
    public static let logRequests = Endpoint(trusted: "log.req")
    /// Committed events as they come.
    public static let logTail = Endpoint(trusted: "log.tail")
    /// Commands on maps.
    public static let mapRequests = Endpoint(trusted: "map.req")
    /// Requests on jobs, and interactive tasks.
    public static let supervisorRequests = Endpoint(trusted: "sup.req")
    /// The sink of worker reports.
    public static let supervisorSink = Endpoint(trusted: sinkName)
    /// Ephemeral progress, results and worker lists.
    public static let supervisorLive = Endpoint(trusted: "sup.live")

    static let lanePrefix = "lane-"
    static let answersPrefix = "answers-"
    private static let sinkName = "sup.sink"

    /// The way from the supervisor to one worker instance.
    public static func lane(_ worker: UUID) -> Endpoint {
        Endpoint(trusted: lanePrefix + worker.uuidString.lowercased())
    }

    /// The endpoint at which one requesting instance receives answers straight from workers.
    static func answers(_ asker: UUID) -> Endpoint {
        Endpoint(trusted: answersPrefix + asker.uuidString.lowercased())
    }

    /// The most bytes of a message's metadata.
    public static let maximumMetadataByteCount = 64 << 10

    /// The most bytes of a socket's path: `sockaddr_un` has room for 108 with the final zero.
    public static let maximumPathByteCount = 107

    /// The socket's path; throws `Failure` (`invalidParameter`) when it is too long for the system.
    public func path(in runDirectory: String) throws(Failure) -> String {
        let path = runDirectory.hasSuffix("/") ? runDirectory + name : runDirectory + "/" + name
        guard path.utf8.count <= Self.maximumPathByteCount else {
            throw Failure(
                .invalidParameter,
                "socket path '\(path)' has \(path.utf8.count) bytes; the system allows "
                    + "\(Self.maximumPathByteCount): put the site in a directory with a shorter "
                    + "path")
        }
        return path
    }

    /// The name.
    public var description: String { name }

    /// Refuses a message that the receiver would drop without a word; `Failure` (`tooLarge`).
    func check(_ message: Message) throws(Failure) {
        guard message.metadata.count <= Self.maximumMetadataByteCount else {
            throw Failure(
                .tooLarge,
                "a \(message.header.kind) message for \(name) has \(message.metadata.count) bytes "
                    + "of "
                    + "metadata; at most \(Self.maximumMetadataByteCount) are allowed")
        }
        let total = HeaderCoding.byteCount + message.metadata.count + message.payload.count
        guard total <= maximumMessageByteCount else {
            throw Failure(
                .tooLarge,
                "a \(message.header.kind) message for \(name) has \(total) bytes; at most "
                    + "\(maximumMessageByteCount) are allowed")
        }
    }
}
