// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry

extension ViewModel {
    /// Handles a key: first in the help and the prompt, then global keys, then the focused pane's.
    mutating func handle(_ key: Key) -> [ViewAction] {
        if key == .control("c") { return [.quit] }
        if key == .control("z") { return [.suspend] }
        if key == .control("l") { return [.redraw] }
        if isHelpShown {
            isHelpShown = false
            return []
        }
        if let prompt { return handle(key, in: prompt) }
        if let actions = handleEverywhere(key) { return actions }
        switch focus {
        case .map: return handleMap(key)
        case .layers: return handleLayers(key)
        case .results: return handleResults(key)
        case .jobs: return handleJobs(key)
        case .events:
            moveCursor(.events, key, count: events.count)
            return []
        }
    }

    private mutating func handleEverywhere(_ key: Key) -> [ViewAction]? {
        switch key {
        case .character("q"): return [.quit]
        case .character("?"), .function(1): isHelpShown = true
        case .character("/"): open(.search)
        case .character("t"): open(.sequence)
        case .character("["): return travel(to: max(1, (at ?? head) - 1))
        case .character("]"): return travel(to: at.flatMap { $0 + 1 < head ? $0 + 1 : nil })
        case .character("m"): return nextMap()
        case .character("1"): toggle(.layers)
        case .character("2"): toggle(.results)
        case .character("3"): toggle(.jobs)
        case .character("4"): toggle(.events)
        case .character("+"), .character("="): zoom(by: 0.5)
        case .character("-"), .character("_"): zoom(by: 2)
        case .character("0"): showWholeMap()
        case .character("r"):
            for id in stores.keys { stores[id]?.forgive() }
            return [.readMaps(at: at), .readJobs]
        case .tab: moveFocus(by: 1)
        case .backTab: moveFocus(by: -1)
        case .escape: focus = .map
        case .click(let column, let row): return click(column: column, row: row)
        case .wheelUp(let column, let row): wheel(column: column, row: row, isUp: true)
        case .wheelDown(let column, let row): wheel(column: column, row: row, isUp: false)
        default: return nil
        }
        return []
    }

    private mutating func handleMap(_ key: Key) -> [ViewAction] {
        let (stepX, stepY) = (max(2, mapDots.width / 8), max(2, mapDots.height / 8))
        switch key {
        case .left, .character("h"): viewport?.pan(right: -stepX, down: 0)
        case .right, .character("l"): viewport?.pan(right: stepX, down: 0)
        case .up, .character("k"): viewport?.pan(right: 0, down: -stepY)
        case .down, .character("j"): viewport?.pan(right: 0, down: stepY)
        case .shiftLeft, .character("H"): moveCrosshair(right: -2, down: 0)
        case .shiftRight, .character("L"): moveCrosshair(right: 2, down: 0)
        case .shiftUp, .character("K"): moveCrosshair(right: 0, down: -4)
        case .shiftDown, .character("J"): moveCrosshair(right: 0, down: 4)
        case .character("c"):
            if let at = crosshairCoordinate, let now = viewport {
                viewport = Viewport(center: at, unitsPerDot: now.unitsPerDot)
                crosshair = nil
            }
        case .enter, .character(" "): return identify()
        case .character("f"):
            routeStart = crosshairCoordinate
            route = nil
            say("a route begins here: g at another place shows it")
        case .character("g"): return findRoute()
        default: break
        }
        return []
    }

    private mutating func findRoute() -> [ViewAction] {
        guard let from = routeStart, let to = crosshairCoordinate,
            let reference = map?.spatialReference
        else {
            say("f at another place states where the route begins")
            return []
        }
        say("looking for the way")
        return [.route(from: from, to: to, in: reference, at: at)]
    }

    private mutating func handleLayers(_ key: Key) -> [ViewAction] {
        let rows = layerRows
        let chosen = cursors[.layers]?.selected ?? 0
        guard key == .enter || key == .character(" ") else {
            moveCursor(.layers, key, count: rows.count)
            return []
        }
        guard rows.indices.contains(chosen), let map else { return [] }
        guard at == nil else {
            say("the past cannot be changed: press t and Enter to come back to now")
            return []
        }
        let layer = rows[chosen].layer
        return [
            .command(
                .setVisibility(layer: layer.id, isVisible: !layer.isVisible), map: map.name)
        ]
    }

    private mutating func handleResults(_ key: Key) -> [ViewAction] {
        let chosen = cursors[.results]?.selected ?? 0
        switch key {
        case .enter, .character(" "): tree.toggle(chosen)
        case .right, .character("l"): _ = tree.setOpen(true, at: chosen)
        case .left, .character("h"):
            if !tree.setOpen(false, at: chosen), let parent = tree.parent(of: chosen) {
                cursors[.results]?.select(parent, of: tree.lines.count)
            }
        case .character("c"):
            if let shape = tree.feature(at: chosen)?.geometry, let now = viewport {
                viewport = Viewport(center: shape.envelope.center, unitsPerDot: now.unitsPerDot)
                crosshair = nil
            }
        default: moveCursor(.results, key, count: tree.lines.count)
        }
        cursors[.results]?.move(by: 0, of: tree.lines.count)
        return []
    }

    private mutating func handleJobs(_ key: Key) -> [ViewAction] {
        let chosen = cursors[.jobs]?.selected ?? 0
        let command: JobCommand? =
            switch key {
            case .character("p"): .pause
            case .character("u"): .resume
            case .character("x"): .cancel
            default: nil
            }
        guard let command else {
            moveCursor(.jobs, key, count: jobs.count)
            return []
        }
        guard jobs.indices.contains(chosen) else { return [] }
        return [.job(jobs[chosen].id, command)]
    }

    private mutating func moveCursor(_ pane: Pane, _ key: Key, count: Int) {
        let page = max(1, (layout.panes[pane]?.rows ?? 3) - 2)
        _ = cursors[pane, default: ListCursor()].handle(key, of: count, page: page)
    }

    private mutating func toggle(_ pane: Pane) {
        shown.formSymmetricDifference([pane])
        if focus == pane { focus = .map }
        crosshair = nil
    }

    private mutating func moveFocus(by step: Int) {
        let order = Pane.allCases.filter { layout.panes[$0] != nil }
        let now = order.firstIndex(of: focus) ?? 0
        focus = order[(now + step + order.count) % order.count]
    }

    private mutating func nextMap() -> [ViewAction] {
        guard let now = maps.firstIndex(where: { $0.name == map?.name }) else { return [] }
        wantedMap = maps[(now + 1) % maps.count].name
        viewport = nil
        stores = [:]
        tree = ResultTree()
        forgetPlaces()
        showWholeMap()
        return []
    }

    /// Shows the map as of another moment; nil for the present.
    mutating func travel(to sequence: Int64?) -> [ViewAction] {
        at = sequence
        say(sequence.map { "the map as of event \($0)" } ?? "the map as it is now")
        return [.readMaps(at: sequence)]
    }

    private mutating func click(column: Int, row: Int) -> [ViewAction] {
        guard let pane = layout.pane(column: column, row: row), let area = layout.panes[pane] else {
            return []
        }
        focus = pane
        guard area.inset.contains(column: column, row: row) else { return [] }
        if pane == .map {
            putCrosshair(column: column, row: row)
            return identify()
        }
        let count = lineCount(of: pane)
        let shown = cursors[pane, default: ListCursor()].visible(of: count, rows: area.inset.rows)
        let line = shown.lowerBound + row - area.inset.row
        guard line < shown.upperBound else { return [] }
        let isChosen = cursors[pane]?.selected == line
        cursors[pane]?.select(line, of: count)
        if pane == .results { return handleResults(.enter) }
        return pane == .layers && isChosen ? handleLayers(.enter) : []
    }

    private mutating func wheel(column: Int, row: Int, isUp: Bool) {
        guard let pane = layout.pane(column: column, row: row) else { return }
        if pane == .map {
            let kept = crosshair
            putCrosshair(column: column, row: row)
            zoom(by: isUp ? 0.5 : 2)
            crosshair = kept
        } else {
            cursors[pane, default: ListCursor()].move(
                by: isUp ? -3 : 3, of: lineCount(of: pane))
        }
    }

    private func lineCount(of pane: Pane) -> Int {
        switch pane {
        case .map: 0
        case .layers: layerRows.count
        case .results: tree.lines.count
        case .jobs: jobs.count
        case .events: events.count
        }
    }
}
