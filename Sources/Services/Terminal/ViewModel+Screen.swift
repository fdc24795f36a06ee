// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry

extension ViewModel {
    /// Maximum number of visible features of a layer with labels.
    private static let labelLimit = 400

    /// Draws the map, labels, the route, the selected feature, the place found and the crosshair.
    func renderMap(into frame: inout Frame, _ area: Area) {
        guard let viewport, area.columns > 0, area.rows > 0 else {
            let text = map == nil ? "the site has no map yet" : "no layer is loaded yet"
            frame.put(
                text, column: area.column + 1, row: area.row + area.rows / 2,
                limit: area.columns - 1, style: .dim)
            return
        }
        let drawing = drawing(viewport, area)
        for row in 0..<area.rows {
            for column in 0..<area.columns {
                if let cell = drawing.cell(column: column, row: row) {
                    frame[area.column + column, area.row + row] = Cell(
                        cell.character, Style(foreground: cell.colour))
                }
            }
        }
        renderLabels(into: &frame, area, viewport)
        if let routeStart {
            mark("◆", at: routeStart, into: &frame, area, Style(foreground: Palette.route))
        }
        if let place {
            mark("✚", at: place.location, into: &frame, area, Style(foreground: Palette.place))
        }
        let dot = crosshairDot
        frame[area.column + Int(dot.x) / 2, area.row + Int(dot.y) / 4] = Cell(
            "┼", Style(foreground: Palette.crosshair, isBold: true, isReversed: focus == .map))
    }

    /// The canvas of all layers, bottom first, with the route and the selected feature on top.
    func drawing(_ viewport: Viewport, _ area: Area) -> Canvas {
        var canvas = Canvas(columns: area.columns, rows: area.rows)
        let (width, height) = (canvas.width, canvas.height)
        let view = viewport.extent(width: width, height: height)
        for layer in drawnLayers {
            let colour = Palette.colour(of: layer, in: map)
            for level in stores[layer.id]?.best(for: seen(view, layer)) ?? [] {
                for feature in level.features {
                    draw(feature.shape, on: &canvas, viewport, colour: colour)
                }
            }
        }
        if let route { draw(route.shape, on: &canvas, viewport, colour: Palette.route) }
        if let shape = tree.feature(at: cursors[.results]?.selected ?? 0)?.geometry {
            draw(shape, on: &canvas, viewport, colour: Palette.highlight, isFilled: true)
        }
        return canvas
    }

    /// The part of the view that can contain features of the layer.
    private func seen(_ view: Envelope, _ layer: LayerDescription) -> Envelope {
        guard let properties = layer.properties, let extent = properties.extent,
            let reference = map?.spatialReference,
            properties.spatialReference.isEquivalent(to: reference)
        else { return view }
        return view.intersection(extent)
    }

    private func draw(
        _ shape: Shape, on canvas: inout Canvas, _ viewport: Viewport, colour: UInt8,
        isFilled: Bool = false
    ) {
        let (width, height) = (canvas.width, canvas.height)
        func dots(_ part: [Coordinate]) -> [Coordinate] {
            part.map { viewport.dot(of: $0, width: width, height: height) }
        }
        switch shape {
        case .point(let at): canvas.point(dots([at])[0], colour: colour)
        case .multipoint(let all): for at in dots(all) { canvas.point(at, colour: colour) }
        case .polyline(let paths): for path in paths { canvas.path(dots(path), colour: colour) }
        case .polygon(let rings):
            let drawn = rings.map(dots)
            if isFilled { canvas.fill(drawn, colour: colour, isSparse: true) }
            for ring in drawn { canvas.path(ring, colour: colour) }
        case .envelope(let box):
            let corners = [
                Coordinate(x: box.minX, y: box.minY), Coordinate(x: box.maxX, y: box.minY),
                Coordinate(x: box.maxX, y: box.maxY), Coordinate(x: box.minX, y: box.maxY),
                Coordinate(x: box.minX, y: box.minY),
            ]
            canvas.path(dots(corners), colour: colour)
        }
    }

    /// Labels of points, top layer first, where there is room.
    private func renderLabels(into frame: inout Frame, _ area: Area, _ viewport: Viewport) {
        let (width, height) = (area.columns * 2, area.rows * 4)
        let view = viewport.extent(width: width, height: height)
        var taken: Set<Int> = []
        for layer in drawnLayers.reversed() where layer.properties?.geometryType == .point {
            guard let level = stores[layer.id]?.best(for: seen(view, layer)).first else { continue }
            let inView = level.features.filter { $0.shape.envelope.intersects(view) }
            guard inView.count <= Self.labelLimit else { continue }
            let style = Style(foreground: Palette.colour(of: layer, in: map))
            for feature in inView {
                guard case .point(let at) = feature.shape, let label = feature.label else {
                    continue
                }
                let dot = viewport.dot(of: at, width: width, height: height)
                guard 0..<Double(width) ~= dot.x, 0..<Double(height) ~= dot.y else { continue }
                let (column, row) = (Int(dot.x) / 2 + 1, Int(dot.y) / 4)
                let text = TextWidth.truncated(TextWidth.displayable(label), to: 20)
                let cells = column - 1..<column + TextWidth.columns(of: text) + 1
                guard cells.upperBound <= area.columns,
                    cells.allSatisfy({ !taken.contains(row * 1000 + $0) })
                else { continue }
                for cell in cells { taken.insert(row * 1000 + cell) }
                frame.put(text, column: area.column + column, row: area.row + row, style: style)
            }
        }
    }

    private func mark(
        _ character: Character, at: Coordinate, into frame: inout Frame, _ area: Area,
        _ style: Style
    ) {
        guard let dot = viewport?.dot(of: at, width: area.columns * 2, height: area.rows * 4),
            0..<Double(area.columns * 2) ~= dot.x, 0..<Double(area.rows * 4) ~= dot.y
        else { return }
        frame[area.column + Int(dot.x) / 2, area.row + Int(dot.y) / 4] = Cell(character, style)
    }

    /// The last row: the prompt with its suggestions above, or the last message.
    func renderStatus(into frame: inout Frame, _ area: Area) {
        frame.clear(area)
        guard let prompt else {
            let style = isMessageGrave ? Style(foreground: 203, isBold: true) : .plain
            let keys = "/ find  Enter identify  Tab pane  ? help  q quit"
            let text = TextWidth.truncated(TextWidth.displayable(message), to: area.columns)
            let end = frame.put(text, column: 0, row: area.row, style: style)
            if end + keys.count + 2 <= area.columns {
                frame.put(keys, column: area.columns - keys.count, row: area.row, style: .dim)
            }
            return
        }
        let label = prompt == .search ? "/" : "event number (empty: now): "
        let end = frame.put(label, column: 0, row: area.row, style: .bold)
        frame.put(editor.text, column: end, row: area.row)
        let before = String(editor.characters.prefix(editor.cursor))
        let typed = TextWidth.columns(of: TextWidth.displayable(before))
        frame[end + typed, area.row].style.isReversed = true
        let width = min(area.columns, 50)
        for (index, suggestion) in suggestions.prefix(8).enumerated() {
            let row = area.row - min(suggestions.count, 8) + index
            var style = Style(background: 236)
            style.isReversed = index == suggestionCursor
            frame.put(
                TextWidth.padded(" " + TextWidth.displayable(suggestion.text), to: width),
                column: 0, row: row, style: style)
        }
    }

    /// The help, drawn over everything else.
    func renderHelp(into frame: inout Frame) {
        let lines = ViewHelp.lines
        let keys = lines.map(\.keys.count).max() ?? 0
        let effects = lines.map(\.effect.count).max() ?? 0
        // Between the border and the text, and between the two columns, is one space.
        let width = min(keys + effects + 5, frame.columns)
        let height = min(lines.count + 2, frame.rows)
        let area = Area(
            column: (frame.columns - width) / 2, row: (frame.rows - height) / 2, columns: width,
            rows: height)
        frame.clear(area)
        frame.border(area, title: "keys (any key closes)", style: .bold)
        for (index, line) in lines.prefix(max(0, height - 2)).enumerated() {
            let start = frame.put(
                TextWidth.padded(line.keys, to: keys), column: area.column + 2,
                row: area.row + 1 + index, limit: width - 4, style: .bold)
            frame.put(
                line.effect, column: start + 1, row: area.row + 1 + index,
                limit: width - keys - 5)
        }
    }
}

/// Texts of the help.
package enum ViewHelp {
    package static let lines: [(keys: String, effect: String)] = [
        ("arrows, h j k l", "pan the map; move in a list"),
        ("+  -  wheel", "zoom in and out about the crosshair or pointer"),
        ("0", "the whole map"),
        ("Shift+arrows, H J K L", "move the crosshair"),
        ("c", "centre on the crosshair or the chosen result"),
        ("Enter, Space, click", "what is here?"),
        ("/", "find a place; Tab or Down takes a suggestion"),
        ("f  g", "a route from here; the way to here"),
        ("Tab, Shift+Tab, Esc", "next pane, previous pane, the map"),
        ("1 2 3 4", "show or hide layers, results, jobs, events"),
        ("in layers: Space", "turn the layer on or off in the map, for all"),
        ("in results: Right Left", "open, close"),
        ("in jobs: p u x", "pause, resume, cancel"),
        ("[ ]  t", "one event back or forth; go to an event"),
        ("m", "next map"),
        ("r  Ctrl-L", "ask everything again; draw everything again"),
        ("q, Ctrl-C", "leave"),
    ]
}
