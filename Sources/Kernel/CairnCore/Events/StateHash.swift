// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Codecs
public import FoundationEssentials
internal import Platform

/// A part of a folded state, such as a map or a job, in its canonical form.
///
/// The form is JSON of ``CairnJSON``: keys sorted, sets as sorted lists, absent members omitted, no
/// clock. Equal states have equal bytes, in every process and on every machine.
public struct StatePart: Hashable, Sendable {
    /// The part's name: `map/World`, `locator/World`, `job/j0190…`, `commands`.
    public var name: String
    /// The global position of the last event that changed it.
    public var sequence: Int64
    /// The canonical form.
    public var bytes: Data

    /// Writes the canonical form; throws `Failure` for a value without a JSON form.
    public init(name: String, sequence: Int64, _ form: some Encodable) throws(Failure) {
        self.name = name
        self.sequence = sequence
        bytes = try CairnJSON.encode(form)
    }
}

/// The hash of a folded state, as a whole and part by part: two states with one hash are the same.
///
/// ``form`` fixes the hashed text: a line `cairn-state <form>`, then for each part in the order of
/// the bytes of its name the text `<name> <SHA-256 of its canonical form in hexadecimal>` and a
/// line feed. The hash of the whole is the SHA-256 of that.
public struct StateHash: Hashable, Sendable, Codable {
    /// The version of the canonical forms; hashes of different forms are not compared.
    public static let form = 1

    /// Most parts in one message; beyond it the message has the hash of the whole alone.
    public static let messagePartLimit = 20_000

    /// One part.
    public struct Part: Hashable, Sendable, Codable {
        /// Name of the part.
        public var name: String
        /// The global position of the last event that changed it.
        public var sequence: Int64
        /// The SHA-256 of its canonical form.
        public var hash: ContentID
    }

    /// The version of the canonical forms.
    public var form: Int
    /// Up to where the log is folded in.
    public var sequence: Int64
    /// Hash of the whole state.
    public var hash: ContentID
    /// Number of parts.
    public var partCount: Int
    /// The parts in the order of the bytes of their names; empty where there are too many to send.
    public var parts: [Part]

    /// Hashes parts, which may come in any order.
    public init(_ parts: [StatePart], sequence: Int64) {
        self.init(
            parts.map {
                Part(
                    name: $0.name, sequence: $0.sequence,
                    hash: ContentID(SHA256.digest(Array($0.bytes))))
            }, sequence: sequence)
    }

    private init(_ parts: [Part], sequence: Int64) {
        form = Self.form
        self.sequence = sequence
        self.parts = parts.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        partCount = parts.count
        hash = Self.whole(self.parts)
    }

    private static func whole(_ parts: [Part]) -> ContentID {
        var hash = SHA256()
        hash.update(Array("cairn-state \(form)\n".utf8))
        for part in parts { hash.update(Array("\(part.name) \(part.hash)\n".utf8)) }
        return ContentID(hash.finish())
    }

    /// The hash of those parts alone whose names begin with one of these words: `map`, `job`.
    public func limited(to kinds: Set<String>) -> StateHash {
        StateHash(
            parts.filter { kinds.contains(String($0.name.prefix { $0 != "/" })) },
            sequence: sequence)
    }

    /// The form for a message: without parts when there are too many.
    public var message: StateHash {
        guard parts.count > Self.messagePartLimit else { return self }
        var short = self
        short.parts = []
        return short
    }
}
