// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CurlStreams
public import Foundation

/// Requests by libcurl.
public struct CurlTransport: Transport {
    private let trustFile: String?

    /// Makes a transport; `trusting` is a PEM file with the certificates that are trusted in the
    /// place of the system's.
    public init(trusting file: URL? = nil) { trustFile = file?.path(percentEncoded: false) }

    /// Sends a request.
    public func send(_ request: Request) async throws -> Response {
        guard request.url.origin != nil else {
            throw TransportError(
                .invalidURL,
                "'\(request.url.withoutQuery.absoluteString.prefix(200))': expected http:// or "
                    + "https:// and a host")
        }
        var headers = request.headers.map { "\($0.name): \($0.value)" }
        guard !headers.contains(where: { $0.contains { $0.isNewline } }) else {
            throw TransportError(.invalidURL, "a header line has a line break in it")
        }
        let body: StreamRequest.Body
        switch request.body {
        case .none: body = .none
        case .bytes(let bytes, let type):
            headers.append("Content-Type: \(type)")
            body = .bytes([UInt8](bytes))
        case .upload(let fields, let file, let name):
            body = .upload(
                fields: fields, path: file.path(percentEncoded: false), name: name,
                fileName: file.lastPathComponent, type: request.fileType)
        }
        let milliseconds = request.timeout.map {
            Int(min(max($0 / .milliseconds(1), 1), Double(Int32.max)))
        }
        let transfer = StreamLoop.shared.start(
            StreamRequest(
                method: request.method.rawValue, url: request.url.absoluteString,
                headers: headers, body: body, milliseconds: milliseconds, trustFile: trustFile))
        let place = request.url.origin ?? ""
        do {
            let head = try await transfer.head()
            return Response(
                status: head.status, headers: head.headers,
                body: ResponseBody(Reading(transfer, place)))
        } catch {
            throw Self.error(error, place)
        }
    }

    private static func error(_ failure: StreamFailure, _ place: String) -> any Error {
        let kind: TransportError.Kind
        switch failure.kind {
        case .cancelled: return CancellationError()
        case .unreachable: kind = .unreachable
        case .timedOut: kind = .timedOut
        case .tls: kind = .tls
        case .invalidURL: kind = .invalidURL
        case .file: kind = .file
        }
        return TransportError(kind, "\(place): \(failure.message)")
    }

    /// Ends the transfer with its last reader.
    private final class Reading: BodyReading {
        let transfer: StreamTransfer
        let place: String

        init(_ transfer: StreamTransfer, _ place: String) {
            self.transfer = transfer
            self.place = place
        }

        deinit { transfer.cancel() }

        func next(isWhole: Bool) async throws -> [UInt8]? {
            do { return try await transfer.next(isWhole: isWhole) } catch {
                throw CurlTransport.error(error, place)
            }
        }
    }
}
