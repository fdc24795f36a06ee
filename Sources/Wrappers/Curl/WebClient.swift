// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform
internal import Synchronization

/// Asks HTTP servers, many at once, on one thread of its own; any thread may hand it requests.
///
/// Connections stay open for the next question. Only `http` and `https` are spoken, certificates
/// are checked, no proxy and no cookie is used, and the environment is not looked at. Every address
/// is looked at before it is connected to, also where a redirection leads (``InternalServers``).
/// The thread begins with the first request and ends with the client, for which what is under way
/// then is cancelled.
public final class WebClient: Sendable {
    /// How often a request is sent at most: again after a connection that failed, and after 429,
    /// 502, 503 and 504.
    public static let attempts = 3
    /// How long it rests before the second time; twice as long before the third.
    public static let firstRest = Duration.milliseconds(150)
    /// How many redirections are followed.
    public static let redirections = 5
    /// How many requests are on their way at once; the others wait for their turn.
    public static let outstandingLimit = 64
    /// How many of them to one server.
    public static let outstandingLimitPerServer = 8
    /// How many requests are held in all; further ones are refused at once.
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
    /// `servers` says what is asked at addresses that the Internet does not reach.
    public init(_ servers: InternalServers = .own) { self.servers = servers }

    deinit { running.withLock { $0?.loop.close() } }

    /// Asks all at once; returns at once.
    ///
    /// - Parameters:
    ///   - deadline: When every request is over that has no answer; nil for their own timeouts
    ///     alone.
    ///   - isCancelled: Asked about fifty times a second, on the client's thread.
    ///   - whenDone: Takes the answers, in order of the requests, once all are there; called on the
    ///     client's thread, which it must not hold up.
    public func start(
        _ requests: [WebRequest], until deadline: ContinuousClock.Instant? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false },
        whenDone: @escaping @Sendable ([Result<WebResponse, WebError>]) -> Void
    ) {
        let exchanges = requests.map { Exchange($0, until: deadline) }
        let batch = WebBatch(exchanges: exchanges, isCancelled: isCancelled, whenDone: whenDone)
        if requests.isEmpty || loop()?.take(batch) != true {
            let error = WebError(.busy, "too many questions to other servers are under way")
            whenDone(requests.map { _ in .failure(error) })
        }
    }

    /// Asks all at once and waits for all; the answers in order of the requests.
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
