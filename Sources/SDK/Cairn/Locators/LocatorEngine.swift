// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

#if CAIRN_LOCATOR_FILES
    internal import CairnModel
    internal import Foundation
    internal import Geometry
    internal import Locator

    /// The questions of a task, put to the engine in this process.
    actor OpenedLocator: LocatorFile {
        private let url: URL
        private var opened: Locator?

        /// Results where parameters name no number, as a geocode service has it.
        private static let resultCount = 20
        /// Most results, as a geocode service has it.
        private static let resultLimit = 50

        init(_ url: URL) { self.url = url }

        func load() async throws -> LocatorInfo {
            let locator = try self.locator()
            func attribute(_ name: String, _ type: Field.FieldType) -> LocatorAttribute {
                LocatorAttribute(name: name, displayName: name, isRequired: false, type: type)
            }
            return LocatorInfo(
                name: url.deletingPathExtension().lastPathComponent,
                description: locator.sources.map(\.name).joined(separator: ", "),
                searchAttributes: Self.searchFields.map { attribute($0, .text) },
                resultAttributes: Candidate.fields.map { field in
                    let type = Field.FieldType(rawValue: "esriFieldType" + field.type.rawValue)
                    return attribute(field.name, type ?? .text)
                },
                spatialReference: .wgs84, supportsSuggestions: true, supportsPOI: true)
        }

        private func locator() throws -> Locator {
            if let opened { return opened }
            // The file of an app is not named by its contents.
            guard let id = ContentID(rawValue: String(repeating: "0", count: 64)) else {
                throw CairnError(.invalidDocument, "\(url.path) cannot be named")
            }
            do throws(Failure) {
                let locator = try Locator(path: url.path, id: id)
                opened = locator
                return locator
            } catch {
                let kind: CairnError.Kind =
                    [.notFound, .unreadable].contains(error.code) ? .file : .invalidDocument
                throw CairnError(kind, error.message)
            }
        }

        private static let searchFields = [
            "Address", "Neighborhood", "City", "Subregion", "Region", "Postal", "CountryCode",
        ]

        // MARK: Questions

        func geocode(
            _ search: [(name: String, value: String)], _ values: GeocodeParameters.Values
        ) async throws -> [GeocodeResult] {
            var fields: [String: String] = [:]
            for (name, value) in search { fields[name.lowercased()] = value }
            let line =
                fields["singleline"]
                ?? Self.searchFields.dropLast().compactMap { fields[$0.lowercased()] }
                .joined(separator: ", ")
            guard !line.isEmpty || fields["magickey"] != nil else {
                throw CairnError(
                    .invalidArgument,
                    "the search values name none of " + Self.searchFields.joined(separator: ", "))
            }
            let country = values.countryCode.orNil ?? fields["countrycode"]
            let wanted = values.maxResults > 0 ? values.maxResults : Self.resultCount
            var request = GeocodeRequest(
                singleLine: line, countryCodes: Self.list(country),
                maxLocations: min(wanted, Self.resultLimit),
                searchExtent: try Self.extent(values.searchArea),
                location: try Self.coordinate(values.preferredSearchLocation),
                magicKey: fields["magickey"])
            request.categories = values.categories.isEmpty ? nil : values.categories
            request.language = values.outputLanguageCode.orNil
            request.minScore = values.minScore
            if fields["singleline"] == nil {
                request.fields = AddressFields(
                    address: fields["address"], neighborhood: fields["neighborhood"],
                    city: fields["city"], subregion: fields["subregion"], region: fields["region"],
                    postal: fields["postal"])
            }
            let locator = try self.locator()
            let answer = try Self.answer { () throws(Failure) in try locator.geocode(request) }
            let isWanted = Self.attributeFilter(values.resultAttributeNames)
            return try answer.candidates.map { candidate in
                try Self.result(
                    candidate, label: candidate.address,
                    Self.values(
                        Attributes(candidate.attributes.entries.filter { isWanted($0.name) })),
                    values.outputSpatialReference)
            }
        }

        func suggest(
            _ text: String, _ values: SuggestParameters.Values
        ) async throws -> [SuggestResult] {
            var request = SuggestRequest(
                text: text, countryCodes: Self.list(values.countryCode.orNil),
                maxSuggestions: values.maxResults > 0
                    ? min(values.maxResults, Self.resultLimit) : 5,
                location: try Self.coordinate(values.preferredSearchLocation))
            request.searchExtent = try Self.extent(values.searchArea)
            request.categories = values.categories.isEmpty ? nil : values.categories
            let locator = try self.locator()
            let answer = try Self.answer { () throws(Failure) in try locator.suggest(request) }
            return answer.suggestions.map { suggestion in
                SuggestResult(
                    label: suggestion.text, isCollection: suggestion.isCollection,
                    magicKey: suggestion.magicKey, text: suggestion.text)
            }
        }

        func reverse(
            _ location: Point, _ values: ReverseGeocodeParameters.Values
        ) async throws -> [GeocodeResult] {
            guard let coordinate = try Self.coordinate(location) else { return [] }
            var request = ReverseGeocodeRequest(
                location: coordinate, maxDistanceMeters: max(0, values.maxDistance))
            request.featureTypes = values.featureTypes.isEmpty ? nil : values.featureTypes
            request.language = values.outputLanguageCode.orNil
            let locator = try self.locator()
            let answer = try Self.answer { () throws(Failure) in try locator.reverse(request) }
            let isWanted = Self.attributeFilter(values.resultAttributeNames)
            return try [answer.candidate].compactMap { $0 }.map { candidate in
                let address = Self.values(candidate.addressAttributes(isWanted))
                return try Self.result(
                    candidate, label: address["LongLabel"] as? String ?? candidate.address, address,
                    values.outputSpatialReference, location)
            }
        }

        // MARK: Forms

        private static func answer<Answer>(
            _ ask: () throws(Failure) -> Answer
        ) throws(CairnError) -> Answer {
            do throws(Failure) { return try ask() } catch {
                throw CairnError(.invalidArgument, error.message)
            }
        }

        private static func list(_ text: String?) -> [String] {
            (text ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }

        /// On WGS 84; nil for none.
        private static func coordinate(_ point: Point?) throws -> Coordinate? {
            guard let point else { return nil }
            let place = try degrees(point)
            return Coordinate(x: place.x, y: place.y)
        }

        private static func extent(_ area: Cairn.Geometry?) throws -> Geometry::Envelope? {
            guard let area else { return nil }
            let sides = try degrees(area.extent)
            return Geometry::Envelope(
                minX: sides.xMin, minY: sides.yMin, maxX: sides.xMax, maxY: sides.yMax)
        }

        /// A geometry without a reference is on WGS 84.
        private static func degrees<Shape: Cairn.Geometry>(_ shape: Shape) throws -> Shape {
            guard shape.spatialReference != nil else { return shape }
            return try GeometryEngine.projected(shape, into: .wgs84)
        }

        private static func result(
            _ candidate: Candidate, label: String, _ attributes: [String: any Sendable],
            _ reference: Cairn.SpatialReference?, _ asked: Point? = nil
        ) throws -> GeocodeResult {
            func shown<Shape: Cairn.Geometry>(_ shape: Shape) throws -> Shape {
                guard let reference else { return shape }
                return try GeometryEngine.projected(shape, into: reference)
            }
            let place = try shown(
                Point(latitude: candidate.location.y, longitude: candidate.location.x))
            let sides = candidate.extent
            return GeocodeResult(
                label: label, score: candidate.score, displayLocation: place,
                inputLocation: asked, routeLocation: place,
                extent: try shown(
                    Cairn.Envelope(
                        xMin: sides.minX, yMin: sides.minY, xMax: sides.maxX, yMax: sides.maxY,
                        spatialReference: .wgs84)),
                attributes: attributes)
        }

        /// Whether an attribute is among names, in any letter case; `*` is all of them.
        private static func attributeFilter(_ names: [String]) -> (String) -> Bool {
            let wanted = Set(names.map { $0.lowercased() })
            return { wanted.contains("*") || wanted.contains($0.lowercased()) }
        }

        private static func values(_ attributes: Attributes) -> [String: any Sendable] {
            var result: [String: any Sendable] = [:]
            for entry in attributes.entries {
                switch entry.value {
                case .null: break
                case .integer(let value): result[entry.name] = Int32(exactly: value) ?? value
                case .real(let value): result[entry.name] = value
                case .string(let value): result[entry.name] = value
                case .date(let value):
                    result[entry.name] = Date(timeIntervalSince1970: Double(value) / 1_000)
                }
            }
            return result
        }
    }
#endif
