// How do two processes hand each other messages of many megabytes over one stream?
// A frame is two lengths, a small JSON head, and a body of bytes that nobody copies into JSON.
// Refuses a frame above its bound instead of filling the memory.
import type { Writable } from 'node:stream';

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
