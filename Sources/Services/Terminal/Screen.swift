// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import Platform
internal import Synchronization

/// The process's terminal on a thread of its own: delivers keys, shows frames.
///
/// Intermediate frames are skipped when the terminal is slow; the last one is always shown.
package final class Screen: Sendable {
    /// Pending requests to the thread.
    private struct Orders {
        var frame: Frame?
        var isRedrawn = false
        var isSuspended = false
        var isEnding = false
    }

    /// Time without further bytes after which Esc is a key.
    private static let escapeMilliseconds = 40
    private let orders = Mutex(Orders())
    private let usesColour: Bool
    private let receive: @Sendable (Received) -> Void
    private let thread = Mutex<PinnedThread?>(nil)

    /// Input of the terminal.
    package enum Received: Sendable {
        case key(Key)
        /// The present size; also delivered once at the beginning.
        case size(columns: Int, rows: Int)
        /// The terminal was closed, or a shutdown was requested.
        case ended
    }

    /// Takes over the terminal; throws `Failure` (`unavailable`) when standard input and output are
    /// not one.
    ///
    /// - Parameters:
    ///   - usesColour: Whether colours are written.
    ///   - receive: Called on the terminal's thread; must not block.
    package init(
        usesColour: Bool, receive: @escaping @Sendable (Received) -> Void
    ) throws(Failure) {
        guard RawTerminal.outputSize() != nil, StandardStream.output.isTerminal,
            StandardStream.isInputTerminal
        else {
            throw Failure(
                .unavailable, "standard input and output are not a terminal with a size")
        }
        self.usesColour = usesColour
        self.receive = receive
        do throws(PlatformError) {
            let started = try PinnedThread(name: "terminal") { [self] in run() }
            thread.withLock { $0 = started }
        } catch {
            throw Failure(error)
        }
    }

    /// Shows a frame soon; callable on any thread.
    package func show(_ frame: Frame) { order { $0.frame = frame } }

    /// Redraws the last frame completely.
    package func redraw() { order { $0.isRedrawn = true } }

    /// Returns the terminal to the shell until the process is continued.
    package func suspend() { order { $0.isSuspended = true } }

    /// Restores the terminal and waits until that is done.
    package func close() {
        order { $0.isEnding = true }
        thread.withLock { $0 }?.join()
    }

    private func order(_ change: (inout Orders) -> Void) {
        orders.withLock { change(&$0) }
        RawTerminal.wake()
    }
}

// MARK: The thread

extension Screen {
    private func run() {
        guard let terminal = RawTerminal() else { return receive(.ended) }
        var decoder = KeyDecoder()
        var writer = FrameWriter(usesColour: usesColour)
        var last: Frame?
        sayEnd(of: terminal.size())
        while true {
            let wakes = terminal.wait(
                milliseconds: decoder.isUndecided ? Self.escapeMilliseconds : -1)
            if wakes.contains(.ending) { receive(.ended) }
            if wakes.contains(.resized) {
                writer.reset()
                sayEnd(of: terminal.size())
            }
            if wakes.contains(.input) {
                guard let bytes = terminal.read() else { return receive(.ended) }
                for key in decoder.decode(bytes) { receive(.key(key)) }
            } else if wakes.isEmpty {
                for key in decoder.flush() { receive(.key(key)) }
            }
            let orders = take()
            if orders.isEnding { return terminal.leave() }
            if orders.isSuspended {
                terminal.suspend()
                writer.reset()
            }
            if orders.isRedrawn { writer.reset() }
            if let frame = orders.frame ?? (orders.isRedrawn ? last : nil) {
                last = frame
                if !terminal.write(writer.bytes(for: frame)) { return receive(.ended) }
            }
        }
    }

    private func sayEnd(of size: (columns: Int, rows: Int)) {
        receive(.size(columns: size.columns, rows: size.rows))
    }

    private func take() -> Orders {
        orders.withLock { orders in
            defer { orders = Orders(isEnding: orders.isEnding) }
            return orders
        }
    }
}
