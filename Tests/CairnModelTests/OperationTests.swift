// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Testing

@Suite struct OperationTests {
    @Test func `an operation's name is unique at its place`() {
        let places = Dictionary(grouping: Operations.all, by: \.place)

        for (place, operations) in places {
            #expect(Set(operations.map(\.name)).count == operations.count, "\(place)")
        }
    }

    @Test func `only operations of workers are long or tried`() {
        for operation in Operations.all where operation.effort != .short {
            guard case .pool = operation.place else {
                Issue.record("\(operation.name) is answered by a service")
                continue
            }
        }
    }

    /// `| place | `name` | `Request` → `Answer` | request | request at most | answer |
    /// effort | recorded |`.
    private func row(_ operation: OperationSummary) -> String {
        let place =
            switch operation.place {
            case .log: "`log.req`"
            case .maps: "`map.req`"
            case .supervisor: "`sup.req`"
            case .pool(let pool): "`sup.req`, task, pool \(pool.rawValue)"
            }
        let request = operation.request.replacing("Nothing", with: "{}")
        let answer = operation.answer.replacing("Array<", with: "[").replacing(">", with: "]")
        return "| \(place) | `\(operation.name)` | `\(request)` → `\(answer)` | "
            + "\(operation.requestForm) | \(operation.requestBound >> 10) KiB | "
            + "\(operation.answerForm) | \(operation.effort.rawValue) | "
            + (operation.isRecorded ? "yes |" : "no |")
    }

    @Test func `the protocol's page lists every operation as it is defined`() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let page = try #require(
            FileManager.default.contents(atPath: "/" + root + "/Docs/bus-protocol.md"))
        let lines = String(decoding: page, as: UTF8.self).split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex { $0.hasPrefix("| where | operation |") })
        let table = lines[(start + 2)...].prefix { $0.hasPrefix("|") }

        #expect(Array(table) == Operations.all.map(row))
    }
}
