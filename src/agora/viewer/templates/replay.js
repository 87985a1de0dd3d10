import { TURN, between, mix, people, pose, trails } from "./track.js";
import { Painter } from "./painter.js";

// The first script of a page starts all its replays: a module does not know where it stands.
for (const root of document.querySelectorAll(".replay:not([data-started])")) {
  root.dataset.started = "";
  start(root);
}

function start(root) {
  const shared = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
  const part = {};
  for (const element of root.querySelectorAll("[data-part]")) part[element.dataset.part] = element;
  const painter = new Painter(part.canvas), chart = part.timeline.getContext("2d");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const alone = document.body.matches(".replay-alone"), still = matchMedia("(prefers-reduced-motion: reduce)");
  const EDGE = 8, CHART_TOP = 2;
  let episode = null, colours = shared.colours.light, time = 0, playing = false, last = 0, asked = false;

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
    const { extent, door, goal, tolerance, radius, outline } = e, plan = shared.maps[e.map] ?? null;
    const route = Array.from(e.x, (x, i) => [x, e.y[i]]);
    e.scene = { extent, plan, door, goal, tolerance, radius, outline, route, states: shared.states, flash: shared.flash };
    return e;
  }

  function gap(row, [k, j, f]) {
    const value = row[k] + (f > 0 && row[k] < Infinity && row[j] < Infinity ? f * (row[j] - row[k]) : 0);
    return Math.abs(value) < 0.005 ? 0 : value;
  }
  function speed(e, s) {
    const [k, j] = between(e.time, Math.max(0, s - 1e-6));
    return j > k ? Math.hypot(e.x[j] - e.x[k], e.y[j] - e.y[k]) / (e.time[j] - e.time[k]) : 0;
  }

  function fit() {
    painter.fit(episode.extent);
    ask();
  }
  function zoom(factor, px, py) {
    painter.zoom(factor, px, py);
    ask();
  }

  function resize() {
    if (!episode) return;
    const [left, bottom, right, top] = episode.extent;
    const width = Math.max(1, part.stage.clientWidth);
    const most = alone ? innerHeight - root.offsetTop - root.offsetHeight + part.stage.offsetHeight : innerHeight * 0.72;
    const height = Math.round(Math.min(width * Math.min(0.8, Math.max(0.35, (top - bottom) / (right - left))), Math.max(280, most)));
    part.canvas.style.height = height + "px";
    painter.resize(width, height);
    resizeTimeline();
    if (painter.fitted) fit(); else ask();
  }

  function resizeTimeline() {
    const ratio = devicePixelRatio || 1;
    part.timeline.width = Math.round(part.timeline.clientWidth * ratio);
    part.timeline.height = Math.round(part.timeline.clientHeight * ratio);
    chart.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  function draw() {
    const e = episode, b = between(e.time, time), robot = pose(e, b);
    const planned = part.planned.checked && e.paths.findLast(([since]) => since <= time + 1e-9);
    painter.draw(e.scene, {
      time, robot, others: [], people: people(e, b), scan: null, ids: part.names.checked,
      trails: part.trails.checked ? trails(e, time, shared.trail) : [],
      travelled: [...e.scene.route.slice(0, b[0] + 1), [robot.x, robot.y]],
      planned: planned ? planned[1] : [],
      open: e.door ? mix(e.door.open, b) : 1,
      contacts: e.contacts.filter(([when]) => when <= time + 1e-9),
    });
    drawTimeline();
    const metres = (row) => { const m = gap(row, b); return strong(m < Infinity ? `${m.toFixed(2)} m` : "none"); };
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
    painter.fitted = true;
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
    await painter.dress(colours, shared.maps);
    if (episode) ask();
  }
  const keys = {
    " ": () => play(!playing),
    ArrowLeft: (event) => seek(event.shiftKey ? episode.time[Math.max(0, between(episode.time, time - 1e-6)[0])] : time - 1),
    ArrowRight: (event) => seek(event.shiftKey ? episode.time[between(episode.time, time)[1]] : time + 1),
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
    painter.pan(event.movementX, event.movementY);
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
  theme().then(open).then(() => play(alone && !still.matches));
}
