// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import EsriForms
internal import Geometry
internal import Platform

/// The common parts of ArcGIS services: parameters, errors, geometries.
enum ArcGIS {
    /// The tree of an answer; throws `unreadable` for malformed JSON and for the service's error
    /// answers.
    static func tree(_ response: WebResponse) throws(Failure) -> JSONTree {
        guard let tree = JSONTree(response.body) else {
            throw Failure(.unreadable, "its answer is not JSON")
        }
        if let error = tree["error"] {
            let details = error["details"]?.elements.compactMap(\.text) ?? []
            let text = ([error["message"]?.text ?? "an error"] + details)
                .filter { !$0.isEmpty }.joined(separator: "; ").excerpt(300)
            let code = error["code"]?.whole.map { " \($0)" } ?? ""
            throw Failure(.unreadable, "it answered with error\(code): \(text)")
        }
        return tree
    }

    /// `{"wkid":…}` or `{"wkt":…}`; nil for neither.
    static func reference(_ tree: JSONTree?) -> SpatialReference? {
        if let wkid = (tree?["latestWkid"] ?? tree?["wkid"])?.whole, wkid > 0 {
            return SpatialReference(wkid: Int(wkid))
        }
        return tree?["wkt"]?.text.map { SpatialReference(wkt: $0) }
    }

    /// The reference as a parameter.
    static func text(_ reference: SpatialReference) -> String {
        if let wkid = reference.latestWkid { return "\(wkid)" }
        return "{\"wkt\":\(quoted(reference.wkt ?? ""))}"
    }

    /// The text as JSON.
    static func quoted(_ text: String) -> String {
        let inner = text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return "\"\(inner)\""
    }

    /// The parameter `time`: milliseconds since 1970.
    static func text(_ time: TimeExtent) -> String {
        let (start, end) = (time.start.map { "\($0)" }, time.end.map { "\($0)" })
        return start != nil && start == end
            ? start ?? "" : (start ?? "null") + "," + (end ?? "null")
    }

    /// The service's attribution; nil for none.
    static func attribution(_ tree: JSONTree) -> String? {
        let text = tree["copyrightText"]?.text?.excerpt(500) ?? ""
        return text.isEmpty ? nil : text
    }

    /// `{"xmin":…}` with finite numbers in order; nil otherwise.
    static func envelope(_ tree: JSONTree?) -> Envelope? {
        let numbers = ["xmin", "ymin", "xmax", "ymax"].compactMap { tree?[$0]?.number }
        guard numbers.count == 4, numbers.allSatisfy(\.isFinite), numbers[0] <= numbers[2],
            numbers[1] <= numbers[3]
        else { return nil }
        return Envelope(minX: numbers[0], minY: numbers[1], maxX: numbers[2], maxY: numbers[3])
    }

    /// The shape of a feature, within ``Coordinate/bound``; nil for none, for curves, and for
    /// coordinates out of bounds.
    static func shape(_ tree: JSONTree?) -> Shape? {
        guard let tree else { return nil }
        if let place = Coordinate(x: tree["x"], y: tree["y"]) { return .point(place) }
        var shape: Shape?
        if let points = tree["points"] { shape = positions(points).map { .multipoint($0) } }
        if let paths = tree["paths"] { shape = lists(paths).map { .polyline(paths: $0) } }
        if let rings = tree["rings"] { shape = lists(rings).map { .polygon(rings: $0) } }
        return shape.flatMap { $0.coordinateCount > 0 ? $0 : nil }
    }

    private static func positions(_ tree: JSONTree) -> [Coordinate]? {
        let found = tree.elements.compactMap { position -> Coordinate? in
            let numbers = position.elements
            return numbers.count < 2 ? nil : Coordinate(x: numbers[0], y: numbers[1])
        }
        return found.count == tree.elements.count ? found : nil
    }

    private static func lists(_ tree: JSONTree) -> [[Coordinate]]? {
        let found = tree.elements.compactMap { positions($0) }
        return found.count == tree.elements.count ? found : nil
    }

    /// The Z and M of the coordinates of ``shape(_:)``, in their order.
    ///
    /// The third number of a position is its Z if it has Z, and the next its M; null, text and
    /// non-finite numbers are read as missing.
    static func ordinates(_ tree: JSONTree?, _ wish: OrdinatesWish) -> FurtherOrdinates {
        guard let tree, wish.z || wish.m else { return FurtherOrdinates() }
        func number(_ tree: JSONTree?) -> Double? {
            tree?.number.flatMap { $0.isFinite ? $0 : nil }
        }
        if tree["x"] != nil {
            return FurtherOrdinates(
                z: wish.z ? [number(tree["z"])] : nil, m: wish.m ? [number(tree["m"])] : nil)
        }
        var positions: [JSONTree] = tree["points"]?.elements ?? []
        for part in ["paths", "rings"] {
            for chain in tree[part]?.elements ?? [] { positions += chain.elements }
        }
        let hasZ = tree["hasZ"]?.isTrue ?? wish.hasZ
        let hasM = tree["hasM"]?.isTrue ?? wish.hasM
        func all(_ place: Int) -> [Double?] {
            positions.map { position in
                guard case .array(let numbers) = position, place < numbers.count else { return nil }
                return number(numbers[place])
            }
        }
        return FurtherOrdinates(
            z: wish.z && hasZ ? all(2) : nil, m: wish.m && hasM ? all(hasZ ? 3 : 2) : nil)
    }

    /// The parameters that request Z and M; empty for neither.
    static func parameters(z: Bool, m: Bool) -> [(name: String, value: String)] {
        (z ? [("returnZ", "true")] : []) + (m ? [("returnM", "true")] : [])
    }

    /// The parameters `geometry` and `geometryType`.
    static func parameters(of shape: Shape) -> [(name: String, value: String)] {
        let form = GeometryForm(shape)
        func list(_ positions: [[Double?]]) -> String {
            let texts = positions.map { position in
                "[" + position.compactMap { $0.map { "\($0)" } }.joined(separator: ",") + "]"
            }
            return "[" + texts.joined(separator: ",") + "]"
        }
        func lists(_ parts: [[[Double?]]]) -> String {
            "[" + parts.map(list).joined(separator: ",") + "]"
        }
        let text: String
        if case .envelope(let box) = shape {
            text =
                #"{"xmin":\#(box.minX),"ymin":\#(box.minY),"#
                + #""xmax":\#(box.maxX),"ymax":\#(box.maxY)}"#
            return [("geometryType", "esriGeometryEnvelope"), ("geometry", text)]
        } else if let x = form.x, let y = form.y {
            text = "{\"x\":\(x),\"y\":\(y)}"
        } else if let points = form.points {
            text = "{\"points\":\(list(points))}"
        } else if let paths = form.paths {
            text = "{\"paths\":\(lists(paths))}"
        } else {
            text = "{\"rings\":\(lists(form.rings ?? []))}"
        }
        return [
            ("geometryType", "esriGeometry" + shape.geometryType.rawValue), ("geometry", text),
        ]
    }
}

extension Coordinate {
    /// A position of a server's answer; nil for non-numbers and beyond ``bound``.
    init?(x: JSONTree?, y: JSONTree?) {
        guard let x = x?.number, let y = y?.number, abs(x) <= Self.bound, abs(y) <= Self.bound
        else { return nil }
        self.init(x: x, y: y)
    }
}

extension TilingScheme {
    /// Reads `tileInfo`; nil for none, and for one that tiles cannot have.
    init?(_ tree: JSONTree?) {
        guard let tree, let left = tree["origin"]?["x"]?.number,
            let top = tree["origin"]?["y"]?.number, let width = tree["cols"]?.whole,
            let height = tree["rows"]?.whole
        else { return nil }
        let levels = (tree["lods"]?.elements ?? []).compactMap { level -> Level? in
            guard let number = level["level"]?.whole, 0...99 ~= number,
                let side = level["resolution"]?.number
            else { return nil }
            return Level(Int(number), unitsPerPixel: side)
        }
        self.init(
            left: left, top: top, tileWidth: Int(clamping: width),
            tileHeight: Int(clamping: height), levels: levels)
    }
}

/// The requested ordinates (Z, M), and those that an answer declares for its positions.
struct OrdinatesWish {
    static let none = OrdinatesWish(z: false, m: false, isSaid: false)

    let z: Bool
    let m: Bool
    /// Whether positions have a Z unless their geometry states otherwise.
    let hasZ: Bool
    /// Whether positions have an M unless their geometry states otherwise.
    let hasM: Bool

    /// - Parameter isSaid: Whether a geometry without a declaration has neither.
    init(z: Bool, m: Bool, isSaid: Bool) {
        (self.z, self.m) = (z, m)
        (hasZ, hasM) = isSaid ? (false, false) : (z, m)
    }

    /// The declaration of an answer of features, for all of them; without one, the requested
    /// ordinates.
    init(_ answer: JSONTree, z: Bool, m: Bool) {
        (self.z, self.m) = (z, m)
        hasZ = answer["hasZ"]?.isTrue ?? z
        hasM = answer["hasM"]?.isTrue ?? m
    }
}
