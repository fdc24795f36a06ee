"use strict";
// Follows a job by server-sent events; its page is read again when it has ended.
const bar = document.getElementById("progress");
if (bar && bar.dataset.changes) {
  const list = document.getElementById("messages");
  let isFirst = true;
  const source = new EventSource(bar.dataset.changes);
  source.addEventListener("job", (event) => {
    const job = JSON.parse(event.data);
    document.getElementById("status").textContent = job.jobStatus;
    if (job.progress) {
      bar.value = job.progress.percent;
      document.getElementById("portion").textContent = job.progress.message;
    }
    // The stream tells every message from the beginning.
    if (isFirst) list.replaceChildren();
    isFirst = false;
    for (const message of job.messages) {
      const item = document.createElement("li");
      item.textContent = message.description;
      list.append(item);
    }
    if (/Succeeded|Failed|TimedOut|Cancelled$/.test(job.jobStatus)) {
      source.close();
      location.reload();
    }
  });
}
