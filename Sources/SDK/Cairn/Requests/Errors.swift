// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// An error that a server answered with, also in an answer of status 200.
public struct ServiceError: Error, Sendable, LocalizedError, CustomNSError, CustomStringConvertible
{
    /// The server's code, as 400, 498 or 10021; the HTTP status where its answer names none.
    public let code: Int
    /// The server's sentence.
    public let message: String
    /// Its further sentences.
    public let details: [String]
    /// What was asked, without parameters.
    public let url: URL?

    /// Makes an error; parameters of the URL are dropped.
    public init(code: Int, message: String, details: [String] = [], url: URL? = nil) {
        self.code = code
        self.message = message
        self.details = details
        self.url = url?.withoutQuery
    }

    /// Whether what was asked may be done at another time: it was not refused for what it is.
    var isOpen: Bool {
        [401, 403, 404, 408, 410, 429, 498, 499, 502, 503, 504].contains(code)
    }

    /// `the server answered 400 at …: …`, with the details.
    public var description: String {
        let more = details.filter { !$0.isEmpty && $0 != message }
        let place = url.map { " at \($0.absoluteString)" } ?? ""
        return "the server answered \(code)\(place): " + ([message] + more).joined(separator: "; ")
    }

    /// The description.
    public var errorDescription: String? { description }
    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "Cairn.ServiceError" }
    /// The server's code.
    public var errorCode: Int { code }
    /// The description.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

/// A request without a usable answer.
public struct TransportError: Error, Sendable, LocalizedError, CustomNSError,
    CustomStringConvertible
{
    /// The kinds of failures.
    public enum Kind: Int, Sendable {
        /// No connection, or it broke off.
        case unreachable = 1
        /// The time was over.
        case timedOut
        /// The answer is larger than it may be.
        case tooLarge
        /// The server's certificate is not trusted, or TLS failed otherwise.
        case tls
        /// The answer is not what the service promises: HTML, half of a JSON text.
        case invalidAnswer
        /// A redirection that is not followed: in circles, to another scheme, too many.
        case redirection
        /// The URL cannot be asked.
        case invalidURL
        /// A local file cannot be read or written.
        case file
    }

    /// The kind of failure.
    public let kind: Kind
    /// One sentence, without secrets.
    public let description: String

    /// Makes an error.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Whether the network or the server was away, and the same request may succeed later.
    public var isOfNetwork: Bool { kind == .unreachable || kind == .timedOut }

    /// The description.
    public var errorDescription: String? { description }
    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "Cairn.TransportError" }
    /// The kind.
    public var errorCode: Int { kind.rawValue }
    /// The description.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

/// A sign-in that failed or was declined.
public struct AuthenticationError: Error, Sendable, LocalizedError, CustomNSError,
    CustomStringConvertible
{
    /// The kinds of failures.
    public enum Kind: Int, Sendable {
        /// User name or password is wrong.
        case invalidCredentials = 1
        /// The challenge handler declined.
        case cancelled
        /// The server has no place where tokens are made.
        case noTokenService
        /// A fresh credential was refused, too.
        case refused
    }

    /// The kind of failure.
    public let kind: Kind
    /// One sentence, without secrets.
    public let description: String

    /// Makes an error.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// The description.
    public var errorDescription: String? { description }
    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "Cairn.AuthenticationError" }
    /// The kind.
    public var errorCode: Int { kind.rawValue }
    /// The description.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

/// A use of the SDK that cannot be answered: which argument, and what was expected.
public struct CairnError: Error, Sendable, Hashable, LocalizedError, CustomNSError,
    CustomStringConvertible
{
    /// The kinds of errors.
    public enum Kind: Int, Sendable {
        /// An argument is not what is expected.
        case invalidArgument = 1
        /// The server, or this kind of layer, cannot do it.
        case unsupported
        /// The map has no spatial reference.
        case noSpatialReference
        /// The object is in a state that does not allow it.
        case invalidState
        /// A document is not of the expected form or kind, or of a later version.
        case invalidDocument
        /// A job ended without what it was to make.
        case jobFailed
        /// A file is missing or cannot be read.
        case file
    }

    /// The kind of error.
    public let kind: Kind
    /// One sentence.
    public let description: String

    /// Makes an error.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// A capability that a server lacks.
    static func unsupported(_ what: String, by url: URL?) -> CairnError {
        let place = url.map { "the service \($0.withoutQuery.absoluteString)" } ?? "this object"
        return CairnError(.unsupported, "\(place) has no \(what)")
    }

    /// The description.
    public var errorDescription: String? { description }
    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "Cairn.CairnError" }
    /// The kind.
    public var errorCode: Int { kind.rawValue }
    /// The description.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}
