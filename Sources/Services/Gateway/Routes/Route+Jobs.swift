// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

extension Route {
    private static let gpServer = "arcgis/rest/services/\(JobResource.serviceName)/GPServer"
    private static let job = gpServer + "/{task}/jobs/{job}"

    static let jobs = [
        Route(
            gpServer, label: "jobs", "The tasks that jobs are of.", requires: .jobs, view: .jobs,
            handler: GatewayService.jobService),
        Route(
            gpServer + "/uploads/upload", label: "jobsUpload", "Takes a file for a job.",
            requires: .jobs, isChange: true, methods: .file, view: .upload,
            handler: GatewayService.upload),
        Route(
            gpServer + "/uploads/register", label: "jobsUpload", "Begins an upload in parts.",
            requires: .jobs, isChange: true,
            methods: .post(refusal: "an upload is registered with POST, not with GET"),
            asks: [Known.itemName.required], handler: GatewayService.registerUpload),
        Route(
            gpServer + "/uploads/{item}/uploadPart", label: "jobsUpload",
            "Takes a part of an upload.", requires: .jobs, isChange: true, methods: .file,
            asks: [Known.partId], handler: GatewayService.upload),
        Route(
            gpServer + "/uploads/{item}/parts", label: "jobsUpload",
            "The numbers of the parts that are here.", requires: .jobs,
            handler: GatewayService.uploadedParts),
        Route(
            gpServer + "/uploads/{item}/commit", label: "jobsUpload",
            "Joins the parts of an upload.", requires: .jobs, isChange: true,
            methods: .post(refusal: "an upload is committed with POST, not with GET"),
            asks: [Known.parts], handler: GatewayService.commitUpload),
        Route(
            gpServer + "/jobs", label: "jobsAll",
            "The jobs of all tasks that the caller may see, the newest first.", requires: .jobs,
            asks: [Known.resultOffset, Known.jobCount], view: .allJobs,
            handler: GatewayService.listAllJobs),
        Route(
            gpServer + "/{task}", label: "jobsTask", "A task and its parameters.",
            requires: .jobs, view: .task, handler: GatewayService.task),
        Route(
            gpServer + "/{task}/submitJob", label: "jobsSubmit", "Begins a job.",
            requires: .jobs, isChange: true, asks: [Known.clientId], takesOther: true,
            view: .receipt,
            handler: GatewayService.submit),
        Route(
            gpServer + "/{task}/estimate", label: "jobsEstimate",
            "What an export of tiles comes to, before it is submitted.", requires: .jobs,
            takesOther: true, view: .jobEstimate, handler: GatewayService.estimateJob),
        Route(
            gpServer + "/{task}/jobs", label: "jobsJob",
            "The jobs of a task that the caller may see.", requires: .jobs, view: .jobList,
            handler: GatewayService.listJobs),
        Route(
            job, label: "jobsJob", "How far a job is.", requires: .jobs,
            asks: [Known.returnMessages], view: .job,
            handler: GatewayService.jobStatus),
        Route(
            job + "/cancel", label: "jobsJob", "Cancels a job.", requires: .jobs,
            isChange: true, view: .receipt, handler: GatewayService.cancelJob),
        Route(
            job + "/changes", label: "jobsJob", "Each piece of news of a job as an event.",
            requires: .jobs, mediaTypes: ["text/event-stream", OGCLinks.json],
            handler: GatewayService.followJob),
        Route(
            job + "/results/{result}", label: "jobsJob",
            "Where a result of a job is, or its features.",
            requires: .jobs, asks: [Known.outSR], handler: GatewayService.jobResult),
        Route(
            job + "/results/{result}/file", label: "jobsJob", "A result of a job.",
            requires: .jobs, mediaTypes: ["application/octet-stream"],
            handler: GatewayService.jobProduct),
        Route(
            job + "/inputs/{input}", label: "jobsJob", "A parameter that a job was given.",
            requires: .jobs, handler: GatewayService.jobInput),
        Route(
            job + "/inputs/{input}/file", label: "jobsJob", "The file that a job was given.",
            requires: .jobs, mediaTypes: ["application/octet-stream"],
            handler: GatewayService.jobInputFile),
    ]
}
