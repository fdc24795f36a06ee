// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Brings a geodatabase and its service in step.
///
/// Edits that were made in the file since the last synchronisation are sent, and what was changed
/// on the service since then is taken over, all in one transaction of the file; edits that are made
/// meanwhile wait for the next one. Where the answer is lost, or the program ends before it is
/// taken over, the next synchronisation sends the same edits, and leads to the same features.
///
/// A feature that was changed on both sides becomes what was sent last: the file's. One that was
/// deleted on the service is deleted here too, and an edit of it that waited is among the results.
///
/// Fails with ``ServiceError`` where the service refuses, under
/// ``SyncGeodatabaseParameters/shouldRollbackOnFailure`` also a single edit: nothing is changed
/// then, on either side. Fails with ``CairnError``: `invalidState` for a geodatabase that is
/// registered with no service, or is being synchronised by another job; `unsupported` for a
/// direction, or a rollback, that the service does not offer.
public final class SyncGeodatabaseJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "SyncGeodatabase"

    /// The edits that were not taken; empty when all went well.
    ///
    /// They stay noted in the geodatabase, except those of features and attachments that were
    /// deleted on the service. A refused edit of an attachment is among the
    /// ``FeatureEditResult/attachmentResults`` of its feature, with the number that it has here.
    public var output: [SyncLayerResult] {
        get async throws {
            let json = try await finalAnswer()
            return (json["layerResults"]?.elements ?? []).compactMap { layer in
                let edits = layer["editResults"]?.elements ?? []
                let failed = edits.map { edit -> FeatureEditResult in
                    let url = ticket.current.url
                    func error(_ json: JSON) -> ServiceError {
                        ServiceError(
                            code: json["code"]?.int ?? 0, message: json.text("reason") ?? "",
                            url: url)
                    }
                    return FeatureEditResult(
                        operation: edit.text("operation").flatMap {
                            FeatureEditResult.Operation(rawValue: $0)
                        } ?? .update,
                        objectID: edit["objectId"]?.whole ?? -1,
                        globalID: edit.text("globalId").flatMap { UUID(globalID: $0) },
                        error: edit.member("code") == nil ? nil : error(edit),
                        attachmentResults: (edit["attachments"]?.elements ?? []).map {
                            EditResult(
                                operation: $0.text("operation").flatMap {
                                    FeatureEditResult.Operation(rawValue: $0)
                                } ?? .update,
                                objectID: $0["objectId"]?.whole ?? -1,
                                globalID: $0.text("globalId").flatMap { UUID(globalID: $0) },
                                error: error($0))
                        })
                }
                guard !failed.isEmpty else { return nil }
                return SyncLayerResult(
                    layerID: layer["id"]?.int ?? -1, tableName: layer.text("name") ?? "",
                    editResults: failed)
            }
        }
    }
}

/// The edits of a layer that a synchronisation could not take.
public struct SyncLayerResult: Sendable {
    /// The number of the layer.
    public let layerID: Int
    /// Its name; empty where the service names none.
    public let tableName: String
    /// The edits, with their errors.
    public let editResults: [FeatureEditResult]
}
