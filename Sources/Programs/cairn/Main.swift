// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Commands

@main struct Main {
    static func main() async { await CairnCommand.run() }
}
