import type { Writable } from 'node:stream';
import { z } from 'zod';

/** Settings of one statement, as ClickHouse names them. */
export type EngineSettings = Readonly<Record<string, string | number>>;

const settings = z.record(z.string().regex(/^[a-z]\w*$/i), z.union([z.string(), z.number()]));

/** The options of the child for its directory; given as its one argument. */
export const childOptions = z.object({
  directory: z.string().min(1),
  /** Connections, which is statements at once. */
  connections: z.number().int().positive(),
  /** `--name=value` arguments of the engine. */
  engineArgs: z.array(z.string()),
});

/** To the child. The body of `run` is the SQL, that of `insert` the rows. */
export const engineOrder = z.discriminatedUnion('do', [
  z.object({ do: z.literal('run'), id: z.number(), format: z.string(), settings }),
  z.object({
    do: z.literal('insert'),
    id: z.number(),
    table: z.string(),
    columns: z.array(z.string()).optional(),
    format: z.enum(['JSONEachRow', 'JSONCompactEachRow', 'CSV', 'TabSeparated']),
  }),
  z.object({ do: z.literal('cancel'), id: z.number() }),
  z.object({ do: z.literal('close') }),
]);

/** From the child. The body of `done` is the result, that of `failed` the engine's words. */
export const reply = z.discriminatedUnion('say', [
  z.object({ say: z.literal('ready') }),
  z.object({ say: z.literal('done'), id: z.number() }),
  z.object({ say: z.literal('failed'), id: z.number() }),
]);

/** A message to the child. */
export type EngineOrder = z.infer<typeof engineOrder>;
/** A job for the child: an order without its number. */
export type EngineJob =
  | Omit<Extract<EngineOrder, { do: 'run' }>, 'id'>
  | Omit<Extract<EngineOrder, { do: 'insert' }>, 'id'>;
export type ChildOptions = z.infer<typeof childOptions>;

/** The file descriptor on which the child finds its end of the stream. */
export const CHILD_FD = 3;

/** A message: a head to be validated by its reader, and its bytes. */
export type Frame = { readonly head: unknown; readonly body: Buffer };

/** Bytes of head and body together. */
export const FRAME_BYTES_MAX = 256 * 1024 * 1024;

const LENGTHS_BYTES = 8;

/** Writes one frame; the stream queues what the other side has not taken yet. */
export function writeFrame(stream: Writable, head: object, body: Uint8Array): void {
  const headBytes = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(headBytes.length, 0);
  lengths.writeUInt32LE(body.length, 4);
  stream.cork();
  stream.write(Buffer.concat([lengths, headBytes]));
  if (body.length > 0) stream.write(body);
  stream.uncork();
}

/** Cuts a byte stream into frames: give it each piece, it calls back for each whole frame. */
export function frameReader(onFrame: (frame: Frame) => void): (piece: Buffer) => void {
  let pieces: Buffer[] = [];
  let held = 0;
  let needed = LENGTHS_BYTES;
  return (piece) => {
    pieces.push(piece);
    held += piece.length;
    while (held >= needed) {
      const whole = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces, held);
      pieces = [whole];
      const headLength = whole.readUInt32LE(0);
      const end = LENGTHS_BYTES + headLength + whole.readUInt32LE(4);
      if (end > FRAME_BYTES_MAX) throw new Error(`A frame of ${end} bytes is over the bound.`);
      needed = end;
      if (held < end) return;
      const headEnd = LENGTHS_BYTES + headLength;
      const head: unknown = JSON.parse(whole.toString('utf8', LENGTHS_BYTES, headEnd));
      pieces = end === held ? [] : [whole.subarray(end)];
      held -= end;
      needed = LENGTHS_BYTES;
      onFrame({ head, body: whole.subarray(headEnd, end) });
    }
  };
}
