"use strict";
// Follows a job by server-sent events, or by asking again where there is no stream; opens the job's page when
// the job has ended.
(() => {
  const bar = document.getElementById("progress");
  if (!bar || !bar.dataset.changes) return;
  const status = document.getElementById("status"), portion = document.getElementById("portion");
  const list = document.getElementById("messages");
  const { changes, page } = bar.dataset, words = JSON.parse(bar.dataset.words);
  const askAgainMilliseconds = 2000;

  // Whether the job goes on.
  function show(job) {
    const [text, tone, isOver] = words[job.jobStatus] || [job.jobStatus, "busy", false];
    status.textContent = text;
    status.className = `state ${tone}`;
    if (job.progress) bar.value = job.progress.percent;
    else bar.removeAttribute("value");
    portion.textContent = job.progress ? job.progress.message : "";
    if (!isOver) return true;
    bar.remove();
    if (location.pathname === page) location.reload();
    else location.replace(page);
    return false;
  }

  function add(messages, isWhole) {
    if (!list) return;
    if (isWhole) list.replaceChildren();
    for (const message of messages) {
      const item = document.createElement("li");
      item.textContent = message.description;
      list.append(item);
    }
  }

  async function askAgain() {
    try {
      const job = await (await ask(`${page}?f=json`)).json();
      if (job.error) return void (portion.textContent = job.error.message);
      add(job.messages, true);
      if (!show(job)) return;
    } catch (error) { /* The server may be restarting. */ }
    setTimeout(askAgain, askAgainMilliseconds);
  }

  const source = new EventSource(changes + (pageToken ? `?token=${encodeURIComponent(pageToken)}` : ""));
  // The stream begins with every message.
  let isFirst = true;
  source.addEventListener("job", (event) => {
    const job = JSON.parse(event.data);
    add(job.messages, isFirst);
    isFirst = false;
    if (!show(job)) source.close();
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) askAgain();
  });
})();
