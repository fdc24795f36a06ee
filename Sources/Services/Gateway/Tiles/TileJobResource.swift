// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import JobKinds
internal import Platform

/// A job behind `exportTiles` or `estimateExportTilesSize`, in Esri's form.
enum TileJobResource {
    /// The name of the only result.
    static let result = "out_service_url"
    private static let reference = "results/" + result

    /// The file name of a map's package.
    static func fileName(of map: MapName, _ product: BlobReference) -> String {
        baseName(of: map) + product.type.endings[0]
    }

    /// The name of a map, in one segment of a path.
    static func baseName(of map: MapName) -> String {
        map.rawValue.split(separator: "/").joined(separator: "_")
    }

    // MARK: Exports

    /// `jobs/{id}`.
    static func job(_ job: JobDescription, returnsMessages: Bool) -> [UInt8] {
        write { json in
            JobResource.name(job, &json)
            if job.status == .succeeded, job.result != nil { results(&json) }
            json.key("messages")
            json.array { json in
                guard returnsMessages else { return }
                for message in job.messages { JobResource.write(message, &json) }
            }
            if job.status == .executing { JobResource.progress(of: job, &json) }
        }
    }

    /// `jobs/{id}/results/out_service_url`: the URL of the list of files.
    static func result(_ files: String) -> [UInt8] {
        write { json in
            head(&json)
            json.member("value", files)
        }
    }

    /// The list of a job's files: the package.
    static func files(_ product: BlobReference, _ name: String, at folder: String) -> [UInt8] {
        write { json in
            json.member("folders", array: [String]()) { $0.string($1) }
            json.member("files", array: [product]) { json, product in
                json.object { json in
                    json.member("name", name)
                    json.member("url", folder + "/" + Parameters.encode(name))
                    json.member("size", Int(product.byteCount))
                }
            }
        }
    }

    // MARK: Estimates

    static func receipt(_ estimate: TileExportEstimate) -> [UInt8] {
        write { name(estimate, &$0) }
    }

    /// `jobs/{id}`.
    static func job(_ estimate: TileExportEstimate, returnsMessages: Bool) -> [UInt8] {
        write { json in
            name(estimate, &json)
            results(&json)
            json.key("messages")
            json.array { json in
                guard returnsMessages else { return }
                JobResource.write(JobMessage(.informative, estimate.text), &json)
            }
        }
    }

    /// `jobs/{id}/results/out_service_url`.
    static func result(_ estimate: TileExportEstimate) -> [UInt8] {
        write { json in
            head(&json)
            json.member("value") { json in
                json.member("totalSize", Int(estimate.byteCount))
                json.member("totalTilesToExport", estimate.tileCount)
            }
        }
    }

    private static func name(_ estimate: TileExportEstimate, _ json: inout JSONWriter) {
        json.member("jobId", estimate.id)
        json.member("jobStatus", JobServerState(.succeeded).esriName)
    }

    // MARK: Both

    private static func write(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        json.object { body(&$0) }
        return json.bytes
    }

    private static func results(_ json: inout JSONWriter) {
        json.member("results") { json in
            json.member(result) { $0.member("paramUrl", reference) }
        }
    }

    private static func head(_ json: inout JSONWriter) {
        json.member("paramName", result)
        json.member("dataType", "GPString")
    }
}
