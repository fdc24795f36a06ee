// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// One statistic of a field.
public struct StatisticDefinition: Sendable, Hashable {
    /// The kinds of statistics.
    public enum StatisticType: String, Sendable, Hashable, CaseIterable {
        case average = "avg"
        case count = "count"
        case maximum = "max"
        case minimum = "min"
        case standardDeviation = "stddev"
        case sum = "sum"
        case variance = "var"
    }

    /// The field.
    public let fieldName: String
    /// The kind.
    public let statisticType: StatisticType
    /// The name that records have for it; empty for the kind and the field, as `avg_POP`.
    public let outputAlias: String

    /// Makes a definition.
    public init(fieldName: String, statisticType: StatisticType, outputAlias: String = "") {
        self.fieldName = fieldName
        self.statisticType = statisticType
        self.outputAlias = outputAlias
    }

    var json: JSON {
        .object([
            (name: "statisticType", value: .string(statisticType.rawValue)),
            (name: "onStatisticField", value: .string(fieldName)),
            (
                name: "outStatisticFieldName",
                value: .string(
                    outputAlias.isEmpty ? "\(statisticType.rawValue)_\(fieldName)" : outputAlias)
            ),
        ])
    }
}

/// Which statistics a query computes, and of which features.
public final class StatisticsQueryParameters: Sendable {
    struct Values: Sendable {
        var query = QueryParameters.Values()
        var definitions: [StatisticDefinition]
        var groups: [String] = []

        /// The parameters that say what is computed.
        var statistics: [(name: String, value: String)] {
            var parameters = [
                (name: "outStatistics", value: JSON.array(definitions.map(\.json)).jsonText)
            ]
            if !groups.isEmpty {
                parameters.append(
                    ("groupByFieldsForStatistics", groups.joined(separator: ",")))
            }
            if !query.orderByFields.isEmpty {
                parameters.append(
                    (
                        "orderByFields",
                        query.orderByFields.map(\.parameter).joined(separator: ",")
                    ))
            }
            return parameters
        }
    }

    let values: Guarded<Values>

    /// Statistics of all features.
    public init(statisticDefinitions: [StatisticDefinition]) {
        values = Guarded(Values(definitions: statisticDefinitions))
    }

    /// The statistics.
    public var statisticDefinitions: [StatisticDefinition] { values.current.definitions }
    /// Adds a statistic.
    public func addStatisticDefinition(_ definition: StatisticDefinition) {
        values.withLock { $0.definitions.append(definition) }
    }
    /// Fields whose equal values make a group; none for one record of all features.
    public var groupByFieldNames: [String] { values.current.groups }
    /// Adds fields whose equal values make a group.
    public func addGroupByFieldNames(_ names: [String]) {
        values.withLock { $0.groups += names }
    }
    /// Adds a field whose equal values make a group.
    public func addGroupByFieldName(_ name: String) { addGroupByFieldNames([name]) }
    /// The order of records.
    public var orderByFields: [OrderBy] { values.current.query.orderByFields }
    /// Adds to the order of records.
    public func addOrderByFields(_ orders: [OrderBy]) {
        values.withLock { $0.query.orderByFields += orders }
    }
    /// Adds to the order of records.
    public func addOrderByField(_ order: OrderBy) { addOrderByFields([order]) }
    /// A WHERE clause; empty for all features.
    public var whereClause: String {
        get { values.current.query.whereClause }
        set { values.withLock { $0.query.whereClause = newValue } }
    }
    /// What features lie at; nil for anywhere.
    public var geometry: Geometry? {
        get { values.current.query.geometry }
        set { values.withLock { $0.query.geometry = newValue } }
    }
    /// How features lie to ``geometry``.
    public var spatialRelationship: SpatialRelationship {
        get { values.current.query.spatialRelationship }
        set { values.withLock { $0.query.spatialRelationship = newValue } }
    }
    /// The time that features are of; nil for any.
    public var timeExtent: ClosedRange<Date>? {
        get { values.current.query.timeExtent }
        set { values.withLock { $0.query.timeExtent = newValue } }
    }
}

/// The statistics of one group.
public struct StatisticRecord: Sendable {
    /// The group's values by the names of fields; empty where all features are one group.
    public let group: [String: any Sendable]
    /// The statistics by their names; null is absent.
    public let statistics: [String: any Sendable]
}

/// The statistics that a query computed.
public struct StatisticsQueryResult: Sendable {
    let records: [StatisticRecord]

    /// The records, in order.
    public func statisticRecords() -> QueryElements<StatisticRecord> {
        QueryElements(all: records)
    }
}
