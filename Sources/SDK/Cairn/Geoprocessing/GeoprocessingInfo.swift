// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// What a geoprocessing task says of itself.
public struct GeoprocessingInfo: Sendable {
    /// Its name.
    public let name: String
    /// The name that people read.
    public let displayName: String
    /// What it does; empty where it does not say.
    public let description: String
    /// How it is executed.
    public let executionType: GeoprocessingParameters.ExecutionType
    /// Its parameters by their names.
    public let parameterInfos: [String: GeoprocessingParameterInfo]
    /// A page about it; nil for none.
    public let helpURL: URL?
}

/// A parameter as a task describes it.
public struct GeoprocessingParameterInfo: Sendable {
    /// Its name.
    public let name: String
    /// The name that people read.
    public let displayName: String
    /// What it is for.
    public let description: String
    /// The service's word for its type, as `GPString`.
    public let dataType: String
    /// Whether it has to be given.
    public let isRequired: Bool
    /// The directions of a parameter.
    public enum Direction: Sendable, Hashable { case input, output }
    /// Whether it is taken or given.
    public let direction: Direction
    /// Whether it is a result.
    public var isOutput: Bool { direction == .output }
    /// The texts that it may be; empty for any.
    public let choiceList: [String]
    /// What it is unless it is given; nil for none.
    public let defaultValue: GeoprocessingParameter?
}
