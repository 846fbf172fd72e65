// What an answer in a fault says, held against what was said without one.

import { z } from 'zod';
import { CONTRACTS } from '../src/compose/list.ts';
import { type AnyEvidenceRoute, envelopeSchema } from '../src/contract/route.ts';
import { missRests } from '../src/contract/wire.ts';
import { isDenial, leavesOf } from '../src/testing/silence-answer.ts';
import type { Answer } from './answers-recorder.ts';

/** What an answer says: its state, what it denies, and what is wrong with it by itself. */
export type Said = {
  readonly status: number;
  readonly state: string;
  readonly denied: ReadonlySet<string>;
  readonly wrong: string | null;
};
export type Answers = ReadonlyMap<string, Said>;

const ROUTES = new Map(CONTRACTS.map((route) => [route.name, route]));
const envelope = z.looseObject({ state: z.string(), data: z.unknown() });

function envelopeSaid(route: AnyEvidenceRoute, { status, body }: Answer): Said {
  const parsed = envelopeSchema(route).safeParse(JSON.parse(body));
  if (!parsed.success) {
    return { status, state: 'none', denied: new Set(), wrong: parsed.error.message };
  }
  const { state, data } = envelope.parse(parsed.data);
  const leaves = data === null || data === undefined ? [] : leavesOf(route.data, data);
  // An empty list or text that no claim declares is judged by the silence test, port by port.
  const denied = leaves.filter((leaf) => leaf.declared && isDenial(leaf)).map(({ path }) => path);
  // A miss that rests on named ports rests on imported tables, which no source of the world feeds.
  const isDenied = state === 'insufficient_evidence' && missRests(route.data) === null;
  const missed = isDenied ? ['the whole answer'] : [];
  return { status, state, denied: new Set([...denied, ...missed]), wrong: null };
}

const collected = z.looseObject({ data_mode: z.string() });

function plainSaid(name: string, { status, headers, body }: Answer): Said {
  const state = String(status);
  const none = { status, state, denied: new Set<string>() };
  const hasId = headers.some(([header]) => header === 'x-request-id');
  if (status >= 500 && !hasId) return { ...none, wrong: 'a fault without an id' };
  const route = ROUTES.get(name);
  if (status === 500) return { ...none, wrong: body.slice(0, 200) };
  const schema = route?.kind === 'plain' ? route.responses[status] : undefined;
  const isJson = headers.some(([header, value]) => {
    return header === 'content-type' && value.startsWith('application/json');
  });
  if (schema === undefined || !isJson) return { ...none, wrong: null };
  const parsed = schema.safeParse(JSON.parse(body));
  if (!parsed.success) return { ...none, wrong: parsed.error.message };
  // An answer that says of itself that nothing was collected yet tells of no window.
  if (collected.safeParse(parsed.data).data?.data_mode === 'empty') return { ...none, wrong: null };
  const leaves = leavesOf(schema, parsed.data);
  const denied = leaves.filter((leaf) => leaf.declared && isDenial(leaf)).map(({ path }) => path);
  return { ...none, denied: new Set(denied), wrong: null };
}

/** Reads an answer of a route by its declaration. */
export function saidBy(routeName: string, answer: Answer): Said {
  const route = ROUTES.get(routeName);
  const isEnvelope = route?.kind === 'evidence' && /^\{"state":/.test(answer.body);
  return isEnvelope ? envelopeSaid(route, answer) : plainSaid(routeName, answer);
}

/** Whether two answers say as much. */
export function isAsWhole(whole: Said, said: Said): boolean {
  return whole.state === said.state && whole.denied.size === said.denied.size;
}

/** What is false about an answer in a fault; `whole`: what was said without it. */
export function falseIn(name: string, whole: Said | undefined, said: Said): string[] {
  const wrong = said.wrong === null ? [] : [`${name}: ${said.wrong.slice(0, 300)}`];
  if (whole === undefined) return wrong;
  const denied = [...said.denied].filter((path) => !whole.denied.has(path));
  return [...wrong, ...denied.map((path) => `${name}: denies ${path}`)];
}
