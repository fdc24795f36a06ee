// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// An error as one value that crosses every process border and reaches the user.
public struct Failure: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The kind of failure, stable for programs.
    public var code: Code
    /// One sentence: the input, the place in it, the expectation.
    public var message: String
    /// Further sentences; often empty.
    public var details: [String]

    /// The most Unicode scalars of a message that is made here.
    public static let messageLimit = 1_000

    /// Creates a failure.
    ///
    /// A sentence may quote untrusted text, and the reader may be a terminal: control characters
    /// become `\u{fffd}`, and the message and each detail are cut to ``messageLimit`` scalars.
    public init(_ code: Code, _ message: String, details: [String] = []) {
        self.code = code
        self.message = Self.plain(message)
        self.details = details.map(Self.plain)
    }

    private static func plain(_ text: String) -> String {
        let isPlain =
            text.utf8.count <= messageLimit
            && text.utf8.allSatisfy { 0x20...0x7e ~= $0 }
        guard !isPlain else { return text }
        var scalars = String.UnicodeScalarView()
        for (place, scalar) in text.unicodeScalars.enumerated() {
            guard place < messageLimit else {
                scalars.append("…")
                break
            }
            scalars.append(scalar.properties.generalCategory == .control ? "\u{fffd}" : scalar)
        }
        return String(scalars)
    }

    /// The message, with details after it.
    public var description: String {
        details.isEmpty ? message : message + " (" + details.joined(separator: "; ") + ")"
    }

    /// A copy without site-internal details, files and their damage: for callers without `admin`.
    public var outside: Failure {
        let isInside =
            switch code {
            case .corrupt, .unreadable, .newerVersion, .noSpace, .archived, .fenced, .idReused,
                .internal:
                true
            // A system's sentence begins with the file.
            default: message.hasPrefix("'/")
            }
        guard isInside else { return self }
        return Failure(
            code, "a part of the site cannot be read or written: its operator sees which, and why")
    }

    /// Whether an unchanged retry can succeed.
    public var isRetriable: Bool {
        switch code {
        case .unavailable, .busy, .timedOut, .draining, .logUnavailable: true
        default: false
        }
    }

    /// The failure codes; a struct so that a newer peer's code is carried, not refused.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        /// The stable text.
        public let rawValue: String
        /// Wraps any text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A parameter is missing, malformed or out of range.
        public static let invalidParameter = Code(rawValue: "invalidParameter")
        /// The named map, layer, job, dataset, locator or operation does not exist.
        public static let notFound = Code(rawValue: "notFound")
        /// The command contradicts the present state (name taken, job ended).
        public static let conflict = Code(rawValue: "conflict")
        /// Another writer has taken over the streams; the recipient must append no more.
        public static let fenced = Code(rawValue: "fenced")
        /// The requested events are in an archive that is missing.
        public static let archived = Code(rawValue: "archived")
        /// An event id that the log holds already, with another content or in another append.
        public static let idReused = Code(rawValue: "idReused")
        /// The request or answer is larger than a stated bound.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// No process that serves the request is reachable.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The log is unreachable, so nothing can be acknowledged.
        public static let logUnavailable = Code(rawValue: "logUnavailable")
        /// A bounded queue is full; try again.
        public static let busy = Code(rawValue: "busy")
        /// The service is shutting down.
        public static let draining = Code(rawValue: "draining")
        /// No answer before the deadline.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The user cancelled it.
        public static let cancelled = Code(rawValue: "cancelled")
        /// Stored bytes do not have the form they must have.
        public static let corrupt = Code(rawValue: "corrupt")
        /// A file cannot be read or has an unknown format.
        public static let unreadable = Code(rawValue: "unreadable")
        /// The disk is full.
        public static let noSpace = Code(rawValue: "noSpace")
        /// The file or message is of a newer version than this build knows.
        public static let newerVersion = Code(rawValue: "newerVersion")
        /// A defect or an unforeseen system error.
        public static let `internal` = Code(rawValue: "internal")
    }
}
