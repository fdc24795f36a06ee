// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import JobKinds
internal import Platform
internal import Site

/// A result of a job that its product, an object in JSON with a member on each line, has.
struct ProductMember {
    /// Most bytes of a product that are read.
    private static let byteLimit = 512 << 20

    private let result: JobKindDescription.Result
    /// In JSON.
    private let value: [UInt8]

    /// Throws `Failure`: `notFound` for a product that is not in the store any more or lacks the
    /// result, `tooLarge`.
    init(
        _ result: JobKindDescription.Result, of product: BlobReference, in blobs: BlobStore
    ) throws(Failure) {
        self.result = result
        let file: MappedFile
        do { file = try MappedFile(path: blobs.path(product.id)) } catch {
            throw Failure(.notFound, "the product \(product.id) cannot be read: \(error)")
        }
        guard file.byteCount <= Self.byteLimit else {
            throw Failure(
                .tooLarge, "the product has \(file.byteCount) bytes: read it as a file of the job")
        }
        let key = Array("\"\(result.name)\":".utf8)
        let lines = file.copy(0..<file.byteCount).split(separator: UInt8(ascii: "\n"))
        guard let line = lines.first(where: { $0.starts(with: key) }) else {
            throw Failure(.notFound, "the product \(product.id) has no '\(result.name)'")
        }
        let value = line.dropFirst(key.count)
        self.value = Array(value.last == UInt8(ascii: ",") ? value.dropLast() : value)
    }

    /// The answer.
    var body: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("paramName", result.name)
            json.member("dataType", result.esriType)
            json.key("value")
            json.json(value)
        }
        return json.bytes
    }

    /// The answer with geometries in another reference; those outside its domain are left out.
    func body(in reference: PlaceReference) throws(Failure) -> [UInt8] {
        guard case .features = result.form, let set = JSONTree(value) else { return body }
        var json = JSONWriter()
        json.openObject()
        json.member("paramName", result.name)
        json.member("dataType", result.esriType)
        json.key("value")
        json.openObject()
        for member in set.members {
            switch member.name {
            case "spatialReference": json.spatialReference(reference.value)
            case "features":
                json.key("features")
                json.openArray()
                for feature in member.value.elements { try write(feature, reference, &json) }
                json.closeArray()
            default:
                json.key(member.name)
                json.json(member.value.jsonText.utf8)
            }
        }
        json.closeObject()
        json.closeObject()
        return json.bytes
    }

    private func write(
        _ feature: JSONTree, _ reference: PlaceReference, _ json: inout JSONWriter
    ) throws(Failure) {
        json.openObject()
        json.key("attributes")
        json.json((feature["attributes"] ?? .null).jsonText.utf8)
        let geometry = RelaxedValue(feature["geometry"] ?? .null)
        if !GeometryParameter.isNothing(geometry) {
            let shape = try GeometryParameter(json: geometry).shape
            json.geometry(ProductFeatures.projected(shape, reference), in: reference.value)
        }
        json.closeObject()
    }
}
