// Answers one question: how does an operator add, list and end memberships.
// Payment events do the same by themselves; the newest event by its own time wins.

import { isMembershipId, mintMembershipId } from '../../access/membership.ts';
import {
  type Command,
  EXIT,
  type Io,
  oneOf,
  readArgs,
  requireOption,
  UsageError,
} from '../../command/command.ts';
import { print, printJson, tableLines, timeText } from '../../command/output.ts';
import { showList } from '../../command/readings.ts';
import {
  MEMBERSHIP_STATUSES,
  type Membership,
  type MembershipStore,
  PLAN_NAMES,
} from '../../ports/access/membership-store.ts';

/** The services of the membership commands. `now` is Unix seconds. */
export type MemberServices = {
  readonly memberships: MembershipStore;
  readonly now: () => number;
};

const add: Command<MemberServices> = {
  name: 'members add',
  summary: 'Add a membership on a plan.',
  usage: 'exhibit members add --plan PLAN [--id ID] [--json]',
  example: 'exhibit members add --plan desk',
  details: [
    `--plan   one of ${PLAN_NAMES.join(', ')}`,
    '--id     the id to give it; one is made where it is absent',
  ],
  run: async (argv, io, { memberships, now }) => {
    const { values } = readArgs(argv, {
      options: { plan: { type: 'string' }, id: { type: 'string' } },
    });
    const plan = oneOf(requireOption(values.plan, '--plan'), '--plan', PLAN_NAMES);
    const id = values.id === undefined ? mintMembershipId() : values.id;
    if (!isMembershipId(id)) throw new UsageError('--id takes 3 to 100 letters, digits, _ and -.');
    const held = await memberships.find(id);
    if (!held.checked) return failed(io, held.why.reason);
    if (held.value !== null) return failed(io, `${id}: there is such a membership already.`);
    const recorded = await memberships.record({
      membership_id: id,
      plan,
      status: 'active',
      at: now(),
    });
    if (!recorded.checked) return failed(io, recorded.why.reason);
    const { membership } = recorded.value;
    if (io.json) printJson(io, { membership_id: membership.membership_id, plan: membership.plan });
    else io.out(`${membership.membership_id} added on the ${membership.plan} plan.`);
    return EXIT.done;
  },
};

const list: Command<MemberServices> = {
  name: 'members list',
  summary: 'List the memberships.',
  usage: 'exhibit members list [--json]',
  example: 'exhibit members list',
  details: ['--json   one membership a line'],
  run: async (argv, io, { memberships }) => {
    readArgs(argv, { options: {} });
    return showList(await memberships.list(), io, {
      none: 'No membership is recorded.',
      rows: (held) => print(io, membershipLines(held, io)),
      json: (one) => one,
    });
  },
};

function membershipLines(held: readonly Membership[], io: Io): string[] {
  const rows = held.map((one) => [
    one.membership_id,
    one.plan,
    one.status,
    timeText(one.created_at),
    timeText(one.updated_at),
  ]);
  const titles = ['membership', 'plan', 'status', 'created', 'updated'];
  return tableLines(
    titles.map((title) => ({ title })),
    rows,
    io,
  );
}

const deactivate: Command<MemberServices> = {
  name: 'members deactivate',
  summary: 'End a membership: its keys open nothing from then on.',
  usage: 'exhibit members deactivate ID [--json]',
  example: 'exhibit members deactivate mem_5b1c0e7d9a42f60b8c3d1e2f',
  run: async (argv, io, { memberships, now }) => {
    const { positionals } = readArgs(argv, { options: {}, positionals: ['ID'] });
    const id = requireOption(positionals[0], 'ID');
    const held = await memberships.find(id);
    if (!held.checked) return failed(io, held.why.reason);
    if (held.value === null) return failed(io, 'There is no such membership.');
    const [, inactive] = MEMBERSHIP_STATUSES;
    const { plan } = held.value;
    const event = { membership_id: id, plan, status: inactive, at: now() };
    const recorded = await memberships.record(event);
    if (!recorded.checked) return failed(io, recorded.why.reason);
    const { membership, applied } = recorded.value;
    if (!applied) return failed(io, 'A newer event of this membership is recorded already.');
    if (io.json) {
      printJson(io, { membership_id: membership.membership_id, status: membership.status });
    } else io.out(`${membership.membership_id} is ${membership.status}.`);
    return EXIT.done;
  },
};

function failed(io: Io, reason: string): typeof EXIT.failed {
  io.err(reason);
  return EXIT.failed;
}

/** The membership commands. */
export const memberCommands: readonly Command<MemberServices>[] = [add, list, deactivate];
