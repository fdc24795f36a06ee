// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Glibc
internal import RoadNetwork

/// How probable it is that a trace went by certain roads: a hidden Markov model (Newson, Krumm:
/// Hidden Markov Map Matching Through Noise and Sparseness, ACM GIS 2009).
///
/// Positions scatter around the road normally, with their precision as the standard deviation. The
/// way on roads between two of them differs from the straight distance exponentially, with
/// ``detour`` as the mean. All numbers are logarithms of probabilities, but for a constant.
enum TraceModel {
    /// Metres.
    static let detour = 10.0
    /// Roads within so many standard deviations are looked at.
    static let reach = 10.0
    /// Most edges at one position.
    static let candidateLimit = 24
    /// A way is too long from twice the straight distance and so many metres on.
    static let spareLength = 2_000.0
    /// A position so many standard deviations behind the one before, on the same edge, stands for
    /// a vehicle that does not move.
    static let standing = 3.0
    /// Positions within so many standard deviations of the one before are left out where a trace
    /// is made tidy.
    static let tidy = 2.0
    /// Positions in a row that are left out before a matching ends.
    static let outlierLimit = 3
    /// A pause of so many times the median interval ends a matching, unless it is shorter than
    /// ``shortestPause``.
    static let pauseFactor = 10.0
    /// Seconds.
    static let shortestPause = 60.0
    /// Roads of at least this probability are counted as others.
    static let likely = 0.05

    /// Of a position at a distance from an edge, in metres.
    static func emission(_ distance: Double, precision: Double) -> Double {
        let share = distance / precision
        return -share * share / 2
    }

    /// Of a way between two positions; nil for one that is too long.
    static func transition(_ way: Double, straight: Double) -> Double? {
        guard way <= 2 * straight + spareLength else { return nil }
        return -abs(way - straight) / detour
    }

    /// The logarithm of a sum of probabilities.
    static func sum(_ terms: [Double]) -> Double {
        guard let largest = terms.max(), largest > -.infinity else { return -.infinity }
        return largest + log(terms.reduce(0) { $0 + exp($1 - largest) })
    }
}

/// An edge on which a position may have been.
struct TraceCandidate: Sendable {
    var snap: RoadNetwork.Snap
    var stop: PlacedStop
    var emission: Double
}

/// A position of a trace that joins the one before, with the roads on which it may have been.
struct TraceStep: Sendable {
    /// Its place in the request.
    var point: Int
    var candidates: [TraceCandidate]
    /// The best sequence that ends at each candidate; infinitely improbable for none.
    var scores: [Double]
    /// The candidate of the step before in that sequence.
    var before: [Int]
    /// From each candidate of the step before to each of this one; empty for the first.
    var transitions: [[Double]]
}

/// The steps of a matching.
struct TraceChain: Sendable {
    private(set) var steps: [TraceStep]

    /// Starts with a position.
    init(_ point: Int, _ candidates: [TraceCandidate]) {
        steps = [
            TraceStep(
                point: point, candidates: candidates, scores: candidates.map(\.emission),
                before: [], transitions: [])
        ]
    }

    var last: TraceStep { steps[steps.count - 1] }

    /// Goes on to a position; false, without a change, where no candidate is reached.
    mutating func join(
        _ point: Int, _ candidates: [TraceCandidate], _ transitions: [[Double]]
    ) -> Bool {
        var scores = [Double](repeating: -.infinity, count: candidates.count)
        var before = [Int](repeating: 0, count: candidates.count)
        for (row, score) in last.scores.enumerated() where score > -.infinity {
            for column in candidates.indices {
                let whole = score + transitions[row][column] + candidates[column].emission
                if whole > scores[column] { (scores[column], before[column]) = (whole, row) }
            }
        }
        guard scores.contains(where: { $0 > -.infinity }) else { return false }
        steps.append(
            TraceStep(
                point: point, candidates: candidates, scores: scores, before: before,
                transitions: transitions))
        return true
    }

    /// The candidate of each step in the most probable sequence (Viterbi); of equal ones the first.
    var best: [Int] {
        var choice = 0
        for place in last.scores.indices where last.scores[place] > last.scores[choice] {
            choice = place
        }
        var choices = [choice]
        for step in steps.dropFirst().reversed() {
            choice = step.before[choice]
            choices.append(choice)
        }
        return choices.reversed()
    }

    /// The probability of each candidate of each step, given the whole trace (forward–backward).
    var probabilities: [[Double]] {
        var forward = [steps[0].candidates.map(\.emission)]
        for (number, step) in steps.enumerated().dropFirst() {
            forward.append(
                step.candidates.indices.map { column in
                    step.candidates[column].emission
                        + TraceModel.sum(
                            step.transitions.indices.map {
                                forward[number - 1][$0] + step.transitions[$0][column]
                            })
                })
        }
        var backward = [Double](repeating: 0, count: last.candidates.count)
        var found: [[Double]] = []
        for (number, step) in steps.enumerated().reversed() {
            let joint = zip(forward[number], backward).map { $0 + $1 }
            let whole = TraceModel.sum(joint)
            found.append(joint.map { exp($0 - whole) })
            guard number > 0 else { break }
            let behind = backward
            backward = step.transitions.indices.map { row in
                TraceModel.sum(
                    step.candidates.indices.map {
                        step.transitions[row][$0] + step.candidates[$0].emission + behind[$0]
                    })
            }
        }
        return found.reversed()
    }
}
