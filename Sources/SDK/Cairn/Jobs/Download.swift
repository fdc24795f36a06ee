// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Fetches files: beside their target first, checked, then renamed; continued where it broke off.
enum Download {
    /// Writes an answer's body to a file; a failure leaves none.
    ///
    /// `check` is given the answer and the bytes of the file so far, before they are written.
    /// Throws what requests and `check` throw, and ``TransportError`` (`file`) for a file that
    /// cannot be written.
    static func fetch(
        _ question: Question, to target: URL,
        check: @Sendable (Response, Int64) throws -> Void = { _, _ in }
    ) async throws {
        let part = target.appendingPathExtension("part")
        let files = FileManager.default
        try? files.removeItem(at: part)
        var attempt = 0
        var tag: String?
        while true {
            do {
                try await piece(question, part, &tag, check)
                break
            } catch let error as TransportError where error.isOfNetwork && attempt < 3 {
                attempt += 1
                try await SDKTime.sleep(for: .milliseconds(200 << attempt))
            } catch {
                try? files.removeItem(at: part)
                throw error
            }
        }
        do {
            _ = try? files.removeItem(at: target)
            try files.moveItem(at: part, to: target)
        } catch {
            try? files.removeItem(at: part)
            throw TransportError(
                .file, "'\(target.path(percentEncoded: false))' cannot be written: \(error)")
        }
    }

    /// Fetches what a file lacks.
    private static func piece(
        _ question: Question, _ part: URL, _ tag: inout String?,
        _ check: @Sendable (Response, Int64) throws -> Void
    ) async throws {
        var question = question
        let path = part.path(percentEncoded: false)
        let there =
            (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)
            .flatMap { $0?.int64Value } ?? 0
        if there > 0, let tag {
            question.headers += [("Range", "bytes=\(there)-"), ("If-Range", tag)]
        }
        let response = try await Requester.stream(question, accepting: [200, 206, 416])
        // The whole was there already.
        if response.status == 416 { return }
        tag = response.header("etag")
        let isContinued = response.status == 206 && there > 0
        try check(response, isContinued ? there : 0)
        if !isContinued {
            guard FileManager.default.createFile(atPath: path, contents: nil) else {
                throw TransportError(.file, "'\(path)' cannot be made")
            }
        }
        let handle: FileHandle
        do {
            handle = try FileHandle(forWritingTo: part)
        } catch {
            throw TransportError(.file, "'\(path)' cannot be written: \(error)")
        }
        defer { try? handle.close() }
        var count: Int64 = 0
        do { try handle.seekToEnd() } catch {
            throw TransportError(.file, "'\(path)' cannot be written: \(error)")
        }
        while let bytes = try await response.body.next() {
            count += Int64(bytes.count)
            try check(response, isContinued ? there + count : count)
            do { try handle.write(contentsOf: bytes) } catch {
                throw TransportError(.file, "'\(path)' cannot be written: \(error)")
            }
        }
        let expected = response.header("content-length").flatMap { Int64($0) }
        guard response.header("content-encoding") != nil || expected == nil || expected == count
        else {
            throw TransportError(
                .unreachable, "\(question.url.origin ?? ""): the file ended after \(count) bytes")
        }
    }
}
