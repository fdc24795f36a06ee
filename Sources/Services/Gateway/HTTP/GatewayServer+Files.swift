// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import HummingbirdCore
internal import NIOCore
internal import Platform
internal import Site
internal import Synchronization

/// Uploads in progress into the site's blob store, limited in number.
final class Uploads: Sendable {
    /// Maximum number of concurrent uploads of all users; further ones are refused.
    static let countLimit = 16
    /// Maximum size of an upload in bytes.
    static let byteLimit: Int64 = 1 << 30
    /// Buffer size before a write.
    private static let pieceByteCount = 1 << 20

    private let count = Atomic<Int>(0)
    private let arriving = ArrivingUploads()

    /// Streams a body into the blob store, a form with a file in it or the file's bytes alone, and
    /// records its owner.
    ///
    /// Throws `Failure`: `busy`, `quotaExceeded` beyond the `limits`, `tooLarge`, `unreadable` for
    /// a truncated body, `invalidParameter` for a form without a file, `noSpace`. Whatever is not
    /// kept is deleted.
    func take(
        _ body: RequestBody, contentType: String, into backend: any GatewayJobs,
        of caller: Caller, at address: String, limits: Quota.Limits?
    ) async throws(Failure) -> (blob: BlobReference, name: String) {
        try await counted(backend, caller, address, limits) { upload in
            let writer = try BlobWriter(backend.blobs)
            return try await Self.receive(body, contentType, writer, upload) {
                form throws(Failure) in
                let blob = try writer.keep(mediaType: "application/octet-stream")
                try backend.uploads.note(blob.id, of: caller.uploader)
                return (blob, form?.name ?? "")
            }
        }
    }

    /// Streams a body into a part of an upload; its number is a field of the form where it is nil.
    ///
    /// Throws as ``take(_:contentType:into:of:at:limits:)``; `notFound`, and `conflict` for an
    /// upload that is committed.
    func takePart(
        _ body: RequestBody, contentType: String, _ number: Int?, of item: String,
        into backend: any GatewayJobs, of caller: Caller, at address: String,
        limits: Quota.Limits?
    ) async throws(Failure) -> PartialUpload {
        let (uploads, owner) = (backend.uploads, caller.uploader)
        return try await counted(backend, caller, address, limits) { arriving in
            let (upload, writer) = try await OwnThread.run("upload") { () throws(Failure) in
                (
                    try uploads.partial(item, of: owner),
                    try BlobWriter(partOf: item, of: owner, in: uploads)
                )
            }.get()
            return try await Self.receive(body, contentType, writer, arriving) {
                form throws(Failure) in
                let number =
                    if let number { number } else { try Self.partNumber(form) }
                try writer.keep(asPart: number)
                return upload
            }
        }
    }

    private static func partNumber(_ form: MultipartFile?) throws(Failure) -> Int {
        let name = Known.partId.name
        let text = form?.fields.first { $0.key.isEqualIgnoringCase(name) }?.value
        guard let text else { throw Failure(.invalidParameter, "parameter '\(name)' is missing") }
        guard let number = Int(text), UploadLedger.partNumbers.contains(number) else {
            throw Parameters.unexpected(name, text, "a number from 1 to 10000")
        }
        return number
    }

    /// Receives an upload within the limits.
    private func counted<Kept: Sendable>(
        _ backend: any GatewayJobs, _ caller: Caller, _ address: String, _ limits: Quota.Limits?,
        _ receive: (ArrivingUploads.Upload?) async throws -> Kept
    ) async throws(Failure) -> Kept {
        guard count.add(1, ordering: .relaxed).newValue <= Self.countLimit else {
            count.subtract(1, ordering: .relaxed)
            throw Failure(
                .busy, "\(Self.countLimit) files are being uploaded already; try again")
        }
        defer { count.subtract(1, ordering: .relaxed) }
        let upload = try limits.map { limits throws(Failure) in
            try arriving.begin(caller.uploader, address, limits)
        }
        var isKept = false
        defer { upload?.end(isKept: isKept) }
        do {
            try upload?.begin(used: try await backend.use(by: caller).bytes)
            let taken = try await receive(upload)
            isKept = true
            return taken
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.unreadable, "the upload broke off")
        }
    }

    private static func receive<Kept: Sendable>(
        _ body: RequestBody, _ contentType: String, _ writer: BlobWriter,
        _ upload: ArrivingUploads.Upload?,
        _ keep: @escaping @Sendable (MultipartFile?) throws(Failure) -> Kept
    ) async throws -> Kept {
        var form =
            contentType.lowercased().hasPrefix("multipart/form-data")
            ? try MultipartFile(contentType: contentType) : nil
        var (piece, byteCount) = ([UInt8](), Int64(0))
        for try await part in body {
            byteCount += Int64(part.readableBytes)
            guard byteCount <= byteLimit else {
                throw Failure(
                    .tooLarge, "the upload has more than \(byteLimit) bytes, which is the most")
            }
            try upload?.take(part.readableBytes)
            if form == nil {
                piece += part.readableBytesView
            } else {
                piece += try form?.feed(part.readableBytesView) ?? []
            }
            guard piece.count >= pieceByteCount else { continue }
            let full = piece
            piece = []
            try await OwnThread.run("upload") { () throws(Failure) in try writer.write(full) }.get()
        }
        guard form?.isWhole ?? (byteCount > 0) else {
            throw Failure(
                .invalidParameter,
                "an upload is a form with a file in it (multipart/form-data), or the bytes of a "
                    + "file"
            )
        }
        if form == nil, byteCount == piece.count, isForm(piece, contentType) {
            throw Failure(
                .invalidParameter,
                "the body is a form without a file: expected multipart/form-data with a file in it "
                    + "(curl -F file=@…), or the bytes of a file")
        }
        let (rest, whole) = (piece, form)
        return try await OwnThread.run("upload") { () throws(Failure) in
            try writer.write(rest)
            return try keep(whole)
        }.get()
    }
}

extension Uploads {
    /// Whether a body is the parameters of a request rather than a file: of that content type, on
    /// one line, `f=json` among them.
    ///
    /// curl sends the bytes of any file with the content type of a form.
    static func isForm(_ body: [UInt8], _ contentType: String) -> Bool {
        guard contentType.lowercased().hasPrefix("application/x-www-form-urlencoded"),
            body.count <= 64 << 10, !body.contains(UInt8(ascii: "\n"))
        else { return false }
        return body.split(separator: UInt8(ascii: "&")).contains { pair in
            ["f=json", "f=pjson", "f=html"].contains(String(decoding: pair, as: UTF8.self))
        }
    }
}

extension GatewayFile {
    private static let pieceByteCount = 256 << 10

    /// Why the blob's bytes are unreadable or not the original ones; nil where they are intact.
    func fault() async -> Failure? {
        let (blobs, blob) = (blobs, blob)
        do throws(Failure) {
            try await OwnThread.run("product") { () throws(Failure) in try blobs.check(blob) }.get()
            return nil
        } catch {
            return error
        }
    }

    /// The selected bytes, written at the client's pace; throws `Failure` (`notFound`) when the
    /// file cannot be opened.
    func body() throws(Failure) -> ResponseBody {
        let file: MappedFile
        do { file = try MappedFile(path: blobs.path(blob.id)) } catch {
            throw Failure(.notFound, "the file '\(name)' no longer exists")
        }
        let range = (range ?? 0..<file.byteCount).clamped(to: 0..<file.byteCount)
        return ResponseBody(contentLength: range.count) { writer in
            let end = range.upperBound
            for start in stride(from: range.lowerBound, to: end, by: Self.pieceByteCount) {
                let piece = file.copy(start..<min(start + Self.pieceByteCount, end))
                try await writer.write(ByteBuffer(bytes: piece))
            }
            try await writer.finish(nil)
        }
    }
}

extension GatewayResponse {
    /// Failure to serve a file, with an HTTP status: a downloading client may check nothing else.
    init(ofFile failure: Failure) {
        self.init(failure)
        status = failure.code == .notFound ? 404 : 500
    }
}
