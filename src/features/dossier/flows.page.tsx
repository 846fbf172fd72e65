// With whom did the address exchange transfers? The largest counterparties, drawn and as a table.

import { Graph, type GraphEdge, type GraphNode } from '../../pages/graph.tsx';
import { Address, amountText, counted, Moment, Table, usd } from '../../pages/words.tsx';
import type { EvidenceData } from './dossier.contract.ts';
import { Unchecked } from './section.page.tsx';

type FlowsShown = EvidenceData['flows'];
type Counterparty = NonNullable<FlowsShown['counterparties']>[number];

/** Counterparties that are drawn on each side. */
const DRAWN_MAX = 5;
/** Rows of a table. */
const ROWS_MAX = 20;

/** The flows of an address. */
export function Flows({ flows, subject }: { flows: FlowsShown; subject: string }) {
  const { counterparties, counterparties_count: count, transfers, assets, checked } = flows;
  return (
    <>
      <h3>What it sent and received</h3>
      {transfers !== null && (
        <p>
          {counted(transfers, 'transfer')}
          {count !== null && <> with {counted(count, 'counterparty', 'counterparties')}</>}
          {!checked && ', as far as was read'}.
        </p>
      )}
      {!checked && <Unchecked what="Transfers:" reason={flows.reason} />}
      {counterparties !== null && (
        <figure class="drawn">
          <Picture counterparties={counterparties} subject={subject} />
          <Table
            caption="The largest counterparties"
            heads={['Counterparty', 'Sent to it', 'Received from it', 'Last']}
            rows={counterparties
              .slice(0, ROWS_MAX)
              .map((one) => [
                <Address key="who" of={one.address} name={one.label} />,
                sideText(one.sent),
                sideText(one.received),
                <Moment key="last" at={one.last_at} />,
              ])}
          />
        </figure>
      )}
      {assets !== null && (
        <details>
          <summary>By coin and token</summary>
          <Table
            caption="The coins and tokens that moved most"
            heads={['Asset', 'Chain', 'Transfers', 'Sent', 'Received']}
            rows={assets
              .slice(0, ROWS_MAX)
              .map((one) => [
                one.symbol === null ? <code key="token">{one.token}</code> : one.symbol,
                one.chain,
                one.transfers.toLocaleString('en'),
                one.sent.transfers === 0 ? '–' : amountText(one.sent.amount, one.symbol),
                one.received.transfers === 0 ? '–' : amountText(one.received.amount, one.symbol),
              ])}
          />
        </details>
      )}
    </>
  );
}

type Side = Counterparty['sent'];

function sideText({ transfers, usd: worth, unpriced }: Side): string {
  if (transfers === 0) return '–';
  const priced = worth === null ? null : usd(worth);
  const more = unpriced === 0 ? '' : `, ${unpriced.toLocaleString('en')} not priced`;
  return `${transfers.toLocaleString('en')} × ${priced === null ? 'not priced' : priced + more}`;
}

function worthOf({ usd: worth, transfers }: Side): number {
  return worth === null ? transfers : Number(worth);
}

function Picture({
  counterparties,
  subject,
}: {
  counterparties: readonly Counterparty[];
  subject: string;
}) {
  const others = counterparties.filter(({ address }) => address !== subject.toLowerCase());
  const payers = others.filter((one) => worthOf(one.received) >= worthOf(one.sent));
  const paid = others.filter((one) => worthOf(one.received) < worthOf(one.sent));
  const left = payers.slice(0, DRAWN_MAX);
  const right = paid.slice(0, DRAWN_MAX);
  const shown = [...left, ...right];
  if (shown.length === 0) return null;
  const rows = Math.max(left.length, right.length);
  const most = Math.max(
    ...shown.flatMap(({ sent, received }) => [worthOf(sent), worthOf(received)]),
  );
  const shareOf = (side: Side) => Math.log1p(worthOf(side)) / Math.log1p(most);
  const column = (list: readonly Counterparty[], at: number): GraphNode[] =>
    list.map((one, row) => ({
      id: one.address,
      column: at,
      row: row + (rows - list.length) / 2,
      says: one.label === null ? totalText(one) : one.label,
      tone: 'plain',
    }));
  const middle: GraphNode = {
    id: subject,
    column: 1,
    row: (rows - 1) / 2,
    says: 'this address',
    tone: 'subject',
  };
  const edges = shown.flatMap(({ address, sent, received }): GraphEdge[] => [
    ...(received.transfers > 0
      ? [{ from: address, to: subject, tone: 'plain' as const, share: shareOf(received) }]
      : []),
    ...(sent.transfers > 0
      ? [{ from: subject, to: address, tone: 'plain' as const, share: shareOf(sent) }]
      : []),
  ]);
  return (
    <>
      <Graph
        name="flows"
        title="Who paid this address most, on the left, and whom it paid; the table has the same."
        nodes={[...column(left, 0), middle, ...column(right, 2)]}
        edges={edges}
      />
      {others.length > shown.length && (
        <figcaption>
          The {shown.length} largest of {counterparties.length} are drawn. Paid it: left; paid by
          it: right.
        </figcaption>
      )}
    </>
  );
}

function totalText({ sent, received, transfers }: Counterparty): string {
  const priced = [sent.usd, received.usd].flatMap((worth) =>
    worth === null ? [] : [Number(worth)],
  );
  if (priced.length === 0) return counted(transfers, 'transfer');
  return `${usd(priced.reduce((sum, worth) => sum + worth))} · ${transfers} ×`;
}
