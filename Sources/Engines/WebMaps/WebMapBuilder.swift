// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import MapState
internal import Platform

/// The layers of a new map, made one after the other from those of a document.
struct WebMapBuilder {
    let origins: [String]
    let maps: [WebMapReader.Source: MapDescription]
    private(set) var layers: [LayerID: LayerDescription] = [:]
    private(set) var notes: [String] = []
    private var names: Set<String> = []
    /// Numbers that ids of the document ask for.
    private var reserved: Set<LayerID> = []
    private var nextID: LayerID = 0

    /// The most notes; a document may have any number of layers.
    private static let noteBound = 1_000

    init(origins: [String], maps: [WebMapReader.Source: MapDescription]) {
        self.origins = origins
        self.maps = maps
    }

    mutating func note(_ sentence: String) {
        if notes.count < Self.noteBound { notes.append(sentence) }
        if notes.count == Self.noteBound - 1 { notes.append("further notes are left out") }
    }

    /// Notes every member that says something and is not among those known.
    mutating func noteOthers(of tree: JSONTree, _ subject: String, known: Set<String>) {
        let others = tree.members.filter { !known.contains($0.name) && !$0.value.isEmpty }
        guard !others.isEmpty else { return }
        let names = others.map { "'\($0.name.prefix(60))'" }.joined(separator: ", ")
        note("\(subject): \(names) not kept")
    }

    // MARK: Numbers and names

    /// Keeps the numbers that the document's ids have free for their layers.
    mutating func reserve(_ tree: JSONTree) {
        var pending = [tree, tree["baseMap"] ?? .null]
        while let tree = pending.popLast() {
            for name in ["operationalLayers", "layers", "baseMapLayers"] {
                pending += tree[name]?.elements ?? []
            }
            if let number = WebMap.number(in: tree["id"]?.text) { reserved.insert(number) }
        }
        nextID = (reserved.max() ?? -1) + 1
    }

    private mutating func takeID(_ text: String?) -> LayerID {
        if let number = WebMap.number(in: text), reserved.remove(number) != nil { return number }
        defer { nextID += 1 }
        return nextID
    }

    /// A name that no layer has yet.
    private mutating func takeName(_ wanted: String?) -> String {
        let plain = (wanted ?? "").unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }
        var base = String(String.UnicodeScalarView(plain))
        if base.allSatisfy(\.isWhitespace) { base = "layer" }
        func cut(_ text: String, to count: Int) -> String {
            var text = text
            while text.utf8.count > count { text.removeLast() }
            return text
        }
        var name = cut(base, to: MapLimits.layerNameBytes)
        var number = 2
        while !names.insert(name.lowercased()).inserted {
            let ending = " \(number)"
            name = cut(base, to: MapLimits.layerNameBytes - ending.utf8.count) + ending
            number += 1
        }
        if let wanted, !wanted.isEmpty, name != wanted {
            note("layer '\(wanted.prefix(80))' is named '\(name.prefix(80))'")
        }
        return name
    }

    /// Every layer below some children, bottom first, a group before its members.
    func order(_ children: [LayerID]) -> [LayerDescription] {
        children.compactMap { layers[$0] }.flatMap { [$0] + order($0.children) }
    }

    // MARK: Layers

    /// The service of the site that a layer of a document is of, and the map it is taken from.
    static func source(
        of tree: JSONTree, _ origins: [String]
    ) -> (url: ServiceURL, source: WebMapReader.Source)? {
        guard let text = tree["url"]?.text, let url = ServiceURL(text, origins: origins) else {
            return nil
        }
        let moment = tree["customParameters"]?["at"]?.whole
        return (url, WebMapReader.Source(map: url.map, moment: moment))
    }

    /// Adds what a layer of the document stands for; returns the numbers on that level, bottom
    /// first.
    mutating func add(_ tree: JSONTree, in parent: LayerID?, title: String?) -> [LayerID] {
        let name = tree["title"]?.text ?? tree["name"]?.text ?? title
        let subject = "layer '\((name ?? tree["id"]?.text ?? "without a title").prefix(80))'"
        if tree["layerType"]?.isText("GroupLayer") == true {
            return [addGroup(tree, subject, in: parent, name: name)]
        }
        if let (url, source) = Self.source(of: tree, origins) {
            guard let map = maps[source] else {
                note("\(subject) is left out: there is no map '\(url.map)' here")
                return []
            }
            return addOwn(tree, subject, url, of: map, in: parent, name: name)
        }
        do throws(Failure) {
            let foreign = try ForeignLayer(tree)
            for each in foreign.notes { note("\(subject): \(each)") }
            let layer = LayerDescription(
                id: takeID(tree["id"]?.text), name: takeName(name ?? foreign.name),
                parent: parent, children: [], kind: .layer(source: foreign.source),
                isVisible: true, scaleRange: .unlimited, definitionExpression: nil,
                displayField: nil, loadStatus: .notLoaded, loadError: nil, properties: nil)
            layers[layer.id] = overridden(
                layer, by: tree, subject, known: foreign.members)
            return [layer.id]
        } catch {
            note("\(subject) is left out: \(error.message)")
            return []
        }
    }

    private mutating func addGroup(
        _ tree: JSONTree, _ subject: String, in parent: LayerID?, name: String?
    ) -> LayerID {
        var group = LayerDescription(
            id: takeID(tree["id"]?.text), name: takeName(name), parent: parent, children: [],
            kind: .group, isVisible: tree["visibility"].map { $0.isTrue } ?? true,
            scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            loadStatus: .loaded, loadError: nil, properties: nil)
        setScales(of: &group, by: tree, subject)
        if let opacity = tree["opacity"]?.number, opacity != 1 {
            note("\(subject): the opacity of a group is not kept")
        }
        if let mode = tree["visibilityMode"], !mode.isText("independent"), !mode.isEmpty {
            note("\(subject): its visibility mode is not kept, members are shown independently")
        }
        noteOthers(
            of: tree, subject,
            known: Self.commonMembers.union(["layers", "visibilityMode", "minScale", "maxScale"]))
        layers[group.id] = group
        for member in tree["layers"]?.elements ?? [] {
            let children = add(member, in: group.id, title: nil)
            layers[group.id]?.children += children
        }
        return group.id
    }

    /// Members of every kind of layer that are read, or say nothing about the map.
    static let commonMembers: Set<String> = [
        "id", "title", "name", "layerType", "visibility", "opacity", "url", "itemId",
        "isReference", "type",
    ]

    // MARK: Layers of the site

    private mutating func addOwn(
        _ tree: JSONTree, _ subject: String, _ url: ServiceURL, of map: MapDescription,
        in parent: LayerID?, name: String?
    ) -> [LayerID] {
        var known: Set<String> = ["customParameters"]
        if let parameters = tree["customParameters"] {
            noteOthers(of: parameters, "\(subject): customParameters", known: ["at"])
        }
        if let number = url.layer {
            guard let layer = map.layer(number), layer.kind != .group else {
                note("\(subject) is left out: map '\(map.name)' has no layer \(number)")
                return []
            }
            return [copy(layer, tree, subject, in: parent, name: name ?? layer.name, known)]
        }
        known.formUnion(["visibleLayers", "layers"])
        let visible = tree["visibleLayers"].map {
            $0.elements.compactMap { $0.whole.map(Int.init) }
        }
        let shown = visible.map { members(of: $0, in: map) }
        if let ids = shown, ids.count == 1, let layer = map.layer(ids[0]) {
            let sub = tree["layers"]?.elements.first { $0["id"]?.whole == Int64(layer.id) }
            return [
                copy(layer, tree, subject, in: parent, name: name ?? layer.name, known, sub: sub)
            ]
        }
        if tree["layers"]?.elements.contains(where: { $0.members.count > 2 }) == true {
            note("\(subject): what it states of single layers of the service is not kept")
        }
        var group = LayerDescription(
            id: takeID(tree["id"]?.text), name: takeName(name ?? map.name.rawValue),
            parent: parent, children: [], kind: .group,
            isVisible: tree["visibility"].map { $0.isTrue } ?? true, scaleRange: .unlimited,
            definitionExpression: nil, displayField: nil, loadStatus: .loaded, loadError: nil,
            properties: nil)
        setScales(of: &group, by: tree, subject)
        if let opacity = tree["opacity"]?.number, opacity != 1 {
            note("\(subject): the opacity of a group is not kept")
        }
        noteOthers(
            of: tree, subject,
            known: Self.commonMembers.union(known).union(["minScale", "maxScale"]))
        layers[group.id] = group
        for layer in map.layers where layer.kind != .group {
            var copied = layer
            copied.id = takeID(nil)
            copied.name = takeName(layer.name)
            copied.parent = group.id
            copied.isVisible = shown?.contains(layer.id) ?? isShown(layer, in: map)
            layers[copied.id] = copied
            layers[group.id]?.children.append(copied.id)
        }
        return [group.id]
    }

    private func isShown(_ layer: LayerDescription, in map: MapDescription) -> Bool {
        guard layer.isVisible else { return false }
        guard let parent = layer.parent.flatMap(map.layer) else { return true }
        return isShown(parent, in: map)
    }

    /// The layers among some numbers, and those inside the groups among them.
    private func members(of ids: [LayerID], in map: MapDescription) -> [LayerID] {
        ids.compactMap(map.layer).flatMap { layer in
            layer.kind == .group ? members(of: layer.children, in: map) : [layer.id]
        }
    }

    private mutating func copy(
        _ layer: LayerDescription, _ tree: JSONTree, _ subject: String, in parent: LayerID?,
        name: String, _ known: Set<String>, sub: JSONTree? = nil
    ) -> LayerID {
        var copied = layer
        copied.id = takeID(tree["id"]?.text)
        copied.name = takeName(name)
        copied.parent = parent
        copied.children = []
        copied.sight = nil
        layers[copied.id] = overridden(copied, by: tree, subject, known: known, sub: sub)
        return copied.id
    }

    // MARK: What a document states of a layer

    /// The layer with what the document states of it.
    ///
    /// - Parameter sub: What it states of the one layer of a map service.
    private mutating func overridden(
        _ layer: LayerDescription, by tree: JSONTree, _ subject: String, known: Set<String>,
        sub: JSONTree? = nil
    ) -> LayerDescription {
        var layer = layer
        layer.isVisible = tree["visibility"].map { $0.isTrue } ?? true
        setScales(of: &layer, by: tree, subject)
        setOpacity(of: &layer, by: tree)
        noteOthers(
            of: tree, subject,
            known: Self.commonMembers.union(known).union([
                "minScale", "maxScale", "layerDefinition", "popupInfo", "disablePopup",
                "showLegend",
            ]))
        if tree["showLegend"].map({ !$0.isTrue && !$0.isText("true") }) == true {
            note("\(subject): it is shown in legends")
        }
        if let sub {
            noteOthers(
                of: sub, subject,
                known: [
                    "id", "name", "title", "defaultVisibility", "layerDefinition", "popupInfo",
                    "disablePopup",
                ])
        }
        for part in [tree, sub].compactMap({ $0 }) {
            if let definition = part["layerDefinition"] {
                setScales(of: &layer, by: definition, subject)
                setDefinition(of: &layer, by: definition, subject)
                setDrawing(of: &layer, by: definition, subject)
                noteOthers(
                    of: definition, "\(subject): layerDefinition",
                    known: ["minScale", "maxScale", "definitionExpression", "drawingInfo"])
            }
            if let popup = part["popupInfo"], !popup.isEmpty {
                setPopup(of: &layer, by: popup, subject)
            }
        }
        layer.isPopupEnabled =
            !(tree["disablePopup"]?.isTrue == true || sub?["disablePopup"]?.isTrue == true)
        return layer
    }

    private mutating func setScales(
        of layer: inout LayerDescription, by tree: JSONTree, _ subject: String
    ) {
        guard tree["minScale"] != nil || tree["maxScale"] != nil else { return }
        let range = ScaleRange(
            minScale: tree["minScale"]?.number ?? 0, maxScale: tree["maxScale"]?.number ?? 0)
        guard range.minScale >= 0, range.maxScale >= 0, range.minScale.isFinite,
            range.maxScale.isFinite, range.minScale == 0 || range.minScale >= range.maxScale
        else { return note("\(subject): its range of scales is empty, and not kept") }
        layer.scaleRange = range
    }

    private func setOpacity(of layer: inout LayerDescription, by tree: JSONTree) {
        guard let opacity = tree["opacity"]?.number, 0...1 ~= opacity else { return }
        let transparency = Int(((1 - opacity) * 100).rounded())
        guard transparency != layer.shownDrawing?.transparency ?? 0 else { return }
        var drawing = layer.drawing ?? LayerDrawing()
        drawing.transparency = transparency
        layer.drawing = drawing == LayerDrawing() ? nil : drawing
    }

    private mutating func setDefinition(
        of layer: inout LayerDescription, by tree: JSONTree, _ subject: String
    ) {
        guard let text = tree["definitionExpression"]?.text, !text.isEmpty,
            text != layer.definitionExpression
        else { return }
        guard layer.kind.source?.hasDefinition == true else {
            return note("\(subject): the definition expression is not kept, it is a picture")
        }
        let whole = layer.definitionExpression.map { "(\($0)) AND (\(text))" } ?? text
        do throws(Failure) {
            try DefinitionExpression.check(whole, fields: layer.properties?.fields)
            layer.definitionExpression = whole
        } catch {
            note("\(subject): the definition expression is not kept: \(error.message)")
        }
    }

    private mutating func setDrawing(
        of layer: inout LayerDescription, by tree: JSONTree, _ subject: String
    ) {
        guard let info = tree["drawingInfo"], !info.isEmpty else { return }
        guard layer.kind.source?.isPicture == false else {
            return note("\(subject): drawingInfo is not kept, it is a picture")
        }
        let transparency = layer.drawing?.transparency ?? 0
        do throws(Failure) {
            let bytes = info.bytes
            var drawing = try CairnJSON.decode(LayerDrawing.self, from: Data(bytes))
            if info["transparency"] == nil || drawing.transparency == 0 {
                drawing.transparency = transparency
            }
            try drawing.check(
                layer.properties?.fields ?? [], layer.properties?.geometryType)
            layer.drawing = drawing
            let kept = JSONTree(Array(try CairnJSON.encode(drawing))) ?? .null
            var lost: [String] = []
            Self.compare(info, kept, "", &lost)
            if !lost.isEmpty {
                note("\(subject): drawingInfo: \(lost.joined(separator: ", ")) not kept")
            }
        } catch {
            note("\(subject): drawingInfo is not kept: \(error.message)")
        }
    }

    /// Members that repeat others, or describe how the rest was made.
    private static let redundant: Set<String> = [
        "authoringInfo", "uniqueValueGroups", "classificationMethod",
    ]

    /// The paths of members that say something and were not kept, each once.
    private static func compare(
        _ original: JSONTree, _ kept: JSONTree?, _ path: String, _ lost: inout [String]
    ) {
        for member in original.members where !member.value.isEmpty {
            guard !redundant.contains(member.name) else { continue }
            let name = path.isEmpty ? member.name : path + "." + member.name
            guard let value = kept?[member.name] else {
                if !lost.contains(name) { lost.append(name) }
                continue
            }
            compare(member.value, value, name, &lost)
        }
        for (element, value) in zip(original.elements, kept?.elements ?? []) {
            compare(element, value, path + "[]", &lost)
        }
    }

    // MARK: Popups

    /// Keeps a popup: as the display field and the aliases where it shows every field by them, as
    /// the popups without a definition do; as the layer's definition otherwise.
    private mutating func setPopup(
        of layer: inout LayerDescription, by popup: JSONTree, _ subject: String
    ) {
        guard let field = Self.titleField(popup), layer.info?.popup == nil,
            Self.showsEveryField(popup)
        else { return setDefinition(ofPopup: popup, &layer, subject) }
        let fields = layer.properties?.fields ?? []
        func index(_ name: String) -> Int? {
            fields.firstIndex { $0.name.lowercased() == name.lowercased() }
        }
        if !field.isEmpty, fields.isEmpty || index(field) != nil, field != layer.shownField {
            layer.displayField = field
        }
        let names = layer.shownNames(of: fields)
        for info in popup["fieldInfos"]?.elements ?? [] {
            guard let name = info["fieldName"]?.text,
                let label = info["label"]?.text, !label.allSatisfy(\.isWhitespace),
                label.utf8.count <= MapLimits.layerNameBytes
            else { continue }
            if let index = index(name) {
                if names[index] != label, index > 0 {
                    layer.fieldAliases[fields[index].name] = label
                }
            } else if fields.isEmpty, label != name, layer.fieldAliases.count < MapLimits.aliases {
                layer.fieldAliases[name] = label
            } else if !fields.isEmpty {
                note("\(subject): the layer has no field '\(name.prefix(80))' for its popup")
            }
        }
    }

    /// The one field in braces that a title is; empty for no title, nil for another text.
    private static func titleField(_ popup: JSONTree) -> String? {
        let title = popup["title"]?.text ?? ""
        guard !title.isEmpty else { return "" }
        let name = title.dropFirst().dropLast()
        guard title.first == "{", title.last == "}", !name.contains(where: { "{}".contains($0) })
        else { return nil }
        return String(name)
    }

    /// Whether a popup is a list of all its fields, without formats, texts, charts or pictures.
    private static func showsEveryField(_ popup: JSONTree) -> Bool {
        func has(_ tree: JSONTree, only names: Set<String>) -> Bool {
            tree.members.allSatisfy { names.contains($0.name) || $0.value.isEmpty }
        }
        return has(popup, only: ["title", "fieldInfos", "popupElements", "showAttachments"])
            && (popup["popupElements"]?.elements ?? []).allSatisfy {
                $0["type"]?.isText("fields") == true && has($0, only: ["type"])
            }
            && (popup["fieldInfos"]?.elements ?? []).allSatisfy { info in
                has(info, only: ["fieldName", "label", "visible", "isEditable"])
                    && info["visible"].map(\.isTrue) ?? true
            }
    }

    private mutating func setDefinition(
        ofPopup popup: JSONTree, _ layer: inout LayerDescription, _ subject: String
    ) {
        guard layer.kind.source?.isPicture != true else {
            return note("\(subject): the popup is not kept, it is a picture")
        }
        let text = popup.jsonText
        do throws(Failure) {
            try PopupDefinition.check(text, of: layer)
            var info = layer.info ?? LayerInfo()
            info.popup = text
            layer.info = info
        } catch {
            note("\(subject): the popup is not kept: \(error.message)")
        }
    }
}

extension LayerSource {
    /// Whether its features can be limited by a WHERE clause.
    fileprivate var hasDefinition: Bool {
        switch self {
        case .dataset, .featureService: true
        case .raster, .wms, .mapService, .tiles, .graphics: false
        }
    }
}
