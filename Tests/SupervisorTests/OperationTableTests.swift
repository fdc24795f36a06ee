// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Testing

@testable import Supervisor

@Suite struct OperationTableTests {
    @Test func `the supervisor answers every operation of its place`() {
        let operations = Operations.all.filter { $0.place == .supervisor }

        #expect(Hub.operations.names == operations.map(\.name))
    }
}
