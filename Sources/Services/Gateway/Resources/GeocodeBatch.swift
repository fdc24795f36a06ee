// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// `geocodeAddresses`: locates many addresses, one answer for each, in order.
struct GeocodeBatch: Sendable {
    /// Maximum number of records in a request (Esri's `MaxBatchSize`).
    static let recordLimit = 1_000
    /// Number of concurrent lookups.
    static let concurrencyLimit = 8

    /// The outcome of a record's lookup.
    typealias Outcome = Result<GeocodeAnswer, Failure>

    /// An address of the batch.
    struct Record: Sendable {
        /// `OBJECTID`, repeated in the answer as `ResultID`.
        var id: Int64
        /// Nil for an empty address.
        var request: GeocodeRequest?
    }

    let records: [Record]

    private static let form = #"{"records":[{"attributes":{"OBJECTID":1,"SingleLine":"Paris"}}]}"#

    /// Parses the parameters; throws `Failure` naming the offending record.
    init(locator: String, _ parameters: Parameters) throws(Failure) {
        let text = try parameters.required(Known.addresses)
        let json: RelaxedValue
        do {
            json = try RelaxedJSON.parse(text)
        } catch {
            throw Failure(error.code, "parameter 'addresses': \(error.message)")
        }
        guard case .array(let elements)? = json["records"] else {
            throw Parameters.unexpected("addresses", text, Self.form)
        }
        guard elements.count <= Self.recordLimit else {
            throw Failure(
                .tooLarge,
                "parameter 'addresses' has \(elements.count) records, the most is "
                    + "\(Self.recordLimit) (MaxBatchSize)")
        }
        let filter = try GeocodeResource.filter(parameters)
        var records: [Record] = []
        for (index, element) in elements.enumerated() {
            let attributes = try Self.attributes(element, index)
            guard let text = attributes["OBJECTID"], let id = Int64(text) else {
                throw Failure(
                    .invalidParameter,
                    "parameter 'addresses': record \(index + 1) has no whole number 'OBJECTID'")
            }
            guard let line = GeocodeResource.line(attributes) else {
                records.append(Record(id: id))
                continue
            }
            // Two candidates, to detect a tie.
            var request = GeocodeRequest(
                locator: locator, singleLine: line,
                countryCodes: GeocodeResource.countryCodes(attributes), maxLocations: 2)
            if request.countryCodes.isEmpty { request.countryCodes = filter.countryCodes }
            request.fields = GeocodeResource.fields(attributes)
            request.categories = filter.categories
            request.searchExtent = filter.searchExtent
            request.location = filter.location
            request.distanceMeters = filter.distanceMeters
            request.matchOutOfRange = filter.matchOutOfRange
            request.language = filter.language
            records.append(Record(id: id, request: request))
        }
        self.records = records
    }

    /// The attributes of a record as parameters.
    private static func attributes(
        _ element: RelaxedValue, _ index: Int
    ) throws(Failure) -> Parameters {
        guard case .object(let members)? = element["attributes"] else {
            throw Failure(
                .invalidParameter,
                "parameter 'addresses': record \(index + 1) has no 'attributes': expected \(form)")
        }
        var texts: [String: String] = [:]
        for (name, value) in members {
            switch value {
            case .string(let text): texts[name] = text
            case .number(let number):
                texts[name] = Int64(exactly: number).map(String.init) ?? "\(number)"
            case .null, .bool: break
            case .array, .object:
                throw Failure(
                    .invalidParameter,
                    "parameter 'addresses': record \(index + 1): '\(name.prefix(60))': expected "
                        + "text "
                        + "or a number")
            }
        }
        return Parameters(texts)
    }

    /// Looks up one record.
    static func outcome(
        of request: GeocodeRequest, from backend: any GatewayBackend,
        until end: ContinuousClock.Instant
    ) async -> Outcome {
        do throws(Failure) {
            return .success(
                try await backend.ask(.geocode, request, within: max(end - .now, .milliseconds(1))))
        } catch {
            return .failure(error)
        }
    }

    /// Answers by record; nil for empty records and for those that a locator cannot process.
    ///
    /// Throws the failure that ended the batch, or the first refusal if every record was refused:
    /// then the cause is common to all.
    func answers(_ outcomes: [Outcome?]) throws(Failure) -> [GeocodeAnswer?] {
        if case .failure(let failure)?? = outcomes.first(where: { $0?.endsTheBatch == true }) {
            throw failure
        }
        var refusal: Failure?
        var answers: [GeocodeAnswer?] = []
        for outcome in outcomes {
            switch outcome {
            case .success(let answer)?: answers.append(answer)
            case .failure(let failure)?:
                refusal = refusal ?? failure
                answers.append(nil)
            case nil: answers.append(nil)
            }
        }
        if let refusal, answers.allSatisfy({ $0 == nil }) { throw refusal }
        return answers
    }

    /// Writes `{"spatialReference":…,"locations":[…]}`.
    ///
    /// Records without a match have neither a location nor an extent.
    func body(
        _ answers: [GeocodeAnswer?], outFields: OutFields, in reference: PlaceReference
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.spatialReference(reference.value)
            json.member("locations", array: zip(records, answers)) { json, answered in
                let (record, answer) = answered
                let candidates = answer?.candidates ?? []
                json.object { json in
                    json.member("address", candidates.first?.address ?? "")
                    if let first = candidates.first {
                        json.member("location") { $0.position(first.location, in: reference) }
                    }
                    json.member("score", candidates.first?.score ?? 0)
                    json.member("attributes") { json in
                        json.member("ResultID", Int(record.id))
                        Self.write(candidates, outFields, to: &json)
                    }
                    if let first = candidates.first {
                        json.member("extent") { $0.sides(of: first.extent, in: reference) }
                    }
                }
            }
        }
        return json.bytes
    }

    private static let always: Set<String> = [
        "Loc_name", "Status", "Score", "Match_addr", "Addr_type",
    ]

    private static func write(
        _ candidates: [Candidate], _ outFields: OutFields, to json: inout JSONWriter
    ) {
        guard let first = candidates.first else {
            json.member("Status", "U")
            json.member("Score", 0)
            json.member("Match_addr", "")
            return
        }
        let isTied = candidates.count > 1 && candidates[1].score == first.score
        for entry in first.attributes.entries
        where always.contains(entry.name) || outFields.contains(entry.name) {
            json.key(entry.name)
            if entry.name == "Status" {
                json.string(isTied ? "T" : "M")
            } else {
                json.attribute(entry.value, isTyped: true)
            }
        }
    }
}

extension GeocodeBatch.Outcome {
    /// Whether the failure concerns more than this record.
    var endsTheBatch: Bool {
        guard case .failure(let failure) = self else { return false }
        return failure.code != .invalidParameter && failure.code != .tooLarge
    }
}
