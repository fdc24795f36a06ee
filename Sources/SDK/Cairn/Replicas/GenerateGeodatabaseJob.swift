// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Writes features of a service into a geodatabase.
///
/// The file is a GeoPackage: that of the service, where it makes some, otherwise one that the job
/// writes of the service's JSON. It is there with its registration, or not at all. Throws what the
/// task's requests throw, and ``CairnError`` (`unsupported`) for a product that is Esri's mobile
/// geodatabase, and for a layer without a field of global ids.
public final class GenerateGeodatabaseJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "GenerateGeodatabase"

    /// The geodatabase.
    public var output: Geodatabase {
        get async throws {
            Geodatabase(fileURL: URL(filePath: try await finalAnswer().text("geodatabase") ?? ""))
        }
    }
}
