// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation

/// One line of the report; what is nil is not printed.
struct Line: Encodable {
    var `case`: String
    /// The peer of the comparison; absent for a figure alone.
    var peer: String?
    var ours: Double
    var theirs: Double?
    /// Ours divided by theirs.
    var ratio: Double?
    var unit: String
    /// The required ratio, or our own required figure without a peer.
    var asked: String?
    var passes: Bool?
    var p50Microseconds: Double?
    var p99Microseconds: Double?
    var theirP50Microseconds: Double?
    var theirP99Microseconds: Double?
    /// Context needed to read the figure.
    var note: String?

    init(_ name: String, ours: Double, unit: String) {
        self.case = name
        self.ours = ours.rounded(to: 3)
        self.unit = unit
    }

    /// A figure with a peer; `atLeast` or `atMost` is the required ratio.
    func beside(
        _ peer: String, _ theirs: Double, atLeast: Double? = nil, atMost: Double? = nil
    ) -> Line {
        var line = self
        line.peer = peer
        line.theirs = theirs.rounded(to: 3)
        let ratio = ours / max(theirs, 1e-9)
        line.ratio = ratio.rounded(to: 3)
        return line.judged(ratio, atLeast, atMost)
    }

    /// Asked of our own figure.
    func asking(atLeast: Double? = nil, atMost: Double? = nil) -> Line {
        judged(ours, atLeast, atMost)
    }

    private func judged(_ figure: Double, _ atLeast: Double?, _ atMost: Double?) -> Line {
        var line = self
        if let atLeast {
            line.asked = "at least \(Self.text(atLeast))"
            line.passes = figure >= atLeast
        } else if let atMost {
            line.asked = "at most \(Self.text(atMost))"
            line.passes = figure <= atMost
        }
        return line
    }

    private static func text(_ figure: Double) -> String {
        figure == figure.rounded() ? String(Int(figure)) : String(figure)
    }

    func noting(_ note: String) -> Line {
        var line = self
        line.note = note
        return line
    }

    func times(_ times: Times, theirs: PeerFigures? = nil) -> Line {
        var line = self
        line.p50Microseconds = times.quantile(0.5).rounded(to: 1)
        line.p99Microseconds = times.quantile(0.99).rounded(to: 1)
        line.theirP50Microseconds = theirs?.p50
        line.theirP99Microseconds = theirs?.p99
        return line
    }
}

/// The output of a program of peers.
struct PeerFigures: Decodable {
    var perSecond: Double
    /// Microseconds.
    var p50: Double?
    var p99: Double?
}

/// Durations, in nanoseconds.
struct Times {
    private var nanoseconds: [Int64]

    init(_ nanoseconds: [Int64]) { self.nanoseconds = nanoseconds.sorted() }

    /// Microseconds.
    func quantile(_ part: Double) -> Double {
        guard !nanoseconds.isEmpty else { return 0 }
        let index = min(nanoseconds.count - 1, Int(Double(nanoseconds.count) * part))
        return Double(nanoseconds[index]) / 1e3
    }
}

extension Double {
    func rounded(to decimals: Int) -> Double {
        guard isFinite else { return 0 }
        let scale = pow(10, Double(decimals))
        return (self * scale).rounded() / scale
    }
}

/// JSON on standard output, a value a line.
enum Output {
    private static let shortfall = Shared(false)
    /// Whether a line did not pass.
    static var hasShortfall: Bool { shortfall.value }

    static func write(_ line: Line) {
        if line.passes == false { shortfall.value = true }
        write(value: line)
    }

    static func write(value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = (try? encoder.encode(value)) ?? Data()
        FileHandle.standardOutput.write(bytes + Data("\n".utf8))
    }
}
