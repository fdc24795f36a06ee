// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// A token and what goes with it.
public struct TokenInfo: Sendable {
    /// The token; a secret.
    public let accessToken: String
    /// When it ends; nil for one whose end is not known.
    public let expirationDate: Date?
    /// Whether it travels in a header, as to Cairn, and otherwise in the form.
    let isSentInHeader: Bool

    /// Makes one.
    public init(accessToken: String, expirationDate: Date?) {
        self.init(accessToken: accessToken, expirationDate: expirationDate, isSentInHeader: false)
    }

    init(accessToken: String, expirationDate: Date?, isSentInHeader: Bool) {
        self.accessToken = accessToken
        self.expirationDate = expirationDate
        self.isSentInHeader = isSentInHeader
    }
}

/// What opens a server.
public protocol ArcGISCredential: AnyObject, Sendable {
    /// The server that it is for, and everything below the same origin.
    var url: URL { get }
    /// The token for a request, renewed where it is about to end.
    func tokenInfo(for url: URL) async throws -> TokenInfo?
    /// Drops a token that a server refused; whether another may be had.
    func invalidate() async -> Bool
}
