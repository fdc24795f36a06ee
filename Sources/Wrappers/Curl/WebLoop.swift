// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCurl
internal import Synchronization

/// The event loop of a client's thread: sends, moves bytes, and hands over complete answers.
@safe
final class WebLoop: @unchecked Sendable {
    // `@unchecked`: libcurl's handle is used on the thread of `run` alone, but for waking it, which
    // any thread may do.
    private struct Inbox {
        var batches: [WebBatch] = []
        var heldCount = 0
        var isClosed = false
    }

    private static let connectMilliseconds = 5_000
    /// Interval in milliseconds of the checks for timeouts and cancellation, while requests are
    /// under way.
    private static let pollMilliseconds: Int32 = 20
    private static let idleMilliseconds: Int32 = 60_000

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    private let multi: UnsafeMutableRawPointer?
    private let inbox = Mutex(Inbox())
    private let servers: InternalServers

    init(servers: InternalServers) {
        self.servers = servers
        unsafe multi = Self.isReady ? curl_multi_init() : nil
    }

    deinit { unsafe curl_multi_cleanup(multi) }

    /// Puts a batch where the thread finds it; false when too much is held already.
    func take(_ batch: WebBatch) -> Bool {
        guard unsafe multi != nil else { return false }
        let isTaken = inbox.withLock { inbox in
            guard inbox.heldCount + batch.exchanges.count <= WebClient.heldLimit else {
                return false
            }
            inbox.heldCount += batch.exchanges.count
            inbox.batches.append(batch)
            return true
        }
        if isTaken { unsafe curl_multi_wakeup(multi) }
        return isTaken
    }

    /// Lets the thread end; requests under way are cancelled.
    func close() {
        inbox.withLock { $0.isClosed = true }
        unsafe curl_multi_wakeup(multi)
    }

    /// Serves until it is closed; blocks the calling thread.
    func run() {
        var batches: [WebBatch] = []
        while true {
            let isClosed = inbox.withLock { inbox in
                batches += inbox.batches
                inbox.batches = []
                return inbox.isClosed
            }
            advance(&batches, isClosed)
            handOver(&batches)
            if isClosed { return }
            pump(&batches)
        }
    }

    /// Ends expired requests, and sends those with a free slot, oldest first.
    private func advance(_ batches: inout [WebBatch], _ isClosed: Bool) {
        let now = ContinuousClock.now
        var places = Places(batches)
        for batch in batches.indices {
            let isCancelled = isClosed || batches[batch].isCancelled()
            for index in batches[batch].exchanges.indices {
                advance(&batches[batch].exchanges[index], &places, isCancelled, now)
            }
        }
    }

    private func advance(
        _ exchange: inout Exchange, _ places: inout Places, _ isCancelled: Bool,
        _ now: ContinuousClock.Instant
    ) {
        guard exchange.result == nil else { return }
        if isCancelled {
            return finish(&exchange, WebError(.cancelled, "the request was cancelled"))
        }
        let isDue = exchange.isDue(now)
        if isDue { exchange.isHeldBack = !places.take(exchange.url) }
        if exchange.end <= now {
            finish(&exchange, exchange.lateness)
        } else if isDue, !exchange.isHeldBack {
            send(&exchange)
        }
    }

    private func handOver(_ batches: inout [WebBatch]) {
        guard batches.contains(where: \.isComplete) else { return }
        let complete = batches.filter(\.isComplete)
        batches.removeAll(where: \.isComplete)
        inbox.withLock { inbox in
            inbox.heldCount -= complete.reduce(0) { $0 + $1.exchanges.count }
        }
        for batch in complete { batch.whenDone(batch.exchanges.compactMap(\.result)) }
    }

    /// Moves bytes, takes complete answers, or waits a little for more.
    private func pump(_ batches: inout [WebBatch]) {
        var running: Int32 = 0
        unsafe curl_multi_perform(multi, &running)
        var left: Int32 = 0
        var hasNews = false
        while let message = unsafe curl_multi_info_read(multi, &left) {
            hasNews = true
            guard unsafe message.pointee.msg == CURLMSG_DONE,
                let handle = unsafe message.pointee.easy_handle
            else { continue }
            unsafe complete(handle, cairn_curl_result(message), &batches)
        }
        guard !hasNews else { return }
        let patience = batches.isEmpty ? Self.idleMilliseconds : Self.pollMilliseconds
        unsafe curl_multi_poll(multi, nil, 0, patience, nil)
    }

    private func complete(
        _ handle: UnsafeMutableRawPointer, _ code: CURLcode, _ batches: inout [WebBatch]
    ) {
        for batch in batches.indices {
            for index in batches[batch].exchanges.indices {
                guard let transfer = batches[batch].exchanges[index].transfer,
                    unsafe transfer.handle == handle
                else { continue }
                let outcome = transfer.outcome(code)
                unsafe curl_multi_remove_handle(multi, handle)
                batches[batch].exchanges[index].transfer = nil
                batches[batch].exchanges[index].take(outcome, at: .now)
                return
            }
        }
    }

    private func send(_ exchange: inout Exchange) {
        guard WebRequest.origin(of: exchange.url) != nil else {
            exchange.result = .failure(
                WebError(.invalidURL, "expected http:// or https:// and a host"))
            return
        }
        guard
            let transfer = Transfer(
                exchange, servers: servers, connectMilliseconds: Self.connectMilliseconds),
            unsafe curl_multi_add_handle(multi, transfer.handle) == CURLM_OK
        else {
            exchange.result = .failure(WebError(.unreachable, "no memory for a request"))
            return
        }
        exchange.sent(transfer)
    }

    private func finish(_ exchange: inout Exchange, _ error: WebError) {
        if let transfer = exchange.transfer {
            unsafe curl_multi_remove_handle(multi, transfer.handle)
            exchange.transfer = nil
        }
        exchange.result = .failure(error)
    }
}

/// The slots for requests in flight, in all and to each server.
private struct Places {
    private var count = 0
    private var counts: [String: Int] = [:]

    init(_ batches: [WebBatch]) {
        for batch in batches {
            for exchange in batch.exchanges where exchange.transfer != nil {
                count += 1
                counts[WebRequest.origin(of: exchange.url) ?? "", default: 0] += 1
            }
        }
    }

    /// Takes a slot; false when all are taken.
    mutating func take(_ url: String) -> Bool {
        let server = WebRequest.origin(of: url) ?? ""
        guard count < WebClient.outstandingLimit,
            counts[server, default: 0] < WebClient.outstandingLimitPerServer
        else { return false }
        count += 1
        counts[server, default: 0] += 1
        return true
    }
}

extension WebBatch {
    fileprivate var isComplete: Bool { exchanges.allSatisfy { $0.result != nil } }
}
