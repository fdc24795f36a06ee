"use strict";
// Routes on the map: two ends that are clicked and dragged, alternatives, directions, changes of roads.
(() => {
  const panel = document.getElementById("routes"), shared = window.cairnMap;
  if (!panel || !shared) return;
  const { map, element } = shared;
  const proof = panel.dataset.proof;
  const networks = [...panel.querySelectorAll("li[data-network]")].map((item) => ({
    name: item.dataset.network, service: item.dataset.service, mayChange: item.dataset.change === "yes" }));
  const lines = L.layerGroup(), roads = L.layerGroup();
  const ends = [null, null];
  let answer = null, chosen = 0, turn = 0, listing = 0, isDropping = false;

  function labelled(text, control) {
    const label = element("label");
    label.append(element("span", text), control);
    return label;
  }
  function select(options) {
    const made = element("select");
    for (const [value, text] of options) made.append(new Option(text, value));
    return made;
  }
  function button(text, action) {
    const made = element("button", text);
    made.type = "button";
    made.addEventListener("click", action);
    return made;
  }
  const network = select(networks.map((one, place) => [place, one.name]));
  const mode = select([]);
  const said = element("p", ""), list = element("ol"), choices = element("p"), changes = element("ul");
  const reason = element("input"), closing = element("div"), closer = button("Close a road", () => setTool(closer, closeRoad));
  const picker = button("Pick the ends", () => setTool(picker, setEnd));
  said.className = "quiet";
  said.id = "route-said";
  said.setAttribute("role", "status");
  list.id = "directions";
  choices.id = "alternatives";
  changes.id = "road-changes";
  reason.placeholder = "why";
  closing.append(labelled("Reason", reason), closer);
  panel.append(labelled("Network", network), labelled("Travel mode", mode), picker,
    button("Clear", clear), said, choices, list, element("h3", "Changes of roads"), changes, closing);
  const here = () => networks[network.value];

  // Esri's words where a request was refused; OSRM's where that was asked.
  async function json(url, options) {
    try {
      const answer = await (await ask(url, options)).json();
      const failure = answer.error ? answer.error.message : answer.code && answer.code !== "Ok" ? answer.message : null;
      return failure ? { failure } : answer;
    } catch (error) {
      return { failure: "The server did not answer." };
    }
  }

  function setTool(owner, tool) {
    const isOn = shared.tool !== tool;
    shared.tool = isOn ? tool : null;
    for (const one of [picker, closer]) one.setAttribute("aria-pressed", String(isOn && one === owner));
    said.textContent = !isOn ? "" : tool === setEnd ? "Click where the route begins, then where it ends." : "Click the road.";
  }

  // Sets the end that is missing; with both there, a new route begins.
  function setEnd(place) {
    if (isDropping) return;
    if (ends[0] && ends[1]) clear();
    const number = ends[0] ? 1 : 0;
    const icon = L.divIcon({ className: "route-end", html: number ? "B" : "A", iconSize: [24, 24] });
    ends[number] = L.marker(place.wrap(), { icon, draggable: true, title: number ? "End" : "Beginning" })
      .on("dragend", drop).addTo(map);
    find();
  }

  // Where the end is let go before it has come under the mouse, the browser sends the map a click.
  function drop() {
    isDropping = true;
    setTimeout(() => { isDropping = false; }, 0);
    find();
  }

  function clear() {
    for (const end of ends) if (end) end.remove();
    ends.fill(null);
    answer = null;
    turn += 1;
    show();
    said.textContent = "";
  }

  async function find() {
    if (!ends[0] || !ends[1] || !mode.value) return;
    const mine = ++turn, places = ends.map((end) => end.getLatLng()).map((at) => `${at.lng},${at.lat}`).join(";");
    // One segment of the path: a folder's name stands before a dot.
    const name = encodeURIComponent(here().name.replace("/", "."));
    const found = await json(`/osrm/${name}/route/v1/${encodeURIComponent(mode.value)}/${places}`
      + "?alternatives=3&steps=true&geometries=geojson&overview=full");
    if (mine !== turn) return;
    answer = found.failure ? null : found;
    chosen = 0;
    said.textContent = found.failure || "";
    show();
  }

  const length = (metres) => metres < 1000 ? `${Math.round(metres)} m` : `${(metres / 1000).toFixed(1)} km`;
  const time = (seconds) => seconds < 60 ? `${Math.round(seconds)} s` : seconds < 3600
    ? `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;

  function show() {
    lines.clearLayers();
    const routes = answer ? answer.routes : [];
    choices.replaceChildren(...routes.map((route, place) => {
      const one = button(`${length(route.distance)}, ${time(route.duration)}`, () => { chosen = place; show(); });
      one.setAttribute("aria-pressed", String(place === chosen));
      return one;
    }));
    // The chosen one is drawn above the others.
    for (const place of [...routes.keys()].sort((one, other) => (one === chosen) - (other === chosen))) {
      const line = L.polyline(routes[place].geometry.coordinates.map(([x, y]) => [y, x]),
        { color: place === chosen ? "#0b6b8a" : "#747d85", weight: place === chosen ? 6 : 4, opacity: 0.8 });
      line.on("click", (event) => {
        // The road below it is meant.
        if (shared.tool === closeRoad) return;
        L.DomEvent.stop(event);
        chosen = place;
        show();
      });
      lines.addLayer(line);
    }
    list.replaceChildren(...(routes[chosen] ? routes[chosen].legs.flatMap((leg) => leg.steps) : []).map((step) =>
      element("li", step.maneuver.instruction + (step.distance > 0 ? `, ${length(step.distance)}` : ""))));
    panel.dataset.routes = routes.length;
  }

  // What is closed, slower or banned: drawn, listed, and ended where that is allowed.
  async function showRoads() {
    const mine = ++listing;
    const found = await json(`${here().service}/roads?returnGeometry=true&resultRecordCount=500&f=json`);
    if (mine !== listing) return;
    roads.clearLayers();
    changes.replaceChildren(...(found.changes || []).map((change) => {
      const what = { closed: "closed", speed: `${change.speed} km/h`, factor: `time × ${change.factor}`,
        delay: `${change.seconds} s more`, bannedTurn: "turn banned" }[change.effect];
      const text = [what, change.streets.slice(0, 3).join(", "), change.hours, change.reason].filter(Boolean).join(" · ");
      const color = change.effect === "closed" ? "#a8232b" : "#b86a00";
      for (const path of change.geometry ? change.geometry.paths : []) {
        roads.addLayer(L.polyline(path.map(([x, y]) => [y, x]), { color, weight: 5, dashArray: "2 8" })
          .bindTooltip(element("span", text)));
      }
      const item = element("li", text + " ");
      item.dataset.change = change.number;
      if (here().mayChange) item.append(button("End", () => send("undo", { changes: change.number })));
      return item;
    }));
    if (found.failure) changes.append(element("li", found.failure));
    if (found.exceededTransferLimit) changes.append(element("li", "…"));
    panel.dataset.changes = changes.querySelectorAll("li[data-change]").length;
    closing.hidden = !here().mayChange;
  }

  async function send(action, parameters) {
    const body = new URLSearchParams({ ...parameters, f: "json" });
    if (proof) body.set("csrf", proof);
    const done = await json(`${here().service}/roads/${action}`, { method: "POST", body });
    said.textContent = done.failure || (done.restored ? `Change ${done.restored.join(", ")} has ended.`
      : `Change ${done.number}: ${done.streets.join(", ") || "a road"} is closed.`);
    if (done.failure) return;
    await Promise.all([showRoads(), find()]);
  }

  function closeRoad(place) {
    const at = place.wrap(), parameters = { geometry: `${at.lng},${at.lat}` };
    if (reason.value.trim()) parameters.reason = reason.value.trim();
    return send("close", parameters);
  }

  async function showModes() {
    const found = await json(`${here().service}/Route/retrieveTravelModes?f=json`);
    mode.replaceChildren(...(found.supportedTravelModes || []).map((one) => new Option(one.name, one.name)));
    if (found.failure) said.textContent = found.failure;
  }

  async function begin() {
    await Promise.all([showModes(), showRoads()]);
    panel.dataset.ready = "yes";
    return find();
  }
  mode.addEventListener("change", find);
  network.addEventListener("change", begin);
  panel.addEventListener("toggle", () => {
    if (!panel.open) {
      if (shared.tool) setTool(null, shared.tool);
      lines.remove();
      roads.remove();
      for (const end of ends) if (end) end.remove();
      return;
    }
    lines.addTo(map);
    roads.addTo(map);
    for (const end of ends) if (end) end.addTo(map);
    begin();
  });
})();
