// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Cairn
public import Foundation
internal import Synchronization

/// A request that a stub got.
public struct StubRequest: Sendable {
    /// GET, POST, HEAD.
    public let method: String
    /// The path below the stub's URL, as `/City/MapServer`.
    public let path: String
    /// Parameters of the URL and of the form.
    public let parameters: [String: String]
    /// Names, in small letters, and values of the header lines.
    public let headers: [String: String]
    /// The file of an upload, which may be gone after the answer; nil for none.
    public let file: URL?
    /// The media type of the file; nil for that of its name.
    public let fileType: String?
}

/// An answer of a stub.
public struct StubAnswer: Sendable {
    var status = 200
    var headers: [(name: String, value: String)] = []
    var pieces: [Data] = []
    var failure: TransportError?
    var failureAfterBody: TransportError?
    var gate: StubGate?

    /// JSON text.
    public static func json(_ text: String, status: Int = 200) -> StubAnswer {
        bytes(Data(text.utf8), type: "application/json;charset=utf-8", status: status)
    }

    /// Bytes of a media type.
    public static func bytes(
        _ bytes: Data, type: String, status: Int = 200,
        headers: [(name: String, value: String)] = []
    ) -> StubAnswer {
        StubAnswer(
            status: status, headers: [("Content-Type", type)] + headers, pieces: [bytes])
    }

    /// An error as the REST has it: in an answer of status 200.
    public static func error(
        _ code: Int, _ message: String, details: [String] = []
    ) -> StubAnswer {
        let list = details.map { "\"\($0)\"" }.joined(separator: ",")
        return json(#"{"error":{"code":\#(code),"message":"\#(message)","details":[\#(list)]}}"#)
    }

    /// Server-sent events, each a name, an id and data.
    public static func events(
        _ events: [(name: String, id: String, data: String)], ends: Bool = true
    ) -> StubAnswer {
        let text = events.map { "event: \($0.name)\nid: \($0.id)\ndata: \($0.data)\n\n" }
        var answer = bytes(Data(text.joined().utf8), type: "text/event-stream")
        if !ends { answer.gate = StubGate() }
        return answer
    }

    /// A redirection.
    public static func redirect(to url: String, status: Int = 302) -> StubAnswer {
        StubAnswer(status: status, headers: [("Location", url)])
    }

    /// No answer: the connection is refused.
    public static var unreachable: StubAnswer {
        StubAnswer(failure: TransportError(.unreachable, "the stub is not reachable"))
    }

    /// No answer in time.
    public static var timedOut: StubAnswer {
        StubAnswer(failure: TransportError(.timedOut, "the stub does not answer"))
    }

    /// The first bytes of an answer, then a connection that breaks off.
    public func cut(after count: Int) -> StubAnswer {
        var answer = self
        let whole = pieces.reduce(Data(), +)
        answer.pieces = [whole.prefix(count)]
        answer.failureAfterBody = TransportError(.unreachable, "the stub's answer broke off")
        return answer
    }

    /// The answer once a gate is open.
    public func held(by gate: StubGate) -> StubAnswer {
        var answer = self
        answer.gate = gate
        return answer
    }
}

/// Holds answers until it is opened.
public final class StubGate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [UUID: CheckedContinuation<Bool, Never>] = [:]
        var arrivals: [CheckedContinuation<Void, Never>] = []
        var arrivedCount = 0
    }

    private let state = Mutex(State())

    /// A closed gate.
    public init() {}

    /// Number of requests that have come to it.
    public var arrivedCount: Int { state.withLock { $0.arrivedCount } }

    /// Waits until a request has come to it.
    public func arrived() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrivedCount > 0 { return true }
                state.arrivals.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets everything through.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for each in waiting { each.resume(returning: true) }
    }

    /// Waits until it is open; throws `CancellationError` in a cancelled task.
    func pass() async throws {
        let key = UUID()
        let isOpen = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, arrivals) = state.withLock {
                    state -> (Bool?, [CheckedContinuation<Void, Never>]) in
                    state.arrivedCount += 1
                    defer { state.arrivals = [] }
                    if state.isOpen { return (true, state.arrivals) }
                    if Task.isCancelled { return (false, state.arrivals) }
                    state.waiting[key] = continuation
                    return (nil, state.arrivals)
                }
                for each in arrivals { each.resume() }
                if let answer { return continuation.resume(returning: answer) }
                if Task.isCancelled { cancel(key) }
            }
        } onCancel: {
            cancel(key)
        }
        guard isOpen else { throw CancellationError() }
    }

    private func cancel(_ key: UUID) {
        state.withLock { $0.waiting.removeValue(forKey: key) }?.resume(returning: false)
    }
}

/// A server of an app's tests: recorded answers, chosen failures, no sockets.
///
/// Each has a host of its own, so tests may run side by side.
///
/// ``install()`` sends requests for hosts of stubs to them, and all others on as before.
public final class StubServer: Sendable {
    private struct State {
        var handlers: [(path: String, handler: @Sendable (StubRequest) -> StubAnswer)] = []
        var requests: [StubRequest] = []
    }

    /// Its URL, as `http://stub-7.test/arcgis/rest/services`.
    public let url: URL
    private let state = Mutex(State())
    private let root: String

    /// A server without answers: everything is not found.
    public init(root: String = "/arcgis/rest/services") {
        let host = "stub-\(UUID().uuidString.lowercased().prefix(13)).test"
        self.root = root
        guard let url = URL(string: "http://\(host)\(root)") else {
            preconditionFailure("'\(root)' is no path of a URL")
        }
        self.url = url
        StubNetwork.shared.add(self, host: host)
        Self.install()
    }

    deinit { StubNetwork.shared.remove(url.host() ?? "") }

    /// Sends requests for hosts of stubs to them.
    public static func install() { StubNetwork.shared.install() }

    /// The requests so far, the first one first.
    public var requests: [StubRequest] { state.withLock { $0.requests } }

    /// The requests for a path.
    public func requests(_ path: String) -> [StubRequest] { requests.filter { $0.path == path } }

    /// Answers requests for a path; a later call for the same path takes the place of an earlier
    /// one.
    public func on(_ path: String, _ answer: StubAnswer) { on(path) { _ in answer } }

    /// Answers requests for a path by what they ask; a path that ends with `*` is a beginning.
    public func on(_ path: String, _ handler: @escaping @Sendable (StubRequest) -> StubAnswer) {
        state.withLock { state in
            state.handlers.removeAll { $0.path == path }
            state.handlers.append((path, handler))
        }
    }

    /// Answers requests for a path with JSON text.
    public func on(_ path: String, json: String) { on(path, .json(json)) }

    /// Answers requests for a path one after the other; the last answer stays.
    public func on(_ path: String, inTurn answers: [StubAnswer]) {
        let left = Mutex(answers)
        on(path) { _ in
            left.withLock { left in left.count > 1 ? left.removeFirst() : left[0] }
        }
    }

    func answer(_ request: Request) async throws -> Response {
        let asked = Self.read(request, root)
        let handler = state.withLock { state in
            state.requests.append(asked)
            let exact = state.handlers.last { $0.path == asked.path }
            let beginning = state.handlers.last {
                $0.path.hasSuffix("*") && asked.path.hasPrefix(String($0.path.dropLast()))
            }
            return (exact ?? beginning)?.handler
        }
        let answer =
            handler?(asked)
            ?? .json(#"{"error":{"code":404,"message":"not found","details":[]}}"#, status: 404)
        if let gate = answer.gate, answer.headers.first?.value != "text/event-stream" {
            try await gate.pass()
        }
        try Task.checkCancellation()
        if let failure = answer.failure { throw failure }
        let left = Mutex(answer.pieces)
        let isHeadOnly = request.method == .head
        return Response(
            status: answer.status, headers: answer.headers,
            body: ResponseBody {
                try Task.checkCancellation()
                if isHeadOnly { return nil }
                let piece = left.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                if let piece { return [UInt8](piece) }
                if let failure = answer.failureAfterBody { throw failure }
                // A stream that stays open.
                if let gate = answer.gate, answer.headers.first?.value == "text/event-stream" {
                    try await gate.pass()
                }
                return nil
            })
    }

    private static func read(_ request: Request, _ root: String) -> StubRequest {
        let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        var parameters: [String: String] = [:]
        for item in parts?.queryItems ?? [] { parameters[item.name] = item.value ?? "" }
        var file: URL?
        switch request.body {
        case .none: break
        case .bytes(let bytes, _):
            for pair in String(decoding: bytes, as: UTF8.self).split(separator: "&") {
                let sides = pair.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let value = sides.count > 1 ? String(sides[1]) : ""
                parameters[String(sides[0]).removingPercentEncoding ?? ""] =
                    value.removingPercentEncoding ?? ""
            }
        case .upload(let fields, let upload, _):
            for field in fields { parameters[field.name] = field.value }
            file = upload
        }
        let path = parts?.path ?? ""
        return StubRequest(
            method: request.method.rawValue,
            path: path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path,
            parameters: parameters,
            headers: Dictionary(
                request.headers.map { ($0.name.lowercased(), $0.value) },
                uniquingKeysWith: { _, last in last }), file: file, fileType: request.fileType)
    }
}

/// The stubs of a process, by their hosts.
private final class StubNetwork: Transport {
    static let shared = StubNetwork()

    private struct Weak { weak var server: StubServer? }

    private struct State {
        var servers: [String: Weak] = [:]
        var other: (any Transport)?
    }

    private let state = Mutex(State())

    func add(_ server: StubServer, host: String) {
        state.withLock { $0.servers[host] = Weak(server: server) }
    }

    func remove(_ host: String) { state.withLock { $0.servers[host] = nil } }

    func install() {
        let current = CairnEnvironment.transport
        guard !(current is StubNetwork) else { return }
        state.withLock { $0.other = current }
        CairnEnvironment.transport = self
    }

    func send(_ request: Request) async throws -> Response {
        let host = request.url.host() ?? ""
        let (server, other) = state.withLock { ($0.servers[host]?.server, $0.other) }
        if let server { return try await server.answer(request) }
        guard !host.hasSuffix(".test"), let other else {
            throw TransportError(.unreachable, "there is no stub '\(host)'")
        }
        return try await other.send(request)
    }
}
