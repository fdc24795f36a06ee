// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

extension QueryQuantization {
    /// Parses Esri's `quantizationParameters`; nil when absent.
    ///
    /// `{"mode":"view","originPosition":"upperLeft","tolerance":1.5,"extent":{…}}` with every
    /// member optional.
    init?(_ parameters: Parameters) throws(Failure) {
        let name = "quantizationParameters"
        guard let text = parameters[name] else { return nil }
        do throws(Failure) {
            let json = try RelaxedJSON.parse(text)
            guard case .object = json else {
                throw Failure(.invalidParameter, "expected a JSON object")
            }
            self.init()
            if let mode = json["mode"], mode != .null, mode != .string("view") {
                throw Self.unexpected("mode", "view")
            }
            if let position = json["originPosition"], position != .null {
                let known = Origin.allCases.first { position == .string($0.rawValue) }
                guard let known else {
                    throw Self.unexpected("originPosition", "upperLeft or lowerLeft")
                }
                origin = known
            }
            if let value = json["tolerance"], value != .null {
                guard let number = value.number, number > 0 else {
                    throw Self.unexpected("tolerance", "a number greater than 0")
                }
                tolerance = number
            }
            if let value = json["extent"], value != .null {
                let given = try GeometryParameter(json: value)
                guard case .envelope(let envelope) = given.shape else {
                    throw Self.unexpected("extent", "xmin, ymin, xmax and ymax")
                }
                extent = envelope
                spatialReference = given.spatialReference
            }
        } catch {
            throw Failure(error.code, "parameter '\(name)': \(error.message)")
        }
        for other in ["returnZ", "returnM"] where try parameters.flag(other, default: false) {
            throw Failure(.invalidParameter, "parameter '\(name)' does not go with \(other)")
        }
    }

    private static func unexpected(_ member: String, _ expected: String) -> Failure {
        Failure(.invalidParameter, "'\(member)': expected \(expected)")
    }
}
