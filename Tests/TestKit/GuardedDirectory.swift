// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Glibc
internal import Synchronization

/// A directory that ends with its owner, and with it every process whose arguments or environment
/// name it: `cairn up --detach` of a test that failed, and all that it started.
///
/// A shell watches over it, which sees that the owner is gone when its standard input ends. So
/// nothing is left when the tests themselves are killed.
public final class GuardedDirectory: Sendable {
    /// The directory; no other path starts with it.
    public let path: String
    private let watch: Mutex<Watch?>

    /// Started in `init`, ended once.
    private struct Watch: @unchecked Sendable {
        // The owner that takes it out of the mutex has it alone.
        let shell: Process
        let input: Pipe
    }

    /// Makes the directory, which only this user may enter.
    public init(path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        let (shell, input) = (Process(), Pipe())
        // No other child of the tests may keep it open.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", Self.script]
        shell.standardInput = input
        try shell.run()
        try input.fileHandleForWriting.write(contentsOf: Data((path + "\n").utf8))
        watch = Mutex(Watch(shell: shell, input: input))
    }

    /// Kills the processes and removes the directory; nothing the second time.
    public func end() {
        guard let watch = watch.withLock({ $0.take() }) else { return }
        try? watch.input.fileHandleForWriting.close()
        watch.shell.waitUntilExit()
    }

    deinit { end() }

    /// The shell's own arguments do not contain the directory; those of grep do, which ends when it
    /// is killed.
    ///
    /// During `exec` a process has neither arguments nor environment, also after its parent has
    /// been notified that it runs. So all have ended when three rounds in a row find no process
    /// with the directory, and none in between (no arguments, but a program: kernel threads and
    /// zombies have none). Reading a program may wait for the disk: after a hundred rounds, five
    /// seconds, the wait ends.
    private static let script = #"""
        read -r path
        cat >/dev/null
        quiet=0
        round=0
        while [ $quiet -lt 3 ] && [ $round -lt 100 ]; do
            quiet=$((quiet + 1))
            round=$((round + 1))
            for file in $(grep -laFs -e "$path" /proc/[0-9]*/cmdline /proc/[0-9]*/environ); do
                process=${file#/proc/}
                kill -KILL "${process%%/*}" 2>/dev/null && quiet=0
            done
            for file in $(grep -Las -e '' /proc/[0-9]*/cmdline); do
                [ -O "$file" ] && [ -e "${file%cmdline}exe" ] && quiet=0 && sleep 0.05
            done
        done
        rm -rf "$path"
        """#
}
