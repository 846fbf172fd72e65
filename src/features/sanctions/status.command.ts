// What an operator types to see how the list stands: its date, whose word its age is, what was
// refused, who was asked last. It exits 3 where a miss would be no answer.

import { parseKnownAddress } from '../../chain/address.ts';
import { DAY_S, HOUR_S } from '../../chain/time.ts';
import { type Command, EXIT, type Io, readArgs } from '../../command/command.ts';
import {
  factLines,
  formatTime,
  print,
  printJson,
  tableLines,
  timeText,
} from '../../command/output.ts';
import { Read } from '../../evidence/reading.ts';
import type {
  Asked,
  CheckedBy,
  HeldPublication,
  HeldRefusal,
  InForce,
} from '../../ports/sanctions/publication-store.ts';
import type { ListEntry } from '../../ports/sanctions/sanctions-list.ts';
import { couldNot, type SanctionsServices } from './sanctions.command.ts';

const CHECKED_BY: { readonly [B in CheckedBy]: string } = {
  asked: 'the publisher',
  obtained: 'an operator’s statement',
  own_date: 'its own publication date: the publisher did not confirm it',
};

export const sanctionsStatus: Command<SanctionsServices> = {
  name: 'sanctions status',
  summary: 'Show the list in force, whose word its age is, and what was refused.',
  usage: 'exhibit sanctions status [--literals] [--json]',
  example: 'exhibit sanctions status --json',
  details: [
    '--literals  list the values of no known address form, which are matched as they are printed',
    'Exit status 3: no list is in force, it is too old or superseded, so that a miss is no answer,',
    'or the store could not be read.',
  ],
  run: async (argv, io, { sanctions }) => {
    const { values } = readArgs(argv, { options: { literals: { type: 'boolean' } } });
    const { store } = sanctions;
    const inForce = await store.inForce();
    if (!(inForce instanceof Read)) return couldNot(inForce.why.reason, io);
    const refusals = await store.refusals();
    if (!(refusals instanceof Read)) return couldNot(refusals.why.reason, io);
    const asked = await store.asked();
    if (!(asked instanceof Read)) return couldNot(asked.why.reason, io);
    const { publication } = inForce.value;
    const isAsked = values.literals === true && publication !== null;
    const entries = isAsked ? await store.entries(publication.id) : null;
    if (entries !== null && !(entries instanceof Read)) return couldNot(entries.why.reason, io);
    const literals = entries === null ? null : entries.value.filter(isLiteral);
    await sanctions.poll();
    const look = await sanctions.list.lookUp([]);
    const short = look instanceof Read ? null : look.why.reason;
    const facts = {
      ...inForce.value,
      refused: refusals.value,
      asked: asked.value,
      short,
      literals,
    };
    if (io.json) printJson(io, jsonOf(facts));
    else show(facts, sanctions.maxAgeS, io);
    return short === null ? EXIT.done : EXIT.couldNotCheck;
  },
};

type Facts = Pick<InForce, 'publication' | 'superseded'> & {
  readonly refused: readonly HeldRefusal[];
  readonly asked: readonly Asked[];
  /** Why a miss is no answer; `null` where it is one. */
  readonly short: string | null;
  /** The rows of no known address form; `null` where nobody asks, or no list is in force. */
  readonly literals: readonly ListEntry[] | null;
};

function isLiteral({ address }: ListEntry): boolean {
  return parseKnownAddress(address) === null;
}

function jsonOf({ publication, superseded, refused, asked, short, literals }: Facts): object {
  return {
    published: publication === null ? null : publication.published,
    addresses: publication === null ? null : publication.distinct_addresses,
    sha256: publication === null ? null : publication.sha256,
    source: publication === null ? null : publication.source_url,
    checked_at: publication === null ? null : formatTime(publication.checked_at),
    checked_by: publication === null ? null : publication.checked_by,
    shows_absence: short === null,
    reason: short,
    superseded: superseded === null ? null : { ...superseded, since: formatTime(superseded.since) },
    refusals: refused.map(({ first_at, refused_at, sha256, source_url, ...row }) => ({
      sha256,
      source: source_url,
      code: row.code,
      reason: row.reason,
      published: row.published,
      acceptable: row.acceptable,
      kept_as: row.kept_as,
      first_at: formatTime(first_at),
      refused_at: formatTime(refused_at),
    })),
    asked: asked.map(({ source, asked_at, result }) => ({
      source: source.url,
      asked_at: formatTime(asked_at),
      result,
    })),
    ...(literals === null ? {} : { literals: literals.map(jsonOfLiteral) }),
  };
}

function jsonOfLiteral({ address, currency, entity, uid, note }: ListEntry): object {
  return { address, currency, entity, uid, note };
}

const LITERAL_COLUMNS = ['of no known form', 'currency', 'entity', 'uid', 'note'];

function show(facts: Facts, maxAgeS: number | null, io: Io): void {
  const { publication, superseded, refused, asked, short, literals } = facts;
  for (const { refused_at, source_url, code, reason, kept_as } of refused) {
    const kept = kept_as === null ? '' : `; kept as ${kept_as}`;
    io.err(`Refused (${timeText(refused_at)}, ${source_url}): ${code}, ${reason}${kept}`);
  }
  if (superseded !== null) {
    const { published, source_url, since } = superseded;
    const seen = `a list of ${published} from ${source_url}, first seen ${timeText(since)}`;
    io.err(`Not the newest: ${seen}, was refused.`);
  }
  if (publication !== null) print(io, factLines(linesOf(publication, asked, maxAgeS)));
  if (literals !== null) {
    const columns = LITERAL_COLUMNS.map((title) => ({ title }));
    const rows = literals.map((one) => [one.address, one.currency, one.entity, one.uid, one.note]);
    print(io, tableLines(columns, rows, io));
  }
  if (short !== null) couldNot(short, io);
}

function linesOf(publication: HeldPublication, asked: readonly Asked[], maxAgeS: number | null) {
  const lines: [string, string | number | null][] = [
    ['published', publication.published],
    ['addresses', publication.distinct_addresses],
    ['of no known form', publication.unparsed],
    ['parties', publication.parties],
    ['format', publication.format],
    ['sha256', publication.sha256],
    ['source', publication.source_url],
    ['in force since', timeText(publication.accepted_at)],
    ['checked', timeText(publication.checked_at)],
    ['checked by', CHECKED_BY[publication.checked_by]],
    ['maximum age', maxAgeS === null ? 'lifted' : limitText(maxAgeS)],
    ['size rule set aside', publication.accepted_why],
  ];
  const [last] = asked;
  if (last !== undefined) {
    const { source, asked_at, result } = last;
    lines.push(['last asked', `${source.url}, ${timeText(asked_at)}: ${result}`]);
  }
  return lines;
}

function limitText(limitS: number): string {
  return limitS % DAY_S === 0 ? `${limitS / DAY_S} days` : `${limitS / HOUR_S} hours`;
}
