// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What a task takes.
public final class GeoprocessingParameters: Sendable {
    /// How a task is executed.
    public enum ExecutionType: Sendable, Hashable {
        /// As a job that is submitted and asked for.
        case asynchronousSubmit
        /// In one request.
        case synchronousExecute
    }

    private struct Values: Sendable {
        var inputs: [String: GeoprocessingParameter] = [:]
        var outputReference: SpatialReference?
        var processReference: SpatialReference?
        var returnsZ = false
        var returnsM = false
    }

    /// How the task is executed.
    public let executionType: ExecutionType
    private let values = Guarded(Values())

    /// Parameters without values.
    public init(executionType: ExecutionType) { self.executionType = executionType }

    /// The values by name.
    public var inputs: [String: GeoprocessingParameter] { values.current.inputs }

    /// Sets a value; nil leaves it to the task's default.
    public func setInputValue(_ value: GeoprocessingParameter?, forKey key: String) {
        values.withLock { $0.inputs[key] = value }
    }

    /// The reference of results; nil for the task's.
    public var outputSpatialReference: SpatialReference? {
        get { values.current.outputReference }
        set { values.withLock { $0.outputReference = newValue } }
    }

    /// The reference that the task works in; nil for its own.
    public var processSpatialReference: SpatialReference? {
        get { values.current.processReference }
        set { values.withLock { $0.processReference = newValue } }
    }

    /// Whether geometries of results have heights.
    public var returnsZ: Bool {
        get { values.current.returnsZ }
        set { values.withLock { $0.returnsZ = newValue } }
    }

    /// Whether geometries of results have measures.
    public var returnsM: Bool {
        get { values.current.returnsM }
        set { values.withLock { $0.returnsM = newValue } }
    }
}
