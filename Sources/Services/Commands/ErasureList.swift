// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Recording
internal import Replay

/// A list of erasures that a restored backup is to go through again: the lines of
/// `cairn erase --list --json`, or `MAP/LAYER/ID` and `user:NAME`, one a line.
struct ErasureList {
    let data: [PersonalData]

    /// Longest list that is read, bytes.
    static let bound = 16_777_216

    /// Reads a file; throws `UsageFailure` for a line of another form.
    init(readingFrom path: String) throws {
        let text = String(
            decoding: try Reading.bytes(of: path, atMost: Self.bound), as: UTF8.self)
        var data: [PersonalData] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in lines.enumerated() {
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            do {
                data.append(try Self.entry(String(line)))
            } catch {
                throw UsageFailure("line \(number + 1) of '\(path)': \(error)")
            }
        }
        self.data = data
    }

    private static func entry(_ line: String) throws -> PersonalData {
        guard line.hasPrefix("{") else { return try named(line) }
        let erased: SiteErased
        do {
            erased = try CairnJSON.decode(SiteErased.self, from: Data(line.utf8))
        } catch {
            throw UsageFailure("expected a line of 'cairn erase --list --json'")
        }
        guard erased.subject != "user" else {
            throw UsageFailure("the log does not keep the name of an erased user: add user:NAME")
        }
        return try named(erased.subject)
    }

    private static func named(_ text: String) throws -> PersonalData {
        if text.hasPrefix("user:") { return .user(String(text.dropFirst(5))) }
        return try PersonalData(feature: text)
    }
}

extension PersonalData {
    /// A feature by its text, `MAP/LAYER/ID` with the layer's number.
    init(feature text: String) throws {
        guard let feature = AuditFilter.Feature(parsing: text) else {
            throw UsageFailure(
                "'\(text.prefix(80))': expected MAP/LAYER/ID with the layer's number")
        }
        self = .feature(map: feature.map, layer: feature.layer, id: feature.id)
    }
}
