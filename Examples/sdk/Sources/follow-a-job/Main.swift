// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation

/// A job that outlives its program: `begin SERVICES FILE COLUMN TICKET`, then `follow TICKET`.
@main struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        switch (arguments.dropFirst().first, arguments.count) {
        case ("begin"?, 6):
            guard let services = URL(string: arguments[2]) else { fallthrough }
            try await begin(services, arguments[3], arguments[4], ticket: arguments[5])
        case ("follow"?, 3): try await follow(ticket: arguments[2])
        default:
            print("usage: follow-a-job begin SERVICES FILE COLUMN TICKET | follow TICKET")
            exit(64)
        }
    }

    private static func begin(
        _ services: URL, _ file: String, _ column: String, ticket: String
    ) async throws {
        let task = GeoprocessingTask(url: services.appending(path: "Jobs/GPServer/BatchGeocode"))
        let parameters = try await task.makeDefaultParameters()
        parameters.setInputValue(GeoprocessingDataFile(url: URL(filePath: file)), forKey: "input")
        parameters.setInputValue(GeoprocessingString(value: column), forKey: "query")
        let job = task.makeJob(parameters: parameters)
        job.start()
        // Once the server has it, another process may go on from here.
        for await status in job.$status where status.isEnded || !job.serverJobID.isEmpty { break }
        while job.serverJobID.isEmpty, !job.status.isEnded { try await job.checkStatus() }
        try job.toJSON().write(toFile: ticket, atomically: true, encoding: .utf8)
        print("job \(job.serverJobID) is in \(ticket)")
    }

    private static func follow(ticket: String) async throws {
        let text = try String(contentsOfFile: ticket, encoding: .utf8)
        let job = try GeoprocessingJob.fromJSON(text)
        print("job \(job.serverJobID) is \(job.status.rawValue)")
        job.start()
        for await message in job.messages { print(message.text) }
        let output = try await job.output
        print("succeeded with", output.outputs.keys.sorted().joined(separator: ", "))
    }
}
