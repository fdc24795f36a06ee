// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Dataset
internal import Expression

/// A map with what every request on it needs, worked out once.
///
/// Nothing in it depends on a request, so whoever answers many keeps it for as long as the map is
/// the same.
public struct PreparedMap: Sendable {
    /// The map.
    public private(set) var description: MapDescription
    let resolution: LayerResolution

    /// Works it out, in time that grows with the number of layers and fields.
    public init(_ description: MapDescription) {
        self.description = description
        resolution = LayerResolution(description)
    }

    /// The same map at another sequence number, up to which nothing of it has changed.
    public func at(_ sequence: Int64) -> PreparedMap {
        var copy = self
        copy.description.sequence = sequence
        return copy
    }
}

/// A layer or group with what every request needs of it.
final class PreparedLayer: Sendable {
    let description: LayerDescription
    /// Its place among the layers of its map, in drawing order.
    let place: Int
    /// Itself, its group, that group's group and so on.
    let ancestry: [LayerDescription]
    /// It or the innermost group around it that is hidden; nil when none is.
    let hidden: LayerDescription?
    /// Why no request searches it; nil for a layer that may be searched.
    let obstacle: LayerExplanation.Reason?
    /// The fields of its source.
    let fields: [FieldDescription]
    /// The field that is shown for a feature.
    let shownField: String
    /// What people call the fields; nil where they keep their names.
    let shownNames: [String]?
    /// Where its content comes from; nil for a group, and for a layer that is not loaded.
    let source: LayerSource?
    /// Its own definition expression, or why that is none; nil where it has none.
    let definition: Result<BoundClause, Failure>?
    /// Whether features were added to its dataset, changed or deleted.
    let isEdited: Bool

    /// - Parameters:
    ///   - place: Among the layers of the map, in drawing order.
    ///   - byID: All of them.
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
    /// Whether another server is asked for it.
    var isRemote: Bool { description.kind.source?.isRemote == true }

    /// It or the innermost group around it whose range the scale lies outside of; nil when there is
    /// none, and where the scale is not known.
    func outOfScale(_ scale: Double?) -> LayerDescription? {
        scale.flatMap { scale in ancestry.first { !$0.scaleRange.contains(scale: scale) } }
    }
}

extension LayerDescription {
    /// Why no request searches it; nil for a layer that may be searched.
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

    /// A clause on these fields, or why it is none; nil for blanks.
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

    /// The refusal of a layer whose definition expression is none on its fields; that is not
    /// quoted, because it says what the layer hides.
    public var brokenDefinition: Failure {
        Failure(
            .invalidParameter,
            "layer \(id) '\(name)': its definition expression does not fit its fields")
    }

    /// Throws where a text is no clause, whatever fields there are; blanks are fine.
    func check(_ text: String, called origin: String) throws(Failure) {
        guard text.contains(where: { !$0.isWhitespace }) else { return }
        do throws(Failure) {
            _ = try WhereClause(parsing: text)
        } catch {
            throw Failure(error.code, "\(origin) of layer \(id) '\(name)': \(error.message)")
        }
    }

    /// Whether any of these fields is called something else than its name.
    func hasAliases(_ fields: [FieldDescription]) -> Bool {
        !fieldAliases.isEmpty || fields.contains { $0.alias != nil }
    }
}
