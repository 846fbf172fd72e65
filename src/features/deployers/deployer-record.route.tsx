// A deployer record holds no flag: nothing in it was scored.

import type { ComponentChildren } from 'preact';
import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { badAddress, badField } from '../../contract/refusals.ts';
import { html } from '../../contract/reply.ts';
import { callerName, evidenceRoute, type Handler, plainRoute } from '../../contract/route.ts';
import {
  addressText,
  claimedWords,
  harmless,
  negative,
  oneOf,
  prose,
  rowFact,
  sharedShape,
  unixSeconds,
  words,
} from '../../contract/wire.ts';
import { why } from '../../evidence/reasons.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { Moment, Table } from '../../pages/words.tsx';
import {
  DEPLOYER_CHAIN,
  type DeployerRecords,
  LAUNCH_OUTCOMES,
  SKIP_REASONS,
} from '../../ports/deployers.ts';
import type { LaunchAnswer } from '../../ports/launches.ts';
import { chainNotServed, RECORD_STATES, recordView, whyNoRecord } from './record.ts';

const RECORDS = { restsOn: ['deployer_records'] } as const;

const count = negative(z.int().nonnegative(), RECORDS);
const usd = rowFact(z.number().nonnegative().nullable(), RECORDS);

const launch = sharedShape(
  'DeployerLaunch',
  z.strictObject({
    address: words(),
    outcome: rowFact(z.enum(LAUNCH_OUTCOMES), RECORDS),
    created_at: unixSeconds,
    observed_age_days: rowFact(z.number().nonnegative()),
    liquidity_usd: usd,
    volume_usd_24h: usd,
    transfers_observed: rowFact(z.int().nonnegative().nullable(), RECORDS),
    transfers_truncated: rowFact(z.boolean().nullable(), RECORDS),
    via: words().nullable(),
  }),
);

const coverage = sharedShape(
  'DeployerCoverage',
  z.strictObject({
    captured_at: unixSeconds,
    direct_creations: rowFact(z.int().nonnegative(), RECORDS),
    factories_walked: count,
    factory_depth: z.literal(1),
    truncated: negative(z.boolean(), RECORDS),
    truncated_factories: negative(z.array(words()), RECORDS),
    contracts_examined: rowFact(z.int().nonnegative(), RECORDS),
    skipped: negative(
      z.array(
        z.strictObject({
          address: words(),
          reason: oneOf(SKIP_REASONS),
        }),
      ),
      RECORDS,
    ),
    unchecked: count,
    providers: rowFact(z.array(words()), RECORDS),
  }),
);

/** The data of a deployer record, for every route that shows it. */
export const deployerRecordData = sharedShape(
  'LaunchRecord',
  z.strictObject({
    address: words(),
    chain: z.literal('ethereum'),
    state: claimedWords(RECORD_STATES, ['all_died', 'no_listed_launch'], RECORDS),
    calibrated: harmless(z.literal(false), 'nothing of a record was scored'),
    listed_launches: count,
    died: count,
    survived: count,
    never_listed: count,
    death_rate: negative(z.number().min(0).max(1).nullable(), RECORDS),
    launches: negative(z.array(launch), RECORDS),
    finding: prose().min(1),
    coverage,
    caveat: prose().min(1),
  }),
);

/** A record as it is shown. */
export type DeployerRecordView = z.output<typeof deployerRecordData>;

export const deployerRecord = evidenceRoute({
  name: 'deployer_record',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/evm/deployer/{chain}/{address}',
  summary: 'The launches of one Ethereum deployer, and what became of them.',
  access: 'analyst',
  params: z.strictObject({
    chain: z
      .string()
      .regex(/^[a-z0-9_-]{1,32}$/)
      .meta({ description: 'Only `ethereum` is served; any other is not_supported.' }),
    address: addressText,
  }),
  data: deployerRecordData,
  absences: ['insufficient_evidence', 'not_supported', 'not_deployed'],
  tool: {
    name: 'deployer_record',
    description:
      'What became of the tokens that one Ethereum address launched: listed, died, survived, ' +
      'never listed, with how each was observed. Nothing in it is scored, and an address without ' +
      'a record has not been cleared.',
  },
});

export const deployerPage = plainRoute({
  name: 'deployer_page',
  surface: 'web',
  method: 'GET',
  path: '/deployer/{chain}/{address}',
  summary: 'What became of the tokens that an address launched, for people.',
  access: 'open',
  params: z.strictObject({
    chain: z.string().regex(/^[a-z0-9_-]{1,32}$/),
    address: addressText,
  }),
  responses: { 200: html(), 503: html() },
});

// The route reads committed records alone. An address that was never walked is put into the queue.

export type DeployerPorts = { readonly deployerRecords: Pick<DeployerRecords, 'recordOf'> };

/** @internal */
export function deployerRecordHandler({
  deployerRecords,
}: DeployerPorts): Handler<typeof deployerRecord> {
  return async ({ params: { chain, address } }, { now }, caller) => {
    const parsed = parseAddress(address);
    if (chain !== DEPLOYER_CHAIN) {
      const subject = parsed === null ? address : parsed.address;
      return deployerRecord.absent.not_supported({ subject, why: chainNotServed(chain) });
    }
    if (parsed === null) return badAddress(address);
    if (parsed.kind !== 'evm') return badField('address', why('form_not_recognised').reason);
    const subject = parsed.address;
    const reading = await deployerRecords.recordOf(subject, callerName(caller));
    if (!reading.checked) return deployerRecord.absent.not_deployed({ subject, silent: reading });
    const none = whyNoRecord(reading.value);
    if (none !== null) {
      const consulted = [reading] as const;
      return deployerRecord.absent.insufficient_evidence({ subject, why: none, consulted });
    }
    return deployerRecord.ok({ subject, data: recordView(reading, now()) });
  };
}

// A record, a walk that found nothing, and an address that nobody looked at are three pages.

/** The launches of a Solana wallet, as its route answers. */
export type WalletView = {
  readonly answer: LaunchAnswer;
  readonly entries: readonly {
    readonly mint: string;
    readonly launched_at: number;
    readonly settled_at: number;
    readonly outcome: 'survived' | 'died';
  }[];
  readonly count: number;
  readonly window_hours: number;
  readonly suppressed: number;
  readonly caveat: string;
};

/**
 * The end of a search that met nothing to show: `none` came to its end, `undecided` read too little
 * to settle it, `unread` read nothing.
 */
export type SearchEnd = 'none' | 'undecided' | 'unread';

/** The answer for an address. */
export type DeployerView =
  | { readonly kind: 'ethereum'; readonly record: DeployerRecordView }
  | { readonly kind: 'solana'; readonly wallet: WalletView }
  | { readonly kind: 'absent'; readonly search: SearchEnd; readonly reason: string };

/** @internal The page of a deployer. */
export function deployerHtml(
  facts: PageFacts,
  chain: string,
  address: string,
  shown: DeployerView,
): string {
  return page({
    ...facts,
    title: 'Deployer',
    current: `/deployer/${chain}/${address}`,
    children: (
      <>
        <h1>Deployer</h1>
        <p class="lead subject">
          <code>{address}</code> on {chain}
        </p>
        <DeployerContent shown={shown} />
        <p class="quiet">
          Wallets that the rug model flagged lately stand on the{' '}
          <a href="/leaderboard">leaderboard</a>.
        </p>
      </>
    ),
  });
}

function DeployerContent({ shown }: { shown: DeployerView }) {
  switch (shown.kind) {
    case 'ethereum':
      return <Record record={shown.record} />;
    case 'solana':
      return <Wallet wallet={shown.wallet} />;
    case 'absent':
      return <Absent search={shown.search} reason={shown.reason} />;
  }
}

const ABSENT: { readonly [S in SearchEnd]: readonly [title: string, says: string] } = {
  none: ['No launch is credited to it', 'That is no clearance of the address.'],
  undecided: [
    'What was read does not settle it',
    'It may have launched tokens: what is told above is all that is known.',
  ],
  unread: ['Nobody has looked', 'This says nothing about what the address launched.'],
};

function Absent({ search, reason }: { search: SearchEnd; reason: string }) {
  const [title, says] = ABSENT[search];
  return (
    <section class={search === 'none' ? 'nothing' : 'nothing unread'} aria-labelledby="absent">
      <h2 id="absent">{title}</h2>
      <p>{reason}</p>
      <p class="quiet">{says}</p>
    </section>
  );
}

const STATES: { readonly [K in DeployerRecordView['state']]: string } = {
  all_died: 'Every listed launch has died',
  mixed: 'Some listed launches live',
  no_listed_launch: 'No venue ever listed a launch',
  unchecked: 'What became of all of its launches could not be checked',
};

/** @internal The outcomes of the launches of a record. */
export function Record({ record }: { record: DeployerRecordView }) {
  const { coverage, launches, died, listed_launches: listed, never_listed } = record;
  const more = coverage.truncated ? ', and there are more: every count is a floor' : '';
  return (
    <>
      <h2 class="section">{STATES[record.state]}</h2>
      <p>{record.finding}</p>
      <Facts
        rows={[
          ['Died', listed === 0 ? 'none listed' : `${died} of ${listed} listed`],
          ['Still above the exit level', String(record.survived)],
          ['Never listed', String(never_listed)],
          ['Could not be checked', String(coverage.unchecked)],
          ['Captured', <Moment key="at" at={coverage.captured_at} />],
          ['Contracts examined', `${coverage.contracts_examined}${more}`],
          ['Asked', coverage.providers.join(', ')],
        ]}
      />
      {launches.length > 0 && <Launches launches={launches} />}
      {coverage.skipped.length > 0 && <Skipped skipped={coverage.skipped} />}
      <p>{record.caveat}</p>
    </>
  );
}

type FactRow = readonly [name: string, value: ComponentChildren];

function Facts({ rows }: { rows: readonly FactRow[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <>
          <dt key={name}>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

function Launches({ launches }: Pick<DeployerRecordView, 'launches'>) {
  return (
    <Table
      caption="Launches, as they were observed"
      rows={launches}
      columns={[
        { head: 'Token', cell: (one) => <code>{one.address}</code> },
        {
          head: 'Outcome',
          cell: (one) => one.outcome.replaceAll('_', ' '),
          look: (one) => `state ${one.outcome}`,
        },
        { head: 'Launched', cell: (one) => <Moment at={one.created_at} />, look: 'whole' },
        {
          head: 'Liquidity, USD',
          cell: ({ liquidity_usd: usd }) =>
            usd === null ? 'not measured' : usd.toLocaleString('en'),
        },
        { head: 'Transfers seen', cell: transfers },
        { head: 'Made by', cell: (one) => (one.via === null ? 'the address' : one.via) },
      ]}
    />
  );
}

function transfers(one: DeployerRecordView['launches'][number]): string {
  const { transfers_observed: count, transfers_truncated: more } = one;
  if (count === null) return 'not read';
  return more === true ? `${count} and more` : String(count);
}

function Skipped({ skipped }: { skipped: DeployerRecordView['coverage']['skipped'] }) {
  return (
    <details>
      <summary>{skipped.length} contracts are no launch of it, or nobody knows</summary>
      <Table
        rows={skipped}
        columns={[
          { head: 'Contract', cell: (one) => <code>{one.address}</code> },
          { head: 'Why', cell: (one) => one.reason.replaceAll('_', ' ') },
        ]}
      />
    </details>
  );
}

function Wallet({ wallet }: { wallet: WalletView }) {
  const { answer, count, entries, suppressed, window_hours } = wallet;
  const died = entries.filter(({ outcome }) => outcome === 'died').length;
  const shown = entries.length === count ? `${count} settled` : `the newest ${entries.length}`;
  return (
    <>
      <h2 class="section">
        {answer === 'flagged' ? 'Every settled launch has died' : 'At least one launch survived'}
      </h2>
      <Facts
        rows={[
          ['Settled launches', count.toLocaleString('en')],
          ['Died', `${died} of ${shown}`],
          ['Not settled yet', String(suppressed)],
          ['Window', `${window_hours} hours after the launch`],
        ]}
      />
      <Table
        caption="Settled launches, the newest first"
        rows={entries}
        columns={[
          { head: 'Mint', cell: (one) => <code>{one.mint}</code> },
          { head: 'Outcome', cell: (one) => one.outcome, look: (one) => `state ${one.outcome}` },
          { head: 'Launched', cell: (one) => <Moment at={one.launched_at} />, look: 'whole' },
          { head: 'Checked', cell: (one) => <Moment at={one.settled_at} />, look: 'whole' },
        ]}
      />
      <p>{wallet.caveat}</p>
    </>
  );
}
