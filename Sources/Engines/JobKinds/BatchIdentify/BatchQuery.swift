// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Geometry

/// A query of a batch: its place in the file, the author's id, and the request, or why it is
/// invalid.
public struct BatchQuery: Sendable {
    /// Its line, from 1; of CSV its row, the header being 1.
    public var line: Int
    /// The author's `id`; nil without one.
    public var id: BatchID?
    /// The request.
    public var request: Result<IdentifyRequest, Failure>
}

/// The author's id of a query: text or a whole number, returned unchanged.
public enum BatchID: Hashable, Sendable, Codable {
    /// A whole number.
    case number(Int64)
    /// Text.
    case text(String)

    /// Reads either; throws `DecodingError` for anything else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    /// Writes a JSON number or string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        }
    }
}

/// The columns of a CSV file of queries that are used.
public struct BatchColumns: Hashable, Sendable, Codable {
    /// The column of x, or longitude.
    public var x: Int
    /// The column of y, or latitude.
    public var y: Int
    /// The column of the author's id.
    public var id: Int?

    /// Finds `x` and `y`, or `lon` and `lat`, or `longitude` and `latitude`, and `id`, ignoring
    /// case; throws `Failure` (`invalidParameter`) naming the existing columns.
    public init(header: [[UInt8]]) throws(Failure) {
        let names = header.map {
            String(decoding: $0, as: UTF8.self).lowercased().filter {
                $0 != " " && $0 != "\u{FEFF}"
            }
        }
        func column(_ wanted: [String]) throws(Failure) -> Int {
            for name in wanted { if let found = names.firstIndex(of: name) { return found } }
            let known = names.prefix(20).map { "'\($0.prefix(40))'" }.joined(separator: ", ")
            throw Failure(
                .invalidParameter,
                "the CSV file needs a column '\(wanted[0])' (or "
                    + "\(wanted.dropFirst().joined(separator: ", ")))"
                    + "; it has \(known)")
        }
        x = try column(["x", "lon", "longitude"])
        y = try column(["y", "lat", "latitude"])
        id = names.firstIndex(of: "id")
    }
}

/// Decodes the records of a file into requests.
public struct BatchQueryReader: Sendable {
    private let template: IdentifyRequest
    private let columns: BatchColumns?

    /// Creates a reader that sets the geometry of a template.
    ///
    /// `columns` are those of a CSV file.
    public init(template: IdentifyRequest, columns: BatchColumns?) {
        self.template = template
        self.columns = columns
    }

    /// Decodes a record; an error is in the `request` of the result.
    public func query(_ record: BatchRecord) -> BatchQuery {
        var query = BatchQuery(line: record.line, id: nil, request: .success(template))
        do throws(Failure) {
            switch record.content {
            case .json(let bytes):
                let data = Data(bytes)
                // The id is kept for an invalid line, too.
                query.id = try? CairnJSON.decode(QueryName.self, from: data).id
                let line = try CairnJSON.decode(QueryLine.self, from: data)
                query.id = line.id
                query.request = .success(try line.request(template))
            case .fields(let fields):
                guard let columns else { throw Failure(.internal, "rows without columns") }
                if let id = columns.id, id < fields.count {
                    query.id = .text(String(decoding: fields[id], as: UTF8.self))
                }
                var request = template
                request.geometry = .point(
                    Coordinate(
                        x: try Self.number(fields, columns.x, "x"),
                        y: try Self.number(fields, columns.y, "y")))
                query.request = .success(request)
            case .tooLong(let byteCount):
                throw Failure(
                    .tooLarge,
                    "the line has \(byteCount) bytes, expected at most \(BatchRecords.longestLine)"
                )
            }
        } catch {
            query.request = .failure(error)
        }
        return query
    }

    private static func number(
        _ fields: [[UInt8]], _ column: Int, _ name: String
    ) throws(Failure) -> Double {
        let text = column < fields.count ? String(decoding: fields[column], as: UTF8.self) : ""
        guard let number = TableNumber.read(text) else {
            throw Failure(
                .invalidParameter, "column '\(name)' is '\(text.prefix(40))': expected a number")
        }
        return number
    }
}

/// The author's id in a line of JSON Lines, whatever the other members.
private struct QueryName: Decodable {
    var id: BatchID?
}

/// A line of JSON Lines.
private struct QueryLine: Decodable {
    var id: BatchID?
    var x: Double?
    var y: Double?
    var geometry: GeometryJSON?
    var sr: Int?
    var tolerance: Double?
    var layers: String?

    private enum CodingKeys: String, CodingKey { case id, x, y, geometry, sr, tolerance, layers }

    init(from decoder: any Decoder) throws {
        let members = try MemberReader<CodingKeys>(decoder)
        id = try members.value(.id, "text or a whole number")
        x = try members.value(.x, "a number")
        y = try members.value(.y, "a number")
        geometry = try members.value(.geometry, "an object of GeoJSON or Esri's JSON")
        sr = try members.value(.sr, "a whole number")
        tolerance = try members.value(.tolerance, "a number")
        layers = try members.value(.layers, "text")
    }

    func request(_ template: IdentifyRequest) throws(Failure) -> IdentifyRequest {
        var request = template
        switch (geometry, x, y) {
        case (let geometry?, nil, nil): request.geometry = geometry.shape
        case (nil, let x?, let y?): request.geometry = .point(Coordinate(x: x, y: y))
        default:
            throw Failure(.invalidParameter, "expected 'x' and 'y', or 'geometry', one of them")
        }
        request.geometrySpatialReference =
            sr.map { SpatialReference(wkid: $0) } ?? geometry?.spatialReference
        if let tolerance { request.tolerance = tolerance }
        if let layers { request.layers = try LayerSelection(batch: layers) }
        return request
    }
}

extension LayerSelection {
    /// Parses `top`, `visible` or `all`, alone or before `:` and layer ids with commas; throws
    /// `Failure` (`invalidParameter`) for anything else.
    init(batch text: String) throws(Failure) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let ids = parts.count == 2 ? parts[1].split(separator: ",").map { Int($0) } : []
        guard let option = Option(rawValue: String(parts[0])), !ids.contains(nil) else {
            throw Failure(
                .invalidParameter,
                "layers '\(text.prefix(60))': expected top, visible or all, then ':' and layer "
                    + "numbers"
            )
        }
        self.init(option, ids: parts.count == 2 ? ids.compactMap(\.self) : nil)
    }
}

/// One line of a batch's answers.
public struct BatchAnswer: Codable, Sendable {
    /// The query's line.
    public var line: Int
    /// The query's id.
    public var id: BatchID?
    /// The answer; nil on an error.
    public var answer: IdentifyAnswer?
    /// The error; nil with an answer.
    public var error: Failure?

    /// Creates a line; failures take their external form, since any user may read the product.
    public init(_ query: BatchQuery, _ result: Result<IdentifyAnswer, Failure>) {
        line = query.line
        id = query.id
        switch result {
        case .success(var answer):
            answer.failures = answer.failures?.map(\.outside)
            self.answer = answer
        case .failure(let failure): error = failure.outside
        }
    }
}
