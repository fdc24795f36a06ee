// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform

/// The requests of one file of a recording, in order.
///
/// A last line that was not written whole, because its process still writes or was killed, is left
/// out.
public struct RecordingLines: ~Copyable {
    private let path: String
    private var lines: TextLines
    private var ahead: [UInt8]?

    /// Opens a file; throws `Failure` (`unreadable`).
    public init(path: String) throws(Failure) {
        var opened = try Self.open(path)
        let first = try Self.next(&opened)
        self.path = path
        lines = opened
        ahead = first
    }

    private static func open(_ path: String) throws(Failure) -> TextLines {
        do throws(TextError) {
            return try TextLines(path: path)
        } catch {
            throw Failure(.unreadable, error.description)
        }
    }

    private static func next(_ lines: inout TextLines) throws(Failure) -> [UInt8]? {
        do throws(TextError) {
            return try lines.next()
        } catch {
            throw Failure(.unreadable, error.description)
        }
    }

    /// The next request; nil at the end.
    ///
    /// Throws `Failure`: `corrupt` or `newerVersion`, naming file and line.
    public mutating func next() throws(Failure) -> RecordedRequest? {
        guard let line = ahead else { return nil }
        let number = lines.lineNumber
        ahead = try Self.next(&lines)
        do throws(Failure) {
            return try CairnJSON.decode(RecordedRequest.self, from: Data(line))
        } catch {
            if ahead == nil, error.code != .newerVersion { return nil }
            let code: Failure.Code = error.code == .newerVersion ? .newerVersion : .corrupt
            throw Failure(code, "'\(path)', line \(number): \(error.message)")
        }
    }
}
