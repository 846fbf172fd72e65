// Is a stream declared once for both of its doors and its documents, and is each message written
// once?

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ticksRoute } from '../testing/scratch-stream.ts';
import { openapiDocument } from './openapi.ts';
import { streamRoute } from './stream.ts';
import { negative } from './wire.ts';

const DECLARED = {
  name: 'ticks',
  surface: 'intelligence',
  path: '/ws/ticks',
  eventsPath: '/sse/ticks',
  summary: 'Ticks of the tests.',
  access: 'bearer',
  query: z.strictObject({}),
  welcome: z.strictObject({}),
  events: {},
  notices: {},
  asks: {},
  refused: {},
} as const;

describe('a message', () => {
  const ticks = ticksRoute();

  test('is written once: every reader is handed the same bytes', () => {
    const message = ticks.event('tick', 7, { text: 'a' });
    expect(message.frame()).toBe(message.frame());
    expect(message.event()).toBe(message.event());
    expect(message.event().toString()).toBe('id: 7\ndata: {"type":"tick","seq":7,"text":"a"}\n\n');
  });

  test.each([
    [125, [0x81, 125]],
    [126, [0x81, 126, 0, 126]],
    [65_535, [0x81, 126, 0xff, 0xff]],
    [65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]],
  ])('of %i bytes is framed as RFC 6455 has it', (length, head) => {
    const around = '{"type":"tick","seq":1,"text":""}'.length;
    const frame = ticks.event('tick', 1, { text: 'x'.repeat(length - around) }).frame();
    expect([...frame.subarray(0, head.length)]).toEqual(head);
    expect(frame).toHaveLength(head.length + length);
  });

  test('that is not as declared is never made', () => {
    const lie = { text: 1 as unknown as string };
    expect(() => ticks.event('tick', 1, lie)).toThrow('not as the contract declares it');
    expect(() => ticks.event('tick', -1, { text: 'a' })).toThrow('ticks tick.seq');
  });
});

describe('a declaration', () => {
  test('that says one thing twice, or hides what every stream says, is none', () => {
    const tick = z.strictObject({});
    expect(() => streamRoute({ ...DECLARED, events: { tick }, notices: { tick } })).toThrow(
      'ticks declares tick twice',
    );
    expect(() => streamRoute({ ...DECLARED, notices: { heartbeat: tick } })).toThrow(
      'ticks declares heartbeat twice',
    );
    expect(() => streamRoute({ ...DECLARED, asks: { ping: tick } })).toThrow(
      'ticks declares ping twice',
    );
  });

  test('whose messages deny anything is none: nobody holds them against silent ports', () => {
    const listed = negative(z.boolean(), { restsOn: ['list'] });
    const events = { tick: z.strictObject({ inner: z.strictObject({ listed }) }) };
    expect(() => streamRoute({ ...DECLARED, events })).toThrow('ticks: tick denies something');
  });
});

describe('the document', () => {
  const facts = { title: 't', version: '1', description: 'd', serverUrl: 'http://x' };
  const { paths, components } = openapiDocument([ticksRoute()], facts);
  const socket = paths['/ws/ticks']?.['get'];
  const events = paths['/sse/ticks']?.['get'];

  test('shows both doors, what each answers before it opens, and who opens it', () => {
    expect(Object.keys(Object(socket?.responses))).toEqual([
      '101',
      '400',
      '401',
      '405',
      '409',
      '426',
      '500',
      '503',
    ]);
    expect(Object.keys(Object(events?.responses))).toEqual([
      '200',
      '400',
      '401',
      '405',
      '409',
      '500',
      '503',
    ]);
    expect([socket?.operationId, events?.operationId]).toEqual(['ticks', 'ticks_events']);
    expect(socket?.security).toEqual([{ token: [] }, { query_token: [] }]);
    expect(components['securitySchemes']).toMatchObject({
      query_token: { type: 'apiKey', in: 'query', name: 'token' },
    });
    const busy = socket?.responses['503']?.content?.['application/json']?.schema.anyOf;
    expect(busy).toHaveLength(2);
    expect(socket?.parameters?.map(({ name }) => name)).toEqual(['of', 'since']);
    expect(events?.parameters?.map((one) => [one.in, one.name])).toEqual([
      ['query', 'of'],
      ['query', 'since'],
      ['header', 'Last-Event-ID'],
    ]);
  });

  test('shows every message and every frame of a client, by its type', () => {
    const messages = socket?.['x-messages'];
    expect(Object.keys(Object(messages?.sent))).toEqual([
      'welcome',
      'tick',
      'chosen',
      'heartbeat',
      'gap',
      'lagged',
      'error',
    ]);
    expect(Object.keys(Object(messages?.heard))).toEqual(['ping', 'choose']);
    const text = events?.responses['200']?.content?.['text/event-stream'];
    expect(text?.schema.oneOf).toHaveLength(7);
  });
});
