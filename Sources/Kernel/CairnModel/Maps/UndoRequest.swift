// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Which changes of a map to undo, and what to do about later changes that build on them.
public struct UndoRequest: Hashable, Sendable, Codable {
    /// What happens to later changes of the same things.
    public enum Policy: String, Hashable, Sendable, Codable, CaseIterable {
        /// The undo is refused, with the list of them.
        case refuse
        /// They are undone too.
        case also
        /// What they changed stays, of a feature field by field; the rest is undone.
        case merge
    }

    /// The kinds of changes that are undone.
    public enum Scope: String, Hashable, Sendable, Codable {
        /// All that commands make.
        case everything
        /// Edits of features, and undos of nothing else.
        case features
    }

    /// The first global position.
    public var from: Int64
    /// The last one.
    public var through: Int64
    /// The actor whose changes are undone, `user:anna` or `anna`; nil for all.
    public var actor: String?
    /// What happens to later changes.
    public var policy: Policy
    /// Whether the outcome is only reported.
    public var isDryRun: Bool
    /// The kinds of changes that are undone.
    public var scope = Scope.everything

    /// Makes a request.
    public init(
        _ positions: ClosedRange<Int64>, by actor: String? = nil, policy: Policy = .refuse,
        isDryRun: Bool = false
    ) {
        from = positions.lowerBound
        through = positions.upperBound
        self.actor = actor
        self.policy = policy
        self.isDryRun = isDryRun
    }
}

/// What an undo does, or did.
public struct UndoReport: Hashable, Sendable, Codable {
    /// A change of the map.
    public struct Change: Hashable, Sendable, Codable {
        /// Its global position.
        public var sequence: Int64
        /// The type of its event.
        public var type: String
        /// Its actor; nil where none was recorded.
        public var actor: String?
        /// States it.
        public init(sequence: Int64, type: String, actor: String?) {
            self.sequence = sequence
            self.type = type
            self.actor = actor
        }
    }

    /// A later change that builds on one that is to be undone.
    public struct Dependent: Hashable, Sendable, Codable {
        /// The later change.
        public var change: Change
        /// The global position of the change to be undone.
        public var dependsOn: Int64
        /// What both changed: `feature 7 of layer 2`.
        public var subject: String
        /// States it.
        public init(change: Change, dependsOn: Int64, subject: String) {
            self.change = change
            self.dependsOn = dependsOn
            self.subject = subject
        }
    }

    /// The changes that are undone, oldest first.
    public var undone: [Change]
    /// The later changes that build on them, oldest first; at most ``dependentLimit``.
    ///
    /// By policy the reason for the refusal, among those undone, or what stays.
    public var dependents: [Dependent]
    /// The number of all dependents.
    public var dependentCount: Int
    /// What becomes of the map: `name of layer 2`, at most ``dependentLimit`` lines.
    public var restored: [String]

    /// The most dependents in a report.
    public static let dependentLimit = 1_000

    /// States it.
    public init(
        undone: [Change], dependents: [Dependent], dependentCount: Int, restored: [String]
    ) {
        self.undone = undone
        self.dependents = dependents
        self.dependentCount = dependentCount
        self.restored = restored
    }
}
