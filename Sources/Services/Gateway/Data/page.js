"use strict";
// A token in the page's own address is sent with the requests of its scripts, in a header: no link contains it.
const pageToken = new URLSearchParams(location.search).get("token");
function ask(url, options = {}) {
  if (!pageToken) return fetch(url, options);
  return fetch(url, { ...options, headers: { "X-Esri-Authorization": `Bearer ${pageToken}` } });
}
