// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Synchronization

/// Controls of a running replay: keys of a terminal, or lines of standard input.
final class ReplayControls: Sendable {
    /// A command to a replay.
    enum Command: Hashable, Sendable {
        case pause
        case resume
        case toggle
        case step
        case speed(Double)
        case faster
        case slower
        case quit

        /// A command from a line of standard input; nil for anything else.
        init?(line: String) {
            let words = line.split(separator: " ")
            switch (words.first, words.count) {
            case ("pause", 1): self = .pause
            case ("resume", 1): self = .resume
            case ("step", 1): self = .step
            case ("quit", 1): self = .quit
            case ("speed", 2):
                guard let speed = Double(words[1]), speed.isFinite, speed >= 0 else { return nil }
                self = .speed(speed)
            default: return nil
            }
        }

        /// A command from a key of the terminal.
        init?(key: UInt8) {
            switch key {
            case UInt8(ascii: " "): self = .toggle
            case UInt8(ascii: "n"): self = .step
            case UInt8(ascii: "+"): self = .faster
            case UInt8(ascii: "-"): self = .slower
            case UInt8(ascii: "q"), 3, 4: self = .quit
            default: return nil
            }
        }
    }

    /// The pace of a replay, determined by commands and elapsed time; a pure value.
    struct Pace: Hashable, Sendable {
        private(set) var speed: Double
        private(set) var isPaused = false
        private(set) var isOver = false
        private(set) var steps = 0

        init(speed: Double) { self.speed = speed }

        mutating func take(_ command: Command) {
            switch command {
            case .pause: isPaused = true
            case .resume: isPaused = false
            case .toggle: isPaused.toggle()
            case .step:
                isPaused = true
                steps += 1
            case .speed(let new): speed = new
            case .faster: speed = min(max(speed, 0.125) * 2, 1e6)
            case .slower: speed = max(speed / 2, 0.125)
            case .quit: isOver = true
            }
        }

        /// The next step.
        enum Next: Hashable, Sendable {
            /// The next event.
            case event
            /// Waits for so many seconds; without a number until the next command.
            case wait(Double?)
            /// The end.
            case end
        }

        /// The next step after an event, given the real time to the next event and the elapsed
        /// time, in seconds.
        mutating func next(after gap: Double, waited: Double) -> Next {
            if isOver { return .end }
            if steps > 0 {
                steps -= 1
                return .event
            }
            if isPaused { return .wait(nil) }
            let left = speed == 0 ? 0 : gap / speed - waited
            return left > 0 ? .wait(left) : .event
        }
    }

    /// State shared by the listening thread and the replaying task.
    private final class Desk: Sendable {
        let pace: Mutex<Pace>
        let signal = TaskSignal()
        let isInputOver = Atomic<Bool>(false)
        let isEnded = Atomic<Bool>(false)

        init(speed: Double) { pace = Mutex(Pace(speed: speed)) }

        func take(_ command: Command) {
            pace.withLock { $0.take(command) }
            signal.raise()
        }

        func listen(to terminal: consuming RawTerminal) {
            while !isEnded.load(ordering: .acquiring) {
                let wakes = terminal.wait(milliseconds: -1)
                let keys = wakes.contains(.input) ? terminal.read() : []
                guard let keys, !wakes.contains(.ending) else {
                    take(.quit)
                    break
                }
                for key in keys { if let command = Command(key: key) { take(command) } }
            }
            terminal.leave()
        }

        func listen(unless stop: WakeSignal) {
            var lines = LineSplitter(limit: ReplayControls.lineLimit)
            while let bytes = StandardInput.read(unless: stop) {
                for line in lines.take(bytes) { take(line) }
            }
            guard !isEnded.load(ordering: .acquiring) else { return }
            if let last = lines.finish() { take(last) }
            isInputOver.store(true, ordering: .releasing)
            // After the end of input no command can resume a paused replay.
            take(.resume)
        }

        private func take(_ line: LineSplitter.Line) {
            let text =
                switch line {
                case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
                case .tooLong(let limit): "a line of more than \(limit) bytes"
                }
            if case .bytes = line, let command = Command(line: text) { return take(command) }
            Output.diagnose("'\(text.prefix(40))': expected pause, resume, step, speed N or quit")
        }
    }

    /// Maximum length of a line of standard input in bytes.
    static let lineLimit = 1_024

    private let desk: Desk
    private let stop: WakeSignal
    private let thread: PinnedThread

    /// Listens to the terminal, or to standard input if that is not one, on a thread of its own.
    init(speed: Double) throws {
        let (desk, stop) = (Desk(speed: speed), try WakeSignal())
        self.desk = desk
        self.stop = stop
        thread = try PinnedThread(name: "controls") {
            if let terminal = RawTerminal() {
                desk.listen(to: terminal)
            } else {
                desk.listen(unless: stop)
            }
        }
    }

    /// Waits until the next event is due, `gap` real seconds after the last; false to end.
    func wait(_ gap: Double) async -> Bool {
        let start = ContinuousClock.now
        while true {
            let waited = (ContinuousClock.now - start) / .seconds(1)
            switch desk.pace.withLock({ $0.next(after: gap, waited: waited) }) {
            case .event: return true
            case .end: return false
            case .wait(let seconds):
                let end = seconds.map { ContinuousClock.now + .seconds($0) }
                guard await desk.signal.wait(until: end) else { return false }
            }
        }
    }

    /// Ends the replay, as the key and the line do.
    func quit() { desk.take(.quit) }

    /// Waits for `quit`, or for the end of standard input.
    func untilQuit() async {
        while !desk.isInputOver.load(ordering: .acquiring), !desk.pace.withLock({ $0.isOver }) {
            guard await desk.signal.wait() else { return }
        }
    }

    /// Restores the terminal.
    func end() {
        desk.isEnded.store(true, ordering: .releasing)
        stop.raise()
        RawTerminal.wake()
        thread.join()
    }
}
