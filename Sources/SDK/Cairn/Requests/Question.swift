// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// A question to a REST service: what is asked, and how it may be asked again.
struct Question: Sendable {
    var url: URL
    var parameters: [(name: String, value: String)]
    /// Whether asking twice does no more than asking once.
    var isIdempotent = true
    /// Always a form, as for edits.
    var isPost = false
    /// A file that goes with it, the name of its part of the form, and its media type; nil for that
    /// of the file's name.
    var file: (url: URL, name: String, type: String?)?
    /// A credential in the place of the stored ones.
    var credential: (any ArcGISCredential)?
    var timeout: Duration?
    /// Whether no credential is to be found for it: sign-in itself.
    var isAnonymous = false
    var headers: [(name: String, value: String)] = []

    init(_ url: URL, _ parameters: KeyValuePairs<String, String?> = [:]) {
        self.url = url
        self.parameters = parameters.compactMap { name, value in value.map { (name, $0) } }
    }

    mutating func set(_ name: String, _ value: String?) {
        parameters.removeAll { $0.name == name }
        if let value { parameters.append((name, value)) }
    }
}
