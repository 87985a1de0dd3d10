// Draws a moment of an episode on a canvas, for the replay of a report and for the live page.
import { TURN } from "./track.js";

/**
 * @typedef {import("./track.js").Pose} Pose
 * @typedef {import("./track.js").Person} Person
 * @typedef {import("./track.js").Dot} Dot
 * @typedef {[number, number]} Point
 * @typedef {[number, number, number]} Place x, y, heading
 * @typedef {[number, number, number, number]} Extent left, bottom, right, top, m
 * @typedef {Record<string, string>} Colours by role, as `agora.viewer.scene` names them
 * @typedef {{cells: string, extent?: Extent, segments: number[][], discs: number[][], polygons: Point[][]}} Plan
 * @typedef {{ends: Point[], thickness: number}} Door
 * @typedef {[number, number, number, number, number, string]} Contact time, kind (1 with a person), party, x, y, words
 * @typedef {object} Scene what stays the same in an episode
 * @property {Extent} extent
 * @property {Plan | null} plan
 * @property {Door | null} door
 * @property {number[]} goal
 * @property {number} tolerance
 * @property {number} radius
 * @property {Point[]} outline of the robot; none of a disc
 * @property {Point[]} route way of the whole episode, where it is known already
 * @property {[string, string][]} states colour and letter of each social state
 * @property {number} flash how long a contact flashes, s
 * @typedef {object} Moment
 * @property {number} time
 * @property {Pose} robot
 * @property {(Pose & {radius: number})[]} others other robots
 * @property {Person[]} people
 * @property {Dot[]} trails
 * @property {Point[]} travelled
 * @property {Point[]} planned
 * @property {number} open share to which the door is open
 * @property {Contact[]} contacts those that have happened
 * @property {Scan | null} scan
 * @property {boolean} ids write the number of each person
 * @typedef {{ranges: ArrayLike<number>, pose: Place, first: number, step: number, most: number}} Scan pose in the robot's frame; angles, rad; longest range
 */

const INK = "#1B1F24"; // of letters on people, on a light and a dark ground

export class Painter {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    /** @type {Colours} */
    this.colours = {};
    /** @type {Map<Plan, HTMLCanvasElement>} */
    this.masks = new Map();
    this.width = this.height = this.scale = 1;
    this.x = this.y = 0;
    this.fitted = true;
  }

  /** Take on colours, also for the cells of the maps. @param {Colours} colours @param {Plan[]} plans */
  async dress(colours, plans) {
    this.colours = colours;
    const masks = await Promise.all(plans.filter((plan) => plan.cells).map(async (plan) => /** @type {const} */ ([plan, await mask(plan, colours.wall)])));
    this.masks = new Map(masks);
  }

  /** Size of the canvas, in pixels of the page. @param {number} width @param {number} height */
  resize(width, height) {
    const ratio = devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  /** Show a whole extent. @param {Extent} extent */
  fit([left, bottom, right, top]) {
    this.scale = Math.min(this.width / (right - left), this.height / (top - bottom));
    this.look((left + right) / 2, (bottom + top) / 2);
    this.fitted = true;
  }
  /** Put a place in the middle. @param {number} x @param {number} y */
  look(x, y) {
    this.x = x;
    this.y = y;
    this.fitted = false;
  }
  /** Zoom, so that what lies under a pixel stays there. @param {number} factor @param {number} [px] @param {number} [py] */
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const scale = Math.min(2000, Math.max(1, this.scale * factor)), change = 1 / this.scale - 1 / scale;
    this.scale = scale;
    this.look(this.x + (px - this.width / 2) * change, this.y - (py - this.height / 2) * change);
  }
  /** Move what is shown by so many pixels. @param {number} px @param {number} py */
  pan(px, py) {
    this.look(this.x - px / this.scale, this.y + py / this.scale);
  }

  /** Draw what stands still. @param {Scene} scene @param {number} [open] share to which the door is open */
  drawPlace(scene, open = 1) {
    this.ground(scene.plan);
    if (scene.door) this.#door(scene.door, open);
    this.goal(scene);
  }
  /** Draw the ground and a map. @param {Plan | null} plan */
  ground(plan) {
    this.pen.fillStyle = this.colours.ground;
    this.pen.fillRect(0, 0, this.width, this.height);
    if (plan) this.#plan(plan);
  }

  /** Draw a moment. @param {Scene} scene @param {Moment} now */
  draw(scene, now) {
    const { pen, colours } = this;
    this.drawPlace(scene, now.open);
    if (now.planned.length > 1) {
      pen.setLineDash([7, 6]);
      this.line(now.planned, colours.goal, 1.5);
      pen.setLineDash([]);
    }
    pen.globalAlpha = 0.25;
    this.line(scene.route, colours.robot, 2);
    pen.globalAlpha = 1;
    this.line(now.travelled, colours.robot, 2.5);
    if (now.travelled.length) this.disc(...now.travelled[0], 0.3 * scene.radius, colours.ground, colours.robot, 2);
    if (now.scan) this.#scan(now.scan, now.robot);
    for (const dot of now.trails) {
      pen.globalAlpha = 0.8 * dot.fade;
      this.disc(dot.x, dot.y, 0.25 * dot.radius, colours.pedestrian);
    }
    pen.globalAlpha = 1;
    this.people(scene, now.people);
    for (const other of now.others) this.body(other, other.radius, colours.others);
    this.robot(scene, now.robot);
    this.#contacts(scene, now);
    if (now.ids) {
      pen.fillStyle = colours.ink;
      pen.font = "11px system-ui, sans-serif";
      for (const p of now.people) pen.fillText(String(p.id), this.sx(p.x) + p.radius * this.scale + 2, this.sy(p.y) - p.radius * this.scale);
    }
    this.ruler();
  }

  /** @param {number} x */
  sx(x) { return this.width / 2 + (x - this.x) * this.scale; }
  /** @param {number} y */
  sy(y) { return this.height / 2 - (y - this.y) * this.scale; }

  /** @param {number} x @param {number} y @param {number} radius @param {string | null} fill @param {string} [stroke] @param {number} [wide] */
  disc(x, y, radius, fill, stroke, wide = 1.5) {
    const { pen } = this;
    pen.beginPath();
    pen.arc(this.sx(x), this.sy(y), Math.max(radius * this.scale, 1), 0, TURN);
    if (fill) { pen.fillStyle = fill; pen.fill(); }
    if (stroke) { pen.strokeStyle = stroke; pen.lineWidth = wide; pen.stroke(); }
  }
  /** @param {Point[]} points @param {string} colour @param {number} wide */
  line(points, colour, wide) {
    const { pen } = this;
    pen.beginPath();
    points.forEach(([x, y], i) => (i ? pen.lineTo(this.sx(x), this.sy(y)) : pen.moveTo(this.sx(x), this.sy(y))));
    pen.strokeStyle = colour;
    pen.lineWidth = wide;
    pen.lineJoin = pen.lineCap = "round";
    pen.stroke();
  }
  /** @param {Pose} p @param {number} radius @param {string} colour */
  body(p, radius, colour) {
    const nose = /** @type {Point} */ ([p.x + radius * Math.cos(p.heading), p.y + radius * Math.sin(p.heading)]);
    this.disc(p.x, p.y, radius, colour, this.colours.ground, 1);
    this.line([[p.x, p.y], nose], this.colours.ground, Math.max(1.5, 0.22 * radius * this.scale));
  }

  /** @param {Plan} plan */
  #plan(plan) {
    const { pen, colours, scale } = this, cells = this.masks.get(plan);
    if (cells && plan.extent) {
      const [left, bottom, right, top] = plan.extent;
      pen.imageSmoothingEnabled = false;
      pen.drawImage(cells, this.sx(left), this.sy(top), (right - left) * scale, (top - bottom) * scale);
    }
    for (const polygon of plan.polygons) {
      this.line([...polygon, polygon[0]], colours.wall, 1);
      pen.fillStyle = colours.wall;
      pen.fill();
    }
    for (const [x, y, radius] of plan.discs) this.disc(x, y, radius, colours.wall);
    for (const [x0, y0, x1, y1] of plan.segments) this.line([[x0, y0], [x1, y1]], colours.wall, 2.5);
  }
  /** @param {Door} door @param {number} open */
  #door({ ends: [[ax, ay], [bx, by]], thickness }, open) {
    const leaf = 0.5 * (1 - open);
    if (leaf <= 0) return;
    for (const [x, y, side] of [[ax, ay, leaf], [bx, by, -leaf]]) {
      this.line([[x, y], [x + side * (bx - ax), y + side * (by - ay)]], this.colours.wall, Math.max(2.5, thickness * this.scale));
    }
  }
  /** @param {{goal: number[], tolerance: number}} scene */
  goal({ goal: [x, y], tolerance }) {
    this.pen.setLineDash([6, 4]);
    this.disc(x, y, tolerance, null, this.colours.goal, 2.5);
    this.pen.setLineDash([]);
    this.disc(x, y, 0.35 * tolerance, this.colours.goal);
  }
  /** @param {Scan} scan @param {Pose} robot */
  #scan({ ranges, pose, first, step, most }, robot) {
    const { pen } = this, c = Math.cos(robot.heading), s = Math.sin(robot.heading), side = 3;
    const x = robot.x + c * pose[0] - s * pose[1], y = robot.y + s * pose[0] + c * pose[1];
    pen.fillStyle = this.colours.contact;
    for (let i = 0; i < ranges.length; i++) {
      if (!(ranges[i] < most)) continue;
      const angle = robot.heading + pose[2] + first + i * step;
      pen.fillRect(this.sx(x + ranges[i] * Math.cos(angle)) - side / 2, this.sy(y + ranges[i] * Math.sin(angle)) - side / 2, side, side);
    }
  }
  /** @param {{states: [string, string][]}} scene @param {Person[]} people */
  people({ states }, people) {
    const { pen, colours } = this;
    for (const p of people) this.body(p, p.radius, p.state < 0 ? colours.pedestrian : states[p.state][0]);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const p of people) {
      if (p.state < 0 || !states[p.state][1]) continue;
      pen.fillStyle = INK;
      pen.font = `bold ${Math.max(9, 1.1 * p.radius * this.scale)}px system-ui, sans-serif`;
      pen.fillText(states[p.state][1], this.sx(p.x), this.sy(p.y));
    }
    pen.textAlign = "start";
    pen.textBaseline = "alphabetic";
  }
  /** @param {{outline: Point[], radius: number}} scene @param {Pose} at */
  robot({ outline, radius }, at) {
    const { pen, colours } = this;
    if (!outline.length) { this.body(at, radius, colours.robot); return; }
    const c = Math.cos(at.heading), s = Math.sin(at.heading);
    const place = (/** @type {Point} */ [x, y]) => /** @type {Point} */ ([at.x + c * x - s * y, at.y + s * x + c * y]);
    const corners = outline.map(place), front = Math.max(...outline.map(([x]) => x));
    this.line([...corners, corners[0]], colours.ground, 2);
    pen.fillStyle = colours.robot;
    pen.fill();
    this.line([[at.x, at.y], place([front, 0])], colours.ground, Math.max(1.5, 0.2 * radius * this.scale));
  }
  /** @param {Scene} scene @param {Moment} now */
  #contacts({ radius, flash }, now) {
    const { pen, colours } = this;
    for (const [when, kind, party, x, y, words] of now.contacts) {
      for (const p of now.people) if (kind === 1 && p.id === party) this.disc(p.x, p.y, p.radius, null, colours.contact, 3);
      const age = (now.time - when) / flash, r = 0.5 * radius;
      for (const [colour, wide] of /** @type {[string, number][]} */ ([[colours.ground, 6], [colours.contact, 3]])) {
        this.line([[x - r, y - r], [x + r, y + r]], colour, wide);
        this.line([[x - r, y + r], [x + r, y - r]], colour, wide);
      }
      this.label(words, x, y - 1.6 * radius);
      if (age > 1) continue;
      pen.globalAlpha = 1 - age;
      this.disc(x, y, radius * (1.2 + 2 * age), null, colours.contact, 5);
      pen.globalAlpha = 1;
    }
  }
  /** @param {string} words @param {number} x @param {number} y */
  label(words, x, y) {
    const { pen, colours } = this;
    pen.font = "600 13px system-ui, sans-serif";
    const half = pen.measureText(words).width / 2 + 6, at = Math.min(Math.max(this.sx(x), half), this.width - half);
    pen.textAlign = "center";
    pen.textBaseline = "top";
    pen.lineWidth = 4;
    pen.strokeStyle = colours.ground;
    pen.strokeText(words, at, this.sy(y));
    pen.fillStyle = colours.ink;
    pen.fillText(words, at, this.sy(y));
    pen.textAlign = "start";
    pen.textBaseline = "alphabetic";
  }
  ruler() {
    const { pen, colours, height, scale } = this, metres = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].find((m) => m * scale >= 50) || 200;
    pen.fillStyle = pen.strokeStyle = colours.faint;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(12, height - 14); pen.lineTo(12, height - 10); pen.lineTo(12 + metres * scale, height - 10); pen.lineTo(12 + metres * scale, height - 14);
    pen.stroke();
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(`${metres} m`, 16, height - 16);
  }
}

/** The cells of a map in one colour. @param {Plan} plan @param {string} colour */
async function mask(plan, colour) {
  const image = new Image();
  image.src = plan.cells;
  await image.decode();
  const canvas = document.createElement("canvas"), brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  canvas.width = image.width;
  canvas.height = image.height;
  brush.drawImage(image, 0, 0);
  brush.globalCompositeOperation = "source-in";
  brush.fillStyle = colour;
  brush.fillRect(0, 0, canvas.width, canvas.height);
  return canvas;
}
