// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation

/// Cairn and its peers on the same questions, in turns, so that a busy machine slows all alike.
struct Contest {
    /// A peer with the protocol of Cairn that it is compared with.
    struct Pair {
        let ours: any Contender
        let peer: (any Contender)?
    }

    let question: Question
    /// The answer of GEOS; nil where all contestants must give the first answer of Cairn.
    let expected: [[Hit]]?
    /// Of one case.
    let seconds: Double
    let rounds: Int
    let clients: Int

    /// Whether all figures were as required.
    func run(_ pairs: [Pair]) async throws -> Bool {
        let contenders = pairs.flatMap { [$0.ours] + ($0.peer.map { [$0] } ?? []) }
        var truth = expected
        var wrong: [Int] = []
        for contender in contenders {
            let answers = try await contender.answers()
            wrong.append(zip(answers, truth ?? answers).count { $0 != $1 })
            truth = truth ?? answers
        }
        var isAsAsked = true
        for count in [1, clients] {
            var measured = try await measure(contenders, clients: count)
            for index in measured.indices { measured[index].wrongCount += wrong[index] }
            var index = 0
            for pair in pairs {
                let ours = measured[index]
                isAsAsked = write(ours, pair, clients: count) && isAsAsked
                if let peer = pair.peer {
                    index += 1
                    isAsAsked =
                        write(measured[index], peer, beside: ours, pair, clients: count)
                        && isAsAsked
                }
                index += 1
            }
        }
        return isAsAsked
    }

    /// Cairn as of a past moment beside itself now.
    func runPast(_ past: any Contender, _ present: any Contender) async throws -> Bool {
        let answers = try await present.answers()
        let wrongCount = zip(try await past.answers(), answers).count { $0 != $1 }
        let measured = try await measure([past, present], clients: clients)
        let failedCount = measured.reduce(wrongCount) { $0 + $1.wrongCount + $1.failedCount }
        let ratio = measured[0].perSecond / max(measured[1].perSecond, 1e-9)
        var line = Line(present.name, question, measured[1], clients: clients, checked: checked)
        line.write()
        line = Line(past.name, question, measured[0], clients: clients, checked: "the present")
        line.wrong += wrongCount
        line.ratio = ratio.rounded(to: 2)
        line.asked = "≥ 0.9"
        line.passes = failedCount == 0 && ratio >= 0.9
        line.write()
        return line.passes == true
    }

    private func measure(
        _ contenders: [any Contender], clients: Int
    ) async throws -> [Measured] {
        var all = [Measured](repeating: Measured(), count: contenders.count)
        for _ in 0..<rounds {
            for (index, contender) in contenders.enumerated() {
                let times = contender.processTimes()
                let own = ProcessTimes.own()
                var measured = try await contender.run(
                    clients: clients, seconds: seconds / Double(rounds))
                measured.clientTime = ProcessTimes.own() - own
                measured.times = contender.processTimes() - times
                all[index].add(measured)
            }
        }
        return all
    }

    // MARK: Lines

    private var checked: String { expected == nil ? "the first answers" : "GEOS" }
    /// Some figures are required only over a whole map.
    private var isWholeMap: Bool { question.layers.count >= 8 }

    private func write(_ measured: Measured, _ pair: Pair, clients count: Int) -> Bool {
        var line = Line(
            pair.ours.name, question, measured, clients: count, checked: checked)
        var passes = measured.wrongCount + measured.failedCount == 0
        if count == clients, pair.ours.name == "http" {
            line.asked = "p99 ≤ 2 ms" + (isWholeMap ? ", ≤ 100 µs of CPU" : "")
            passes =
                passes && measured.quantile(0.99) <= 2 && (!isWholeMap || measured.cpu <= 100)
        }
        line.passes = passes
        line.write()
        return passes
    }

    private func write(
        _ measured: Measured, _ peer: any Contender, beside ours: Measured, _ pair: Pair,
        clients count: Int
    ) -> Bool {
        var line = Line(
            pair.ours.name, question, measured, clients: count, checked: checked)
        line.peer = peer.name
        let ratios = Line.Ratios(
            perSecond: (ours.perSecond / measured.perSecond).rounded(to: 2),
            p99: (ours.quantile(0.99) / measured.quantile(0.99)).rounded(to: 2),
            cpu: (ours.cpu / measured.cpu).rounded(to: 3),
            cpuWithClient: ((ours.cpu + ours.client) / (measured.cpu + measured.client))
                .rounded(to: 3))
        line.ratios = ratios
        if count == clients, pair.ours.name == "http" {
            line.asked = "perSecond ≥ 10"
            line.passes = ratios.perSecond >= 10
        } else if count == clients, isWholeMap {
            line.asked = "perSecond ≥ 2, p99 ≤ 1, cpuWithClient ≤ 0.333"
            line.passes =
                ratios.perSecond >= 2 && ratios.p99 <= 1 && ratios.cpuWithClient <= 0.333
        }
        line.write()
        return line.passes ?? true
    }
}
