(() => {
  "use strict";
  const root = document.currentScript.closest(".replay");
  const shared = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
  const part = {};
  for (const element of root.querySelectorAll("[data-part]")) part[element.dataset.part] = element;
  const pen = part.canvas.getContext("2d"), chart = part.timeline.getContext("2d");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const TURN = 2 * Math.PI, EDGE = 8, CHART_TOP = 2;
  let episode = null, colours = shared.colours.light, time = 0, playing = false, last = 0, asked = false, fitted = true;
  let view = { scale: 1, x: 0, y: 0 }, width = 0, height = 0, masks = [];

  async function inflate(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // Low bytes, high bytes (channel after channel, second differences in time), then bits of presence.
  async function unpack(e) {
    const bytes = await inflate(e.data), T = e.samples, P = e.radii.length, before = 4 + shared.units.extra, size = (3 * P + before) * T;
    const rows = [];
    for (let c = 0; c < 3 * P + before; c++) {
      const row = new Float64Array(T);
      for (let t = 0, value = 0, slope = 0; t < T; t++) {
        const i = c * T + t;
        slope = (slope + bytes[i] + (bytes[size + i] << 8)) & 65535;
        value = (value + slope) & 65535;
        row[t] = value;
      }
      rows.push(row);
    }
    const scaled = (row, unit, offset) => row.map((v) => v * unit + offset);
    e.time = scaled(rows[0], e.time_unit, 0);
    e.x = scaled(rows[1], e.unit, e.origin[0]);
    e.y = scaled(rows[2], e.unit, e.origin[1]);
    e.heading = scaled(rows[3], TURN / e.turn, 0);
    const signed = (row, unit) => row.map((v) => (v === shared.units.none ? Infinity : v > 32767 ? v - 65536 : v) * unit);
    e.people_gap = signed(rows[4], shared.units.gap);
    e.wall_gap = signed(rows[5], shared.units.gap);
    e.command = e.commands ? rows.slice(6, 9).map((row) => signed(row, shared.units.command)) : null;
    e.people = [];
    const marks = 2 * size + Math.ceil(P * T / 8);
    for (let p = 0; p < P; p++) {
      const bit = (t) => { const i = p * T + t; return (bytes[2 * size + (i >> 3)] >> (7 - (i & 7))) & 1; };
      e.people.push({
        id: e.ids[p], radius: e.radii[p], present: Uint8Array.from({ length: T }, (_, t) => bit(t)),
        x: scaled(rows[before + p], e.unit, e.origin[0]), y: scaled(rows[before + P + p], e.unit, e.origin[1]),
        heading: scaled(rows[before + 2 * P + p], TURN / e.turn, 0),
        state: e.states ? bytes.subarray(marks + p * T, marks + (p + 1) * T) : null,
      });
    }
    return e;
  }

  function between(e, s) {
    let low = 0, high = e.time.length - 1;
    while (low < high) { const middle = (low + high + 1) >> 1; if (e.time[middle] <= s + 1e-9) low = middle; else high = middle - 1; }
    const next = Math.min(low + 1, e.time.length - 1);
    return [low, next, Math.min(1, Math.max(0, (s - e.time[low]) / Math.max(e.time[next] - e.time[low], 1e-9)))];
  }
  const mix = (row, [k, j, f]) => row[k] + f * (row[j] - row[k]);
  const angle = (row, [k, j, f]) => row[k] + f * (((row[j] - row[k] + 1.5 * TURN) % TURN + TURN) % TURN - TURN / 2);
  const seen = (p, [k, j, f]) => p.present[k] && (p.present[j] || f < 1e-6);
  const place = (p, b) => ({ x: mix(p.x, b), y: mix(p.y, b), heading: angle(p.heading, b), radius: p.radius, id: p.id, mark: p.state ? shared.states[p.state[b[0]]] : null });

  function at(e, s) {
    const b = between(e, s);
    return { robot: { x: mix(e.x, b), y: mix(e.y, b), heading: angle(e.heading, b) }, people: e.people.filter((p) => seen(p, b)).map((p) => place(p, b)) };
  }
  function gap(row, [k, j, f]) {
    const value = row[k] + (f > 0 && row[k] < Infinity && row[j] < Infinity ? f * (row[j] - row[k]) : 0);
    return Math.abs(value) < 0.005 ? 0 : value;
  }
  function speed(e, s) {
    const [k, j] = between(e, Math.max(0, s - 1e-6));
    return j > k ? Math.hypot(e.x[j] - e.x[k], e.y[j] - e.y[k]) / (e.time[j] - e.time[k]) : 0;
  }

  function fit() {
    const [left, bottom, right, top] = episode.extent;
    view = { scale: Math.min(width / (right - left), height / (top - bottom)), x: (left + right) / 2, y: (bottom + top) / 2 };
    fitted = true;
    ask();
  }
  function zoom(factor, px = width / 2, py = height / 2) {
    const scale = Math.min(2000, Math.max(1, view.scale * factor));
    view.x += (px - width / 2) * (1 / view.scale - 1 / scale);
    view.y -= (py - height / 2) * (1 / view.scale - 1 / scale);
    view.scale = scale;
    fitted = false;
    ask();
  }
  const sx = (x) => width / 2 + (x - view.x) * view.scale;
  const sy = (y) => height / 2 - (y - view.y) * view.scale;

  function size(canvas, context, w, h) {
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }
  function resize() {
    if (!episode) return;
    const [left, bottom, right, top] = episode.extent;
    width = Math.max(1, part.stage.clientWidth);
    height = Math.round(Math.min(width * Math.min(0.8, Math.max(0.35, (top - bottom) / (right - left))), Math.max(280, innerHeight * 0.72)));
    part.canvas.style.height = height + "px";
    size(part.canvas, pen, width, height);
    size(part.timeline, chart, part.timeline.clientWidth, part.timeline.clientHeight);
    if (fitted) fit(); else ask();
  }

  function disc(x, y, radius, fill, stroke, line = 1.5) {
    pen.beginPath();
    pen.arc(sx(x), sy(y), Math.max(radius * view.scale, 1), 0, TURN);
    if (fill) { pen.fillStyle = fill; pen.fill(); }
    if (stroke) { pen.strokeStyle = stroke; pen.lineWidth = line; pen.stroke(); }
  }
  function line(points, colour, wide) {
    pen.beginPath();
    points.forEach(([x, y], i) => (i ? pen.lineTo(sx(x), sy(y)) : pen.moveTo(sx(x), sy(y))));
    pen.strokeStyle = colour;
    pen.lineWidth = wide;
    pen.lineJoin = pen.lineCap = "round";
    pen.stroke();
  }
  function body(p, radius, colour) {
    disc(p.x, p.y, radius, colour, colours.ground, 1);
    line([[p.x, p.y], [p.x + radius * Math.cos(p.heading), p.y + radius * Math.sin(p.heading)]], colours.ground, Math.max(1.5, 0.22 * radius * view.scale));
  }

  function robot(at, e) {
    if (!e.outline.length) { body(at, e.radius, colours.robot); return; }
    const c = Math.cos(at.heading), s = Math.sin(at.heading), place = ([x, y]) => [at.x + c * x - s * y, at.y + s * x + c * y];
    const corners = e.outline.map(place), front = Math.max(...e.outline.map(([x]) => x));
    line([...corners, corners[0]], colours.ground, 2);
    pen.fillStyle = colours.robot;
    pen.fill();
    line([[at.x, at.y], place([front, 0])], colours.ground, Math.max(1.5, 0.2 * e.radius * view.scale));
  }

  function drawMap(map, index) {
    if (map.cells && masks[index]) {
      const [left, bottom, right, top] = map.extent;
      pen.imageSmoothingEnabled = false;
      pen.drawImage(masks[index], sx(left), sy(top), (right - left) * view.scale, (top - bottom) * view.scale);
    }
    for (const polygon of map.polygons) {
      line([...polygon, polygon[0]], colours.wall, 1);
      pen.fillStyle = colours.wall;
      pen.fill();
    }
    for (const [x, y, radius] of map.discs) disc(x, y, radius, colours.wall);
    for (const [x0, y0, x1, y1] of map.segments) line([[x0, y0], [x1, y1]], colours.wall, 2.5);
  }
  function drawDoor(e) {
    const [[ax, ay], [bx, by]] = e.door.ends, leaf = 0.5 * (1 - mix(e.door.open, between(e, time)));
    const wide = Math.max(2.5, e.door.thickness * view.scale);
    if (leaf <= 0) return;
    for (const [x, y, side] of [[ax, ay, leaf], [bx, by, -leaf]]) line([[x, y], [x + side * (bx - ax), y + side * (by - ay)]], colours.wall, wide);
  }
  async function paintMasks() {
    masks = await Promise.all(shared.maps.map(async (map) => {
      if (!map.cells) return null;
      const image = new Image();
      image.src = map.cells;
      await image.decode();
      const mask = document.createElement("canvas"), brush = mask.getContext("2d");
      mask.width = image.width;
      mask.height = image.height;
      brush.drawImage(image, 0, 0);
      brush.globalCompositeOperation = "source-in";
      brush.fillStyle = colours.wall;
      brush.fillRect(0, 0, mask.width, mask.height);
      return mask;
    }));
  }

  function drawContacts(moment) {
    for (const [when, kind, party, x, y, words] of episode.contacts) {
      if (time + 1e-9 < when) continue;
      for (const p of moment.people) if (kind === 1 && p.id === party) disc(p.x, p.y, p.radius, null, colours.contact, 3);
      const age = (time - when) / shared.flash, r = 0.5 * episode.radius;
      for (const [colour, wide] of [[colours.ground, 6], [colours.contact, 3]]) {
        line([[x - r, y - r], [x + r, y + r]], colour, wide);
        line([[x - r, y + r], [x + r, y - r]], colour, wide);
      }
      label(words, x, y - 1.6 * episode.radius);
      if (age > 1) continue;
      pen.globalAlpha = 1 - age;
      disc(x, y, episode.radius * (1.2 + 2 * age), null, colours.contact, 5);
      pen.globalAlpha = 1;
    }
  }
  function label(words, x, y) {
    pen.font = "600 13px system-ui, sans-serif";
    const half = pen.measureText(words).width / 2 + 6, at = Math.min(Math.max(sx(x), half), width - half);
    pen.textAlign = "center";
    pen.textBaseline = "top";
    pen.lineWidth = 4;
    pen.strokeStyle = colours.ground;
    pen.strokeText(words, at, sy(y));
    pen.fillStyle = colours.ink;
    pen.fillText(words, at, sy(y));
    pen.textAlign = "start";
    pen.textBaseline = "alphabetic";
  }
  function drawScale() {
    const metres = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].find((m) => m * view.scale >= 50) || 200;
    pen.fillStyle = pen.strokeStyle = colours.faint;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(12, height - 14); pen.lineTo(12, height - 10); pen.lineTo(12 + metres * view.scale, height - 10); pen.lineTo(12 + metres * view.scale, height - 14);
    pen.stroke();
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(`${metres} m`, 16, height - 16);
  }
  function draw() {
    const e = episode, moment = at(e, time), [k] = between(e, time);
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, width, height);
    if (e.map >= 0) drawMap(shared.maps[e.map], e.map);
    if (e.door) drawDoor(e);
    pen.setLineDash([6, 4]);
    disc(e.goal[0], e.goal[1], e.tolerance, null, colours.goal, 2.5);
    pen.setLineDash([]);
    disc(e.goal[0], e.goal[1], 0.35 * e.tolerance, colours.goal);
    const planned = e.paths.findLast(([since]) => since <= time + 1e-9);
    if (planned && planned[1].length > 1 && part.planned.checked) {
      pen.setLineDash([7, 6]);
      line(planned[1], colours.goal, 1.5);
      pen.setLineDash([]);
    }
    const path = Array.from(e.x, (x, i) => [x, e.y[i]]);
    pen.globalAlpha = 0.25;
    line(path, colours.robot, 2);
    pen.globalAlpha = 1;
    line([...path.slice(0, k + 1), [moment.robot.x, moment.robot.y]], colours.robot, 2.5);
    disc(path[0][0], path[0][1], 0.3 * e.radius, colours.ground, colours.robot, 2);
    if (part.trails.checked) {
      for (let back = shared.trail[1]; back <= shared.trail[0] + 1e-9 && back <= time; back += shared.trail[1]) {
        const b = between(e, time - back), now = between(e, time);
        pen.globalAlpha = 0.8 * (1 - back / (shared.trail[0] + shared.trail[1]));
        for (const p of e.people) if (seen(p, b) && seen(p, now)) disc(mix(p.x, b), mix(p.y, b), 0.25 * p.radius, colours.pedestrian);
      }
      pen.globalAlpha = 1;
    }
    for (const p of moment.people) body(p, p.radius, p.mark ? p.mark[0] : colours.pedestrian);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const p of moment.people) {
      if (!p.mark || !p.mark[1]) continue;
      pen.fillStyle = "#1B1F24";
      pen.font = `bold ${Math.max(9, 1.1 * p.radius * view.scale)}px system-ui, sans-serif`;
      pen.fillText(p.mark[1], sx(p.x), sy(p.y));
    }
    pen.textAlign = "start";
    pen.textBaseline = "alphabetic";
    robot(moment.robot, e);
    drawContacts(moment);
    if (part.names.checked) {
      pen.fillStyle = colours.ink;
      pen.font = "11px system-ui, sans-serif";
      for (const p of moment.people) pen.fillText(p.id, sx(p.x) + p.radius * view.scale + 2, sy(p.y) - p.radius * view.scale);
    }
    drawScale();
    drawTimeline();
    const b = between(e, time), metres = (row) => { const m = gap(row, b); return strong(m < Infinity ? `${m.toFixed(2)} m` : "none"); };
    const asked = e.command ? e.command.map((row) => { const v = row[Math.min(b[0], Math.max(0, row.length - 2))]; return Math.abs(v) < 0.005 ? 0 : v; }) : null;
    part.readout.replaceChildren(strong(`${time.toFixed(1)} s`), ` of ${e.time.at(-1).toFixed(1)} s · speed `, strong(`${speed(e, time).toFixed(2)} m/s`),
      ...(asked ? [" · command ", strong(`${asked[0].toFixed(2)} m/s, ${asked[1] ? `${asked[1].toFixed(2)} m/s sideways, ` : ""}${asked[2].toFixed(2)} rad/s`)] : []),
      " · to people ", metres(e.people_gap), " · to walls ", metres(e.wall_gap));
    part.scrubber.value = time;
    part.scrubber.setAttribute("aria-valuetext", `${time.toFixed(1)} seconds`);
  }
  function strong(text) {
    const element = document.createElement("b");
    element.textContent = text;
    return element;
  }
  function drawTimeline() {
    const w = part.timeline.clientWidth, h = part.timeline.clientHeight, end = Math.max(episode.time.at(-1), 1e-9);
    const tx = (s) => EDGE + (s / end) * (w - 2 * EDGE), ty = (m) => h - (Math.min(2, Math.max(0, m)) / 2) * (h - CHART_TOP);
    chart.clearRect(0, 0, w, h);
    chart.beginPath();
    chart.moveTo(tx(0), h);
    episode.time.forEach((s, i) => chart.lineTo(tx(s), ty(episode.people_gap[i])));
    chart.lineTo(tx(end), h);
    chart.fillStyle = colours.pedestrian;
    chart.globalAlpha = 0.35;
    chart.fill();
    chart.globalAlpha = 1;
    if (episode.wall_gap.some(Number.isFinite)) {
      chart.beginPath();
      episode.time.forEach((s, i) => chart.lineTo(tx(s), ty(episode.wall_gap[i])));
      chart.strokeStyle = colours.wall;
      chart.lineWidth = 1.5;
      chart.stroke();
    }
    chart.fillStyle = colours.contact;
    for (const [when] of episode.contacts) chart.fillRect(tx(when) - 1.5, 0, 3, h);
    chart.fillStyle = colours.faint;
    chart.fillRect(EDGE, h - 1, w - 2 * EDGE, 1);
    chart.font = "11px system-ui, sans-serif";
    chart.fillText("clearance to people (filled) and walls (line), 0 to 2 m", EDGE + 4, 12);
    chart.fillStyle = colours.robot;
    chart.fillRect(tx(time) - 1, 0, 2, h);
  }

  function ask() {
    if (!asked) { asked = true; requestAnimationFrame(tick); }
  }
  function tick(now) {
    asked = false;
    if (!episode) return;
    if (playing) {
      time += Math.min(0.2, (now - last) / 1000) * Number(part.speed.value);
      last = now;
      if (time >= episode.time.at(-1)) { time = episode.time.at(-1); play(false); }
    }
    draw();
    if (playing) ask();
  }
  function play(on) {
    playing = on;
    part.play.textContent = on ? "❚❚" : "▶";
    part.play.setAttribute("aria-label", on ? "Pause" : "Play");
    if (on && time >= episode.time.at(-1)) time = 0;
    last = performance.now();
    ask();
  }
  function seek(s) {
    time = Math.min(episode.time.at(-1), Math.max(0, s));
    ask();
  }
  function choose(index) {
    const count = shared.episodes.length;
    part.episode.value = String(((index % count) + count) % count);
    return open();
  }
  async function open() {
    const e = shared.episodes[Number(part.episode.value)];
    play(false);
    if (!e.time) await unpack(e);
    episode = e;
    time = 0;
    fitted = true;
    part.scrubber.max = e.time.at(-1);
    const dot = document.createElement("i");
    dot.style.background = shared.outcomes[e.outcome] || colours.faint;
    part.outcome.replaceChildren(dot, e.outcome.replaceAll("_", " "));
    part.why.textContent = e.why;
    resize();
  }

  async function theme(light) {
    colours = dark.matches && light !== true ? shared.colours.dark : shared.colours.light;
    for (const mark of root.querySelectorAll("[data-role]")) mark.style.background = colours[mark.dataset.role];
    await paintMasks();
    if (episode) ask();
  }
  const keys = {
    " ": () => play(!playing),
    ArrowLeft: (event) => seek(event.shiftKey ? episode.time[Math.max(0, between(episode, time - 1e-6)[0])] : time - 1),
    ArrowRight: (event) => seek(event.shiftKey ? episode.time[between(episode, time)[1]] : time + 1),
    ArrowUp: () => { part.speed.selectedIndex = Math.min(part.speed.length - 1, part.speed.selectedIndex + 1); },
    ArrowDown: () => { part.speed.selectedIndex = Math.max(0, part.speed.selectedIndex - 1); },
    Home: () => seek(0), End: () => seek(Infinity),
    n: () => choose(Number(part.episode.value) + 1), p: () => choose(Number(part.episode.value) - 1),
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: () => fit(),
  };
  root.addEventListener("keydown", (event) => {
    const button = event.target.closest("button, input[type=checkbox]") && event.key === " ";
    if (!episode || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select") || button || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key](event);
  });
  part.play.addEventListener("click", () => play(!playing));
  part.scrubber.addEventListener("input", () => seek(Number(part.scrubber.value)));
  part.timeline.addEventListener("click", (event) => seek(((event.offsetX - EDGE) / (part.timeline.clientWidth - 2 * EDGE)) * episode.time.at(-1)));
  part.episode.addEventListener("change", open);
  part.trails.addEventListener("change", ask);
  part.names.addEventListener("change", ask);
  part.planned.addEventListener("change", ask);
  part.closer.addEventListener("click", () => zoom(1.25));
  part.farther.addEventListener("click", () => zoom(0.8));
  part.fit.addEventListener("click", fit);
  part.canvas.addEventListener("dblclick", fit);
  part.canvas.addEventListener("wheel", (event) => {
    if (!root.contains(document.activeElement) && !event.ctrlKey) return;
    event.preventDefault();
    zoom(Math.exp(-0.0015 * event.deltaY), event.offsetX, event.offsetY);
  }, { passive: false });
  part.canvas.addEventListener("pointerdown", (event) => {
    root.focus({ preventScroll: true });
    part.canvas.setPointerCapture(event.pointerId);
    part.canvas.classList.add("dragging");
  });
  part.canvas.addEventListener("pointermove", (event) => {
    if (!part.canvas.hasPointerCapture(event.pointerId)) return;
    view.x -= event.movementX / view.scale;
    view.y += event.movementY / view.scale;
    fitted = false;
    ask();
  });
  part.canvas.addEventListener("lostpointercapture", () => part.canvas.classList.remove("dragging"));
  addEventListener("resize", resize);
  addEventListener("agora-play", async (event) => {
    const index = shared.episodes.findIndex((e) => e.name === event.detail);
    if (index < 0) return;
    await choose(index);
    seek(episode.from);
    play(true);
    root.scrollIntoView({ block: "center" });
    root.focus({ preventScroll: true });
  });
  dark.addEventListener("change", theme);
  addEventListener("beforeprint", () => theme(true));
  addEventListener("afterprint", theme);
  theme().then(open);
})();
