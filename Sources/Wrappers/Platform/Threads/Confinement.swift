// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// Work on a thread that the kernel restricts to the files it is for.
///
/// Filters and rules belong to a thread and to those it starts, so the rest of the process is
/// unaffected. They hold against references in untrusted input; against code injected by a file
/// they do not, since threads share their memory.
public enum Confinement {
    /// A wall around the work.
    public enum Wall: String, Hashable, Sendable, CaseIterable, Codable {
        /// Files that were not named cannot be opened: Landlock, since Linux 5.13.
        case files
        /// No socket, no program, no other process: seccomp.
        case calls
    }

    /// The walls that this kernel lets a thread put up around itself, probed once, on a dedicated
    /// thread.
    public static let walls: [Wall] = {
        let tried = try? BackgroundThread("walls") {
            Wall.allCases.filter { wall in
                switch wall {
                case .files: confineFiles(reading: [], writing: [])
                case .calls: cairn_confine_calls() == 0
                }
            }
        }.value()
        return tried ?? []
    }()

    /// Files that any work may need: libraries, tables of character sets and time zones,
    /// information on memory.
    private static let system: [String] = [
        "/usr/lib", "/usr/lib64", "/usr/share", "/lib", "/lib64", "/etc/ld.so.cache",
        "/etc/localtime", "/etc/timezone", "/proc/meminfo", "/proc/cpuinfo", "/proc/self/status",
        "/sys/devices/system/cpu", "/dev/null", "/dev/zero", "/dev/urandom",
    ]

    /// Variables that relocate tables of GDAL and PROJ.
    private static let variables = ["GDAL_DATA", "PROJ_DATA", "PROJ_LIB"]

    /// Runs `body` on a dedicated thread behind ``walls``, and waits for its end, blocking.
    ///
    /// `body` must give no work to threads that outlive it or existed before: threads that it
    /// starts are behind the same walls. Throws the errors of `body`, and `PlatformError` when no
    /// thread can be created, or the kernel refuses a wall that it allowed before; then nothing has
    /// run.
    ///
    /// - Parameters:
    ///   - reading: Absolute paths of readable files and directories, with all of their contents.
    ///   - writing: Directories with full access.
    public static func run<Value>(
        _ name: String, reading: [String], writing: [String], _ body: () throws -> Value
    ) throws -> Value {
        let walls = walls
        return try withoutActuallyEscaping(body) { body in
            let work = Work(body)
            let thread = try PinnedThread(name: name) {
                do {
                    for wall in walls {
                        switch wall {
                        case .files:
                            guard confineFiles(reading: system + own + reading, writing: writing)
                            else { throw PlatformError(operation: "landlock", subject: name) }
                        case .calls:
                            guard cairn_confine_calls() == 0 else {
                                throw PlatformError(operation: "seccomp", subject: name)
                            }
                        }
                    }
                    work.run()
                } catch {
                    work.end(error)
                }
            }
            thread.join()
            return try work.value()
        }
    }

    private static var own: [String] {
        variables.compactMap { name in
            unsafe getenv(name).map { unsafe String(cString: $0) }
        }
    }

    private static func confineFiles(reading: [String], writing: [String]) -> Bool {
        let readable = unsafe reading.map { unsafe UnsafePointer(strdup($0)) }
        let writable = unsafe writing.map { unsafe UnsafePointer(strdup($0)) }
        defer {
            unsafe (readable + writable).forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) }
        }
        return unsafe cairn_confine_files(
            readable, Int32(readable.count), writable, Int32(writable.count)) == 0
    }

    /// The work of the thread.
    private final class Work<Value>: @unchecked Sendable {
        // The caller waits for the thread's end before it looks, so one thread at a time has these.
        private var body: (() throws -> Value)?
        private var result: Result<Value, any Error>?

        init(_ body: @escaping () throws -> Value) { self.body = body }

        func run() {
            if let body { result = Result { try body() } }
            body = nil
        }

        func end(_ error: any Error) {
            result = .failure(error)
            body = nil
        }

        func value() throws -> Value {
            guard let result else { preconditionFailure("a thread has ended without its function") }
            return try result.get()
        }
    }
}
