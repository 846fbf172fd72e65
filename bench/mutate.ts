// Use: npm run bench -- mutate SDN_ADVANCED.ZIP [--runs N] [--seed N]. Each run spoils
// the file in one way, reads it, and holds it to the gate and to the change log. The parties that
// list no address are thinned out, so that a run takes milliseconds; all that lists one is kept.

import { parseArgs } from 'node:util';
import { matchKey, parseKnownAddress } from '../src/chain/address.ts';
import { startOfDay } from '../src/chain/time.ts';
import { tally } from '../src/evidence/measure.ts';
import { sharesFrom } from '../src/evidence/random.ts';
import {
  absoluteGate,
  BASELINE,
  clockGate,
  relativeGate,
  SHARES,
} from '../src/features/sanctions/publication-gate.ts';
import {
  countAddresses,
  type ListedAddress,
  ListRefused,
  type Publication,
  withForms,
} from '../src/sources/ofac/publication.ts';
import {
  CONTAINER_LIMITS,
  documentBytes,
  inspect,
  readDocument,
} from '../src/sources/ofac/read-publication.ts';
import { diffPublications } from '../src/stores/control/publications.ts';
import { sdnXml, type WorldParty } from '../src/world/sdn-publication.ts';
import { MUTATIONS, oneOf, type Random } from './mutate-kinds.ts';

const CHUNK_BYTES = 64 * 1024;
const FLOOR = 500;
const RUNS = 2_000;
/** Parties without an address that are kept: one in so many. */
const THINNED = 60;
const DAY_AFTER_S = 86_400;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: String(RUNS) },
    seed: { type: 'string', default: '1' },
  },
});
const [file] = positionals;
if (file === undefined) throw new Error('npm run bench -- mutate SDN_ADVANCED.ZIP');

/** The document with every party that lists an address, and some of the others. */
function thinned(text: string, listed: ReadonlySet<string>): string {
  const kept = new Set<string>();
  let n = 0;
  const fewer = text.replace(
    /\s*<DistinctParty FixedRef="(\d+)"[\s\S]*?<\/DistinctParty>/g,
    (party, uid: string) => {
      n += 1;
      if (!listed.has(uid) && n % THINNED !== 0) return '';
      kept.add(uid);
      return party;
    },
  );
  return fewer
    .replace(
      /\s*<SanctionsEntry ID="\d+" ProfileID="(\d+)"[\s\S]*?<\/SanctionsEntry>/g,
      (entry, uid: string) => (kept.has(uid) ? entry : ''),
    )
    .replace(/(<(Locations|IDRegDocuments|ProfileRelationships)>)[\s\S]*?(<\/\2>)/g, '$1$3');
}

const isKnownForm = (address: string): boolean => parseKnownAddress(address) !== null;

async function readText(text: string): Promise<Publication | ListRefused> {
  const bytes = Buffer.from(text, 'utf8');
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < bytes.byteLength; from += CHUNK_BYTES) {
      yield bytes.subarray(from, from + CHUNK_BYTES);
    }
  }
  try {
    const read = await readDocument(chunks());
    const digests = { sha256: '', sha256_xml: '', bytes: bytes.byteLength };
    return withForms({ ...read, ...countAddresses(read.addresses), ...digests }, isKnownForm);
  } catch (error) {
    if (error instanceof ListRefused) return error;
    throw error;
  }
}

/** The possible outcomes of a spoiled file. */
const OUTCOMES = {
  reader: 'refused by the reader',
  gate: 'refused by the gate',
  same: 'taken, the same list',
  words: 'taken, other words',
  told: 'taken, a loss in the log',
  unread: 'taken, in the log, printed elsewhere',
  LOST: 'taken, a loss untold',
} as const;
type Outcome = keyof typeof OUTCOMES;

/** A listing as the log must name it when it goes. */
function keyOf({ address, uid }: Pick<ListedAddress, 'address' | 'uid'>): string {
  return `${matchKey(address)} ${uid}`;
}

/**
 * Addresses of a list that the next one lacks, and those of them that its change log does not name.
 */
function lossesIn(before: Publication, after: Publication) {
  const held = new Set(after.addresses.map(keyOf));
  const lost = before.addresses.filter((row) => !held.has(keyOf(row)));
  const diff = diffPublications(before, after);
  const named = new Set([...diff.removed, ...diff.moved.map(({ from }) => from)].map(keyOf));
  return { lost, untold: lost.filter((row) => !named.has(keyOf(row))) };
}

function judged(before: Publication, after: Publication, text: string): Outcome {
  const now = startOfDay(before.published) + DAY_AFTER_S;
  const refusal =
    absoluteGate(after, { floor: FLOOR }) ??
    clockGate(after, now) ??
    relativeGate(after, before, BASELINE, SHARES);
  if (refusal !== null) return 'gate';
  const { lost, untold } = lossesIn(before, after);
  if (untold.length > 0) return 'LOST';
  const anywhere = new Set(after.addresses.map(({ address }) => matchKey(address)));
  const shown = text.replaceAll(/<!--[\s\S]*?-->/g, '');
  const unread = ({ address }: ListedAddress) =>
    !anywhere.has(matchKey(address)) && new RegExp(`[>"]\\s*${address}\\s*[<"]`).test(shown);
  if (lost.some(unread)) return 'unread';
  if (lost.length > 0) return 'told';
  return JSON.stringify(after.addresses) === JSON.stringify(before.addresses) ? 'same' : 'words';
}

type Base = { readonly format: string; readonly text: string; readonly list: Publication };

/** Spoils a file in one way, and tells what came of it. */
async function spoil(base: Base, random: Random) {
  for (;;) {
    const mutation = oneOf(MUTATIONS, random);
    const text = mutation === undefined ? null : mutation.of(base.text, random);
    if (mutation === undefined || text === null || text === base.text) continue;
    const read = await readText(text);
    const outcome = read instanceof ListRefused ? 'reader' : judged(base.list, read, text);
    const code = read instanceof ListRefused ? read.refusal.code : null;
    return { mutation, outcome, code };
  }
}

function table(counts: ReadonlyMap<string, ReadonlyMap<Outcome, number>>): string[] {
  const outcomes = Object.keys(OUTCOMES) as Outcome[];
  const heads = ['spoiled', ...outcomes.map((one) => OUTCOMES[one])];
  const rows = [...counts].map(([name, of]) => [name, ...outcomes.map((one) => of.get(one) ?? 0)]);
  return [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function listOf(text: string): Promise<Publication> {
  const read = await readText(text);
  if (read instanceof ListRefused) throw read;
  return read;
}

async function main(path: string): Promise<void> {
  const { kind } = await inspect(path, CONTAINER_LIMITS);
  const parts: Uint8Array[] = [];
  for await (const part of documentBytes(path, kind, CONTAINER_LIMITS)) parts.push(part);
  const whole = Buffer.concat(parts).toString('utf8');
  const full = await listOf(whole);
  const text = thinned(whole, new Set(full.addresses.map(({ uid }) => uid)));
  const list = await listOf(text);
  if (JSON.stringify(list.addresses) !== JSON.stringify(full.addresses)) {
    throw new Error('the thinned file does not list what the whole one lists');
  }
  // The same list in the publisher's other format, by the writer of the simulated world.
  const { published, addresses } = list;
  const parties = new Map<string, WorldParty>();
  for (const row of addresses) {
    const { uid, entity, type, programs } = row;
    if (entity === null || type === null || programs === null) throw new Error('a row left open');
    const before = parties.get(uid);
    const own = before === undefined ? [row] : [...before.addresses, row];
    parties.set(uid, { uid, type, name: { last: entity }, programs, addresses: own });
  }
  const legacy = sdnXml({ published, parties: [...parties.values()] });
  const bases: Base[] = [
    { format: 'advanced', text, list },
    { format: 'legacy', text: legacy, list: await listOf(legacy) },
  ];
  say(
    `${list.published}: ${list.distinct_addresses} addresses, ${list.parties} of ` +
      `${full.parties} parties, ${values.runs} spoiled files, seed ${values.seed}`,
  );
  await spoilAll(bases, Number(values.runs), sharesFrom(Number(values.seed)));
}

async function spoilAll(bases: readonly Base[], runs: number, random: Random): Promise<void> {
  const groups = new Map<string, Map<Outcome, number>>();
  const codes = new Map<string, number>();
  const found = new Map<string, number>();
  const note = (of: string, outcome: Outcome) => {
    const counts = groups.get(of) ?? new Map<Outcome, number>();
    tally(counts, outcome);
    groups.set(of, counts);
  };
  for (let run = 0; run < runs; run += 1) {
    // The format that lists more of the publisher's structure is spoiled twice as often.
    const base = bases[run % 3 === 2 ? 1 : 0];
    if (base === undefined) throw new Error('no file');
    const { mutation, outcome, code } = await spoil(base, random);
    note(`${mutation.group}, ${base.format}`, outcome);
    if (code !== null) tally(codes, code);
    if (outcome === 'unread' || outcome === 'LOST' || outcome === 'told') {
      tally(
        found,
        `${OUTCOMES[outcome]}: ${`${mutation.group}, ${mutation.name}`}, ${base.format}`,
      );
    }
  }
  const all = new Map<Outcome, number>();
  for (const of of groups.values()) {
    for (const [outcome, n] of of) all.set(outcome, (all.get(outcome) ?? 0) + n);
  }
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const line of table(new Map([...sorted, ['all', all]]))) say(line);
  say('');
  say(`refusals by the reader: ${[...codes].map(([code, n]) => `${code} ${n}`).join(', ')}`);
  for (const [what, n] of [...found].sort()) say(`${n}  ${what}`);
  if (all.has('LOST')) process.exitCode = 1;
}

await main(file);
