// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation

/// Places for every row of a CSV file: `geocode-a-table SERVICES FILE COLUMN RESULT`.
@main struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let services = URL(string: arguments[1]) else {
            print("usage: geocode-a-table SERVICES FILE COLUMN RESULT")
            exit(64)
        }
        let task = GeoprocessingTask(url: services.appending(path: "Jobs/GPServer/BatchGeocode"))
        let parameters = try await task.makeDefaultParameters()
        parameters.setInputValue(
            GeoprocessingDataFile(url: URL(filePath: arguments[2])), forKey: "input")
        parameters.setInputValue(GeoprocessingString(value: arguments[3]), forKey: "query")

        let job = task.makeJob(parameters: parameters)
        job.start()
        for await message in job.messages { print(message.severity.rawValue, message.text) }
        guard let table = try await job.output.outputs["output"] as? GeoprocessingDataFile else {
            print("the job gave no table")
            exit(1)
        }
        try await table.fetch(to: URL(filePath: arguments[4]))
        print("\(arguments[4]) has the rows with their places")
    }
}
