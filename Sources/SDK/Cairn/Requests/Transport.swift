// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// What sends requests: libcurl unless an app sets another, as tests do.
public protocol Transport: Sendable {
    /// Sends a request; returns once status and headers are there.
    ///
    /// Redirections are not followed. Throws ``TransportError``, and `CancellationError` in a
    /// cancelled task, whose request is ended on the wire.
    func send(_ request: Request) async throws -> Response
}

/// A request over HTTP.
public struct Request: Sendable {
    /// The methods that are used.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case head = "HEAD"
    }

    /// What is sent after the headers.
    public enum Body: Sendable {
        /// Nothing.
        case none
        /// Bytes with their media type.
        case bytes(Data, type: String)
        /// A form with a file, as `multipart/form-data`: fields, then the file, which is read as
        /// it is sent.
        case upload(fields: [(name: String, value: String)], file: URL, name: String)
    }

    /// The method.
    public var method: Method
    /// `http` or `https`, with everything that goes to the server.
    public var url: URL
    /// Names and values of header lines.
    public var headers: [(name: String, value: String)]
    /// What is sent.
    public var body: Body
    /// The media type of the file of an upload; nil for that of its name.
    public var fileType: String?
    /// Longest time for the whole answer; nil for a stream, which may only not stall.
    public var timeout: Duration?

    /// Makes a request.
    public init(
        _ method: Method = .get, _ url: URL, headers: [(name: String, value: String)] = [],
        body: Body = .none, timeout: Duration? = .seconds(60)
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }

    /// Sets a header line, in the place of one of the same name.
    public mutating func setHeader(_ name: String, _ value: String?) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { headers.append((name, value)) }
    }

    /// The value of a header line.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// The answer to a request: its status and headers, and its body as it comes.
public struct Response: Sendable {
    /// The status, as 200.
    public var status: Int
    /// Names and values of the header lines.
    public var headers: [(name: String, value: String)]
    /// The body, unpacked.
    public var body: ResponseBody

    /// Makes an answer.
    public init(
        status: Int, headers: [(name: String, value: String)] = [], body: ResponseBody
    ) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Makes an answer whose body is there.
    public init(status: Int, headers: [(name: String, value: String)] = [], bytes: Data) {
        self.init(status: status, headers: headers, body: ResponseBody(bytes))
    }

    /// The value of a header line.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// The bytes of an answer, piece by piece; read once.
public struct ResponseBody: AsyncSequence, Sendable {
    /// The next piece; nil at the end.
    let next: @Sendable () async throws -> [UInt8]?
    /// As many bytes as there can be at once; nil at the end.
    private let most: @Sendable () async throws -> [UInt8]?

    /// A body that `next` gives.
    public init(next: @escaping @Sendable () async throws -> [UInt8]?) {
        self.next = next
        most = next
    }

    init(_ reading: any BodyReading) {
        next = { try await reading.next(isWhole: false) }
        most = { try await reading.next(isWhole: true) }
    }

    /// A body that is there.
    public init(_ bytes: Data) {
        let pieces = Pieces([UInt8](bytes))
        self.init { pieces.take() }
    }

    /// Reads one piece after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let nextPiece: @Sendable () async throws -> [UInt8]?

        /// The next piece; nil at the end.
        public mutating func next() async throws -> [UInt8]? { try await nextPiece() }
    }

    /// Starts to read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(nextPiece: next) }

    /// All bytes; throws ``TransportError`` (`tooLarge`) beyond a bound.
    func collect(atMost bound: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await most() {
            guard bytes.count + piece.count <= bound else {
                throw TransportError(
                    .tooLarge, "the answer has more than \(bound) bytes, the most that is kept")
            }
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
        }
        return bytes
    }

    /// The first bytes, as many as asked for where there are as many, and the whole body.
    func beginning(atLeast count: Int) async throws -> (bytes: [UInt8], whole: ResponseBody) {
        var bytes: [UInt8] = []
        while bytes.count < count, let piece = try await next() { bytes += piece }
        let (read, next) = (Pieces(bytes), next)
        let whole = ResponseBody {
            if let bytes = read.take() { return bytes }
            return try await next()
        }
        return (bytes, whole)
    }

    private final class Pieces: Sendable {
        private let bytes: Guarded<[UInt8]?>

        init(_ bytes: [UInt8]) { self.bytes = Guarded(bytes.isEmpty ? nil : bytes) }

        func take() -> [UInt8]? {
            bytes.withLock { bytes in
                defer { bytes = nil }
                return bytes
            }
        }
    }
}

/// What gives the bytes of an answer: piece by piece, or as many at once as there can be.
protocol BodyReading: Sendable {
    /// Nil at the end.
    func next(isWhole: Bool) async throws -> [UInt8]?
}
