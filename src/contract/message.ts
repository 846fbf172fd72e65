// Answers one question: what does a stream say, and in which bytes does it leave.
// A message is written once however many read it: its frame and its event are made when the first
// reader of each needs them, and every reader is sent the same bytes.

/** Makes a message of JSON text. For `stream.ts` only (`tidy.test.ts` holds that). */
export let makeMessage: <N extends string>(seq: number | null, text: string) => Message<N>;

/** A message as those see it who send it and need not know of which stream it is. */
export type Sendable = Pick<Message<never>, 'seq' | 'frame' | 'event'>;

/** A message of a stream: only the route that declares it makes one. */
export class Message<in out Name extends string> {
  declare protected readonly of: Name;
  /** Where a reader stands who has read it; `null` where it moves nobody. */
  readonly seq: number | null;
  readonly #text: string;
  #frame: Buffer | null = null;
  #event: Buffer | null = null;
  private constructor(seq: number | null, text: string) {
    this.seq = seq;
    this.#text = text;
  }
  /** A whole WebSocket frame, as a server sends it (RFC 6455, 5.2). */
  frame(): Buffer {
    if (this.#frame === null) this.#frame = framed(Buffer.from(this.#text));
    return this.#frame;
  }
  /** A server-sent event, without an `event:` line: a reader hears all of them in one place. */
  event(): Buffer {
    if (this.#event === null) {
      const id = this.seq === null ? '' : `id: ${this.seq}\n`;
      this.#event = Buffer.from(`${id}data: ${this.#text}\n\n`);
    }
    return this.#event;
  }
  /** The message as its reader takes it apart. */
  get body(): unknown {
    return JSON.parse(this.#text);
  }
  static {
    makeMessage = (seq, text) => new Message(seq, text);
  }
}

/** A final frame of text, which a server does not mask. */
const FINAL_TEXT = 0x81;
/** The longest payload whose length stands in seven bits, and in sixteen. */
const SHORT_BYTES_MAX = 125;
const MIDDLE_BYTES_MAX = 0xffff;

function framed(payload: Buffer): Buffer {
  const { length } = payload;
  if (length <= SHORT_BYTES_MAX) return Buffer.concat([Buffer.of(FINAL_TEXT, length), payload]);
  if (length <= MIDDLE_BYTES_MAX) {
    const head = Buffer.of(FINAL_TEXT, SHORT_BYTES_MAX + 1, 0, 0);
    head.writeUInt16BE(length, 2);
    return Buffer.concat([head, payload]);
  }
  const head = Buffer.alloc(10);
  head[0] = FINAL_TEXT;
  head[1] = SHORT_BYTES_MAX + 2;
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
