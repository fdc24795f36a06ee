"use strict";
// The vector tiles of a map, drawn as their style says; on the page of a VectorTileServer.
(() => {
  const box = document.getElementById("map");
  if (!box || typeof L === "undefined") return;
  const { service, pictures, extent } = box.dataset;
  const said = document.getElementById("said"), choice = document.getElementById("pictures");
  const crs = L.CRS.EPSG3857, side = 512;
  box.replaceChildren();
  const map = L.map(box, { crs, minZoom: 1, maxZoom: 23, zoomAnimation: false });

  // Protocol buffers: numbers and values of a message's fields.
  function* fields(bytes) {
    let place = 0;
    function number() {
      let value = 0, factor = 1, byte;
      do {
        byte = bytes[place++];
        value += (byte & 127) * factor;
        factor *= 128;
      } while (byte > 127);
      return value;
    }
    while (place < bytes.length) {
      const key = number(), kind = key & 7;
      if (kind === 0) yield [key >> 3, number()];
      else {
        const length = kind === 2 ? number() : kind === 1 ? 8 : 4;
        yield [key >> 3, bytes.subarray(place, place += length)];
      }
    }
  }

  function numbers(bytes) {
    const result = [];
    for (let place = 0; place < bytes.length;) {
      let value = 0, factor = 1, byte;
      do {
        byte = bytes[place++];
        value += (byte & 127) * factor;
        factor *= 128;
      } while (byte > 127);
      result.push(value);
    }
    return result;
  }

  const texts = new TextDecoder();
  function attribute(bytes) {
    for (const [number, value] of fields(bytes)) {
      const view = typeof value === "number" ? null : new DataView(value.buffer, value.byteOffset);
      switch (number) {
        case 1: return texts.decode(value);
        case 2: return view.getFloat32(0, true);
        case 3: return view.getFloat64(0, true);
        case 6: return value % 2 ? -(value + 1) / 2 : value / 2;
        case 7: return value === 1;
        // Numbers below 0 have all of 64 bits.
        default: return value >= 2 ** 63 ? value - 2 ** 64 : value;
      }
    }
    return null;
  }

  function parts(commands) {
    const result = [];
    let x = 0, y = 0, place = 0;
    while (place < commands.length) {
      const command = commands[place] & 7;
      for (let count = Math.floor(commands[place++] / 8); count > 0; count--) {
        if (command === 7) { result.at(-1).push(result.at(-1)[0]); continue; }
        const [dx, dy] = [commands[place++], commands[place++]];
        x += dx % 2 ? -(dx + 1) / 2 : dx / 2;
        y += dy % 2 ? -(dy + 1) / 2 : dy / 2;
        if (command === 1) result.push([]);
        result.at(-1).push([x, y]);
      }
    }
    return result;
  }

  // The layers of a tile, by name.
  function decode(bytes) {
    const layers = new Map();
    for (const [, layer] of fields(bytes)) {
      const keys = [], values = [], features = [];
      let name = "", cells = 4096;
      for (const [number, value] of fields(layer)) {
        if (number === 1) name = texts.decode(value);
        else if (number === 2) features.push(Object.fromEntries(fields(value)));
        else if (number === 3) keys.push(texts.decode(value));
        else if (number === 4) values.push(attribute(value));
        else if (number === 5) cells = value;
      }
      layers.set(name, { cells, features: features.map((feature) => {
        const tags = numbers(feature[2] || []), has = new Map();
        for (let tag = 0; tag < tags.length; tag += 2) has.set(keys[tags[tag]], values[tags[tag + 1]]);
        return { id: feature[1], has, type: feature[3], parts: parts(numbers(feature[4] || [])) };
      }) });
    }
    return layers;
  }

  // The expressions that styles of this server have.
  const functions = {
    all: (of, ...each) => each.every((one) => value(one, of)),
    any: (of, ...each) => each.some((one) => value(one, of)),
    "!": (of, one) => !value(one, of),
    "==": (of, one, other) => value(one, of) === value(other, of),
    "!=": (of, one, other) => value(one, of) !== value(other, of),
    "<": (of, one, other) => value(one, of) < value(other, of),
    "<=": (of, one, other) => value(one, of) <= value(other, of),
    ">": (of, one, other) => value(one, of) > value(other, of),
    ">=": (of, one, other) => value(one, of) >= value(other, of),
    has: (of, name) => of.has.has(name),
    get: (of, name) => of.has.get(name) ?? null,
    id: (of) => of.id,
    in: (of, part, whole) => value(whole, of).includes(value(part, of)),
    slice: (of, text, from, to) => value(text, of).slice(from, to),
    match: (of, one, labels, yes, no) => value(labels.includes(value(one, of)) ? yes : no, of),
    case: (of, test, yes, no) => value(value(test, of) ? yes : no, of),
    concat: (of, ...each) => each.map((one) => value(one, of)).join(""),
    "to-string": (of, one) => String(value(one, of) ?? ""),
  };
  function value(expression, of) {
    if (!Array.isArray(expression)) return expression;
    const found = functions[expression[0]];
    if (!found) throw new Error(`the style has '${expression[0]}'`);
    return found(of, ...expression.slice(1));
  }
  function text(field, of) {
    if (Array.isArray(field)) return value(field, of);
    return field.replace(/{([^{}]+)}/g, (_, name) => of.has.get(name) ?? "");
  }

  let style = null, sprites = null;
  const tiles = new Map();
  async function read(path) {
    const answer = await ask(path);
    if (!answer.ok && answer.status !== 204) throw new Error(`status ${answer.status}`);
    return answer;
  }
  async function tile(level, row, column) {
    const key = `${level}/${row}/${column}`;
    if (!tiles.has(key)) {
      // As many as a few screens have.
      if (tiles.size > 200) tiles.clear();
      tiles.set(key, read(`${service}/tile/${key}.pbf`).then((answer) => answer.arrayBuffer())
        .then((bytes) => decode(new Uint8Array(bytes))));
    }
    try {
      return await tiles.get(key);
    } catch (error) {
      tiles.delete(key);
      throw error;
    }
  }

  function path(brush, feature) {
    brush.beginPath();
    for (const part of feature.parts) {
      part.forEach(([x, y], place) => place ? brush.lineTo(x, y) : brush.moveTo(x, y));
    }
  }

  // Draws a layer's features in a tile, whose cells are `cell` pixels.
  function paint(brush, layer, features, cell) {
    const paint = layer.paint, layout = layer.layout || {};
    for (const feature of features) {
      if (layer.type === "fill") {
        path(brush, feature);
        brush.globalAlpha = paint["fill-opacity"] ?? 1;
        brush.fillStyle = paint["fill-color"] || pattern(brush, paint["fill-pattern"], cell);
        brush.fill("evenodd");
      } else if (layer.type === "line") {
        path(brush, feature);
        brush.globalAlpha = paint["line-opacity"] ?? 1;
        brush.strokeStyle = paint["line-color"];
        brush.lineWidth = paint["line-width"] / cell;
        brush.setLineDash((paint["line-dasharray"] || []).map((dash) => dash * brush.lineWidth));
        brush.stroke();
      } else for (const [x, y] of feature.parts.flat()) {
        if (layer.type === "circle") circle(brush, paint, x, y, cell);
        else {
          const icon = sprites && sprites.index[layout["icon-image"]];
          if (!icon) continue;
          const [width, height] = [icon.width, icon.height].map((size) => size / icon.pixelRatio / cell);
          brush.globalAlpha = paint["icon-opacity"] ?? 1;
          brush.drawImage(sprites.image, icon.x, icon.y, icon.width, icon.height,
            x - width / 2, y - height / 2, width, height);
        }
      }
    }
    brush.globalAlpha = 1;
  }

  function circle(brush, paint, x, y, cell) {
    const radius = paint["circle-radius"] / cell, ring = (paint["circle-stroke-width"] || 0) / cell;
    brush.beginPath();
    brush.arc(x, y, radius, 0, 2 * Math.PI);
    brush.globalAlpha = paint["circle-opacity"] ?? 1;
    brush.fillStyle = paint["circle-color"];
    brush.fill();
    if (!ring) return;
    brush.beginPath();
    brush.arc(x, y, radius + ring / 2, 0, 2 * Math.PI);
    brush.globalAlpha = paint["circle-stroke-opacity"] ?? 1;
    brush.strokeStyle = paint["circle-stroke-color"];
    brush.lineWidth = ring;
    brush.setLineDash([]);
    brush.stroke();
  }

  function pattern(brush, name, cell) {
    const icon = sprites && sprites.index[name];
    if (!icon) return "transparent";
    const piece = document.createElement("canvas");
    [piece.width, piece.height] = [icon.width, icon.height];
    piece.getContext("2d").drawImage(sprites.image, icon.x, icon.y, icon.width, icon.height,
      0, 0, icon.width, icon.height);
    const made = brush.createPattern(piece, "repeat"), scale = 1 / icon.pixelRatio / cell;
    made.setTransform(new DOMMatrix([scale, 0, 0, scale, 0, 0]));
    return made;
  }

  // Where a feature's label is: of a line in the middle of its longest part.
  function anchors(layer, feature) {
    if ((layer.layout["symbol-placement"] || "point") === "point") {
      return feature.type === 1 ? feature.parts.flat().map(([x, y]) => [x, y, 0]) : [];
    }
    const length = (part) => part.slice(1).reduce(
      (sum, [x, y], place) => sum + Math.hypot(x - part[place][0], y - part[place][1]), 0);
    const longest = feature.parts.reduce((one, other) => length(other) > length(one) ? other : one, []);
    if (longest.length < 2) return [];
    const place = Math.ceil((longest.length - 1) / 2);
    const [[x, y], [u, v]] = [longest[place - 1], longest[place]];
    // Never upside down.
    const angle = Math.atan((v - y) / (u - x || 1e-9));
    return [[(x + u) / 2, (y + v) / 2, angle]];
  }

  // Writes a label where no other one is.
  function write(brush, layer, label, taken) {
    const layout = layer.layout, paint = layer.paint, size = layout["text-size"];
    const font = layout["text-font"][0], bold = / Bold/.test(font), slanted = / Italic/.test(font);
    const family = font.replace(/ Bold| Italic/g, "");
    brush.font = `${slanted ? "italic " : ""}${bold ? "bold " : ""}${size}px "${family}", sans-serif`;
    const rows = label.text.split("\n"), height = size * (layout["text-line-height"] || 1.2);
    const width = Math.max(...rows.map((row) => brush.measureText(row).width));
    const anchor = layout["text-anchor"] || "center", [dx, dy] = layout["text-offset"] || [0, 0];
    const left = (anchor.includes("left") ? 0 : anchor.includes("right") ? -width : -width / 2) + dx * size;
    const tall = height * rows.length;
    const top = (anchor.includes("top") ? 0 : anchor.includes("bottom") ? -tall : -tall / 2) + dy * size;
    const [x, y] = [label.x + left, label.y + top];
    // A turned one takes the square around it.
    const around = label.angle ? [label.x - width / 2, label.y - width / 2, width, width] : [x, y, width, tall];
    if (taken.some(([a, b, c, d]) =>
      around[0] < a + c && a < around[0] + around[2] && around[1] < b + d && b < around[1] + around[3])) return 0;
    taken.push(around);
    brush.save();
    brush.translate(label.x, label.y);
    brush.rotate(label.angle);
    [brush.textBaseline, brush.lineJoin, brush.textAlign] = ["middle", "round", "left"];
    rows.forEach((row, number) => {
      const middle = top + (number + 0.5) * height;
      if (paint["text-halo-width"]) {
        [brush.strokeStyle, brush.lineWidth] = [paint["text-halo-color"], 2 * paint["text-halo-width"]];
        brush.strokeText(row, left, middle);
      }
      brush.fillStyle = paint["text-color"];
      brush.fillText(row, left, middle);
    });
    brush.restore();
    return 1;
  }

  const canvas = L.DomUtil.create("canvas", "", map.getPane("overlayPane"));
  canvas.setAttribute("aria-hidden", "true");
  let turn = 0;
  // Clears the canvas and puts it over the map as it is now.
  function place(size, ratio) {
    [canvas.width, canvas.height] = [size.x * ratio, size.y * ratio];
    [canvas.style.width, canvas.style.height] = [`${size.x}px`, `${size.y}px`];
    L.DomUtil.setPosition(canvas, map.containerPointToLayerPoint([0, 0]));
    return canvas.getContext("2d");
  }

  async function draw() {
    const mine = ++turn, zoom = map.getZoom(), level = zoom - 1, count = 2 ** level;
    const corner = map.getPixelBounds().min, size = map.getSize();
    const wanted = [];
    for (let row = Math.floor(corner.y / side); row * side < corner.y + size.y; row++) {
      for (let column = Math.floor(corner.x / side); column * side < corner.x + size.x; column++) {
        if (row >= 0 && row < count) wanted.push([row, column]);
      }
    }
    let found;
    try {
      found = await Promise.all(wanted.map(([row, column]) =>
        tile(level, row, (column % count + count) % count)));
    } catch (error) {
      if (mine === turn) said.textContent = `The tiles could not be read: ${error.message}.`;
      return;
    }
    if (mine !== turn) return;
    const ratio = window.devicePixelRatio || 1, brush = place(size, ratio);
    const shown = style.layers.filter((layer) => level >= layer.minzoom && level < layer.maxzoom);
    const labels = new Map();
    let features = 0;
    for (const layer of shown) {
      found.forEach((layers, number) => {
        const source = layers.get(layer["source-layer"]);
        if (!source) return;
        const taken = source.features.filter((each) => !layer.filter || value(layer.filter, each));
        const [row, column] = wanted[number], cell = side / source.cells;
        const [x, y] = [column * side - corner.x, row * side - corner.y];
        if (layer.layout && layer.layout["text-field"]) {
          const list = labels.get(layer) || labels.set(layer, []).get(layer);
          for (const feature of taken) {
            for (const [u, v, angle] of anchors(layer, feature)) {
              // Those in the border of a tile are its neighbour's.
              if (u < 0 || u >= source.cells || v < 0 || v >= source.cells) continue;
              const words = text(layer.layout["text-field"], feature);
              if (words) list.push({ x: x + u * cell, y: y + v * cell, angle, text: words });
            }
          }
          return;
        }
        features += taken.length;
        brush.save();
        brush.scale(ratio, ratio);
        brush.translate(x, y);
        brush.beginPath();
        brush.rect(0, 0, side, side);
        // A symbol is whole, in the tile that has its middle.
        if (layer.type === "fill" || layer.type === "line") brush.clip();
        brush.scale(cell, cell);
        paint(brush, layer, taken, cell);
        brush.restore();
      });
    }
    brush.scale(ratio, ratio);
    const taken = [];
    let written = 0;
    // The labels of upper layers first.
    for (const layer of [...shown].reverse()) {
      for (const label of labels.get(layer) || []) written += write(brush, layer, label, taken);
    }
    said.textContent = `Level ${level}: ${found.length} tiles, ${features} shapes, ${written} labels.`;
    box.dataset.drawn = mine;
  }

  // The map as the map service draws it, for comparison.
  async function drawPicture() {
    const mine = ++turn, bounds = map.getPixelBounds(), scale = crs.scale(map.getZoom()), size = map.getSize();
    const low = crs.transformation.untransform(bounds.getBottomLeft(), scale);
    const high = crs.transformation.untransform(bounds.getTopRight(), scale);
    const query = new URLSearchParams({ bbox: [low.x, low.y, high.x, high.y].join(","), bboxSR: 3857, imageSR: 3857,
      size: `${size.x},${size.y}`, format: "png", transparent: "true", f: "image" });
    let image;
    try {
      image = await createImageBitmap(await (await read(`${pictures}/export?${query}`)).blob());
    } catch (error) {
      if (mine === turn) said.textContent = "The map could not be drawn.";
      return;
    }
    if (mine !== turn) return;
    place(size, 1).drawImage(image, 0, 0);
    said.textContent = "The picture of the map service.";
    box.dataset.drawn = mine;
  }

  async function start() {
    try {
      style = await (await read(service + "/resources/styles/root.json")).json();
      const sprite = service + "/resources/sprites/sprite@2x";
      const index = await (await read(sprite + ".json")).json();
      const bytes = await (await read(sprite + ".png")).blob();
      sprites = { index, image: await createImageBitmap(bytes) };
    } catch (error) {
      said.textContent = `The style could not be read: ${error.message}.`;
      return;
    }
    const both = () => (choice.checked ? drawPicture() : draw()).catch((error) => {
      said.textContent = `The tiles could not be drawn: ${error.message}.`;
    });
    choice.addEventListener("change", both);
    const [left, bottom, right, top] = extent.split(",").map(Number);
    // A corner of the world has no place in degrees beyond its border.
    map.fitBounds([[left, bottom], [right, top]].map(([x, y]) => crs.unproject(L.point(x, y))));
    map.on("moveend resize", both);
    both();
    window.cairnMap = { map };
  }
  start();
})();
