// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A failed operation of GDAL, with GDAL's messages.
public struct GDALError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The attempted operation, as a verb with its object: `open 'x.shp'`.
    public let operation: String
    /// GDAL's messages during the operation, oldest first, at most 16; may be empty.
    public let messages: [String]
    /// Whether reading or writing a file failed, as opposed to its content making no sense.
    public let isInputOutput: Bool

    /// Whether a write failed for lack of space, as far as GDAL can tell.
    public var isWriteFailure: Bool {
        operation.hasPrefix("write")
            && (isInputOutput || messages.contains { $0.contains("I/O failure") })
    }

    /// One sentence.
    public var description: String {
        "cannot \(operation)" + (messages.first.map { ": \($0)" } ?? "")
    }
}

extension GDALError {
    /// The error with another name for a path in GDAL's messages.
    func renaming(_ path: String, _ name: String) -> GDALError {
        guard path != name else { return self }
        return GDALError(
            operation: operation,
            messages: messages.map { Self.replaced($0, path, name) },
            isInputOutput: isInputOutput)
    }

    private static func replaced(_ text: String, _ path: String, _ name: String) -> String {
        var rest = text[...]
        var result = ""
        while let place = rest.firstRange(of: path) {
            result += rest[..<place.lowerBound] + name
            rest = rest[place.upperBound...]
        }
        return result + rest
    }
}
