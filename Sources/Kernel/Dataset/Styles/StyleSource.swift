// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expat
import FoundationEssentials
import GDAL
import Platform

/// The styles that come with a source: in its tables, beside its file, or in the file itself.
struct StyleSource {
    private static let byteBound = 16 << 20

    let file: SourceFile
    /// Whether the source has one layer, which the files beside it are for.
    let hasOneLayer: Bool

    /// The style of a layer; nil for a layer without one.
    ///
    /// What cannot be read is a note.
    func style(of layer: String) -> ImportedStyle? {
        if let style = inDatabase(layer) { return style }
        guard hasOneLayer, FileSystem.kind(of: file.path) == .file else { return nil }
        return beside() ?? inside()
    }

    // MARK: GeoPackage

    private func inDatabase(_ layer: String) -> ImportedStyle? {
        guard SourceExamination.beginning(of: file.path).starts(with: Array("SQLite format".utf8))
        else { return nil }
        guard let row = SourceExamination.style(ofTable: layer, at: file.path) else { return nil }
        if !row.qml.isEmpty { return Self.read(Array(row.qml.utf8), from: "layer_styles") }
        return row.sld.isEmpty ? nil : Self.read(Array(row.sld.utf8), from: "layer_styles")
    }

    // MARK: Files

    private func beside() -> ImportedStyle? {
        let (directory, name) = FileName.split(file.path)
        let stem = FileName.stem(name).lowercased()
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
            .filter { $0 != name && FileName.stem($0).lowercased() == stem }.sorted()
        for ending in ["qml", "sld", "json"] {
            guard let found = names.first(where: { FileName.ending($0) == ending }),
                let text = Self.text(directory + "/" + found)
            else { continue }
            let bytes = text.copy(0..<text.byteCount)
            if ending != "json" { return Self.read(bytes, from: found) }
            if let style = Self.esri(bytes, from: found) { return style }
        }
        return nil
    }

    /// The member `drawingInfo` of a document of JSON.
    private func inside() -> ImportedStyle? {
        let name = "drawingInfo"
        // Most documents have no such member and are not decoded for it.
        guard JSONSource.isJSON(SourceExamination.beginning(of: file.path)),
            let text = Self.text(file.path), text.contains(Array(name.utf8))
        else { return nil }
        return Self.esri(text.copy(0..<text.byteCount), from: name)
    }

    private static func text(_ path: String) -> MappedFile? {
        guard let file = try? MappedFile(path: path), file.byteCount <= byteBound else {
            return nil
        }
        return file
    }

    // MARK: Forms

    /// A QML document or an SLD one.
    static func read(_ bytes: [UInt8], from origin: String) -> ImportedStyle {
        do throws(XMLError) {
            let document = try XMLReader.read(bytes)
            return document.name == "qgis"
                ? QGISStyle(document).rules.style(from: origin)
                : SLDStyle(document).rules.style(from: origin)
        } catch {
            return ImportedStyle(
                origin: origin, drawing: nil, notes: ["it cannot be read: \(error.description)"])
        }
    }

    private static func esri(_ bytes: [UInt8], from origin: String) -> ImportedStyle? {
        struct Presence: Decodable { var drawingInfo: JSONValue? }
        struct Metadata: Decodable { var drawingInfo: LayerDrawing }
        let data = Data(bytes)
        guard (try? CairnJSON.decode(Presence.self, from: data))?.drawingInfo != nil else {
            return nil
        }
        do throws(Failure) {
            let drawing = try CairnJSON.decode(Metadata.self, from: data).drawingInfo
            return ImportedStyle(origin: origin, drawing: drawing, notes: [])
        } catch {
            return ImportedStyle(
                origin: origin, drawing: nil, notes: ["it is not understood: \(error.message)"])
        }
    }
}
