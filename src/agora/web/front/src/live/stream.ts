// A live episode: the messages of the server, and the commands to it.
import type { Contact, Point, Scan } from "../../../../viewer/templates/painter.js";
import { Socket } from "../socket";
import { unpack, type Numbers } from "./message";
import { Recent, type Snapshot } from "./recent";
import type { Live, Scene } from "../schemas";

export type Content = { snapshot: Snapshot; path: Numbers | null; scan: Numbers | null; command: Numbers | null; door?: number | null; contacts?: Contact[] };
export type Ending = { outcome: string; why: string };
export type Wish =
  | { do: "pause" | "go" | "step" | "hold" | "again" | "next" }
  | { do: "speed"; value: number }
  | { do: "drive"; twist: [number, number, number] };

export class Stream {
  live: Live | null = null;
  scene: Scene | null = null;
  ending: Ending | null = null;
  recent = new Recent();
  moment: Content | null = null;
  planned: Point[] = [];
  scan: Scan | null = null;
  /** "" while all is well; else why nothing comes. */
  trouble = "";
  /** True once it is gone for good. */
  over = false;
  #socket: Socket;

  /** `changed` is called when anything but the moment has changed. */
  constructor(id: string, readonly changed: () => void) {
    this.#socket = new Socket(`/api/live/${id}`, {
      text: (message) => this.#hear(message as { scene?: Scene; live?: Live; end?: Ending; error?: string }),
      bytes: (message) => this.#see(unpack(message) as Content),
      lost: () => this.#fail("The connection is lost; trying again …"),
      refused: () => { this.over = true; this.#fail("This live episode has ended."); },
    });
  }

  wish(wish: Wish): void {
    this.#socket.send(wish);
  }

  close(): void {
    this.#socket.close();
  }

  #fail(words: string): void {
    this.trouble = words;
    this.changed();
  }

  #hear({ scene, live, end, error }: { scene?: Scene; live?: Live; end?: Ending; error?: string }): void {
    this.trouble = error ?? "";
    if (scene) {
      this.scene = scene;
      this.ending = this.moment = this.scan = null;
      this.planned = [];
      this.recent = new Recent();
    }
    if (live) this.live = live;
    if (end) this.ending = end;
    this.changed();
  }

  #see(content: Content): void {
    this.moment = content;
    this.recent.push(content.snapshot, performance.now());
    const { path, scan } = content, lidar = this.scene?.lidar;
    this.planned = path ? Array.from({ length: path.length / 2 }, (_, k): Point => [path[2 * k], path[2 * k + 1]]) : [];
    this.scan = scan && lidar ? { ranges: scan, pose: lidar.pose, first: lidar.angles[0], step: lidar.angles[1], most: lidar.range } : null;
  }
}
