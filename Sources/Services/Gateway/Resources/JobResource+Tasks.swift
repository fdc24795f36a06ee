// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import JobKinds
internal import Platform
internal import Site

// What the service and its tasks say of themselves.
extension JobResource {
    /// `GPServer?f=json`.
    static func root() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", Catalog.version)
            json.member("serviceDescription", "The long jobs of this site.")
            json.member("tasks", array: JobKindDescription.all) { $0.string($1.kind.rawValue) }
            json.member("executionType", executionType)
            json.member("resultMapServerName", "")
            json.member("maximumRecords", 0)
            json.member("capabilities", "Uploads")
        }
        return json.bytes
    }

    private static let executionType = "esriExecutionTypeAsynchronous"

    /// `{network}/GPServer?f=json`: the tasks that a network has.
    static func root(of network: NetworkPublished) -> [UInt8] {
        let tasks = JobKindDescription.all.filter { NetworkTasks.kinds.contains($0.kind) }
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", Catalog.version)
            json.member("serviceDescription", "Analyses of the network \(network.name) as jobs.")
            json.member("tasks", array: tasks) { $0.string($1.kind.rawValue) }
            json.member("executionType", executionType)
            json.member("resultMapServerName", "")
            json.member("maximumRecords", 0)
            json.member("capabilities", "")
        }
        return json.bytes
    }

    /// `GPServer/{task}?f=json`.
    ///
    /// - Parameter isOfNetwork: Whether the service is that of the network, which is no parameter
    ///   then.
    static func task(_ task: JobKindDescription, isOfNetwork: Bool = false) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("name", task.kind.rawValue)
            json.member("displayName", task.kind.rawValue)
            json.member("description", task.summary)
            json.member("category", "")
            json.member("helpUrl", "")
            json.member("executionType", executionType)
            json.key("parameters")
            json.array { json in
                if !isOfNetwork, let summary = task.input {
                    file(
                        input, summary, "Input", isRequired: task.features.isEmpty, &json)
                }
                writeInputs(task, isOfNetwork, &json)
                for result in task.results { write(result, &json) }
                if !isOfNetwork {
                    file(output, task.output, "Output", isRequired: false, &json)
                }
                guard let features = task.featureOutput else { return }
                self.features(
                    outputFeatures, features.esriType, features.summary, "Output",
                    features.geometryType, features.fields, &json)
            }
        }
        return json.bytes
    }

    /// Writes features and parameters, in the order of the task where it has one.
    private static func writeInputs(
        _ task: JobKindDescription, _ isOfNetwork: Bool, _ json: inout JSONWriter
    ) {
        let features = task.features.map(\.name)
        let names = features + task.parameters.map(\.name)
        for name in task.inputOrder + names.filter({ !task.inputOrder.contains($0) })
        where !name.hasPrefix(environment) && !(isOfNetwork && name == networkName) {
            if let feature = task.features.first(where: { $0.name == name }) {
                self.features(
                    feature.name, "GPFeatureRecordSetLayer", feature.summary, "Input",
                    feature.geometryType, feature.fields,
                    isRequired: isOfNetwork && feature.isRequired, &json)
            } else if let parameter = task.parameters.first(where: { $0.name == name }) {
                write(parameter, &json)
            }
        }
    }

    /// The parameter that a network's own service has in its path.
    static let networkName = "network"
    /// What the names of Esri's environment settings begin with, which are not published: clients
    /// make functions of the names that are.
    static let environment = "env:"

    private static func write(
        _ result: JobKindDescription.Result, _ json: inout JSONWriter
    ) {
        if case .features(let type) = result.form {
            return features(
                result.name, result.esriType, result.summary, "Output", type, [], &json)
        }
        json.object { json in
            json.member("name", result.name)
            json.member("dataType", result.esriType)
            json.member("displayName", result.name)
            json.member("description", result.summary)
            json.member("direction", "esriGPParameterDirectionOutput")
            json.nullMember("defaultValue")
            json.member("parameterType", parameterType(false))
            json.member("category", "")
        }
    }

    private static func features(
        _ name: String, _ type: String, _ summary: String, _ direction: String,
        _ geometryType: String?, _ fields: [JobKindDescription.Field], isRequired: Bool = false,
        _ json: inout JSONWriter
    ) {
        json.object { json in
            json.member("name", name)
            json.member("dataType", type)
            json.member("displayName", name)
            json.member("description", summary)
            json.member("direction", "esriGPParameterDirection" + direction)
            json.member("defaultValue") { json in
                json.member("displayFieldName", "")
                if let geometryType {
                    json.member("geometryType", "esriGeometry" + geometryType)
                    json.spatialReference(.wgs84)
                }
                json.member("fields", array: fields) { json, field in
                    json.object { json in
                        json.member("name", field.name)
                        json.member("type", field.type.esriFieldType)
                        json.member("alias", field.name)
                    }
                }
                json.member("features", array: [String]()) { $0.string($1) }
            }
            json.member("parameterType", parameterType(isRequired))
            json.member("category", "")
        }
    }

    private static func file(
        _ name: String, _ summary: String, _ direction: String, isRequired: Bool,
        _ json: inout JSONWriter
    ) {
        json.object { json in
            json.member("name", name)
            json.member("dataType", "GPDataFile")
            json.member("displayName", name)
            json.member("description", summary)
            json.member("direction", "esriGPParameterDirection" + direction)
            json.member("defaultValue") { $0.member("url", "") }
            json.member("parameterType", parameterType(isRequired))
            json.member("category", "")
        }
    }

    private static func parameterType(_ isRequired: Bool) -> String {
        "esriGPParameterType" + (isRequired ? "Required" : "Optional")
    }

    private static func write(
        _ parameter: JobKindDescription.Parameter, _ json: inout JSONWriter
    ) {
        json.object { json in
            json.member("name", parameter.name)
            json.member("dataType", parameter.type.esriType)
            json.member("displayName", parameter.name)
            json.member("description", parameter.summary)
            json.member("direction", "esriGPParameterDirectionInput")
            json.key("defaultValue")
            value(parameter.defaultValue, parameter.type, &json)
            json.member("parameterType", parameterType(parameter.isRequired))
            json.member("category", "")
            if !parameter.choices.isEmpty {
                json.member("choiceList", array: parameter.choices) { $0.string($1) }
            }
        }
    }

    /// Converts text to a typed value; keeps the text where that fails.
    static func value(
        _ text: String?, _ type: JobKindDescription.ParameterType, _ json: inout JSONWriter
    ) {
        guard let text else { return json.null() }
        switch type {
        case .text: json.string(text)
        case .whole: Int64(text).map { json.integer($0) } ?? json.string(text)
        case .number: Double(text).map { json.number($0) } ?? json.string(text)
        case .flag:
            text == "true" || text == "false" ? json.bool(text == "true") : json.string(text)
        case .date:
            Int64(text).map { json.integer($0) } ?? json.string(text)
        case .distance, .list, .rows:
            JSONTree(Array(text.utf8)).map { json.json($0.jsonText.utf8) } ?? json.string(text)
        }
    }
}

extension JobKindDescription {
    /// The task with a name, ignoring case; nil if there is none.
    static func named(_ name: String) -> Self? {
        all.first { $0.kind.rawValue.isEqualIgnoringCase(name) }
    }
}

extension JobKindDescription.FeatureOutput {
    /// Esri's name of the type.
    var esriType: String { geometryType == nil ? "GPRecordSet" : "GPFeatureRecordSetLayer" }
}

extension JobKindDescription.Result {
    /// Esri's name of the type.
    var esriType: String {
        switch form {
        case .features: "GPFeatureRecordSetLayer"
        case .flag: "GPBoolean"
        case .text: "GPString"
        case .file: "GPDataFile"
        }
    }
}

extension JobKindDescription.ParameterType {
    /// Esri's name of the type of an attribute.
    var esriFieldType: String {
        switch self {
        case .text, .distance, .list, .rows: "esriFieldTypeString"
        case .date: "esriFieldTypeDate"
        case .whole: "esriFieldTypeInteger"
        case .number: "esriFieldTypeDouble"
        case .flag: "esriFieldTypeSmallInteger"
        }
    }

    /// Esri's name of the type.
    var esriType: String {
        switch self {
        case .text: "GPString"
        case .whole: "GPLong"
        case .number: "GPDouble"
        case .flag: "GPBoolean"
        case .date: "GPDate"
        case .distance: "GPLinearUnit"
        case .list: "GPMultiValue:GPString"
        case .rows: "GPRecordSet"
        }
    }
}
