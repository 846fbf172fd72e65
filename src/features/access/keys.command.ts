// Answers one question: how does an operator create, list and revoke keys of the hosted API.
// A key is shown once, when it is created; nothing here can show it again.

import { PLANS } from '../../access/plan.ts';
import {
  type Command,
  EXIT,
  type ExitStatus,
  type Io,
  readArgs,
  requireOption,
  UsageError,
  wholeNumber,
} from '../../command/command.ts';
import { formatTime, print, printJson, tableLines, timeText } from '../../command/output.ts';
import { showList, withIsoTimes } from '../../command/readings.ts';
import type {
  ApiKey,
  KeyHolder,
  KeyStore,
  KeysOf,
  NewKey,
  Revoked,
} from '../../ports/access/key-store.ts';
import type { MembershipStore } from '../../ports/access/membership-store.ts';

/** The services of the key commands. A minted key's `text` is the key. `now` is Unix seconds. */
export type KeyServices = {
  readonly keys: KeyStore;
  readonly memberships: MembershipStore;
  readonly mintKey: (holder: KeyHolder) => { readonly text: string; readonly stored: NewKey };
  readonly now: () => number;
};

const BUDGET_MAX = 1_000_000_000;
const PARTNER_FORM = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u;

const create: Command<KeyServices> = {
  name: 'keys create',
  summary: 'Create a key for a membership, or for a partner with a monthly budget.',
  usage: 'exhibit keys create (--membership ID | --partner NAME --budget N) [--json]',
  example: 'exhibit keys create --membership mem_5b1c0e7d9a42f60b8c3d1e2f',
  details: [
    '--membership   the membership whose key it is',
    '--partner      the partner whose key it is',
    '--budget       requests a month that the partner key may make',
    'The key is printed once. What is stored cannot be turned back into it.',
  ],
  run: async (argv, io, services) => {
    const { values } = readArgs(argv, {
      options: {
        membership: { type: 'string' },
        partner: { type: 'string' },
        budget: { type: 'string' },
      },
    });
    if ((values.membership === undefined) === (values.partner === undefined)) {
      throw new UsageError('Give either --membership or --partner.');
    }
    if (values.membership !== undefined) {
      if (values.budget !== undefined) throw new UsageError('--budget goes with --partner.');
      return createForMembership(values.membership, io, services);
    }
    const partner = requireOption(values.partner, '--partner');
    if (!PARTNER_FORM.test(partner)) throw new UsageError('--partner takes up to 64 characters.');
    const budget = requireOption(values.budget, '--budget');
    const monthlyBudget = wholeNumber(budget, '--budget', { min: 1, max: BUDGET_MAX });
    return store(io, services, {
      holder: { kind: 'scp', partner, monthly_budget: monthlyBudget },
      activeMax: Number.MAX_SAFE_INTEGER,
    });
  },
};

async function createForMembership(id: string, io: Io, services: KeyServices): Promise<ExitStatus> {
  const held = await services.memberships.find(id);
  if (!held.checked) return failed(io, held.why.reason);
  if (held.value === null) return failed(io, 'There is no such membership.');
  if (held.value.status !== 'active') return failed(io, 'The membership is not active.');
  return store(io, services, {
    holder: { kind: 'sc', membership_id: id },
    activeMax: PLANS[held.value.plan].active_keys,
  });
}

async function store(
  io: Io,
  { keys, mintKey }: KeyServices,
  what: { readonly holder: KeyHolder; readonly activeMax: number },
): Promise<ExitStatus> {
  const { text, stored } = mintKey(what.holder);
  const added = await keys.add(stored, what.activeMax);
  if (!added.checked) return failed(io, added.why.reason);
  if (added.value.outcome === 'no_membership') return failed(io, 'There is no such membership.');
  if (added.value.outcome === 'limit') {
    return failed(
      io,
      `The membership has ${added.value.active} active keys, as many as its plan holds.`,
    );
  }
  const { prefix, expires_at } = added.value.key;
  if (io.json) {
    printJson(io, { key: text, prefix, expires_at: formatTime(expires_at) });
    return EXIT.done;
  }
  io.out(text);
  io.err(`This key is shown once. It expires on ${String(timeText(expires_at))}.`);
  return EXIT.done;
}

const list: Command<KeyServices> = {
  name: 'keys list',
  summary: 'List keys: prefix, dates and last use; never the keys themselves.',
  usage: 'exhibit keys list [--membership ID | --partner NAME] [--json]',
  example: 'exhibit keys list --membership mem_5b1c0e7d9a42f60b8c3d1e2f',
  details: ['--json   one key a line'],
  run: async (argv, io, { keys }) => {
    const { values } = readArgs(argv, {
      options: { membership: { type: 'string' }, partner: { type: 'string' } },
    });
    if (values.membership !== undefined && values.partner !== undefined) {
      throw new UsageError('Give --membership or --partner, not both.');
    }
    return showList(await keys.list(chosen(values)), io, {
      none: 'No key is held.',
      rows: (rows) => print(io, keyLines(rows, io)),
      json: ({ holder, ...key }) => ({ ...key, ...holder }),
    });
  },
};

function chosen(values: { membership?: string; partner?: string }): KeysOf {
  if (values.membership !== undefined) return { membership_id: values.membership };
  return values.partner === undefined ? 'everyone' : { partner: values.partner };
}

function keyLines(keys: readonly ApiKey[], io: Io): string[] {
  const titles = ['prefix', 'id', 'holder', 'created', 'expires', 'last used', 'revoked'];
  const rows = keys.map((key) => [
    key.prefix,
    key.id,
    key.holder.kind === 'sc' ? key.holder.membership_id : key.holder.partner,
    timeText(key.created_at),
    timeText(key.expires_at),
    timeText(key.last_used_at),
    timeText(key.revoked_at),
  ]);
  return tableLines(
    titles.map((title) => ({ title })),
    rows,
    io,
  );
}

const revoke: Command<KeyServices> = {
  name: 'keys revoke',
  summary: 'Revoke a key; it opens nothing, in any process, within 5 seconds.',
  usage: 'exhibit keys revoke PREFIX-OR-ID [--json]',
  example: 'exhibit keys revoke sc_4fQz81Lm',
  run: async (argv, io, { keys, now }) => {
    const { positionals } = readArgs(argv, { options: {}, positionals: ['PREFIX-OR-ID'] });
    const reading = await keys.revoke(requireOption(positionals[0], 'PREFIX-OR-ID'), now(), null);
    if (!reading.checked) return failed(io, reading.why.reason);
    return revocationShown(reading.value, 'key', io);
  },
};

/** Shows what became of a revocation. A prefix that several share revokes none of them. */
export function revocationShown(
  outcome: Revoked<{ readonly id: string; readonly prefix: string; revoked_at: number | null }>,
  what: string,
  io: Io,
): ExitStatus {
  if (outcome.outcome === 'unknown') return failed(io, `There is no such ${what}.`);
  if (outcome.outcome === 'ambiguous') {
    return failed(
      io,
      `Several ${what}s begin so; none was revoked. Ids: ${outcome.ids.join(', ')}`,
    );
  }
  const { id, prefix, revoked_at } = outcome.revoked;
  if (io.json) printJson(io, withIsoTimes({ id, prefix, revoked_at }));
  else io.out(`${prefix} (${id}) is revoked.`);
  return EXIT.done;
}

function failed(io: Io, reason: string): typeof EXIT.failed {
  io.err(reason);
  return EXIT.failed;
}

/** The key commands. */
export const keyCommands: readonly Command<KeyServices>[] = [create, list, revoke];
