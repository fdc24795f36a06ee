// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Platform
import TestKit
import Testing

@Suite struct ChildProcessTests {
    private func scratch() throws -> String {
        let path = NSTemporaryDirectory() + "cairn-child-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// Blocks until the process has ended; at most 10 s.
    private func wait(for child: inout ChildProcess) throws -> ChildProcess.End? {
        let watch = try ProcessWatch(processID: child.processID)
        Waiting.forEnd(of: [watch], or: try WakeSignal(), milliseconds: 10_000)
        return child.end()
    }

    @Test func `a child's status, output and arguments arrive`() throws {
        let directory = try scratch()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var child = try ChildProcess(
            path: "/bin/sh", arguments: ["-c", "echo \"$1\"; echo no >&2; exit 7", "sh", "a b"],
            logPath: directory + "/log")

        let end = try wait(for: &child)

        #expect(end == .status(7))
        #expect(child.end() == .status(7), "a second look")
        #expect(try String(contentsOfFile: directory + "/log", encoding: .utf8) == "a b\nno\n")
    }

    @Test func `a child can be asked to end and be killed`() throws {
        let directory = try scratch()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        for (demand, signal) in [(ChildProcess.Demand.end, SIGTERM), (.kill, SIGKILL)] {
            var child = try ChildProcess(
                path: "/bin/sleep", arguments: ["60"], logPath: directory + "/log")
            #expect(child.end() == nil)
            child.demand(demand)
            #expect(try wait(for: &child) == .signal(signal))
        }
    }

    @Test func `a program that is not there is an error, not a child`() throws {
        let directory = try scratch()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let error = #expect(throws: PlatformError.self) {
            _ = try ChildProcess(
                path: directory + "/none", arguments: [], logPath: directory + "/log")
        }
        #expect(error?.isNotFound == true)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a child ends with the thread that started it`() async throws {
        let directory = try scratch()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (numbers, source) = AsyncStream.makeStream(
            of: Int32.self, bufferingPolicy: .bufferingNewest(1))
        _ = try PinnedThread(name: "parent") { source.yield(Self.sleeper(directory)) }
        var found: Int32 = 0
        for await number in numbers.prefix(1) { found = number }
        try #require(found > 0)

        Waiting.forEnd(
            of: [try ProcessWatch(processID: found)], or: try WakeSignal(), milliseconds: 10_000)

        var status: Int32 = 0
        #expect(unsafe waitpid(found, &status, WNOHANG) == found)
        #expect(status & 0x7F == SIGTERM)
    }

    private static func sleeper(_ directory: String) -> Int32 {
        do {
            return try ChildProcess(
                path: "/bin/sleep", arguments: ["60"], logPath: directory + "/log"
            ).processID
        } catch {
            return -1
        }
    }

    @Test func `a port is taken while something listens on it`() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, size) + listen(listener, 8)
                    + getsockname(listener, $0, &size)
            }
        }
        #expect(bound == 0)
        let port = UInt16(bigEndian: address.sin_port)

        for host in ["127.0.0.1", "localhost", "0.0.0.0"] {
            let taken = LocalPort(port, host: host)
            #expect(taken.isTaken, "\(host)")
            #expect(taken.accepts(milliseconds: 1_000), "\(host)")
            #expect(taken.httpStatus(path: "/", milliseconds: 100) == nil, "\(host)")
        }
        #expect(!LocalPort(port, host: "127.0.0.2").accepts(milliseconds: 1_000))
        #expect(!LocalPort(port, host: "no.such.name.invalid").accepts(milliseconds: 1_000))
    }
}
