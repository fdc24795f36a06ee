// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Synchronization

/// What a replay is told while it runs: keys of a terminal, or lines of standard input.
final class ReplayControls: Sendable {
    /// Something that whoever watches wants.
    enum Command: Hashable, Sendable {
        case pause
        case resume
        case toggle
        case step
        case speed(Double)
        case faster
        case slower
        case quit

        /// A line of standard input; nil for what is no command.
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

        /// A key of the terminal.
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

    /// Whether to go on, decided from commands and the time that has passed; pure.
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

        /// Whether the next event comes, when so much of the real time between the two has passed since the
        /// last one, in seconds.
        mutating func goesOn(after gap: Double, waited: Double) -> Bool {
            if steps > 0 {
                steps -= 1
                return true
            }
            return !isPaused && (speed == 0 || waited >= gap / speed)
        }
    }

    private let pace: Mutex<Pace>
    private let isEnded = Atomic<Bool>(false)
    private let isInputOver = Atomic<Bool>(false)

    init(speed: Double) {
        pace = Mutex(Pace(speed: speed))
        _ = try? PinnedThread(name: "controls") { [weak self] in
            if let terminal = RawTerminal() {
                while let self, !self.isEnded.load(ordering: .relaxed) {
                    let wakes = terminal.wait(milliseconds: 100)
                    let keys = wakes.contains(.input) ? terminal.read() : []
                    guard let keys, !wakes.contains(.ending) else {
                        self.take(.quit)
                        break
                    }
                    for key in keys {
                        if let command = Command(key: key) { self.take(command) }
                    }
                }
                terminal.leave()
            } else {
                while let line = readLine(strippingNewline: true) {
                    guard let self else { return }
                    if let command = Command(line: line) {
                        self.take(command)
                    } else {
                        Output.diagnose(
                            "'\(line.prefix(40))': expected pause, resume, step, speed N or quit")
                    }
                }
                self?.isInputOver.store(true, ordering: .relaxed)
                // Whoever closed its end will not go on by hand.
                self?.take(.resume)
            }
        }
    }

    private func take(_ command: Command) { pace.withLock { $0.take(command) } }

    /// Waits until the next event is due, `gap` real seconds after the last; false to end.
    func wait(_ gap: Double) async -> Bool {
        let start = ContinuousClock.now
        while true {
            let (waited, goesOn, isOver) = pace.withLock { pace in
                let waited = (ContinuousClock.now - start) / .seconds(1)
                return (waited, pace.goesOn(after: gap, waited: waited), pace.isOver)
            }
            if isOver || Task.isCancelled { return false }
            if goesOn { return true }
            let left = pace.withLock {
                $0.isPaused || $0.speed == 0 ? 0.02 : gap / $0.speed - waited
            }
            try? await Task.sleep(for: .seconds(min(max(left, 0.001), 0.02)))
        }
    }

    /// Waits for `quit`, or for the end of standard input.
    func untilQuit() async {
        while !isInputOver.load(ordering: .relaxed), !Task.isCancelled {
            if pace.withLock({ $0.isOver }) { return }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Gives the terminal back.
    func end() { isEnded.store(true, ordering: .relaxed) }
}
