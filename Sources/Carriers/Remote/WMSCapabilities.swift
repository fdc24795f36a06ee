// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Expat
internal import Geometry
internal import PROJ

/// The capabilities of a Web Map Service (OGC 01-068r3, 06-042).
struct WMSCapabilities {
    /// A layer that can be named in a request.
    struct Layer {
        var name: String
        var title: String
        var isQueryable: Bool
        /// EPSG numbers, including those inherited from enclosing layers.
        var spatialReferences: [Int]
        /// The geographic extent, in degrees, longitude first.
        var geographicExtent: Envelope?
        /// The extents by EPSG number, x first.
        var extents: [Int: Envelope]
        /// The attribution; nil for none.
        var attribution: String?
        /// Whether it has a dimension of time.
        var hasTime: Bool
    }

    var version: String
    var infoFormats: [String]
    var pictureFormats: [String]
    var layers: [Layer] = []

    /// Throws `unreadable`: no XML, an exception, another protocol or version.
    init(_ bytes: [UInt8]) throws(Failure) {
        let root: XMLElement
        do throws(XMLError) { root = try XMLReader.read(bytes) } catch {
            throw Failure(.unreadable, "its capabilities cannot be read: \(error)")
        }
        if let exception = WMSException.text(in: root) {
            throw Failure(.unreadable, "it answered: \(exception)")
        }
        guard ["WMS_Capabilities", "WMT_MS_Capabilities"].contains(root.name),
            let capability = root.first("Capability")
        else {
            throw Failure(.unreadable, "it is no Web Map Service: it answered <\(root.name)>")
        }
        version = root.attributes["version"] ?? "1.1.1"
        guard version == "1.3.0" || version.hasPrefix("1.1.") else {
            throw Failure(
                .unreadable, "it speaks WMS \(version.excerpt(20)): expected 1.1.1 or 1.3.0")
        }
        let requests = capability.first("Request")
        infoFormats = requests?.first("GetFeatureInfo")?.all("Format").map(\.trimmed) ?? []
        pictureFormats = requests?.first("GetMap")?.all("Format").map(\.trimmed) ?? []
        for layer in capability.all("Layer") { collect(layer, around: nil) }
    }

    private mutating func collect(_ element: XMLElement, around outer: Layer?) {
        let numbers = (element.all("CRS") + element.all("SRS"))
            .flatMap { $0.trimmed.split(separator: " ") }.compactMap(Self.number)
        var layer = Layer(
            name: element.first("Name")?.trimmed ?? "",
            title: element.first("Title")?.trimmed ?? "",
            isQueryable: element.attributes["queryable"].map { $0 == "1" || $0 == "true" }
                ?? outer?.isQueryable ?? false,
            spatialReferences: outer?.spatialReferences ?? [],
            geographicExtent: Self.geographicExtent(element) ?? outer?.geographicExtent,
            extents: outer?.extents ?? [:],
            attribution: element.first("Attribution")?.first("Title")?.trimmed
                ?? outer?.attribution,
            hasTime: outer?.hasTime ?? false)
        for dimension in element.all("Dimension") + element.all("Extent")
        where dimension.attributes["name"]?.lowercased() == "time" { layer.hasTime = true }
        for number in numbers where !layer.spatialReferences.contains(number) {
            layer.spatialReferences.append(number)
        }
        for box in element.all("BoundingBox") {
            guard let name = box.attributes["CRS"] ?? box.attributes["SRS"],
                let number = Self.number(name[...]),
                let extent = Self.envelope(box.attributes)
            else { continue }
            let isSwapped = version == "1.3.0" && AxisOrder.isNorthFirst(number)
            layer.extents[number] = isSwapped ? extent.swapped : extent
        }
        if !layer.name.isEmpty { layers.append(layer) }
        for child in element.all("Layer") { collect(child, around: layer) }
    }

    private static func number(_ text: Substring) -> Int? {
        let upper = text.uppercased()
        if upper.hasPrefix("EPSG:") { return Int(upper.dropFirst(5)).flatMap { $0 > 0 ? $0 : nil } }
        return upper == "CRS:84" ? 4326 : nil
    }

    private static func geographicExtent(_ element: XMLElement) -> Envelope? {
        if let box = element.first("LatLonBoundingBox") { return envelope(box.attributes) }
        guard let box = element.first("EX_GeographicBoundingBox") else { return nil }
        let names = ["westBoundLongitude", "southBoundLatitude", "eastBoundLongitude"]
        let numbers = (names + ["northBoundLatitude"]).compactMap { name in
            box.first(name).flatMap { Double($0.trimmed) }
        }
        return numbers.count == 4 ? envelope(numbers) : nil
    }

    private static func envelope(_ attributes: [String: String]) -> Envelope? {
        let numbers = ["minx", "miny", "maxx", "maxy"].compactMap { name in
            attributes[name].flatMap { Double($0) }
        }
        return numbers.count == 4 ? envelope(numbers) : nil
    }

    private static func envelope(_ numbers: [Double]) -> Envelope? {
        guard numbers.allSatisfy(\.isFinite), numbers[0] <= numbers[2], numbers[1] <= numbers[3]
        else { return nil }
        return Envelope(minX: numbers[0], minY: numbers[1], maxX: numbers[2], maxY: numbers[3])
    }
}

/// The exception report of a service.
enum WMSException {
    /// The sentence; nil when the document is something else.
    static func text(in root: XMLElement) -> String? {
        guard
            ["ServiceExceptionReport", "ServiceException", "ExceptionReport"].contains(root.name)
        else { return nil }
        let exception = root.first("ServiceException") ?? root.first("Exception") ?? root
        let text = exception.first("ExceptionText")?.trimmed ?? exception.trimmed
        let code = exception.attributes["code"] ?? exception.attributes["exceptionCode"]
        return [code, text.isEmpty ? nil : text.excerpt()].compactMap { $0 }
            .joined(separator: ": ").excerpt(300)
    }
}

extension Envelope {
    /// With x and y in each other's place.
    var swapped: Envelope { Envelope(minX: minY, minY: minX, maxX: maxY, maxY: maxX) }
}
