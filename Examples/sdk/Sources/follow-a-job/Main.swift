// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation

/// A job that outlives its program: `begin SERVICES FILE COLUMN TICKET`, then `follow TICKET`.
@main struct Main {
    static func main() async {
        let arguments = CommandLine.arguments
        do {
            switch (arguments.dropFirst().first, arguments.count) {
            case ("begin"?, 6):
                try await begin(arguments[2], arguments[3], arguments[4], ticket: arguments[5])
            case ("follow"?, 3): try await follow(ticket: arguments[2])
            default:
                print("usage: follow-a-job begin SERVICES FILE COLUMN TICKET | follow TICKET")
                exit(64)
            }
        } catch {
            print("follow-a-job: \(error)")
            exit(1)
        }
    }

    private static func begin(
        _ services: String, _ file: String, _ column: String, ticket: String
    ) async throws {
        guard let services = URL(string: services) else {
            throw CairnError(.invalidArgument, "'\(services)' is no URL")
        }
        let task = GeoprocessingTask(url: services.appending(path: "Jobs/GPServer/BatchGeocode"))
        let parameters = try await task.makeDefaultParameters()
        parameters.setInputValue(GeoprocessingDataFile(url: URL(filePath: file)), forKey: "input")
        parameters.setInputValue(GeoprocessingString(value: column), forKey: "query")
        let job = task.makeJob(parameters: parameters)
        job.start()
        // Once the server has it, another process may go on from here.
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
