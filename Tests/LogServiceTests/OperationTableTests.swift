// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Testing

@testable import LogService

@Suite struct OperationTableTests {
    @Test func `the log answers every operation of its place`() throws {
        let directory = try ScratchSite()
        let running = try RunningLog(directory.site)
        defer { running.stop() }
        let operations = Operations.all.filter { $0.place == .log }

        #expect(running.service.operations.names == operations.map(\.name))
    }
}
