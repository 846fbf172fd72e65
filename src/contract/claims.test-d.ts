// False statements about evidence must not compile, and true ones must. `tsc` runs these tests: a
// false statement that compiled would leave an unused `@ts-expect-error`, an error. Each
// expectation stands on the smallest false expression.

import { z } from 'zod';
import { checksumAddress, parseAddress } from '../chain/address.ts';
import { Claim, claim } from '../evidence/claim.ts';
import {
  all,
  both,
  decide,
  map,
  Part,
  type Partly,
  Read,
  type Reading,
  read,
  rowsSeen,
  some,
  type Unread,
  unread,
  weaken,
} from '../evidence/reading.ts';
import { type Why, why } from '../evidence/reasons.ts';
import { Answer } from './answer.ts';
import { evidenceRoute, type Handler, plainRoute } from './route.ts';
import { checkedFlag, checkedFlagOrNull, claimedWords, negative } from './wire.ts';

declare const listRead: Read<readonly string[], 'list'>;
declare const listReading: Reading<readonly string[], 'list'>;
declare const listPartly: Partly<readonly string[], 'list'>;
declare const listPart: Part<readonly string[], 'list'>;
declare const listUnread: Unread<'list'>;
declare const labelsRead: Read<readonly string[], 'labels'>;
declare const labelsReading: Reading<readonly string[], 'labels'>;
declare const bothRead: Read<{ list: readonly string[] }, 'list' | 'labels'>;
declare const origin: { port: 'list'; source: import('../evidence/source.ts').Source };
declare const source: import('../evidence/source.ts').Source;
declare const because: Why;

const DECLARED = { surface: 'hosted', method: 'GET', summary: 'One.', access: 'open' } as const;

const route = evidenceRoute({
  name: 'a_screen',
  ...DECLARED,
  path: '/a',
  data: z.strictObject({
    listed: negative(z.boolean(), { restsOn: ['list'] }),
    names: negative(z.array(z.string()), { restsOn: ['list'] }),
    count: negative(z.int().nullable(), { restsOn: ['list', 'labels'] }),
    looked: checkedFlag({ restsOn: ['list'] }),
    looked_or_none: checkedFlagOrNull({ restsOn: ['list'] }),
    verdict: claimedWords(['hit', 'miss', 'silent'], ['miss'], { restsOn: ['list'] }),
    note: z.string(),
  }),
  absences: ['not_deployed', 'insufficient_evidence'],
  tool: null,
});

const other = evidenceRoute({
  ...DECLARED,
  path: '/b',
  name: 'another_screen',
  data: z.strictObject({ listed: negative(z.boolean(), { restsOn: ['list'] }) }),
  absences: ['not_deployed'],
  tool: null,
});

const onlyWhenPresent = evidenceRoute({
  ...DECLARED,
  path: '/c',
  name: 'third_screen',
  data: z.strictObject({
    items: z.array(z.strictObject({ listed: negative(z.boolean(), { restsOn: ['list'] }) })),
    maybe: z.strictObject({ listed: negative(z.boolean(), { restsOn: ['list'] }) }).nullable(),
    absent: z.strictObject({ listed: negative(z.boolean(), { restsOn: ['list'] }) }).optional(),
    flag: checkedFlag({ restsOn: ['list'] }),
  }),
  absences: [],
  tool: null,
});

const nested = evidenceRoute({
  ...DECLARED,
  path: '/d',
  name: 'fourth_screen',
  data: z.strictObject({
    inner: z.strictObject({ listed: negative(z.boolean(), { restsOn: ['list'] }) }),
  }),
  absences: [],
  tool: null,
});

const plain = plainRoute({
  ...DECLARED,
  path: '/e',
  name: 'plain_one',
  responses: { 200: z.strictObject({ held: negative(z.int(), { restsOn: ['list'] }) }) },
});

const isListed = (names: readonly string[]) => names.length > 0;
const listed = claim(listRead, isListed);

/** Data in which every field is told truly; each lie below changes one of them. */
const told = {
  listed,
  names: claim(listRead, (names) => [...names]),
  count: claim(bothRead, (held) => held.list.length),
  looked: claim(
    listReading,
    () => true,
    () => false as const,
  ),
  looked_or_none: null,
  verdict: claim(listRead, (names) => (names.length > 0 ? 'hit' : 'miss')),
  note: 'a note',
};

/** Statements that must compile. */
export function truths(): unknown[] {
  const answer: Handler<typeof route> = async () => route.ok({ subject: 's', data: told });
  const parsed = parseAddress('0x');
  return [
    answer,
    route.ok({ subject: 's', data: told, rests: [labelsRead] }),
    route.ok({ subject: 's', data: { ...told, looked: false, looked_or_none: false } }),
    route.ok({ subject: 's', data: { ...told, verdict: 'silent' } }),
    route.ok({ subject: 's', data: { ...told, verdict: 'hit' } }),
    // A claim may rest on more ports than the field requires.
    route.ok({ subject: 's', data: { ...told, listed: claim(bothRead, () => false) } }),
    // A partial reading may convict, and may say that it does not know.
    route.ok({
      subject: 's',
      data: {
        ...told,
        listed: claim(decide(listPartly, isListed), isListed, () => true as const),
      },
    }),
    route.ok({
      subject: 's',
      data: {
        ...told,
        count: claim(
          both({ list: listPartly, labels: labelsReading }),
          ({ list }) => list.length,
          () => null,
        ),
      },
    }),
    onlyWhenPresent.ok({
      subject: 's',
      data: { items: [{ listed }], maybe: null, flag: false },
      rests: [listRead],
    }),
    nested.ok({ subject: 's', data: { inner: { listed } } }),
    route.absent.not_deployed({ subject: 's', silent: listUnread }),
    route.absent.not_deployed({ subject: 's', silent: listPart, consulted: [labelsRead] }),
    route.absent.insufficient_evidence({ subject: 's', why: because, consulted: [listRead] }),
    plain.reply(200, { held: claim(listRead, (names) => names.length) }),
    parsed?.kind === 'evm' ? checksumAddress(parsed.address) : null,
    listReading instanceof Read ? listReading.value : listReading.why,
    all([listReading, listReading]) satisfies Reading<(readonly string[])[], 'list'>,
    some([listReading]) satisfies Partly<(readonly string[])[], 'list'>,
    map(listRead, isListed) satisfies Read<boolean, 'list'>,
    rowsSeen(listPartly)?.[0].length,
    unread('list', because) satisfies Unread<'list'>,
  ];
}

/** The value of what was not read, or not to its end, cannot be taken. */
export function valuesOfSilence(): unknown[] {
  return [
    // @ts-expect-error an unread reading has no value
    listUnread.value,
    // @ts-expect-error a reading may be unread
    listReading.value,
    // @ts-expect-error a reading that stopped early shows no value
    listPart.value,
    // @ts-expect-error it may be any of the three
    listPartly.value,
    // @ts-expect-error what two readings say is not there while one may be unread
    both({ list: listReading, labels: labelsRead }).value,
    // @ts-expect-error some is not all
    some([listRead, listUnread]).value,
    // @ts-expect-error a stale reading cannot acquit
    weaken(listRead, because).value,
    // @ts-expect-error deciding a part may leave it unread
    decide(listPart, isListed).value,
    // @ts-expect-error a claim on what may be unread has to say what it says then
    claim(listReading, isListed),
    // @ts-expect-error a claim on a part as well
    claim(listPart, isListed),
    // @ts-expect-error seen shows no empty list
    rowsSeen(listPartly).length,
    // @ts-expect-error joining what stopped early makes no reading that came to its end
    all([listPartly]) satisfies Reading<(readonly string[])[], 'list'>,
  ];
}

/** Readings, claims and answers are made by their makers only. */
export function handMade(): unknown[] {
  // @ts-expect-error a literal with a reading's fields
  const literal: Read<string[], 'list'> = { checked: true, value: [] };
  // @ts-expect-error a copy of a reading
  const copied: Read<readonly string[], 'list'> = { ...listRead };
  // @ts-expect-error a literal with a claim's fields
  const claimed: Claim<boolean, true, 'list'> = { looked: true, shown: false };
  // @ts-expect-error a literal with an answer's fields
  const answered: Answer<'a_screen'> = { state: 'ok', why: null, envelope: () => null };
  return [
    [literal, copied, claimed, answered],
    // @ts-expect-error the constructor is private
    new Read([], { ports: new Set(), sources: [] }),
    // @ts-expect-error the constructor is private
    new Part([], { ports: new Set(), sources: [] }, because),
    // @ts-expect-error the constructor is private
    new Claim({ looked: true, value: false }, { ports: new Set(), sources: [] }),
    // @ts-expect-error the constructor is private
    new Answer('s', [], {}, null),
    // @ts-expect-error no subclass has a way in
    class extends Read<string[], 'list'> {},
    // @ts-expect-error a claim is made of a reading
    claim({ value: [] }, () => false),
    // @ts-expect-error the private field cannot be reached
    listPart.#value,
    // @ts-expect-error a reason is a row of the table
    why('nothing_there'),
    // @ts-expect-error a reason with holes is filled
    why('no_record_held'),
  ];
}

/** No field of an answer takes a negative that no reading stands behind. */
export function handMadeFields(): unknown[] {
  const say = { subject: 's' };
  return [
    // @ts-expect-error a hand-made false
    route.ok({ ...say, data: { ...told, listed: false } }),
    // @ts-expect-error a hand-made true, which would be no negative, is refused as well
    route.ok({ ...say, data: { ...told, listed: true } }),
    // @ts-expect-error a hand-made empty list
    route.ok({ ...say, data: { ...told, names: [] } }),
    // @ts-expect-error a hand-made zero
    route.ok({ ...say, data: { ...told, count: 0 } }),
    // @ts-expect-error a null that no reading stands behind
    route.ok({ ...say, data: { ...told, count: null } }),
    // @ts-expect-error a hand-made "this was looked at"
    route.ok({ ...say, data: { ...told, looked: true } }),
    // @ts-expect-error the same where it may not apply
    route.ok({ ...say, data: { ...told, looked_or_none: true } }),
    // @ts-expect-error a word that means "looked, nothing there"
    route.ok({ ...say, data: { ...told, verdict: 'miss' } }),
    // @ts-expect-error the plain value of a claim
    route.ok({ ...say, data: { ...told, listed: listed.shown } }),
    // @ts-expect-error a field left out
    route.ok({ ...say, data: { listed } }),
    // @ts-expect-error a body's count said by hand
    plain.reply(200, { held: 0 }),
    // @ts-expect-error a status that is not declared
    plain.reply(500, { held: claim(listRead, () => 1) }),
  ];
}

/** The value for an unread port is never the empty form. */
export function silentNegatives(): unknown[] {
  const say = { subject: 's' };
  const silentFalse = claim(listPartly, isListed, () => false as const);
  const silentEmpty = claim(
    listPartly,
    (names) => [...names],
    () => [],
  );
  const silentZero = claim(
    both({ list: listReading, labels: labelsReading }),
    ({ list }) => list.length,
    () => 0,
  );
  const silentMiss = claim(
    listPartly,
    () => 'hit' as const,
    () => 'miss' as const,
  );
  const silentTrue = claim(
    listPartly,
    () => true,
    () => true,
  );
  return [
    // @ts-expect-error false where nothing was read
    route.ok({ ...say, data: { ...told, listed: silentFalse } }),
    // @ts-expect-error an empty list where nothing was read
    route.ok({ ...say, data: { ...told, names: silentEmpty } }),
    // @ts-expect-error zero where nothing was read
    route.ok({ ...say, data: { ...told, count: silentZero } }),
    // @ts-expect-error the claimed word where nothing was read
    route.ok({ ...say, data: { ...told, verdict: silentMiss } }),
    // @ts-expect-error "this was looked at" where nothing was read
    route.ok({ ...say, data: { ...told, looked: silentTrue } }),
  ];
}

/** A field that denies names what it rests on, and its free forms are never an empty one. */
export function declarations(): unknown[] {
  const byName = negative(z.record(z.string(), z.int()), { restsOn: ['list'] });
  const silentRecord = claim(
    listPartly,
    (names) => ({ [String(names)]: 1 }),
    () => ({}),
  );
  return [
    // @ts-expect-error a negative that rests on nothing
    negative(z.boolean(), { restsOn: [] }),
    // @ts-expect-error a flag that rests on nothing
    checkedFlag({ restsOn: [] }),
    // @ts-expect-error a word that is not one of them
    claimedWords(['hit', 'miss'], ['mist'], { restsOn: ['list'] }),
    // @ts-expect-error an empty record denies, so silence cannot say it
    silentRecord satisfies z.input<typeof byName>,
  ];
}

/** A claim rests on the ports that its field names: not on another, not on fewer. */
export function wrongPorts(): unknown[] {
  const say = { subject: 's' };
  return [
    // @ts-expect-error another port
    route.ok({ ...say, data: { ...told, listed: claim(labelsRead, isListed) } }),
    // @ts-expect-error one of two
    route.ok({ ...say, data: { ...told, count: claim(listRead, () => 0) } }),
    // @ts-expect-error the other of two
    route.ok({ ...say, data: { ...told, count: claim(labelsRead, () => 0) } }),
    // @ts-expect-error a reading of one port is none of two
    listRead satisfies Read<readonly string[], 'list' | 'labels'>,
    // @ts-expect-error readings of two ports are no list of one port's
    all([listReading, labelsReading]),
    // @ts-expect-error an adapter answers for its own port
    read([], origin) satisfies Read<never[], 'labels'>,
    // @ts-expect-error and for no port more than its own
    read([], origin) satisfies Read<never[], 'list' | 'labels'>,
  ];
}

/** A reading rests on the ports that it was minted for, whatever type it is assigned to. */
export function widerThanMinted(): unknown[] {
  // @ts-expect-error the type that is expected adds no port
  const wider: Read<string[], 'list' | 'labels'> = read([], { port: 'list', source });
  return [wider];
}

/** An answer comes from its own route, rests on something, and is one of the declared ones. */
export function answers(): unknown[] {
  // @ts-expect-error a hand-made envelope
  const envelope: Handler<typeof route> = async () => ({
    state: 'ok',
    subject: 's',
    sources: [],
    as_of: 0,
    data: {},
  });
  // @ts-expect-error the answer of another route
  const foreign: Handler<typeof route> = async () => other.ok({ subject: 's', data: { listed } });
  return [
    envelope,
    foreign,
    // @ts-expect-error an absence that the route does not declare
    other.absent.insufficient_evidence({ subject: 's', why: because, consulted: [listRead] }),
    // @ts-expect-error nor this one
    route.absent.not_supported({ subject: 's', why: because }),
    // @ts-expect-error not enough of what, if nothing was read
    route.absent.insufficient_evidence({ subject: 's', why: because, consulted: [] }),
    // @ts-expect-error an unread reading was not consulted
    route.absent.insufficient_evidence({ subject: 's', why: because, consulted: [listUnread] }),
    // @ts-expect-error what was read to its end is not silent
    route.absent.not_deployed({ subject: 's', silent: listRead }),
    // @ts-expect-error no reading is sure to stand in this data, so one has to be named
    onlyWhenPresent.ok({ subject: 's', data: { items: [], maybe: null, flag: false } }),
    // @ts-expect-error an unread reading carries nothing
    nested.ok({ subject: 's', data: { inner: { listed } }, rests: [listUnread] }),
    onlyWhenPresent.ok({
      subject: 's',
      data: { items: [], maybe: null, flag: false },
      // @ts-expect-error an empty list of readings is none
      rests: [],
    }),
  ];
}

/** An address is parsed before it is one. */
export function unparsed(): unknown[] {
  const parsed = parseAddress('0x');
  return [
    // @ts-expect-error a text is no address
    checksumAddress('0x0000000000000000000000000000000000000001'),
    // @ts-expect-error nor is an address of another kind
    parsed?.kind === 'solana' ? checksumAddress(parsed.address) : null,
    // @ts-expect-error nor one that may be none
    checksumAddress(parsed.address),
  ];
}
