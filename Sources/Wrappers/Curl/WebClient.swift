// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform
internal import Synchronization

/// An HTTP client for many requests at once, on one background thread; any thread may submit
/// requests.
///
/// Connections are kept alive. Only `http` and `https` are supported, certificates are verified, no
/// proxy and no cookie is used, and the environment is ignored. Every address is checked before a
/// connection, also that of a redirection (``InternalServers``). The thread begins with the first
/// request and ends with the client, which cancels the requests under way.
public final class WebClient: Sendable {
    /// Most attempts at a request: it is retried after a failed connection, and after 429, 502, 503
    /// and 504.
    public static let attempts = 3
    /// Backoff before the second attempt; doubled before the third.
    public static let firstRest = Duration.milliseconds(150)
    /// Most redirections followed.
    public static let redirections = 5
    /// Most requests in flight; the others are queued.
    public static let outstandingLimit = 64
    /// Most requests in flight to one server.
    public static let outstandingLimitPerServer = 8
    /// Most requests held in all; further ones are refused at once.
    public static let heldLimit = 1_024

    /// A loop with the thread that it runs on.
    private struct Running: Sendable {
        let loop: WebLoop
        let thread: PinnedThread
    }

    private let running = Mutex<Running?>(nil)
    private let servers: InternalServers

    /// A client without connections; libcurl is not touched before the first request.
    ///
    /// `servers` lists the allowed addresses outside the public Internet.
    public init(_ servers: InternalServers = .own) { self.servers = servers }

    deinit { running.withLock { $0?.loop.close() } }

    /// The addresses of a host to which a connection by another protocol than HTTP may be made.
    ///
    /// Blocks while the name is resolved. Throws ``WebError``: `unreachable` for a host without an
    /// address, `refused` where none of its addresses may be connected to.
    public func addresses(of host: String) throws(WebError) -> [String] {
        try servers.addresses(of: host)
    }

    /// Submits all requests and returns at once.
    ///
    /// - Parameters:
    ///   - deadline: The deadline of every request; nil for their own timeouts alone.
    ///   - isCancelled: Polled about fifty times a second, on the client's thread.
    ///   - whenDone: Takes the answers, in order of the requests, once all are there; called on the
    ///     client's thread, which it must not block.
    public func start(
        _ requests: [WebRequest], until deadline: ContinuousClock.Instant? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false },
        whenDone: @escaping @Sendable ([Result<WebResponse, WebError>]) -> Void
    ) {
        let exchanges = requests.map { Exchange($0, until: deadline) }
        let batch = WebBatch(exchanges: exchanges, isCancelled: isCancelled, whenDone: whenDone)
        if requests.isEmpty || loop()?.take(batch) != true {
            let error = WebError(.busy, "too many requests to other servers are under way")
            whenDone(requests.map { _ in .failure(error) })
        }
    }

    /// Submits all requests and waits for all; the answers in order of the requests.
    ///
    /// Blocks the calling thread for as long as the longest timeout at most.
    public func perform(
        _ requests: [WebRequest], until deadline: ContinuousClock.Instant? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) -> [Result<WebResponse, WebError>] {
        let mailbox = BlockingQueue<[Result<WebResponse, WebError>]>(capacity: 1)
        start(requests, until: deadline, isCancelled: isCancelled) { _ = mailbox.tryPush($0) }
        return mailbox.pop() ?? []
    }

    /// The loop, begun with the first request; nil when the system has no thread left.
    private func loop() -> WebLoop? {
        running.withLock { running in
            if running == nil {
                let loop = WebLoop(servers: servers)
                guard let thread = try? PinnedThread(name: "web", { loop.run() }) else {
                    return nil
                }
                running = Running(loop: loop, thread: thread)
            }
            return running?.loop
        }
    }
}

/// Requests that were made together and are answered together.
struct WebBatch: Sendable {
    var exchanges: [Exchange]
    let isCancelled: @Sendable () -> Bool
    let whenDone: @Sendable ([Result<WebResponse, WebError>]) -> Void
}
