// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation

/// Places for every row of a CSV file: `geocode-a-table SERVICES FILE COLUMN RESULT`.
@main struct Main {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let services = URL(string: arguments[1]) else {
            print("usage: geocode-a-table SERVICES FILE COLUMN RESULT")
            exit(64)
        }
        do {
            try await geocode(
                services, URL(filePath: arguments[2]), column: arguments[3],
                result: URL(filePath: arguments[4]))
            print("\(arguments[4]) has the rows with their places")
        } catch {
            print("geocode-a-table: \(error)")
            exit(1)
        }
    }

    private static func geocode(
        _ services: URL, _ file: URL, column: String, result: URL
    ) async throws {
        let task = GeoprocessingTask(url: services.appending(path: "Jobs/GPServer/BatchGeocode"))
        let parameters = try await task.makeDefaultParameters()
        parameters.setInputValue(GeoprocessingDataFile(url: file), forKey: "input")
        parameters.setInputValue(GeoprocessingString(value: column), forKey: "query")

        let job = task.makeJob(parameters: parameters)
        job.start()
        for await message in job.messages { print(message.severity.rawValue, message.text) }
        guard let table = try await job.output.outputs["output"] as? GeoprocessingDataFile else {
            throw CairnError(.jobFailed, "the job \(job.serverJobID) gave no table")
        }
        try await table.fetch(to: result)
    }
}
