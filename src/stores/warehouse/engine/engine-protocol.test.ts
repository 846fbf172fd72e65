import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FRAME_BYTES_MAX, type Frame, frameReader, writeFrame } from './engine-protocol.ts';

test('frames come out as they went in, however the bytes are cut', () => {
  const frames = fc.array(
    fc.record({ head: fc.dictionary(fc.string(), fc.nat()), body: fc.uint8Array() }),
  );
  fc.assert(
    fc.property(frames, fc.integer({ min: 1, max: 50 }), (sent, step) => {
      const stream = new PassThrough();
      for (const { head, body } of sent) writeFrame(stream, head, body);
      const bytes: unknown = stream.read();
      const got: Frame[] = [];
      const read = frameReader((frame) => got.push(frame));
      if (Buffer.isBuffer(bytes)) {
        for (let i = 0; i < bytes.length; i += step) read(bytes.subarray(i, i + step));
      }
      expect(got.map(({ head, body }) => ({ head, body: [...body] }))).toEqual(
        sent.map(({ head, body }) => ({ head: { ...head }, body: [...body] })),
      );
    }),
  );
});

test('a frame over the bound is refused before it is gathered', () => {
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(FRAME_BYTES_MAX, 4);
  expect(() => frameReader(() => undefined)(lengths)).toThrow('over the bound');
});
