import type { ComponentChildren } from 'preact';
import { addDecimals, compareDecimals } from '../../chain/amount.ts';
import { present } from '../../evidence/measure.ts';
import { Graph, type GraphEdge, type GraphNode } from '../../pages/graph.tsx';
import {
  Address,
  amountText,
  Badge,
  countWords,
  FactList,
  Moment,
  Table,
  Tx,
  usd,
  worthText,
} from '../../pages/words.tsx';
import {
  Caveat,
  DossierSection,
  evidenceVerdict,
  type PartFacts,
  Unchecked,
} from './section.page.tsx';
import type { EvidenceData, PartOf } from './shapes.ts';

type EvidenceProps = { part: PartOf<EvidenceData>; facts: PartFacts };

/** The part of the evidence. */
export function Evidence({ part, facts }: EvidenceProps) {
  const verdict = evidenceVerdict(part);
  return (
    <DossierSection
      name="evidence"
      title="What was observed"
      part={part}
      verdict={verdict}
      facts={facts}
    >
      {(data) => (
        <>
          {data.findings.length === 0 && <p class={`says ${verdict.tone}`}>{verdict.says}</p>}
          <Findings data={data} />
          <Kinds coverage={data.findings_coverage} />
          <Facts data={data} />
          <Flows flows={data.flows} subject={facts.subject} />
          <Caveat>{data.caveat}</Caveat>
          <details>
            <summary>Notes</summary>
            <ul>
              {data.notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          </details>
        </>
      )}
    </DossierSection>
  );
}

const ITEMS_MAX = 4;

function Findings({ data: { findings } }: { data: EvidenceData }) {
  if (findings.length === 0) return null;
  return (
    <ol class="findings">
      {findings.map((one) => (
        <li key={one.id}>
          <h3>{one.title}</h3>
          <p>{one.statement}</p>
          <Table
            caption={`Evidence: ${countWords(one.evidence_count, 'item')}`}
            rows={one.evidence.slice(0, ITEMS_MAX)}
            columns={[
              {
                head: 'What',
                cell: (item) =>
                  item.evidence === 'transfer' ? (
                    <>
                      <Address of={item.from} /> to <Address of={item.to} />
                    </>
                  ) : (
                    <span class="value">
                      {item.name}: {item.value}
                    </span>
                  ),
              },
              { head: 'When', cell: (item) => (item.at === null ? '–' : <Moment at={item.at} />) },
              {
                head: 'Transaction',
                cell: (item) => (item.tx === null ? '–' : <Tx of={item.tx} />),
              },
            ]}
          />
        </li>
      ))}
    </ol>
  );
}

type Coverage = EvidenceData['findings_coverage'];

/** Each kind of finding, and whether it was looked for to the end. */
function Kinds({ coverage }: { coverage: Coverage }) {
  const unread = coverage.filter(({ checked }) => !checked);
  const word =
    unread.length === 0
      ? `All ${coverage.length} kinds of finding were looked for to the end`
      : `${unread.length} of ${coverage.length} kinds of finding were not looked for to the end`;
  return (
    <details>
      <summary>{word}</summary>
      <Table
        caption="What was looked for"
        rows={coverage}
        columns={[
          { head: 'Kind of finding', cell: ({ title }) => title },
          {
            head: 'Looked for',
            cell: ({ checked }) => (checked ? 'to the end' : <Badge tone="open" />),
          },
          { head: 'Why not', cell: ({ reason }) => (reason === null ? '–' : reason) },
        ]}
      />
    </details>
  );
}

const WEI_PER_COIN = 10n ** 18n;
const MILLIONTHS = 10n ** 12n;

function coins(wei: string): string {
  const whole = BigInt(wei) / WEI_PER_COIN;
  const rest = (BigInt(wei) % WEI_PER_COIN) / MILLIONTHS;
  return `${whole.toLocaleString('en')}.${String(rest).padStart(6, '0')}`;
}

const KINDS = { eoa: 'account without code', contract: 'contract', token: 'token' } as const;

function Facts({ data: { facts, facts_provenance: from } }: { data: EvidenceData }) {
  // `measured` beside a null: it was looked at, and there is none.
  const factText = (
    name: keyof typeof from,
    value: ComponentChildren,
    isKnown: boolean,
  ): ComponentChildren => {
    if (isKnown) return value;
    return from[name].measured ? 'none' : <Badge tone="open" />;
  };
  const { kind, creator, funded_by: funded, balance_wei: wei, nonce, code_size: code } = facts;
  const { first_seen: first, last_seen: last, verified_name: name, transactions } = facts;
  const rows: [string, ComponentChildren][] = [
    ['Kind', factText('kind', kind === null ? null : KINDS[kind], kind !== null)],
    ['First transfer seen', factText('first_seen', momentOf(first), first !== null)],
    ['Last transfer seen', factText('last_seen', momentOf(last), last !== null)],
    [
      'Funded by',
      factText(
        'funded_by',
        funded === null ? null : <Address of={funded.address} />,
        funded !== null,
      ),
    ],
    ['Transactions seen', factText('transactions', transactions, transactions !== null)],
    ['Sent by it (nonce)', factText('nonce', nonce, nonce !== null)],
    ['Balance', factText('balance_wei', wei === null ? null : coins(wei), wei !== null)],
    ['Code', factText('code_size', code === null ? null : `${code} bytes`, code !== null)],
    [
      'Created by',
      factText('creator', creator === null ? null : <Address of={creator} />, creator !== null),
    ],
    ['Verified source', factText('verified_name', name, name !== null)],
  ];
  const delegate = facts.delegates_to;
  if (delegate !== null) rows.push(['Runs the code of', <Address key="to" of={delegate} />]);
  return (
    <>
      <h3>Facts{facts.chain !== null && <span class="quiet"> on {facts.chain}</span>}</h3>
      <FactList rows={rows} />
    </>
  );
}

function momentOf(at: string | null): ComponentChildren {
  return at === null ? null : <Moment at={at} />;
}

// With whom did the address exchange transfers? The largest counterparties, drawn and as a table.

type FlowsData = EvidenceData['flows'];
type Counterparty = NonNullable<FlowsData['counterparties']>[number];

const FLOWS_TITLE =
  'Who paid this address most, on the left, and whom it paid. An arrow is as wide as its ' +
  'dollars, and thinnest where nothing has a price; the table has the same.';

/** Counterparties that are drawn on each side. */
const DRAWN_MAX = 5;
/** Rows of a table. */
const ROWS_MAX = 20;

/** The flows of an address. */
export function Flows({ flows, subject }: { flows: FlowsData; subject: string }) {
  const { counterparties, counterparties_count: count, transfers, assets, checked } = flows;
  return (
    <>
      <h3>What it sent and received</h3>
      {transfers !== null && (
        <p>
          {countWords(transfers, 'transfer')}
          {count !== null && <> with {countWords(count, 'counterparty', 'counterparties')}</>}
          {!checked && ', as far as was read'}.
        </p>
      )}
      {!checked && <Unchecked what="Transfers:" reason={flows.reason} />}
      {counterparties !== null && (
        <figure class="drawn">
          <Picture counterparties={counterparties} subject={subject} />
          <Table
            caption="The largest counterparties, by what of their transfers has a price"
            rows={counterparties.slice(0, ROWS_MAX)}
            columns={[
              {
                head: 'Counterparty',
                cell: (one) => <Address of={one.address} name={one.label} />,
              },
              { head: 'Sent to it', cell: (one) => sideText(one.sent) },
              { head: 'Received from it', cell: (one) => sideText(one.received) },
              { head: 'Last', cell: (one) => <Moment at={one.last_at} /> },
            ]}
          />
        </figure>
      )}
      {assets !== null && (
        <details>
          <summary>By coin and token</summary>
          <Table
            caption="The coins and tokens that moved most"
            rows={assets.slice(0, ROWS_MAX)}
            columns={[
              {
                head: 'Asset',
                cell: (one) => (one.symbol === null ? <code>{one.token}</code> : one.symbol),
              },
              { head: 'Chain', cell: (one) => one.chain },
              { head: 'Transfers', cell: (one) => one.transfers.toLocaleString('en') },
              {
                head: 'Sent',
                cell: (one) =>
                  one.sent.transfers === 0 ? '–' : amountText(one.sent.amount, one.symbol),
              },
              {
                head: 'Received',
                cell: (one) =>
                  one.received.transfers === 0 ? '–' : amountText(one.received.amount, one.symbol),
              },
            ]}
          />
        </details>
      )}
    </>
  );
}

type Side = Counterparty['sent'];

function sideText(side: Side): string {
  return side.transfers === 0 ? '–' : worthText(side);
}

// Dollars are held against dollars, and counts against counts where neither side has a price.
function isPayer({ sent, received }: Counterparty): boolean {
  if (sent.usd === null) return received.usd !== null || received.transfers >= sent.transfers;
  return received.usd !== null && compareDecimals(received.usd, sent.usd) >= 0;
}

/** The width of what has a price, by the largest of them; what has none is as thin as can be. */
function widthOf({ usd: worth }: Side, most: number): number {
  return worth === null || most === 0 ? 0 : Math.log1p(Number(worth)) / Math.log1p(most);
}

function Picture({
  counterparties,
  subject,
}: {
  counterparties: readonly Counterparty[];
  subject: string;
}) {
  const others = counterparties.filter(({ address }) => address !== subject.toLowerCase());
  const payers = others.filter(isPayer);
  const paid = others.filter((one) => !isPayer(one));
  const left = payers.slice(0, DRAWN_MAX);
  const right = paid.slice(0, DRAWN_MAX);
  const shown = [...left, ...right];
  if (shown.length === 0) return null;
  const rows = Math.max(left.length, right.length);
  const priced = present(shown.flatMap(({ sent, received }) => [sent.usd, received.usd]));
  const most = Math.max(0, ...priced.map(Number));
  const shareOf = (side: Side) => widthOf(side, most);
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
        title={FLOWS_TITLE}
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

/** Short enough for a box of the picture. */
function totalText({ sent, received }: Counterparty): string {
  const [first, ...rest] = present([sent.usd, received.usd]);
  const unpriced = sent.unpriced + received.unpriced;
  if (first === undefined) return `${countWords(unpriced, 'transfer')}, unpriced`;
  const sum = usd(rest.reduce(addDecimals, first));
  return unpriced === 0 ? sum : `${sum}, ${unpriced} unpriced`;
}
