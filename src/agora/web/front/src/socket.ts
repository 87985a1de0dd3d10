// A connection that comes back by itself.
import { SIGNED_OUT } from "./api";

const WAITS = [500, 1000, 2000, 5000];
const OUT = 4401; // the user is signed out
const GONE = 4400; // from this code on the server says that coming back is of no use

export type Handlers = { opened?(): void; text(message: unknown): void; bytes?(message: ArrayBuffer): void; lost?(): void; refused?(why: string): void };

export class Socket {
  #socket: WebSocket | null = null;
  #tries = 0;
  #timer = 0;

  constructor(readonly path: string, readonly handlers: Handlers) {
    this.#open();
  }

  send(message: unknown): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  close(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #open(): void {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${this.path}`);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => { this.#tries = 0; this.handlers.opened?.(); };
    socket.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) this.handlers.bytes?.(data);
      else this.handlers.text(JSON.parse(String(data)));
    };
    socket.onclose = ({ code, reason }) => {
      if (this.#socket !== socket) return;
      if (code === OUT) dispatchEvent(new Event(SIGNED_OUT));
      if (code >= GONE) { this.handlers.refused?.(reason); return; }
      this.handlers.lost?.();
      this.#timer = window.setTimeout(() => this.#open(), WAITS[Math.min(this.#tries++, WAITS.length - 1)]);
    };
  }
}
