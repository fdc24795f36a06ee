// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCurl
internal import Glibc
internal import Synchronization

/// A request whose answer is read as it comes.
public struct StreamRequest: Sendable {
    /// What is sent after the headers.
    public enum Body: Sendable {
        case none
        /// Bytes; their media type is a header.
        case bytes([UInt8])
        /// A form with a file, which is read as it is sent; its media type, nil for that of its
        /// name.
        case upload(
            fields: [(name: String, value: String)], path: String, name: String, fileName: String,
            type: String? = nil)
    }

    /// GET, POST, HEAD.
    public var method: String
    /// The URL, escaped.
    public var url: String
    /// Header lines, `Name: value`.
    public var headers: [String]
    /// What is sent.
    public var body: Body
    /// Longest time in milliseconds; nil for any, as long as bytes come.
    public var milliseconds: Int?
    /// Seconds without a byte after which a request without a time ends.
    public var stallSeconds: Int
    /// A file with the certificates that are trusted; nil for those of the system.
    public var trustFile: String?

    /// Makes a request.
    public init(
        method: String, url: String, headers: [String], body: Body, milliseconds: Int?,
        stallSeconds: Int = 60, trustFile: String? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.milliseconds = milliseconds
        self.stallSeconds = stallSeconds
        self.trustFile = trustFile
    }
}

/// Why a transfer ended without the end of its answer.
public struct StreamFailure: Error, Hashable, Sendable {
    /// The kinds of failures.
    public enum Kind: Hashable, Sendable {
        case unreachable, timedOut, tls, invalidURL, file, cancelled
    }

    /// The kind.
    public let kind: Kind
    /// One sentence, without the URL.
    public let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}

/// A request under way: its headers, then its bytes.
///
/// One task reads; any thread cancels.
@safe
public final class StreamTransfer: @unchecked Sendable {
    // `@unchecked`: libcurl's handles are used on the loop's thread alone; the rest is in `state`.
    private struct State {
        var status = 0
        var headers: [(name: String, value: String)] = []
        var hasHead = false
        /// Bytes of the body by its header, for the first of them; else 0.
        var length = 0
        /// What no reader has taken.
        var bytes: [UInt8] = []
        var isPaused = false
        /// Whether the reader waits for the end, or for as many bytes as may wait.
        var wantsWhole = false
        var outcome: Result<Void, StreamFailure>?
        var waiter: CheckedContinuation<Void, Never>?
        /// Whether something came that no reader has looked at.
        var hasNews = false
    }

    /// Bytes that wait for a slow reader before the connection is held back.
    private static let waitingByteLimit = 4 << 20
    private static let headerByteLimit = 256 << 10
    /// Bytes that are read from the connection at once.
    private static let bufferByteCount = 128 << 10

    private let request: StreamRequest
    private let loop: StreamLoop
    private let state = Mutex(State())

    // The loop's thread.
    var handle: UnsafeMutableRawPointer?
    private var list: UnsafeMutablePointer<curl_slist>?
    private var form: OpaquePointer?
    private var headerByteCount = 0
    /// Whether the loop is to wake the reader.
    var isToWake = false

    init(_ request: StreamRequest, _ loop: StreamLoop) {
        self.request = request
        self.loop = loop
    }

    // MARK: Readers

    /// Status and headers, once they are there; throws ``StreamFailure``.
    public func head() async throws(StreamFailure) -> (
        status: Int, headers: [(name: String, value: String)]
    ) {
        while true {
            let (found, failure) = state.withLock { state in
                (
                    state.hasHead ? (state.status, state.headers) : nil,
                    state.outcome.flatMap { outcome -> StreamFailure? in
                        guard case .failure(let failure) = outcome else {
                            return StreamFailure(.unreachable, "the server sent no answer")
                        }
                        return failure
                    }
                )
            }
            if let found { return found }
            if let failure { throw failure }
            await wait()
        }
    }

    /// The next bytes; nil at the end; throws ``StreamFailure``.
    ///
    /// With `isWhole` all that are left, or more than 4 MB of them: for a reader that uses none
    /// before it has all.
    public func next(isWhole: Bool = false) async throws(StreamFailure) -> [UInt8]? {
        while true {
            let (bytes, outcome, resumes) = state.withLock { state in
                let isEnough = !isWhole || state.bytes.count >= Self.waitingByteLimit
                guard !state.bytes.isEmpty, isEnough || state.outcome != nil else {
                    state.wantsWhole = isWhole
                    return (nil as [UInt8]?, state.outcome, false)
                }
                defer { (state.bytes, state.isPaused, state.wantsWhole) = ([], false, false) }
                return (state.bytes, state.outcome, state.isPaused)
            }
            if resumes { loop.take(.resume(self)) }
            if let bytes { return bytes }
            switch outcome {
            case .success?: return nil
            case .failure(let failure)?: throw failure
            case nil: await wait()
            }
        }
    }

    /// Ends it on the wire; readers get `cancelled`.
    public func cancel() {
        end(.failure(StreamFailure(.cancelled, "the request was cancelled")))
        loop.take(.stop(self))
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.hasNews || state.outcome != nil {
                        state.hasNews = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Lets the reader look at what has come.
    func wake() {
        state.withLock { state -> CheckedContinuation<Void, Never>? in
            let isAwaited =
                !state.wantsWhole || state.outcome != nil
                || state.bytes.count >= Self.waitingByteLimit
            guard isAwaited else { return nil }
            defer { state.waiter = nil }
            state.hasNews = state.waiter == nil
            return state.waiter
        }?.resume()
    }

    func end(_ outcome: Result<Void, StreamFailure>) {
        state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
        }
        wake()
    }

    // MARK: The loop's thread

    /// Sets up a handle of libcurl; false when there is no memory, or no file to send.
    func prepare(_ easy: UnsafeMutableRawPointer?) -> Bool {
        guard let easy = unsafe easy else { return false }
        unsafe handle = easy
        for (option, text) in [
            (CURLOPT_URL, request.url), (CURLOPT_PROTOCOLS_STR, "http,https"),
            (CURLOPT_ACCEPT_ENCODING, ""), (CURLOPT_CUSTOMREQUEST, request.method),
        ] {
            unsafe cairn_curl_set_text(easy, option, text)
        }
        if let file = request.trustFile { unsafe cairn_curl_set_text(easy, CURLOPT_CAINFO, file) }
        for (option, number) in [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_CONNECTTIMEOUT_MS, min(request.milliseconds ?? 15_000, 15_000)),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            (CURLOPT_BUFFERSIZE, Self.bufferByteCount),
        ] {
            unsafe cairn_curl_set_long(easy, option, number)
        }
        if let milliseconds = request.milliseconds {
            unsafe cairn_curl_set_long(easy, CURLOPT_TIMEOUT_MS, milliseconds)
        } else {
            unsafe cairn_curl_set_long(easy, CURLOPT_LOW_SPEED_LIMIT, 1)
            unsafe cairn_curl_set_long(easy, CURLOPT_LOW_SPEED_TIME, request.stallSeconds)
        }
        if request.method == "HEAD" { unsafe cairn_curl_set_long(easy, CURLOPT_NOBODY, 1) }
        var headers = request.headers
        headers.append("Expect:")
        for line in headers { unsafe list = curl_slist_append(list, line) }
        unsafe cairn_curl_set_pointer(easy, CURLOPT_HTTPHEADER, list)
        guard unsafe setBody(easy) else { return false }
        let pointer = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe cairn_curl_set_pointer(easy, CURLOPT_PRIVATE, pointer)
        unsafe cairn_curl_set_pointer(easy, CURLOPT_WRITEDATA, pointer)
        unsafe cairn_curl_set_pointer(easy, CURLOPT_HEADERDATA, pointer)
        unsafe cairn_curl_set_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, pointer in
            unsafe StreamTransfer.of(pointer)?.take(bytes, size * count) ?? 0
        }
        unsafe cairn_curl_set_callback(easy, CURLOPT_HEADERFUNCTION) {
            bytes, size, count, pointer in
            unsafe StreamTransfer.of(pointer)?.takeHeader(bytes, size * count) ?? 0
        }
        return true
    }

    private func setBody(_ easy: UnsafeMutableRawPointer) -> Bool {
        switch request.body {
        case .none:
            guard request.method == "POST" else { return true }
            unsafe cairn_curl_set_large(easy, CURLOPT_POSTFIELDSIZE_LARGE, 0)
            unsafe cairn_curl_set_text(easy, CURLOPT_COPYPOSTFIELDS, "")
        case .bytes(let bytes):
            unsafe cairn_curl_set_large(
                easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
            _ = unsafe bytes.withUnsafeBytes { bytes in
                unsafe cairn_curl_set_pointer(
                    easy, CURLOPT_COPYPOSTFIELDS,
                    UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            }
        case .upload(let fields, let path, let name, let fileName, let type):
            guard let mime = unsafe curl_mime_init(easy) else { return false }
            unsafe form = mime
            for field in fields {
                let part = unsafe curl_mime_addpart(mime)
                unsafe curl_mime_name(part, field.name)
                unsafe curl_mime_data(part, field.value, field.value.utf8.count)
            }
            let part = unsafe curl_mime_addpart(mime)
            unsafe curl_mime_name(part, name)
            guard unsafe curl_mime_filedata(part, path) == CURLE_OK else { return false }
            unsafe curl_mime_filename(part, fileName)
            if let type { unsafe curl_mime_type(part, type) }
            unsafe cairn_curl_set_pointer(easy, CURLOPT_MIMEPOST, UnsafeMutableRawPointer(mime))
        }
        return true
    }

    /// Gives up libcurl's handle, which is in no loop any more and has nothing set.
    func release() -> UnsafeMutableRawPointer? {
        guard let easy = unsafe handle else { return nil }
        unsafe curl_easy_reset(easy)
        unsafe curl_slist_free_all(list)
        if let form = unsafe form { unsafe curl_mime_free(form) }
        unsafe (handle, list, form) = (nil, nil, nil)
        return unsafe easy
    }

    static func of(_ pointer: UnsafeMutableRawPointer?) -> StreamTransfer? {
        guard let pointer = unsafe pointer else { return nil }
        return unsafe Unmanaged<StreamTransfer>.fromOpaque(pointer).takeUnretainedValue()
    }

    private func take(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let bytes = unsafe bytes, count > 0 else { return 0 }
        let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        let answer = state.withLock { state in
            // A reader that was cancelled takes no more.
            guard state.outcome == nil else { return 0 }
            guard state.bytes.count < Self.waitingByteLimit else {
                state.isPaused = true
                return Int(CURL_WRITEFUNC_PAUSE)
            }
            state.hasHead = true
            if state.length > 0 {
                state.bytes.reserveCapacity(min(state.length, Self.waitingByteLimit))
                state.length = 0
            }
            unsafe state.bytes.append(contentsOf: piece)
            return count
        }
        if answer == count { loop.wakeLater(self) }
        return answer
    }

    private func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let bytes = unsafe bytes else { return 0 }
        headerByteCount += count
        guard headerByteCount <= Self.headerByteLimit else { return 0 }
        var line = unsafe UnsafeRawBufferPointer(start: bytes, count: count)[...]
        func trim(_ isSpace: (UInt8) -> Bool, fromEnd: Bool) {
            if fromEnd {
                while let last = unsafe line.last, isSpace(last) { unsafe line.removeLast() }
            } else {
                while let first = unsafe line.first, isSpace(first) { unsafe line.removeFirst() }
            }
        }
        trim({ $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }, fromEnd: true)
        if unsafe line.isEmpty { return takeEndOfHeaders(count) }
        if unsafe line.starts(with: "HTTP/".utf8) {
            let text = unsafe String(decoding: line, as: UTF8.self)
            state.withLock { state in
                // A later answer, after `100 Continue`, takes the place of the first.
                state.headers = []
                state.status = Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0
            }
        } else if let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")) {
            let name = unsafe String(decoding: line[..<colon], as: UTF8.self)
            unsafe line = line[(colon + 1)...]
            trim({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }, fromEnd: false)
            let value = unsafe String(decoding: line, as: UTF8.self)
            let length = name.lowercased() == "content-length" ? Int(value) : nil
            state.withLock { state in
                state.headers.append((name, value))
                if let length, length > 0 { state.length = length }
            }
        }
        return count
    }

    private func takeEndOfHeaders(_ count: Int) -> Int {
        let isFinal = state.withLock { state in
            guard state.status >= 200 else { return false }
            state.hasHead = true
            return true
        }
        if isFinal { loop.wakeLater(self) }
        return count
    }

    /// Continues a connection that was held back.
    func resume() {
        if let easy = unsafe handle { unsafe curl_easy_pause(easy, 0) }
    }

    /// Takes libcurl's verdict.
    func finish(_ code: CURLcode) {
        guard code != CURLE_OK else { return end(.success(())) }
        let text = unsafe String(cString: curl_easy_strerror(code))
        let kind: StreamFailure.Kind =
            switch code {
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
                CURLE_SSL_CACERT_BADFILE:
                .tls
            case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .invalidURL
            case CURLE_READ_ERROR: .file
            default: .unreachable
            }
        end(.failure(StreamFailure(kind, text)))
    }
}
