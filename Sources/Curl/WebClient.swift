// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCurl

// Sendable so that it can be handed from thread to thread; its user sees to it that one holds it.

/// Asks HTTP servers, many at once, on the calling thread; used from one thread at a time.
///
/// Connections stay open for the next question. Only `http` and `https` are spoken, certificates are
/// checked, no proxy and no cookie is used, and the environment is not looked at.
@safe
public final class WebClient: @unchecked Sendable {
    /// How often a request is sent at most: again after a connection that failed, and after 429, 502,
    /// 503 and 504.
    public static let attempts = 3
    /// How long it rests before the second time; twice as long before the third.
    public static let firstRest = Duration.milliseconds(150)
    /// How many redirections are followed.
    public static let redirections = 5
    private static let connectMilliseconds = 5_000
    private static let pollMilliseconds: Int32 = 20

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    private let multi: UnsafeMutableRawPointer?

    /// A client without connections.
    public init() {
        unsafe multi = Self.isReady ? curl_multi_init() : nil
    }

    /// Asks all at once and waits for all; the answers in order of the requests.
    ///
    /// Blocks the calling thread for as long as the longest timeout at most.
    ///
    /// - Parameters:
    ///   - deadline: When every request is over that has no answer; nil for their own timeouts alone.
    ///   - isCancelled: Asked fifty times a second.
    public func perform(
        _ requests: [WebRequest], until deadline: ContinuousClock.Instant? = nil,
        isCancelled: () -> Bool = { false }
    ) -> [Result<WebResponse, WebError>] {
        let start = ContinuousClock.now
        var exchanges = requests.map { request in
            var end = start + request.timeout
            if let deadline, deadline < end { end = deadline }
            return Exchange(request, end: end)
        }
        while exchanges.contains(where: { $0.result == nil }) {
            let now = ContinuousClock.now
            let isCancelled = isCancelled()
            for index in exchanges.indices where exchanges[index].result == nil {
                if isCancelled {
                    finish(&exchanges[index], WebError(.cancelled, "the request was cancelled"))
                } else if exchanges[index].end <= now {
                    finish(&exchanges[index], exchanges[index].lateness)
                } else if exchanges[index].transfer == nil, exchanges[index].notBefore <= now {
                    send(&exchanges[index], now)
                }
            }
            guard exchanges.contains(where: { $0.result == nil }) else { break }
            pump(&exchanges)
        }
        return exchanges.map { exchange in
            exchange.result ?? .failure(WebError(.unreachable, "the request was not sent"))
        }
    }

    /// Moves bytes, waits a little for more, and takes what is complete.
    private func pump(_ exchanges: inout [Exchange]) {
        var running: Int32 = 0
        unsafe curl_multi_perform(multi, &running)
        var left: Int32 = 0
        var hasNews = false
        while let message = unsafe curl_multi_info_read(multi, &left) {
            hasNews = true
            guard unsafe message.pointee.msg == CURLMSG_DONE,
                let index = exchanges.firstIndex(where: {
                    unsafe $0.transfer?.handle == message.pointee.easy_handle
                }), let transfer = exchanges[index].transfer
            else { continue }
            let outcome = unsafe transfer.outcome(cairn_curl_result(message))
            unsafe curl_multi_remove_handle(multi, transfer.handle)
            exchanges[index].transfer = nil
            exchanges[index].take(outcome, at: .now)
        }
        if !hasNews { unsafe curl_multi_poll(multi, nil, 0, Self.pollMilliseconds, nil) }
    }

    private func send(_ exchange: inout Exchange, _ now: ContinuousClock.Instant) {
        guard WebRequest.origin(of: exchange.url) != nil else {
            exchange.result = .failure(
                WebError(.invalidURL, "expected http:// or https:// and a host"))
            return
        }
        guard
            let transfer = Transfer(
                exchange.request, url: exchange.url, form: exchange.form,
                connectMilliseconds: Self.connectMilliseconds),
            unsafe curl_multi_add_handle(multi, transfer.handle) == CURLM_OK
        else {
            exchange.result = .failure(WebError(.unreachable, "no memory for a request"))
            return
        }
        exchange.transfer = transfer
        exchange.attempt += 1
    }

    private func finish(_ exchange: inout Exchange, _ error: WebError) {
        if let transfer = exchange.transfer {
            unsafe curl_multi_remove_handle(multi, transfer.handle)
            exchange.transfer = nil
        }
        exchange.result = .failure(error)
    }

    deinit { unsafe curl_multi_cleanup(multi) }
}
