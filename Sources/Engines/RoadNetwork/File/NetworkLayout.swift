// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Constants of the road network's file: a header of 64 bytes, a table of sections, the sections.
///
/// Numbers are little-endian. The header is the magic, version (u32), number of sections (u32),
/// byte count of the file (u64), CRC-32C of all behind the header (u32), zeros, and the CRC-32C of
/// the header's first 60 bytes. Each section is in the table by offset (u64), byte count (u56) and
/// the bytes of its numbers (u8); they follow one another without gaps.
///
/// A number has as few bytes, 1 to 4, as the largest of its section needs; one with all bits set
/// is missing: ``none``, or a duration ``RoadNetwork/unreachable``. Where the table says 0, as it
/// does in version 2, a section's numbers have four bytes (two in ``Section/turnClasses``), and the
/// section ``Section/arcEdges`` begins with the edges themselves.
enum NetworkLayout {
    static let magic = Array("CRNROADS".utf8)
    static let version: UInt32 = 3
    /// The oldest version that is read.
    static let firstVersion: UInt32 = 2
    static let headerByteCount = 64
    static let sectionEntryByteCount = 16
    /// Null value of numbers.
    static let none = UInt32.max

    /// The sections in the order of the file.
    enum Section: Int, CaseIterable {
        /// The ``NetworkDescription`` as JSON.
        case description
        /// All texts, UTF-8, end to end, ascending.
        case text
        /// First byte of each text; one more ends the last. Text 0 is empty.
        case texts
        /// Per vertex longitude and latitude in 10⁻⁷ degrees (i32 both) and the source's id (i64).
        case vertices
        /// First edge that leaves each vertex; one more ends the last.
        case firstEdges
        /// The vertex that each edge leaves.
        case tails
        /// The vertex that each edge enters.
        case heads
        /// Per edge twice its link, and 1 more where it runs against it.
        case edgeLinks
        /// Per edge the bearings of its first and last 15 m, in 1/65536 of a circle (u16 both).
        case bearings
        /// The source's way of each link (i64), ascending.
        case linkWays
        /// The number of each link's first segment in its way.
        case linkSegments
        /// The length of each link in millimetres.
        case linkLengths
        /// What is missing to the length of each link, in micrometres (i16).
        case lengthRemainders
        /// The traits of each link.
        case linkTraits
        /// The edges along and against each link; ``none`` for a missing one.
        case linkEdges
        /// First point of each link; one more ends the last.
        case linkStarts
        /// Longitude and latitude in 10⁻⁷ degrees (i32 both), link after link.
        case points
        /// Per set of traits flags, and the numbers of seven texts: class, name, ref, destination,
        /// destination's ref, conditions, ``StoredPassages``.
        case traits
        /// Milliseconds of each edge, mode after mode.
        case durations
        /// What is missing to the duration of each edge, in microseconds (i16), mode after mode.
        case durationRemainders
        /// The access of each edge (u8), mode after mode.
        case access
        /// The strongly connected component of each edge, largest first, mode after mode; ``none``
        /// for a closed one.
        case components
        /// The edge of each arc behind the first ones, which are the edges themselves.
        case arcEdges
        /// First turn of each arc; one more ends the last.
        case turnStarts
        /// The arc behind each turn.
        case turnTargets
        /// The class of each turn.
        case turnClasses
        /// Per class of turns flags (u8), angle in steps of 5° (i8), zeros (u16), and milliseconds
        /// by mode.
        case classes
        /// One ``RestrictionRecord`` each, and a last one that ends the lists of the last.
        case restrictions
        /// The edges of restrictions: the one before, those between, the one behind the turn.
        case restrictionEdges
        /// The turns that restrictions forbid, ascending for each.
        case restrictionTurns
        /// The packed Hilbert R-tree over pieces of links.
        case tree

        /// Whether it is made of numbers of one width.
        var isNumbers: Bool {
            switch self {
            case .description, .text, .vertices, .bearings, .linkWays, .lengthRemainders, .points,
                .traits, .durationRemainders, .access, .classes, .restrictions, .tree:
                false
            default: true
            }
        }

        /// What a number with all bits set means.
        var missing: UInt32 { self == .durations ? RoadNetwork.unreachable : NetworkLayout.none }

        /// Bytes of a number where the table says 0.
        var usualWidth: Int { self == .turnClasses ? 2 : 4 }

        /// Bytes of one record, given the number of modes and the bytes of a number.
        func recordByteCount(modes: Int, width: Int) -> Int {
            switch self {
            case .description, .text, .access, .tree: 1
            case .lengthRemainders, .durationRemainders: 2
            case .bearings: 4
            case .linkWays, .points: 8
            case .vertices: 16
            case .traits: 32
            case .classes: 4 + 4 * modes
            case .restrictions: 24
            case .linkEdges: 2 * width
            default: width
            }
        }
    }
}

/// What a network's file says of itself.
struct NetworkDescription: Codable {
    var modes: [NetworkMode]
    var sources: [String]
}
