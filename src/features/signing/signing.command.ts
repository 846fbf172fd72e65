// Lists, rotates and marks the keys that answers and checkpoints are signed with. No private part
// is ever printed.

import type { UnixSeconds } from '../../chain/time.ts';
import { formatIsoTime } from '../../chain/time.ts';
import {
  anyText,
  defineCommand,
  EXIT,
  fail,
  flag,
  mandatory,
  pastTime,
  UsageError,
} from '../../command/command.ts';
import { printRecord, printRows, timeText } from '../../command/output.ts';
import { map } from '../../evidence/reading.ts';
import type { KeptKey, KeptKeys } from '../../ports/signing.ts';
import { chooseDue, chooseNext, keyInForce, type Make, nextKey } from './keys.ts';

/** The dependencies of the commands. */
export type SigningServices = {
  readonly signing: {
    readonly kept: KeptKeys;
    readonly make: Make;
    readonly now: () => UnixSeconds;
  };
};

const REASON_CHARS_MAX = 200;

/** What a key does at a time: `spare` may sign, and a newer one does. */
type KeyState = 'in_force' | 'next' | 'spare' | 'expired' | 'compromised';

/** @internal */
export function keyState(key: KeptKey, keys: readonly KeptKey[], now: UnixSeconds): KeyState {
  if (key.compromised_since !== null) return 'compromised';
  if (now >= key.exp || key.sealed === null) return 'expired';
  if (key.nbf > now) return 'next';
  return keyInForce(keys, now)?.kid === key.kid ? 'in_force' : 'spare';
}

function keyShown(key: KeptKey, keys: readonly KeptKey[], now: UnixSeconds) {
  const { kid, x, nbf, exp, compromised_since, made_at } = key;
  return { kid, state: keyState(key, keys, now), x, nbf, exp, compromised_since, made_at };
}

const list = defineCommand({
  name: 'signing list',
  summary: 'List the keys that answers are signed with, past ones too.',
  example: 'exhibit signing list',
  json: 'one key a line, without its private part; nbf, exp, compromised_since in Unix seconds',
  run: async (_, io, { signing: { kept, now } }: SigningServices) => {
    const at = now();
    const all = await kept.all();
    const shown = map(all, (keys) => keys.map((key) => keyShown(key, keys, at)));
    return printRows(shown, io, {
      none: 'No signing key was ever made here.',
      columns: [
        'kid',
        'state',
        ['signs from', ({ nbf }) => timeText(nbf)],
        ['valid until', ({ exp }) => timeText(exp)],
        ['compromised since', ({ compromised_since: since }) => timeText(since)],
      ],
    });
  },
});

const rotate = defineCommand({
  name: 'signing rotate',
  summary: 'Make the next signing key; the one before it stays valid beside it.',
  example: 'exhibit signing rotate',
  options: { 'at-once': flag('it signs from now on, not in an hour') },
  json: 'the key, without its private part',
  notes: [
    'A key is published an hour before it signs, so that whoever keeps a key set has it by then.',
    'Keys rotate by themselves each 90 days.',
  ],
  run: async ({ 'at-once': atOnce }, io, { signing }: SigningServices) => {
    const { kept, make, now } = signing;
    const at = now();
    const before = await kept.all();
    if (!before.checked) return fail(io, before.why.reason, EXIT.couldNotCheck);
    const after = await kept.add(chooseNext(make, at, atOnce));
    if (!after.checked) return fail(io, after.why.reason, EXIT.couldNotCheck);
    const known = new Set(before.value.map(({ kid }) => kid));
    const added = after.value.find(({ kid }) => !known.has(kid));
    if (added === undefined) {
      const waiting = nextKey(after.value, at);
      const from = waiting === null ? '' : `: ${waiting.kid} signs from ${timeText(waiting.nbf)}`;
      return fail(io, `The next key is made already${from}. --at-once makes another.`);
    }
    const shown = keyShown(added, after.value, at);
    return printRecord(shown, io, `${added.kid} signs from ${timeText(added.nbf)} on.`);
  },
});

const compromise = defineCommand({
  name: 'signing compromise',
  summary: 'Mark a key that somebody else may hold, and sign with another from now on.',
  example:
    'exhibit signing compromise sJ0b5N0vYdXJwq9P7d1cO3mXbWkq2m5X8d3d7o4Zr0E ' +
    '--since 2026-11-21T09:00Z --reason "a stolen disk"',
  arguments: { kid: mandatory('KID', 'as exhibit signing list names it', anyText) },
  options: {
    since: mandatory('TIME', 'from when on somebody else may have held it', anyText),
    reason: mandatory(
      'TEXT',
      'what is known of it; it is kept, and not published',
      (text, name) => {
        if (text.length <= REASON_CHARS_MAX) return text;
        throw new UsageError(`${name} takes at most ${REASON_CHARS_MAX} characters.`);
      },
    ),
  },
  json: 'the key, without its private part',
  notes: [
    'It cannot be taken back. The private part is erased. A signature of this key holds from then',
    'on only of a statement whose leaf in the log is older than that time.',
  ],
  run: async ({ kid, since, reason }, io, { signing }: SigningServices) => {
    const { kept, make, now } = signing;
    const at = now();
    const from = pastTime(since, '--since', at);
    if (from === null) return fail(io, '--since is missing.', EXIT.badUsage);
    const marked = await kept.compromise(
      kid,
      { since: from, marked_at: at, reason },
      chooseDue(make, at),
    );
    if (!marked.checked) return fail(io, marked.why.reason, EXIT.couldNotCheck);
    const keys = marked.value;
    const found = keys?.find((key) => key.kid === kid);
    if (keys === null || found === undefined) return fail(io, 'There is no such signing key.');
    const inForce = keyInForce(keys, at);
    const other = inForce === null ? 'no key signs now' : `${inForce.kid} signs now`;
    const says = `${kid} is compromised since ${timeText(found.compromised_since)}; ${other}.`;
    return printRecord(keyShown(found, keys, at), io, says);
  },
});

export const signingCommands = [list, rotate, compromise];

/** The line of `exhibit doctor`: the key in force, and until when it signs. */
export function signingFinding(
  keys: readonly KeptKey[],
  now: UnixSeconds,
): { readonly state: 'ok' | 'warning'; readonly says: string } {
  const inForce = keyInForce(keys, now);
  if (inForce === null) {
    return { state: 'warning', says: 'no key is in force; run `exhibit signing rotate --at-once`' };
  }
  const next = nextKey(keys, now);
  const then = next === null ? '' : `; ${next.kid} takes over at ${formatIsoTime(next.nbf)}`;
  return {
    state: 'ok',
    says: `${inForce.kid} signs, valid until ${formatIsoTime(inForce.exp)}${then}`,
  };
}
