// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry

extension ViewModel {
    /// The lines of the layer list: top layer first, children below their group.
    var layerRows: [(layer: LayerDescription, depth: Int)] {
        guard let map else { return [] }
        let byID = Dictionary(
            map.layers.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var rows: [(LayerDescription, Int)] = []
        func add(_ ids: [LayerID], depth: Int) {
            guard depth < 64 else { return }
            for id in ids.reversed() {
                guard let layer = byID[id] else { continue }
                rows.append((layer, depth))
                add(layer.children, depth: depth + 1)
            }
        }
        add(map.rootLayers, depth: 0)
        return rows
    }

    /// The complete screen in its present state.
    package func frame() -> Frame {
        var frame = Frame(columns: columns, rows: rows)
        let layout = layout
        renderTitle(into: &frame, layout.title)
        for (pane, area) in layout.panes {
            let style = pane == focus ? Style(foreground: 214, isBold: true) : .dim
            frame.border(area, title: title(of: pane), style: style)
            switch pane {
            case .map: renderMap(into: &frame, area.inset)
            case .layers: renderLayers(into: &frame, area.inset)
            case .results: renderResults(into: &frame, area.inset)
            case .jobs: renderJobs(into: &frame, area.inset)
            case .events: renderEvents(into: &frame, area.inset)
            }
        }
        renderStatus(into: &frame, layout.status)
        if isHelpShown { renderHelp(into: &frame) }
        return frame
    }

    private func title(of pane: Pane) -> String {
        switch pane {
        case .map: map?.name.rawValue ?? "no map"
        case .layers: "layers"
        case .results: isIdentifying ? "identify …" : "identify"
        case .jobs: "jobs"
        case .events: "events"
        }
    }

    private func renderTitle(into frame: inout Frame, _ area: Area) {
        let style = Style.reversed
        frame.clear(area, style: style)
        var parts = ["Cairn", map?.name.rawValue ?? "no map"]
        parts.append(at.map { "AS OF EVENT \($0)" } ?? "event \(head)")
        if let scale { parts.append("1:" + Int64(min(scale, 1e15)).grouped) }
        if let at = crosshairCoordinate {
            let decimals = isGeographic ? 5 : 1
            parts.append(
                at.x.displayText(decimals: decimals) + ", "
                    + at.y.displayText(decimals: decimals))
        }
        if let wkid = map?.spatialReference?.wkid { parts.append("EPSG:\(wkid)") }
        if stores.values.contains(where: { $0.loading != nil }) { parts.append("drawing …") }
        if !isLinked { parts.append("NO ANSWER FROM THE SITE") }
        frame.put(" " + parts.joined(separator: " · "), column: 0, row: area.row, style: style)
    }

    private func renderLayers(into frame: inout Frame, _ area: Area) {
        let rows = layerRows
        let cursor = cursors[.layers] ?? ListCursor()
        for (offset, index) in cursor.visible(of: rows.count, rows: area.rows).enumerated() {
            let (layer, depth) = rows[index]
            let mark = layer.isVisible ? "◉" : "○"
            var style = Style(isDim: !isDrawn(layer))
            if focus == .layers, index == cursor.selected { style.isReversed = true }
            let row = area.row + offset
            let start = frame.put(
                String(repeating: "  ", count: min(depth, 10)) + mark + " ", column: area.column,
                row: row, limit: area.columns, style: style)
            var nameStyle = style
            if layer.kind != .group {
                nameStyle.foreground = Palette.colour(of: layer, in: map)
            }
            frame.put(
                layer.name + suffix(of: layer), column: start, row: row,
                limit: area.column + area.columns - start, style: nameStyle)
        }
        if rows.isEmpty {
            frame.put("no layers", column: area.column, row: area.row, style: .dim)
        }
    }

    private func suffix(of layer: LayerDescription) -> String {
        guard layer.kind != .group else { return "/" }
        switch layer.loadStatus {
        case .notLoaded: return " (not loaded)"
        case .loading: return " (loading)"
        case .failedToLoad: return " (failed)"
        case .loaded: break
        }
        let store = stores[layer.id]
        if store?.failure != nil { return " !" }
        return store?.detail?.isCut == true ? " (not all drawn)" : ""
    }

    private func renderResults(into frame: inout Frame, _ area: Area) {
        let cursor = cursors[.results] ?? ListCursor()
        let lines = tree.lines
        if lines.isEmpty {
            let text = tree.answer == nil ? "Enter asks what is at the crosshair" : "nothing here"
            frame.put(
                text, column: area.column, row: area.row, limit: area.columns, style: .dim)
        }
        for (offset, index) in cursor.visible(of: lines.count, rows: area.rows).enumerated() {
            let line = lines[index]
            let mark = line.isOpen.map { $0 ? "▾ " : "▸ " } ?? "  "
            var style = Style(isBold: line.depth == 0)
            if focus == .results, index == cursor.selected { style.isReversed = true }
            let text = String(repeating: "  ", count: min(line.depth, 12)) + mark + line.text
            frame.put(
                TextWidth.truncated(TextWidth.displayable(text), to: area.columns),
                column: area.column, row: area.row + offset, style: style)
        }
    }

    private func renderJobs(into frame: inout Frame, _ area: Area) {
        if jobs.isEmpty { frame.put("no jobs", column: area.column, row: area.row, style: .dim) }
        let cursor = cursors[.jobs] ?? ListCursor()
        for (offset, index) in cursor.visible(of: jobs.count, rows: area.rows).enumerated() {
            let job = jobs[index]
            var style = Style(isDim: job.status.isTerminal)
            switch job.status {
            case .succeeded: style.foreground = 71
            case .failed, .timedOut: style.foreground = 167
            case .cancelled, .cancelling: style.foreground = 179
            case .submitted, .waiting, .executing: break
            }
            if focus == .jobs, index == cursor.selected { style.isReversed = true }
            frame.put(
                ProgressBar.line(for: job, columns: 12), column: area.column,
                row: area.row + offset, limit: area.columns, style: style)
        }
    }

    private func renderEvents(into frame: inout Frame, _ area: Area) {
        var cursor = cursors[.events] ?? ListCursor()
        if focus != .events { cursor.select(events.count - 1, of: events.count) }
        for (offset, index) in cursor.visible(of: events.count, rows: area.rows).enumerated() {
            let event = events[index]
            var style = Style.plain
            if focus == .events, index == cursor.selected { style.isReversed = true }
            let stream = event.stream.rawValue.prefix(14)
            frame.put(
                "\(event.globalPosition) \(stream) \(event.summary)", column: area.column,
                row: area.row + offset, limit: area.columns, style: style)
        }
    }
}

/// Colours that distinguish layers, from the 256-colour palette.
enum Palette {
    static let base: UInt8 = 245
    static let highlight: UInt8 = 226
    static let crosshair: UInt8 = 231
    static let place: UInt8 = 201
    static let route: UInt8 = 39
    private static let layers: [UInt8] = [75, 114, 179, 174, 141, 80, 215, 108, 204, 69, 150, 186]

    /// A stable colour for each layer; grey for the basemap.
    static func colour(of layer: LayerDescription, in map: MapDescription?) -> UInt8 {
        layer.id == map?.basemap ? base : layers[abs(layer.id) % layers.count]
    }
}
