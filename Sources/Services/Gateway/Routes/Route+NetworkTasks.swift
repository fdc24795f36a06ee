// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

// The asynchronous analyses of a network.
extension Route {
    private static let gpServer = "arcgis/rest/services/{network}/GPServer"
    private static let job = gpServer + "/{task}/jobs/{job}"

    static let networkTasks = [
        Route(
            gpServer, label: "networkTasks", "The tasks that a network has, as jobs.",
            requires: .networkJobs, handler: GatewayService.networkTasks),
        Route(
            gpServer + "/{task}", label: "networkTasks", "A task of a network and its parameters.",
            requires: .networkJobs, handler: GatewayService.networkTask),
        Route(
            gpServer + "/{task}/submitJob", label: "networkTaskSubmit",
            "Begins a job of a network's task.", requires: .networkJobs, isChange: true,
            asks: [Known.clientId], takesOther: true, handler: GatewayService.submitNetworkTask),
        Route(
            gpServer + "/{task}/jobs", label: "networkTaskJob",
            "The jobs of a network's task that the caller may see.", requires: .networkJobs,
            handler: GatewayService.listNetworkJobs),
        Route(
            job, label: "networkTaskJob", "How far a job of a network's task is.",
            requires: .networkJobs, asks: [Known.returnMessages],
            handler: GatewayService.networkJobStatus),
        Route(
            job + "/cancel", label: "networkTaskJob", "Cancels a job of a network's task.",
            requires: .networkJobs, isChange: true, handler: GatewayService.cancelNetworkJob),
        Route(
            job + "/changes", label: "networkTaskJob",
            "Each piece of news of a job of a network's task as an event.",
            requires: .networkJobs, mediaTypes: ["text/event-stream", OGCLinks.json],
            handler: GatewayService.followNetworkJob),
        Route(
            job + "/results/{result}", label: "networkTaskJob",
            "A result of a job of a network's task.", requires: .networkJobs,
            asks: [Known.outSR], handler: GatewayService.networkJobResult),
        Route(
            job + "/inputs/{input}", label: "networkTaskJob",
            "A parameter that a job of a network's task was given.", requires: .networkJobs,
            handler: GatewayService.networkJobInput),
    ]
}
