// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials

@testable import Worker

extension Work {
    /// A task without a limit.
    init(task operation: String, _ payload: Data) {
        let metadata = Data(#"{"operation":"\#(operation)"}"#.utf8)
        self.init(
            TaskOrder(
                work: WorkOrder(id: .timeOrdered(), metadata: metadata, payload: payload),
                limitMilliseconds: 0, remainingMilliseconds: 0))
    }
}
