// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCurl
internal import Glibc

/// One sending of a request through libcurl, with the bytes that have come back.
@safe
final class Transfer: @unchecked Sendable {
    // `@unchecked`: created, used and released on the thread of one client.
    let handle: UnsafeMutableRawPointer
    private let headers: UnsafeMutablePointer<curl_slist>?
    private let limit: Int
    private var body: [UInt8] = []
    private var headerByteCount = 0
    private var isTooLarge = false
    private static let headerByteLimit = 256 << 10

    private let servers: InternalServers
    /// The contacted host, and that of the original URL.
    private let hosts: (asked: String, own: String)
    /// Whether an address was not connected to, because it may not be.
    private var isBarred = false

    /// Nil when there is no memory for it.
    init?(_ exchange: Exchange, servers: InternalServers, connectMilliseconds: Int) {
        let (request, url, form) = (exchange.request, exchange.url, exchange.form)
        guard let easy = unsafe curl_easy_init() else { return nil }
        unsafe handle = easy
        limit = exchange.byteLimit
        self.servers = servers
        hosts = (WebRequest.host(of: url) ?? "", WebRequest.host(of: request.url) ?? "")
        var list: UnsafeMutablePointer<curl_slist>?
        for line in request.headers { unsafe list = curl_slist_append(list, line) }
        unsafe headers = unsafe list
        for (option, text) in [
            (CURLOPT_URL, url), (CURLOPT_PROTOCOLS_STR, "http,https"), (CURLOPT_NOPROXY, "*"),
            (CURLOPT_USERAGENT, "Cairn"), (CURLOPT_ACCEPT_ENCODING, ""),
        ] {
            unsafe cairn_curl_set_text(easy, option, text)
        }
        for (option, number) in [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_CONNECTTIMEOUT_MS, connectMilliseconds),
        ] {
            unsafe cairn_curl_set_long(easy, option, number)
        }
        unsafe cairn_curl_set_pointer(easy, CURLOPT_HTTPHEADER, list)
        if let form {
            unsafe cairn_curl_set_large(
                easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(form.utf8.count))
            unsafe cairn_curl_set_text(easy, CURLOPT_COPYPOSTFIELDS, form)
        }
        let pointer = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe cairn_curl_set_pointer(easy, CURLOPT_WRITEDATA, pointer)
        unsafe cairn_curl_set_pointer(easy, CURLOPT_HEADERDATA, pointer)
        unsafe cairn_curl_set_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, pointer in
            unsafe Transfer.of(pointer)?.take(bytes, size * count) ?? 0
        }
        unsafe cairn_curl_set_callback(easy, CURLOPT_HEADERFUNCTION) { _, size, count, pointer in
            unsafe Transfer.of(pointer)?.takeHeader(size * count) ?? 0
        }
        // The only place that sees the resolved address of a name, in any spelling.
        unsafe cairn_curl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, pointer)
        unsafe cairn_curl_set_opensocket(easy) { pointer, _, address in
            guard let transfer = unsafe Transfer.of(pointer), let address = unsafe address else {
                return -1
            }
            return unsafe transfer.open(address)
        }
        // A connection that another request opened is no new socket.
        unsafe cairn_curl_set_pointer(easy, CURLOPT_PREREQDATA, pointer)
        unsafe cairn_curl_set_prerequest(easy) { pointer, peer, _, _, _ in
            guard let transfer = unsafe Transfer.of(pointer), let peer = unsafe peer else {
                return CURL_PREREQFUNC_ABORT
            }
            let address = unsafe PeerAddress(String(cString: peer))
            return transfer.admits(address) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }

    /// A socket for an address; -1 for one that may not be connected to.
    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let (family, type, number) = unsafe (
            address.pointee.family, address.pointee.socktype, address.pointee.protocol
        )
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
        let peer = unsafe PeerAddress(family: family, at: UnsafeRawPointer(address) + offset)
        guard admits(peer) else { return -1 }
        return socket(family, type | Int32(SOCK_CLOEXEC.rawValue), number)
    }

    private func admits(_ peer: PeerAddress?) -> Bool {
        guard let peer, servers.admit(peer, as: hosts.asked, for: hosts.own) else {
            isBarred = true
            return false
        }
        return true
    }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
        unsafe pointer.map { unsafe Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Less than `count` ends the transfer.
    private func take(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard body.count + count <= limit else {
            isTooLarge = true
            return 0
        }
        guard let bytes = unsafe bytes else { return count }
        unsafe body.append(
            contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    private func takeHeader(_ count: Int) -> Int {
        headerByteCount += count
        if headerByteCount > Self.headerByteLimit { isTooLarge = true }
        return isTooLarge ? 0 : count
    }

    /// The outcome, once libcurl is done with the transfer.
    func outcome(_ code: CURLcode) -> Exchange.Outcome {
        if isTooLarge {
            return .failed(
                WebError(.tooLarge, "the answer has more than \(limit) bytes"), isRetriable: false)
        }
        guard code == CURLE_OK || !isBarred else {
            return .failed(
                WebError(
                    .refused,
                    hosts.asked == hosts.own
                        ? "its address is on this machine or an internal network, and is not among "
                            + "those allowed there"
                        : "it was redirected to this machine or an internal network"),
                isRetriable: false)
        }
        guard code == CURLE_OK else {
            let text = unsafe curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "?"
            return .failed(
                WebError(.unreachable, "the connection failed: \(text)"),
                isRetriable: Self.passing.contains(code.rawValue))
        }
        var status = 0
        unsafe cairn_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        switch status {
        case 200...299:
            let type = text(CURLINFO_CONTENT_TYPE)?.lowercased() ?? ""
            return .answered(WebResponse(status: status, contentType: type, body: body))
        case 301, 302, 303, 307, 308:
            if let target = text(CURLINFO_REDIRECT_URL) {
                return .redirected(status: status, to: target, byteCount: body.count)
            }
            return refusal(.refused, status)
        case 401, 403: return refusal(.denied, status)
        default: return refusal(.refused, status)
        }
    }

    private func refusal(_ code: WebError.Code, _ status: Int) -> Exchange.Outcome {
        .failed(
            WebError(code, "the server answered with status \(status)", status: status),
            isRetriable: [429, 502, 503, 504].contains(status))
    }

    private func text(_ info: CURLINFO) -> String? {
        var pointer: UnsafeMutablePointer<CChar>?
        unsafe cairn_curl_get_text(handle, info, &pointer)
        return unsafe pointer.map { unsafe String(cString: $0) }
    }

    /// Troubles that may be gone the next time.
    private static let passing: Set<UInt32> = [
        CURLE_COULDNT_CONNECT.rawValue, CURLE_COULDNT_RESOLVE_HOST.rawValue,
        CURLE_GOT_NOTHING.rawValue, CURLE_RECV_ERROR.rawValue, CURLE_SEND_ERROR.rawValue,
        CURLE_PARTIAL_FILE.rawValue,
    ]

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headers)
    }
}
