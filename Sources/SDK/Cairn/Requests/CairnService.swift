// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// What only Cairn's services have.
enum CairnService {
    /// Throws ``CairnError`` (`unsupported`) where a service is another server's, and the error of
    /// the network where that cannot be found out now.
    static func require(_ what: String, of url: URL) async throws {
        let text = url.absoluteString
        guard let range = text.range(of: "/rest/services") else {
            throw CairnError.unsupported(what, by: url)
        }
        guard let info = URL(string: String(text[..<range.lowerBound]) + "/rest/info") else {
            throw CairnError.unsupported(what, by: url)
        }
        let json: JSON?
        do {
            json = try await ServiceDescriptions.shared.description(of: info)
        } catch let error as TransportError where error.isOfNetwork {
            throw error
        } catch let error as ServiceError where [429, 502, 503, 504].contains(error.code) {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            json = nil
        }
        guard json?.text("owningSystem")?.lowercased() == "cairn" || json?.member("cairn") != nil
        else { throw CairnError.unsupported(what, by: url) }
    }
}
