// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CoreMetrics
internal import Daemon

/// What the map state counts.
struct MapStateMetrics: Sendable {
    /// One record for each command.
    let commandSeconds: CoreMetrics.Timer
    let refusedCommands: Counter
    let loadedLayers: Counter
    let failedLoads: Counter
    let waitingLoads: Meter
    let compactedLayers: Counter
    let failedCompactions: Counter
    let sequence: Meter

    init(_ registry: MetricsRegistry) {
        commandSeconds = registry.timer(
            "cairn_mapstate_command_seconds", "From a map command's arrival to its answer.")
        refusedCommands = registry.counter(
            "cairn_mapstate_refused_commands_total", "Map commands refused or failed.")
        let loads = ("cairn_mapstate_loads_total", "Layers read, by result.")
        loadedLayers = registry.counter(loads.0, loads.1, [("result", "loaded")])
        failedLoads = registry.counter(loads.0, loads.1, [("result", "failed")])
        waitingLoads = registry.meter(
            "cairn_mapstate_waiting_loads", "Layers that wait to be read.")
        let compactions = ("cairn_mapstate_compactions_total", "Compactions, by result.")
        compactedLayers = registry.counter(
            compactions.0, compactions.1, [("result", "compacted")])
        failedCompactions = registry.counter(
            compactions.0, compactions.1, [("result", "failed")])
        sequence = registry.meter(
            "cairn_mapstate_known_sequence", "The last event that is folded into the maps.")
    }
}
