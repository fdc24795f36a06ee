// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Terminal

extension MapDescription {
    /// The map as text: a head line, and its layers as a tree, top layer first.
    var treeLines: [String] {
        var head = "\(name), sequence \(sequence)"
        if let wkid = spatialReference?.wkid { head += ", EPSG:\(wkid)" }
        if let extent = initialExtent { head += ", extent \(extent.displayText)" }
        if basemap == nil { head += ", blank" }
        var lines = [head]
        func add(_ ids: [LayerID], indent: String, depth: Int) {
            guard depth < 64 else { return }
            for (place, id) in ids.reversed().enumerated() {
                guard let layer = layer(id) else { continue }
                let isLast = place == ids.count - 1
                lines.append(indent + (isLast ? "└ " : "├ ") + layer.line(isBasemap: id == basemap))
                add(layer.children, indent: indent + (isLast ? "  " : "│ "), depth: depth + 1)
            }
        }
        add(rootLayers, indent: "", depth: 0)
        for bookmark in properties?.bookmarks ?? [] {
            lines.append("bookmark '\(bookmark.name)' at \(bookmark.extent.displayText)")
        }
        return lines
    }
}

extension LayerDescription {
    /// The layer as a line of text.
    func line(isBasemap: Bool = false) -> String {
        var parts = ["\(id) \(name)"]
        if case .group = kind { parts[0] += "/" }
        if !isVisible { parts.append("hidden") }
        if let graphics {
            parts.append("graphics × \(graphics.count)")
        } else if let source = kind.source, source.isRemote {
            parts.append(source.summary)
        } else if let raster = properties?.raster {
            parts.append("raster \(raster.width) × \(raster.height) × \(raster.bands.count)")
        } else if let properties {
            let type = properties.geometryType?.rawValue ?? kind.source?.kindName ?? ""
            parts.append("\(type) × \(properties.featureCount)")
        }
        switch loadStatus {
        case .loaded: break
        case .notLoaded: parts.append("not loaded")
        case .loading: parts.append("loading")
        case .failedToLoad: parts.append("failed: \(loadError?.message ?? "unknown")")
        }
        if scaleRange != .unlimited { parts.append("scales \(scaleRange.displayText)") }
        if let definitionExpression { parts.append("where \(definitionExpression)") }
        if let displayField { parts.append("shows \(displayField)") }
        if let timeInfo { parts.append("time \(timeInfo.displayText)") }
        if let drawing { parts.append("drawn \(drawing.displayText)") }
        for (field, alias) in fieldAliases.sorted(by: { $0.key < $1.key }) {
            parts.append("\(field) as '\(alias)'")
        }
        if !isQueryable { parts.append("not queryable") }
        if !isPopupEnabled { parts.append("no popups") }
        if info?.popup != nil { parts.append("popups defined") }
        if let edits {
            if edits.isOpen { parts.append("takes edits") }
            if !edits.changes.isEmpty { parts.append("\(edits.changes.count) edited features") }
        }
        if isBasemap { parts.append("basemap") }
        return parts.joined(separator: ", ")
    }
}

extension Envelope {
    /// `xmin,ymin,xmax,ymax` with at most six decimals.
    var displayText: String {
        [minX, minY, maxX, maxY].map { $0.displayText(decimals: 6) }.joined(separator: ",")
    }
}
