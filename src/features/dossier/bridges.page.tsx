// Which bridge contracts did the address deal with on a chain, and what became of what it sent?

import { amountText, counted, Moment, Table, Tx, usd } from '../../pages/words.tsx';
import { BRIDGE_TRACE_CHAINS, type BridgesData, type PartOf } from './dossier.contract.ts';
import { Caveat, type PartFacts, Section, Unchecked } from './section.page.tsx';
import { bridgesVerdict, withoutCode } from './verdicts.page.tsx';

const ROWS_MAX = 20;

/** The part of the bridges. */
export function Bridges({ part, facts }: { part: PartOf<BridgesData>; facts: PartFacts }) {
  const verdict = bridgesVerdict(part);
  return (
    <Section name="bridges" title="Bridges" part={part} verdict={verdict} facts={facts}>
      {(data) => (
        <>
          <p class={`says ${verdict.tone}`}>{verdict.says}</p>
          {verdict.tone !== 'open' && !data.coverage.checked && (
            <Unchecked what="Further transfers:" reason={data.coverage.reason} />
          )}
          {data.bridges.length > 0 && <Seen data={data} />}
          {data.deposits !== null && <Deposits deposits={data.deposits} />}
          {data.receipts !== null && !data.receipts.complete && (
            <Unchecked what="Receipts:" reason={data.receipts.reason} />
          )}
          <Chains shown={data.chain} subject={facts.subject} />
          <Caveat>{data.caveat}</Caveat>
        </>
      )}
    </Section>
  );
}

const DIRECTIONS = { out: 'sent', in: 'received', both: 'sent and received' } as const;

function Seen({ data: { bridges, totals, chain } }: { data: BridgesData }) {
  const sums = [
    totals.out_usd === null ? null : `sent ${usd(totals.out_usd)}`,
    totals.in_usd === null ? null : `received ${usd(totals.in_usd)}`,
  ].filter((sum) => sum !== null);
  return (
    <>
      {sums.length > 0 && <p>In all: {sums.join(', ')}, by the prices of each day.</p>}
      <Table
        caption={`Bridges on ${chain}`}
        heads={['Bridge', 'Protocol', 'Direction', 'Transfers', 'Worth', 'First', 'Last']}
        rows={bridges.map((one) => [
          one.messaging_only ? `${one.name} (messages)` : one.name,
          one.protocol,
          DIRECTIONS[one.direction],
          one.transfers.toLocaleString('en'),
          usd(one.usd),
          <Moment key="first" at={one.first_seen} />,
          <Moment key="last" at={one.last_seen} />,
        ])}
      />
    </>
  );
}

type DepositShown = NonNullable<BridgesData['deposits']>[number];

const STATES = {
  matched: 'arrived',
  in_flight: 'not arrived yet',
  unmatched: 'no arrival in its time',
  messaging_only: 'a message, no money',
} as const;

function Deposits({ deposits }: { deposits: readonly DepositShown[] }) {
  return (
    <Table
      caption={`What it sent, the newest first: ${counted(deposits.length, 'deposit')}`}
      heads={['Bridge', 'Amount', 'When', 'Transaction', 'Other side']}
      rows={deposits
        .slice(0, ROWS_MAX)
        .map((one) => [
          one.name,
          one.amount === null ? 'not read' : amountText(one.amount, null),
          <Moment key="at" at={one.at} />,
          <Tx key="tx" of={one.tx} />,
          <OtherSide key="to" destination={one.destination} />,
        ])}
    />
  );
}

function OtherSide({ destination }: Pick<DepositShown, 'destination'>) {
  const { state, chain, tx, reason } = destination;
  return (
    <>
      {state === null ? 'not checked' : STATES[state]}
      {chain !== null && ` on ${chain}`}
      {tx !== null && (
        <>
          {' '}
          <Tx of={tx} />
        </>
      )}
      {reason !== null && <span class="quiet"> {withoutCode(reason)}</span>}
    </>
  );
}

function Chains({ shown, subject }: { shown: string; subject: string }) {
  return (
    <p class="chains">
      Other chains are asked each on its own:{' '}
      {BRIDGE_TRACE_CHAINS.filter((chain) => chain !== shown).map((chain) => (
        <a key={chain} href={`/address/${subject}/bridges?chain=${chain}`}>
          {chain}
        </a>
      ))}
      . <a href="/registry/bridges">Which contracts are looked for</a>
    </p>
  );
}
