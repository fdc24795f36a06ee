// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// A secret as its owner gives it to a command: typed unseen, or as a line of standard input.
public enum SecretInput {
    /// The next line of standard input, without its end; nil at the end, and after Ctrl-C.
    ///
    /// On a terminal `prompt` is written to standard error first, and input is not echoed. Blocks.
    public static func read(prompt: String) -> String? {
        var modes = termios()
        guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &modes) == 0 else {
            return readLine(strippingNewline: true)
        }
        var unseen = modes
        // Ctrl-C ends the line instead of the process, which would leave the terminal without echo.
        unseen.c_lflag &= ~tcflag_t(ECHO | ISIG)
        unseen.c_cc.11 = interrupt
        StandardStream.error.write(prompt)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &unseen)
        let line = readLine(strippingNewline: true)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &modes)
        StandardStream.error.write("\n")
        return line?.utf8.contains(interrupt) == true ? nil : line
    }

    private static let interrupt: UInt8 = 3
}
