// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// A job of a geoprocessing task.
public final class GeoprocessingJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "Geoprocessing"

    convenience init(url: URL, _ parameters: GeoprocessingParameters) {
        var ticket = JobTicket(kind: Self.kind, url: url)
        var files: [(name: String, value: JSON)] = []
        for (name, value) in parameters.inputs.sorted(by: { $0.key < $1.key }) {
            if let file = value as? GeoprocessingDataFile, file.url.isFileURL {
                files.append((name, .string(file.url.path(percentEncoded: false))))
            } else {
                ticket.parameters.append((name, value.formValue))
            }
        }
        if let reference = parameters.outputSpatialReference {
            ticket.parameters.append(("env:outSR", reference.parameter))
        }
        if let reference = parameters.processSpatialReference {
            ticket.parameters.append(("env:processSR", reference.parameter))
        }
        if parameters.returnsZ { ticket.parameters.append(("returnZ", "true")) }
        if parameters.returnsM { ticket.parameters.append(("returnM", "true")) }
        let isSynchronous = parameters.executionType == .synchronousExecute
        ticket.details = .object(of: [
            "files": .object(files), "isSynchronous": isSynchronous ? .bool(true) : nil,
        ])
        self.init(ticket: ticket, work: Self.work(ticket))
    }

    static func work(_ ticket: JobTicket) -> any JobWork {
        ticket.details["isSynchronous"]?.flag == true
            ? SynchronousWork()
            : TaskWork(base: GeoprocessingWork(collect: GeoprocessingOutputs.collect))
    }

    /// The results, by name.
    public var output: GeoprocessingResult {
        get async throws {
            let json = try await finalAnswer()
            var outputs: [String: GeoprocessingParameter] = [:]
            for result in json.elements {
                guard let name = result.text("paramName"),
                    let value = GeoprocessingOutputs.value(
                        result.member("value"), result.text("dataType") ?? "GPString",
                        ticket.current.url)
                else { continue }
                outputs[name] = value
            }
            let layer = json.elements.lazy.compactMap { $0.text("mapService") }
                .compactMap { URL(string: $0) }.first
                .map { ArcGISMapImageLayer(url: $0) }
            return GeoprocessingResult(outputs: outputs, mapImageLayer: layer)
        }
    }
}

/// What a task made.
public struct GeoprocessingResult: Sendable {
    /// The results by name.
    public let outputs: [String: GeoprocessingParameter]
    /// A layer of the map service that shows the results; nil where the service has none.
    public let mapImageLayer: ArcGISMapImageLayer?
}
