// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Testing

@testable import MapStateService

@Suite struct OperationTableTests {
    @Test func `the map state answers every operation of its place`() {
        let operations = Operations.all.filter { $0.place == .maps }

        #expect(MapStateService.operations.names == operations.map(\.name))
    }
}
