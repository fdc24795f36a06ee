// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Site

// Uploads in parts, of the user that registered them alone.
extension GatewayService {
    func registerUpload(_ call: Call) async throws(Failure) -> GatewayResponse {
        let name = String(try call.parameters.required(Known.itemName).prefix(200))
        let (uploads, owner) = (try jobsBackend().uploads, call.caller.uploader)
        let id = try await OwnThread.run("upload") { () throws(Failure) in
            try uploads.register(name, of: owner)
        }.get()
        return GatewayResponse(body: JobResource.registered(id, name: name))
    }

    func uploadedParts(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (item, owner) = (call.captures.text, call.caller.uploader)
        let uploads = try jobsBackend().uploads
        let numbers = try await OwnThread.run("upload") { () throws(Failure) in
            try uploads.parts(of: item, owner)
        }.get()
        return GatewayResponse(body: JobResource.parts(numbers))
    }

    func commitUpload(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (item, owner) = (call.captures.text, call.caller.uploader)
        let numbers = try JobResource.partNumbers(call.parameters)
        let uploads = try jobsBackend().uploads
        let (upload, blob) = try await OwnThread.run("upload") { () throws(Failure) in
            try uploads.commit(item, parts: numbers, of: owner, byteLimit: Uploads.byteLimit)
        }.get()
        return GatewayResponse(body: JobResource.uploaded(blob, name: upload.name))
    }

    /// The order with the blob that a committed upload in parts became as its input.
    func resolved(
        _ order: JobResource.Order, _ backend: any GatewayJobs, _ caller: Caller
    ) async throws(Failure) -> JobResource.Order {
        guard let itemID = order.itemID, ContentID(rawValue: itemID) == nil else { return order }
        let (uploads, owner) = (backend.uploads, caller.uploader)
        var resolved = order
        let blob = try await OwnThread.run("input") { () throws(Failure) in
            uploads.committed(itemID, of: owner)
        }.get()
        if let blob { resolved.itemID = blob.rawValue }
        return resolved
    }
}
