// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import Platform
internal import Site

struct DownCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "down", abstract: "Stop the site that 'cairn up' runs, and wait until it has.")

    @OptionGroup var common: CommonOptions

    private struct Line: Encodable {
        var pid: Int32?
        var wasUp: Bool
    }

    func perform(_ session: Session) async throws {
        guard let processID = session.supervisor else {
            if session.isUp {
                throw Failure(
                    .conflict,
                    "the site's processes were not started by 'cairn up': stop them where they "
                        + "were "
                        + "started")
            }
            try report(session, Line(pid: nil, wasUp: false), "the site is not up")
            return
        }
        let watch = try ProcessWatch(processID: processID)
        guard ChildProcess.askToEnd(processID: processID) else {
            throw Failure(.conflict, "process \(processID) may not be stopped by this user")
        }
        let signal = try WakeSignal()
        let (ends, source) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        _ = try PinnedThread(name: "down") {
            Waiting.forEnd(of: [watch], or: signal, milliseconds: 60_000)
            source.finish()
        }
        for await _ in ends {}
        guard session.supervisor != processID else {
            throw Failure(.timedOut, "process \(processID) has not ended after a minute")
        }
        try report(session, Line(pid: processID, wasUp: true), "the site is down")
    }

    private func report(_ session: Session, _ line: Line, _ sentence: String) throws {
        if session.output.isJSON {
            try session.output.record(line)
        } else {
            try session.output.line(sentence)
        }
    }
}
