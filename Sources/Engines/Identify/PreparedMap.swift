// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Dataset
internal import Expression

/// A map with the request-independent part of its evaluation, computed once.
///
/// To be cached for as long as the map is unchanged.
public struct PreparedMap: Sendable {
    /// The map.
    public private(set) var description: MapDescription
    let resolution: LayerResolution

    /// Prepares a map, in time proportional to the number of layers and fields.
    public init(_ description: MapDescription) {
        self.description = description
        resolution = LayerResolution(description)
    }

    /// The same map at a later sequence number, up to which it is unchanged.
    public func at(_ sequence: Int64) -> PreparedMap {
        var copy = self
        copy.description.sequence = sequence
        return copy
    }
}

/// A layer or group with the request-independent part of its evaluation.
final class PreparedLayer: Sendable {
    let description: LayerDescription
    /// Its index among the layers of its map, in drawing order.
    let place: Int
    /// The layer, its group, that group's group and so on.
    let ancestry: [LayerDescription]
    /// The innermost of ``ancestry`` that is hidden; nil when none is.
    let hidden: LayerDescription?
    /// Why no request searches it; nil for a searchable layer.
    let obstacle: LayerExplanation.Reason?
    /// The fields of its source.
    let fields: [FieldDescription]
    /// The display field.
    let shownField: String
    /// The aliases of the fields; nil where they equal the names.
    let shownNames: [String]?
    /// The source of its content; nil for a group, and for a layer that is not loaded.
    let source: LayerSource?
    /// Its own definition expression, or why that is invalid; nil without one.
    let definition: Result<BoundClause, Failure>?
    /// Whether its dataset has edits.
    let isEdited: Bool

    /// - Parameters:
    ///   - place: Its index among the layers of the map, in drawing order.
    ///   - byID: All layers of the map.
    init(
        _ description: LayerDescription, place: Int, among byID: [LayerID: LayerDescription]
    ) {
        self.description = description
        self.place = place
        var ancestry = [description]
        while let parent = ancestry.last?.parent.flatMap({ byID[$0] }), ancestry.count <= byID.count
        {
            ancestry.append(parent)
        }
        self.ancestry = ancestry
        hidden = ancestry.first { !$0.isVisible }
        obstacle = description.obstacle
        let fields = description.properties?.fields ?? []
        self.fields = fields
        shownField = description.shownField ?? Dataset.objectIDField
        shownNames = description.hasAliases(fields) ? description.shownNames(of: fields) : nil
        source = description.properties == nil ? nil : description.kind.source
        definition = description.definitionExpression.flatMap { text in
            description.clause(text, called: "definition expression", fields)?
                .mapError { _ in description.brokenDefinition }
        }
        isEdited = description.edits.map { !$0.changes.isEmpty } ?? false
    }

    var id: LayerID { description.id }
    var name: String { description.name }
    /// Whether it is on another server.
    var isRemote: Bool { description.kind.source?.isRemote == true }

    /// The innermost of ``ancestry`` whose range excludes the scale; nil when none does, and for an
    /// unknown scale.
    func outOfScale(_ scale: Double?) -> LayerDescription? {
        scale.flatMap { scale in ancestry.first { !$0.scaleRange.contains(scale: scale) } }
    }
}

extension LayerDescription {
    /// Why no request searches it; nil for a searchable layer.
    fileprivate var obstacle: LayerExplanation.Reason? {
        if kind == .group { return .group }
        switch loadStatus {
        case .loaded: break
        case .notLoaded, .loading: return .notLoaded
        case .failedToLoad: return .failedToLoad
        }
        if kind.source?.isTiled == true, properties?.service?.queryable.isEmpty ?? true {
            return .tiled
        }
        return isQueryable ? nil : .notQueryable
    }

    /// A clause on these fields, or why it is invalid; nil for a blank text.
    func clause(
        _ text: String, called origin: String, _ fields: [FieldDescription]
    ) -> Result<BoundClause, Failure>? {
        guard text.contains(where: { !$0.isWhitespace }) else { return nil }
        do throws(Failure) {
            return .success(try WhereClause(parsing: text).bound(to: fields))
        } catch {
            return .failure(
                Failure(error.code, "\(origin) of layer \(id) '\(name)': \(error.message)"))
        }
    }

    /// The failure of a layer whose definition expression does not fit its fields; without the
    /// expression, which reveals what the layer hides.
    public var brokenDefinition: Failure {
        Failure(
            .invalidParameter,
            "layer \(id) '\(name)': its definition expression does not fit its fields")
    }

    /// Throws for a text that is no clause, whatever the fields; a blank text is accepted.
    func check(_ text: String, called origin: String) throws(Failure) {
        guard text.contains(where: { !$0.isWhitespace }) else { return }
        do throws(Failure) {
            _ = try WhereClause(parsing: text)
        } catch {
            throw Failure(error.code, "\(origin) of layer \(id) '\(name)': \(error.message)")
        }
    }

    /// Whether any of these fields has an alias.
    func hasAliases(_ fields: [FieldDescription]) -> Bool {
        !fieldAliases.isEmpty || fields.contains { $0.alias != nil }
    }
}
