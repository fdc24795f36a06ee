// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Testing

@Suite struct WorkerPoolTests {
    @Test func `a pool is encoded as its number, which no other pool has`() throws {
        let pools = [WorkerPool.identify, .locator, .work, .router]
        #expect(String(decoding: try CairnJSON.encode(pools), as: UTF8.self) == "[1,2,3,4]")
        #expect(try CairnJSON.decode([WorkerPool].self, from: Data("[1,2,3,4]".utf8)) == pools)
        #expect(Set(WorkerPool.allCases).count == WorkerPool.table.count)
        #expect(WorkerPool.allCases.allSatisfy { WorkerPool(rawValue: $0.rawValue) == $0 })
    }

    @Test(arguments: [0, 5, 255] as [UInt8])
    func `a number without a pool is refused with the numbers there are`(number: UInt8) {
        #expect(WorkerPool(rawValue: number) == nil)
        let failure = #expect(throws: Failure.self) {
            try CairnJSON.decode([WorkerPool].self, from: Data("[\(number)]".utf8))
        }
        #expect(failure?.message.contains("worker pool \(number)") == true, "\(failure as Any)")
        #expect(
            failure?.message.contains("1 (identify), 2 (locator), 3 (work), 4 (router)") == true)
    }

    @Test func `pools are told apart by name, option and recorded name`() {
        for names in [
            WorkerPool.table.map(\.name), WorkerPool.table.map(\.countOption),
            WorkerPool.table.compactMap(\.recordedName),
        ] {
            #expect(Set(names).count == names.count, "\(names)")
        }
        #expect(WorkerPool.allCases.allSatisfy { WorkerPool(name: $0.name) == $0 })
        #expect(WorkerPool(name: "worker") == nil)
    }

    @Test func `recordings of the programs that pools once had are those of the one program`() {
        for name in ["cairn-identify", "cairn-locator", "cairn-worker"] {
            #expect(WorkerPool.program(ofRecorded: name) == "cairn-worker")
        }
        #expect(WorkerPool.program(ofRecorded: "cairn-gateway") == "cairn-gateway")
    }
}
