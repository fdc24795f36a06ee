// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel

extension RecordedEvent {
    /// The event in a few words; an event unknown to this build by its type alone.
    package var summary: String {
        if stream.category == "map", let event = try? MapEvent(self.event) { return event.summary }
        if stream.category == "job", let event = try? JobEvent(self.event) { return event.summary }
        if event.type == LocatorPublished.eventType,
            let published = try? LocatorPublished.decode(event)
        {
            return "locator '\(published.name)' published, \(published.placeCount) places"
        }
        if event.type == LocatorDeleted.eventType, let deleted = try? LocatorDeleted.decode(event) {
            return "locator '\(deleted.name)' deleted"
        }
        if stream.category == "network", let text = networkSummary { return text }
        if let event = try? SiteEvent(self.event) { return event.summary }
        if stream.category == "refresh", let event = try? RefreshEvent(self.event) {
            return event.summary
        }
        return event.type
    }
}

extension SiteEvent {
    /// The event in a few words.
    package var summary: String {
        switch self {
        case .blobsSwept(let event):
            "\(event.blobCount) files of \(event.byteCount) bytes swept"
        case .dataSwept(let event):
            "\(event.data.count) data sets of \(event.byteCount) bytes swept"
        case .erased(let event):
            "\(event.subject) erased from \(event.eventCount) events and "
                + "\(event.datasets.count) datasets"
        case .auditRedacted(let event): "\(event.entryCount) entries of the audit redacted"
        case .accessChanged(let event):
            event.text + (event.closesSite == true ? "; the site is closed to others" : "")
        }
    }
}

extension SiteAccessChanged {
    fileprivate var text: String {
        let subject = subject ?? "users without one of their own"
        let allowed = permissions.map { $0.isEmpty ? "nothing" : $0.joined(separator: ", ") }
        return switch change {
        case .added: "user '\(subject)' added, may \(allowed ?? "nothing")"
        case .removed: "user '\(subject)' removed"
        case .password: "user '\(subject)' has another password"
        case .permissions: "'\(subject)' may \(allowed ?? "nothing")"
        case .quota: "quota of \(subject) changed"
        }
    }
}

extension RefreshEvent {
    /// The event in a few words.
    package var summary: String {
        switch self {
        case .added(let event):
            "refresh '\(event.refresh.name)' of layer \(event.refresh.layer) of map "
                + "\(event.refresh.map) added"
        case .removed(let event): "refresh '\(event.name)' removed"
        case .succeeded(let event):
            "refresh '\(event.name)': \(event.added) added, \(event.changed) changed, "
                + "\(event.removed) removed"
        case .failed(let event): "refresh '\(event.name)' failed: \(event.error.message)"
        }
    }
}

extension MapEvent {
    /// The event in a few words.
    package var summary: String {
        switch self {
        case .created: "map created"
        case .layerAdded(let event):
            switch event.kind {
            case .group: "group \(event.layer) '\(event.name)' added"
            case .layer: "layer \(event.layer) '\(event.name)' added"
            }
        case .layerMoved(let event):
            "layer \(event.layer) moved to \(event.index)"
                + (event.parent.map { " in group \($0)" } ?? "")
        case .layerRemoved(let event): "layer \(event.layer) removed"
        case .layerRenamed(let event): "layer \(event.layer) renamed '\(event.name)'"
        case .layerVisibilityChanged(let event):
            "layer \(event.layer) \(event.isVisible ? "shown" : "hidden")"
        case .layerScaleRangeChanged(let event):
            "layer \(event.layer) scales \(event.scaleRange.displayText)"
        case .layerDefinitionChanged(let event):
            "layer \(event.layer) definition \(event.expression ?? "none")"
        case .layerDisplayFieldChanged(let event):
            "layer \(event.layer) display field \(event.field ?? "default")"
        case .layerTimeInfoChanged(let event):
            "layer \(event.layer) time \(event.timeInfo?.displayText ?? "none")"
        case .layerDrawingChanged(let event):
            "layer \(event.layer) drawn \(event.drawing?.displayText ?? "by its number")"
        case .layerFieldAliasChanged(let event):
            "layer \(event.layer) field \(event.field) alias \(event.alias ?? "of the source")"
        case .layerQueryableChanged(let event):
            "layer \(event.layer) \(event.isQueryable ? "may" : "may not") be queried"
        case .layerPopupsChanged(let event):
            "layer \(event.layer) popups \(event.isEnabled ? "on" : "off")"
        case .layerEditableChanged(let event):
            "layer \(event.layer) \(event.isEditable ? "takes" : "takes no") edits"
        case .featuresEdited(let event):
            event.layers.map { edited in
                "layer \(edited.layer) features: \(edited.added.count) added, "
                    + "\(edited.changed.count) changed, \(edited.deleted.count) deleted"
            }.joined(separator: "; ")
        case .layerCompacted(let event):
            "layer \(event.layer) compacted, \(event.properties.featureCount) features"
        case .layerSourceChanged(let event):
            "layer \(event.layer) source \(event.source.summary)"
        case .layerReplaced(let event):
            "layer \(event.layer) data replaced by \(event.dataset.rawValue.prefix(8)), "
                + "\(event.properties.featureCount) features"
                + (event.key.map { " by key '\($0)'" } ?? "")
                + (event.features.map { ", \($0.count) edits carried over" } ?? "")
                + (event.dropped.map { ", \($0.count) dropped" } ?? "")
        case .layerLoadStarted(let event): "layer \(event.layer) loading"
        case .layerLoaded(let event):
            "layer \(event.layer) loaded, \(event.properties.featureCount) features"
        case .layerLoadFailed(let event):
            "layer \(event.layer) failed to load: \(event.error.message)"
        case .graphicAdded(let event): "layer \(event.layer) graphic \(event.graphic.id) drawn"
        case .graphicChanged(let event): "layer \(event.layer) graphic \(event.graphic.id) changed"
        case .graphicRemoved(let event): "layer \(event.layer) graphic \(event.graphic) removed"
        case .graphicsCleared(let event): "layer \(event.layer) graphics cleared"
        case .propertiesChanged(let event):
            "map " + (event.properties.title.map { "titled '\($0)'" } ?? "properties changed")
        case .layerInfoChanged(let event):
            "layer \(event.layer) description changed"
                + (event.info?.popup.map { ", popups defined by \($0.utf8.count) bytes" } ?? "")
        case .deleted: "map deleted"
        case .revived(let event): "undone: \(event.undone), the map is there again"
        case .restored(let event) where event.copied != nil:
            "copied from \(event.copied?.map.rawValue ?? "") as of \(event.copied?.sequence ?? 0)"
        case .restored(let event):
            "undone: "
                + event.undone.prefix(5).map(String.init).joined(separator: ", ")
                + (event.undone.count > 5 ? " and \(event.undone.count - 5) more" : "")
        }
    }
}

extension LayerSource {
    /// The source in a few words.
    package var summary: String {
        switch self {
        case .dataset(let content), .raster(let content): "\(content.rawValue.prefix(8))"
        case .wms(let source): "WMS \(source.url)"
        case .mapService(let source), .featureService(let source): "ArcGIS \(source.url)"
        case .tiles(let source): "tiles \(source.url)"
        case .graphics(let source):
            "graphics" + (source.spatialReference.wkid.map { " in \($0)" } ?? "")
        }
    }
}

extension JobEvent {
    /// The event in a few words.
    package var summary: String {
        switch self {
        case .submitted(let event): "job submitted: \(event.submission.kind.rawValue)"
        case .stagePlanned(let event): "stage \(event.stage) planned, \(event.chunks.count) chunks"
        case .chunkLeased(let event):
            "chunk \(event.attempt.chunk) attempt \(event.attempt.number) given to process "
                + "\(event.processID)"
        case .chunkDelegated(let event):
            "chunk \(event.attempt.chunk) given to job \(event.job)"
        case .chunkCompleted(let event): "chunk \(event.attempt.chunk) completed"
        case .chunkLost(let event): "chunk \(event.attempt.chunk) lost: \(event.reason)"
        case .chunkFailed(let event):
            "chunk \(event.attempt.chunk) failed: \(event.error.message)"
        case .chunkReleased(let event): "chunk \(event.attempt.chunk) released: \(event.reason)"
        case .chunkQuarantined(let event):
            "chunk \(event.chunk) quarantined after \(event.deathCount) deaths"
        case .paused: "job paused"
        case .resumed: "job resumed"
        case .cancelRequested: "cancelling asked for"
        case .progressed(let event): "\(event.progress.displayText(decimals: 1))% done"
        case .messagePosted(let event): "\(event.message.severity.rawValue): \(event.message.text)"
        case .succeeded: "job succeeded"
        case .failed(let event): "job failed: \(event.error.message)"
        case .timedOut(let event): "job timed out after \(event.limitSeconds) s"
        case .cancelled: "job cancelled"
        }
    }
}

extension LayerTimeInfo {
    /// `BUILT`, or `BUILT to RAZED`.
    package var displayText: String { startField + (endField.map { " to \($0)" } ?? "") }
}

extension LayerDrawing {
    /// `by STATUS, 3 symbols, labels`.
    package var displayText: String {
        let count = renderer?.entries.count ?? 1
        let by = renderer.map {
            $0.fields.isEmpty ? "" : "by \($0.fields.joined(separator: ", ")), "
        }
        return (by ?? "") + (count == 1 ? "one symbol" : "\(count) symbols")
            + (labels.isEmpty ? "" : ", labels")
    }
}

extension ScaleRange {
    /// `1:50,000,000 to 1:1,000`; `any` where there is no limit.
    package var displayText: String {
        func side(_ scale: Double) -> String {
            scale == 0 ? "any" : "1:" + Int64(min(max(scale, 0), 1e15)).grouped
        }
        return self == .unlimited ? "any" : "\(side(minScale)) to \(side(maxScale))"
    }
}
