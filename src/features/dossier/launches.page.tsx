// What became of the tokens that the address launched, in short?

import { Address, counted, Moment, Table } from '../../pages/words.tsx';
import type { LaunchesData, PartOf } from './dossier.contract.ts';
import { Caveat, type PartFacts, Section } from './section.page.tsx';
import { launchesVerdict } from './verdicts.page.tsx';

const ROWS_MAX = 10;

type LaunchesProps = { part: PartOf<LaunchesData>; facts: PartFacts };

/** The part of the launches. */
export function Launches({ part, facts }: LaunchesProps) {
  const verdict = launchesVerdict(part);
  return (
    <Section
      name="launches"
      title="Tokens that it launched"
      part={part}
      verdict={verdict}
      facts={facts}
    >
      {(data) => (
        <>
          <p class={`says ${verdict.tone}`}>{verdict.says}</p>
          {data.chain === 'ethereum' ? (
            <Record record={data.record} />
          ) : (
            <Wallet wallet={data.wallet} />
          )}
          <p>
            <a href={`/deployer/${data.chain}/${facts.subject}`}>The whole record</a>
          </p>
          <Caveat>{data.chain === 'ethereum' ? data.record.caveat : data.wallet.caveat}</Caveat>
        </>
      )}
    </Section>
  );
}

type RecordShown = Extract<LaunchesData, { chain: 'ethereum' }>['record'];
type WalletShown = Extract<LaunchesData, { chain: 'solana' }>['wallet'];

function Record({ record: { finding, launches } }: { record: RecordShown }) {
  return (
    <>
      <p>{finding}</p>
      {launches.length > 0 && (
        <Table
          caption={`Launches, ${shownOf(launches.length)}`}
          heads={['Token', 'Outcome', 'Launched']}
          rows={launches
            .slice(0, ROWS_MAX)
            .map((one) => [
              <Address key="token" of={one.address} />,
              one.outcome.replaceAll('_', ' '),
              <Moment key="at" at={one.created_at} />,
            ])}
        />
      )}
    </>
  );
}

function Wallet({ wallet: { entries, count, window_hours, suppressed } }: { wallet: WalletShown }) {
  return (
    <>
      <p>
        {counted(count, 'settled launch', 'settled launches')}, each looked at {window_hours} hours
        after it was made{suppressed > 0 && `; ${suppressed} more wait to be settled`}.
      </p>
      <Table
        caption={`Settled launches, ${shownOf(entries.length)}`}
        heads={['Mint', 'Outcome', 'Launched']}
        rows={entries
          .slice(0, ROWS_MAX)
          .map((one) => [
            <Address key="mint" of={one.mint} />,
            one.outcome,
            <Moment key="at" at={one.launched_at} />,
          ])}
      />
    </>
  );
}

function shownOf(count: number): string {
  return count > ROWS_MAX ? `the first ${ROWS_MAX} of ${count}` : `${count} in all`;
}
