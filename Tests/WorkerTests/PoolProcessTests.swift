// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Testing
import WorkerPools

@Suite struct PoolProcessTests {
    @Test(arguments: WorkerPool.allCases)
    func `every pool has a process`(pool: WorkerPool) {
        #expect(PoolProcess(of: pool)?.pool == pool, "'\(pool)' is missing in PoolProcess.all")
    }
}
