// Answers one question: what became of what this address launched, as it stands on record?
// A record, a walk that found nothing, and an address that nobody looked at are three pages.

import type { ComponentChildren } from 'preact';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { Scroll } from '../../pages/words.tsx';
import type { ShownRecord } from './deployer-record.contract.ts';

/** What a wallet of Solana launched, as its route answers. */
export type ShownWallet = {
  readonly answer: 'flagged' | 'record';
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

/** What an address is answered. `looked`: its launches were looked for, and none is credited. */
export type ShownDeployer =
  | { readonly kind: 'ethereum'; readonly record: ShownRecord }
  | { readonly kind: 'solana'; readonly wallet: ShownWallet }
  | { readonly kind: 'absent'; readonly looked: boolean; readonly reason: string };

/** The page of a deployer. */
export function deployerHtml(
  facts: PageFacts,
  chain: string,
  address: string,
  shown: ShownDeployer,
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
        <Shown shown={shown} />
        <p class="quiet">
          Wallets that the rug model flagged lately stand on the{' '}
          <a href="/leaderboard">leaderboard</a>.
        </p>
      </>
    ),
  });
}

function Shown({ shown }: { shown: ShownDeployer }) {
  switch (shown.kind) {
    case 'ethereum':
      return <Record record={shown.record} />;
    case 'solana':
      return <Wallet wallet={shown.wallet} />;
    case 'absent':
      return <Absent looked={shown.looked} reason={shown.reason} />;
  }
}

function Absent({ looked, reason }: { looked: boolean; reason: string }) {
  return (
    <section class={looked ? 'nothing' : 'nothing unread'} aria-labelledby="absent">
      <h2 id="absent">{looked ? 'No launch is credited to it' : 'Nobody has looked'}</h2>
      <p>{reason}</p>
      <p class="quiet">
        {looked
          ? 'That is no clearance of the address.'
          : 'This says nothing about what the address launched.'}
      </p>
    </section>
  );
}

const STATES: { readonly [K in ShownRecord['state']]: string } = {
  all_died: 'Every listed launch has died',
  mixed: 'Some listed launches live',
  no_listed_launch: 'No venue ever listed a launch',
  unchecked: 'Whether a launch is listed could not be checked',
};

/** What became of the launches of a record. */
export function Record({ record }: { record: ShownRecord }) {
  const { coverage, launches, died, listed_launches: listed, never_listed } = record;
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
          ['Captured', <Time key="at" at={coverage.captured_at} />],
          ['Contracts examined', `${coverage.contracts_examined}${cut(coverage.truncated)}`],
          ['Asked', coverage.providers.join(', ')],
        ]}
      />
      {launches.length > 0 && <Launches launches={launches} />}
      {coverage.skipped.length > 0 && <Skipped skipped={coverage.skipped} />}
      <p>{record.caveat}</p>
    </>
  );
}

function cut(truncated: boolean): string {
  return truncated ? ', and there are more: every count is a floor' : '';
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

function Launches({ launches }: Pick<ShownRecord, 'launches'>) {
  return (
    <Scroll>
      <table>
        <caption>Launches, as they were observed</caption>
        <thead>
          <tr>
            <th scope="col">Token</th>
            <th scope="col">Outcome</th>
            <th scope="col">Launched</th>
            <th scope="col">Liquidity, USD</th>
            <th scope="col">Transfers seen</th>
            <th scope="col">Made by</th>
          </tr>
        </thead>
        <tbody>
          {launches.map((one) => (
            <tr key={one.address}>
              <td>
                <code>{one.address}</code>
              </td>
              <td class={`state ${one.outcome}`}>{one.outcome.replaceAll('_', ' ')}</td>
              <td class="whole">
                <Time at={one.created_at} />
              </td>
              <td>{usd(one.liquidity_usd)}</td>
              <td>{transfers(one)}</td>
              <td>{one.via === null ? 'the address' : one.via}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function usd(amount: number | null): string {
  return amount === null ? 'not measured' : amount.toLocaleString('en');
}

function transfers(one: ShownRecord['launches'][number]): string {
  const { transfers_observed: count, transfers_truncated: more } = one;
  if (count === null) return 'not read';
  return more === true ? `${count} and more` : String(count);
}

function Skipped({ skipped }: { skipped: ShownRecord['coverage']['skipped'] }) {
  return (
    <details>
      <summary>{skipped.length} contracts are no launch of it, or nobody knows</summary>
      <Scroll>
        <table>
          <thead>
            <tr>
              <th scope="col">Contract</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {skipped.map((one) => (
              <tr key={one.address}>
                <td>
                  <code>{one.address}</code>
                </td>
                <td>{one.reason.replaceAll('_', ' ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}

function Wallet({ wallet }: { wallet: ShownWallet }) {
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
      <Scroll>
        <table>
          <caption>Settled launches, the newest first</caption>
          <thead>
            <tr>
              <th scope="col">Mint</th>
              <th scope="col">Outcome</th>
              <th scope="col">Launched</th>
              <th scope="col">Checked</th>
            </tr>
          </thead>
          <tbody>
            {entries.map((one) => (
              <tr key={one.mint}>
                <td>
                  <code>{one.mint}</code>
                </td>
                <td class={`state ${one.outcome}`}>{one.outcome}</td>
                <td class="whole">
                  <Time at={one.launched_at} />
                </td>
                <td class="whole">
                  <Time at={one.settled_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p>{wallet.caveat}</p>
    </>
  );
}

const MS_PER_S = 1_000;
const MINUTE_CHARS = 16;

function Time({ at }: { at: number }) {
  const text = new Date(at * MS_PER_S).toISOString();
  return <time dateTime={text}>{text.slice(0, MINUTE_CHARS).replace('T', ' ')} UTC</time>;
}
