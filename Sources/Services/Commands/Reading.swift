// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import JobKinds
internal import Platform
internal import Terminal

/// Parsers of single arguments.
enum Reading {
    static func mapName(_ text: String) throws -> MapName { try MapName(parsing: text) }

    static func contentID(_ text: String) throws -> ContentID {
        guard let id = ContentID(rawValue: text) else {
            throw Failure(
                .invalidParameter, "'\(text.prefix(80))': expected 64 hexadecimal digits")
        }
        return id
    }

    /// The parameters of `--param`, each `name=value`.
    static func parameters(_ texts: [String]) throws -> [String: String] {
        var named: [String: String] = [:]
        for text in texts {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw UsageFailure("--param '\(text)': expected 'name=value'")
            }
            named[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        return named
    }

    static func jobKind(_ text: String) throws(Failure) -> JobKindDescription {
        guard let kind = JobKindDescription.of(JobKind(rawValue: text)) else {
            let names = JobKindDescription.all.map(\.kind.rawValue)
            throw Failure(
                .invalidParameter,
                "there is no job kind '\(text.prefix(80))'"
                    + NearestWord.sentence(for: text, among: names)
                    + "; there are: \(names.joined(separator: ", "))")
        }
        return kind
    }

    /// A finite number; `CairnCommand` puts a space before a negative one.
    static func number(_ text: String) throws -> Double {
        guard let number = Double(text.drop { $0 == " " }), number.isFinite else {
            throw Failure(
                .invalidParameter, "'\(text.prefix(80))': expected a finite number")
        }
        return number
    }

    /// A sequence number, or a moment in the words of ``NamedMoment``.
    static func asOf(_ text: String) throws -> AsOf {
        if let time = named(text) { return .time(time.endOfMillisecond) }
        guard let moment = AsOf(parsing: text) else {
            throw Failure(
                .invalidParameter,
                "'\(text.prefix(80))': expected a sequence number, or a time like "
                    + NamedMoment.forms)
        }
        return moment
    }

    /// A moment in the words of ``NamedMoment``.
    static func time(_ text: String) throws -> Timestamp {
        guard let time = named(text) ?? Timestamp(iso: text) else {
            throw Failure(
                .invalidParameter,
                "'\(text.prefix(80))': expected a time like \(NamedMoment.forms)")
        }
        return time
    }

    /// The moment that words name, which is printed; nil for other text.
    private static func named(_ text: String) -> Timestamp? {
        let present = Timestamp(microseconds: WallClock.microseconds())
        let words = NamedMoment(now: present, offset: LocalTime.offset(at:))
        guard let time = words.moment(text) else { return nil }
        Output.diagnose("'\(text)' is \(time.displayText)")
        return time
    }

    /// A number of seconds.
    static func timeLimit(_ text: String) throws -> Duration {
        let seconds = try number(text)
        guard 0.001...86_400 ~= seconds else {
            throw Failure(.invalidParameter, "'\(text)': expected 0.001 to 86400 seconds")
        }
        return .milliseconds(Int64(seconds * 1_000))
    }

    /// A number, `EPSG:n`, `ESRI:n`, or a WKT definition.
    static func spatialReference(_ text: String) throws -> SpatialReference {
        let parts = text.split(separator: ":", maxSplits: 1)
        let isNamed = parts.count == 2 && ["EPSG", "ESRI"].contains(parts[0].uppercased())
        if let wkid = Int(isNamed ? String(parts[1]) : text) {
            guard 1...999_999 ~= wkid else {
                throw Failure(
                    .invalidParameter, "'\(text.prefix(80))': expected a wkid from 1 to 999999")
            }
            return SpatialReference(wkid: wkid)
        }
        guard text.contains("[") else {
            throw Failure(
                .invalidParameter, "'\(text.prefix(80))': expected a wkid, EPSG:n, or WKT")
        }
        return SpatialReference(wkt: text)
    }
}

extension Reading {
    static func stream(_ text: String) throws -> StreamName {
        guard let name = StreamName(rawValue: text) else {
            throw Failure(
                .invalidParameter,
                "'\(text.prefix(80))' is not a stream: expected a category, '-' and an id")
        }
        return name
    }
}

extension Reading {
    /// All bytes of a file, or of standard input for `-`; throws `Failure` (`tooLarge` and others).
    static func bytes(of path: String, atMost bound: Int) throws -> Data {
        let source = try ByteSource(path: path)
        var bytes = Data()
        while true {
            let piece = try source.read(upTo: 64 << 10)
            guard !piece.isEmpty else { return bytes }
            bytes += piece
            guard bytes.count <= bound else {
                throw Failure(.tooLarge, "'\(path)' has more than \(bound) bytes")
            }
        }
    }
}
