// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A task of a geoprocessing service.
public final class GeoprocessingTask: LoadableBase, @unchecked Sendable {
    /// The URL, as `…/Jobs/GPServer/BatchGeocode`.
    public let url: URL
    private let described = Guarded<
        (infos: [GeoprocessingParameterInfo], task: GeoprocessingInfo?)
    >(
        (infos: [], task: nil))

    /// A task; nothing is asked before it is loaded.
    public init(url: URL) { self.url = url }

    /// The parameters that it takes and gives; empty before it is loaded.
    public var parameterInfos: [GeoprocessingParameterInfo] { described.current.infos }
    /// What it says of itself; nil before it is loaded.
    public var info: GeoprocessingInfo? { described.current.task }

    override func performLoad() async throws {
        let json = try await ServiceDescriptions.shared.description(of: url)
        guard let list = json.member("parameters") else {
            throw CairnError(
                .invalidDocument, "\(url.withoutQuery.absoluteString) is no geoprocessing task")
        }
        let infos = list.elements.compactMap { element -> GeoprocessingParameterInfo? in
            guard let name = element.text("name") else { return nil }
            return GeoprocessingParameterInfo(
                name: name, displayName: element.text("displayName") ?? name,
                description: element.text("description") ?? "",
                dataType: element.text("dataType") ?? "GPString",
                isRequired: element.text("parameterType") == "esriGPParameterTypeRequired",
                direction: element.text("direction") == "esriGPParameterDirectionOutput"
                    ? .output : .input,
                choiceList: (element["choiceList"]?.elements ?? []).compactMap(\.text),
                defaultValue: GeoprocessingOutputs.value(
                    element.member("defaultValue"), element.text("dataType") ?? "GPString", url))
        }
        let name = json.text("name") ?? url.lastPathComponent
        described.current = (
            infos,
            GeoprocessingInfo(
                name: name, displayName: json.text("displayName") ?? name,
                description: json.text("description") ?? "",
                executionType: json.text("executionType") == "esriExecutionTypeSynchronous"
                    ? .synchronousExecute : .asynchronousSubmit,
                parameterInfos: Dictionary(
                    infos.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }),
                helpURL: json.text("helpUrl").flatMap { URL(string: $0) })
        )
    }

    /// Parameters with the task's default values.
    ///
    /// Throws ``CairnError`` (`invalidDocument`) where the URL is no task's, ``ServiceError`` and
    /// others.
    public func makeDefaultParameters() async throws -> GeoprocessingParameters {
        try await load()
        let parameters = GeoprocessingParameters(
            executionType: info?.executionType ?? .asynchronousSubmit)
        for info in parameterInfos where !info.isOutput {
            guard let made = info.defaultValue else { continue }
            // A file without a place is no default.
            if made is GeoprocessingDataFile { continue }
            parameters.setInputValue(made, forKey: info.name)
        }
        return parameters
    }

    /// A job; asks nothing.
    public func makeJob(parameters: GeoprocessingParameters) -> GeoprocessingJob {
        GeoprocessingJob(url: url, parameters)
    }
}
