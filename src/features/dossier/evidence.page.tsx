import type { ComponentChildren } from 'preact';
import { formatUnits } from '../../chain/amount.ts';
import { CHAINS, parseChain } from '../../chain/chain.ts';
import { present } from '../../evidence/measure.ts';
import type { OnChain } from '../../pages/explorer.tsx';
import {
  Address,
  amountText,
  Badge,
  countWords,
  FactList,
  Moment,
  Pager,
  type Places,
  Prose,
  placesOf,
  Table,
  Tx,
  worthText,
} from '../../pages/words.tsx';
import {
  Caveat,
  DossierSection,
  evidenceVerdict,
  type PartFacts,
  Says,
  Unchecked,
} from './section.page.tsx';
import type { EvidenceData, FindingsRange, PartOf } from './shapes.ts';

/** `shown`: which findings its own page shows; `null`: the first of each kind. */
type EvidenceProps = {
  part: PartOf<EvidenceData>;
  facts: PartFacts;
  shown: FindingsRange | null;
};

export function Evidence({ part, facts, shown }: EvidenceProps) {
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
          {data.findings.length === 0 && <Says verdict={verdict} />}
          {shown === null ? (
            <Groups data={data} subject={facts.subject} />
          ) : (
            <Listed data={data} shown={shown} />
          )}
          <Kinds coverage={data.findings_coverage} />
          <Facts data={data} />
          {facts.alone && <Flows flows={data.flows} />}
          <Caveat text={data.caveat} />
          <details>
            <summary>Notes</summary>
            <ul>
              {data.notes.map((note) => (
                <li key={note}>
                  <Prose text={note} />
                </li>
              ))}
            </ul>
          </details>
        </>
      )}
    </DossierSection>
  );
}

// Findings of one kind stand together, and the strongest kind first, so that what others did to an
// address cannot fill its page.

type Finding = EvidenceData['findings'][number];

const ITEMS_MAX = 4;
const PAGE_MAX = 8;

/** What a list, an issuer or a table says of the address itself. */
const OF_ITSELF: ReadonlySet<string> = new Set([
  'listed_itself',
  'issuer_freeze',
  'flagged_itself',
]);

/** From the strongest: what the address is, what it signed, what nobody knows who signed. */
function rankOf({ kind, initiated_by_subject: signed }: Finding): number {
  if (OF_ITSELF.has(kind)) return 0;
  if (signed === null) return 2;
  return signed ? 1 : 3;
}

/** The findings by kind, the strongest kind and the strongest of each kind first. */
export function findingGroups(
  findings: readonly Finding[],
): readonly (readonly [Finding, ...Finding[]])[] {
  const groups = new Map<string, [Finding, ...Finding[]]>();
  for (const one of findings) {
    const known = groups.get(one.kind);
    if (known === undefined) groups.set(one.kind, [one]);
    else known.push(one);
  }
  const byStrength = (one: Finding, other: Finding) =>
    rankOf(one) - rankOf(other) || other.evidence_count - one.evidence_count;
  for (const group of groups.values()) group.sort(byStrength);
  return [...groups.values()].sort(([one], [other]) => rankOf(one) - rankOf(other));
}

function Groups({ data: { findings }, subject }: { data: EvidenceData; subject: string }) {
  if (findings.length === 0) return null;
  const page = `/address/${encodeURIComponent(subject)}/evidence`;
  return (
    <ol class="findings">
      {findingGroups(findings).map((group) => {
        const [first, ...more] = group;
        return (
          <li key={first.kind}>
            <h3>
              {first.title}
              {more.length > 0 && ` × ${group.length.toLocaleString('en')}`}
            </h3>
            <p>
              <Statement of={first} />
            </p>
            <details>
              <summary>{countWords(first.evidence_count, 'item')} of evidence</summary>
              <Items finding={first} />
            </details>
            {more.length > 0 && (
              <p>
                <a href={`${page}?kind=${encodeURIComponent(first.kind)}`}>
                  All {group.length.toLocaleString('en')} of this kind
                </a>
              </p>
            )}
          </li>
        );
      })}
    </ol>
  );
}

function Listed({
  data: { findings },
  shown: { kind, page },
}: {
  data: EvidenceData;
  shown: FindingsRange;
}) {
  const all = findingGroups(findings).flat();
  const sought = kind === undefined ? all : all.filter((one) => one.kind === kind);
  if (sought.length === 0) return null;
  const last = Math.ceil(sought.length / PAGE_MAX);
  const at = page === undefined ? 1 : Math.min(page, last);
  const from = (at - 1) * PAGE_MAX;
  return (
    <>
      {kind !== undefined && (
        <p>
          {sought.length.toLocaleString('en')} of {countWords(all.length, 'finding')}: those of one
          kind. <a href="?">All of them</a>
        </p>
      )}
      <ol class="findings" start={from + 1}>
        {sought.slice(from, from + PAGE_MAX).map((one) => (
          <li key={one.id}>
            <h3>{one.title}</h3>
            <p>
              <Statement of={one} />
            </p>
            <Items finding={one} />
          </li>
        ))}
      </ol>
      <Pages at={at} last={last} kind={kind} />
    </>
  );
}

function Pages({ at, last, kind }: { at: number; last: number; kind: string | undefined }) {
  const linkTo = (page: number) => {
    const query = new URLSearchParams({ page: String(page) });
    if (kind !== undefined) query.set('kind', kind);
    return `?${query}`;
  };
  return <Pager of="findings" at={at} last={last} linkTo={linkTo} before="Before" after="More" />;
}

function Items({ finding }: { finding: Finding }) {
  return (
    <Table
      caption={`Evidence: ${countWords(finding.evidence_count, 'item')}`}
      rows={finding.evidence.slice(0, ITEMS_MAX)}
      columns={[
        {
          head: 'What',
          cell: (item) =>
            item.evidence === 'transfer' ? (
              <>
                <Address of={item.from} chain={item.chain} /> to{' '}
                <Address of={item.to} chain={item.chain} />
              </>
            ) : (
              <span class="value">
                {item.name}: <Prose text={item.value} chain={placesIn([item])} />
              </span>
            ),
        },
        { head: 'When', cell: (item) => (item.at === null ? '–' : <Moment at={item.at} />) },
        {
          head: 'Transaction',
          cell: (item) => (item.tx === null ? '–' : <Tx of={item.tx} chain={item.chain} />),
        },
      ]}
    />
  );
}

/** What was found, in words; its evidence tells on which chains. */
function Statement({ of: { statement, evidence } }: { of: Finding }) {
  return <Prose text={statement} chain={placesIn(evidence)} />;
}

/** The chains on which the evidence has each address and each transaction. */
function placesIn(items: Finding['evidence']): Places {
  const pairs = items.flatMap((item) => {
    const named =
      item.evidence === 'record'
        ? [item.value, item.tx]
        : [item.from, item.to, item.tx, item.token, item.initiator];
    return present(named).map((name) => [name, item.chain] as const);
  });
  return placesOf(pairs);
}

type Coverage = EvidenceData['findings_coverage'];

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
          {
            head: 'Why not',
            cell: ({ reason }) => (reason === null ? '–' : <Prose text={reason} />),
          },
        ]}
      />
    </details>
  );
}

/** A balance in the chain's own coin. */
function coinsText(wei: string, name: string | null): string {
  const chain = name === null ? null : parseChain(name);
  if (chain === null) return `${wei} wei`;
  const { decimals, symbol } = CHAINS[chain].native;
  return amountText(formatUnits(BigInt(wei), decimals), symbol);
}

const KINDS = { eoa: 'account without code', contract: 'contract', token: 'token' } as const;

type FactName = keyof EvidenceData['facts_provenance'];
type FactRow = readonly [title: string, name: FactName, value: ComponentChildren];

function Facts({ data: { facts, facts_provenance: from } }: { data: EvidenceData }) {
  const rows = factRows(facts);
  // `measured` beside a null: it was looked at, and there is none.
  const told = rows.filter(([, name, value]) => value !== null || from[name].measured);
  const unread = rows.filter(([, name, value]) => value === null && !from[name].measured);
  return (
    <>
      <h3>Facts{facts.chain !== null && <span class="quiet"> on {facts.chain}</span>}</h3>
      {told.length > 0 && (
        <FactList rows={told.map(([title, , value]) => [title, value === null ? 'none' : value])} />
      )}
      {unread.length > 0 && (
        <p class="unchecked">
          <Badge tone="open" /> {unread.map(([title]) => title).join(', ')}
        </p>
      )}
    </>
  );
}

function factRows(facts: EvidenceData['facts']): FactRow[] {
  const {
    chain,
    kind,
    creator,
    funded_by: funded,
    balance_wei: wei,
    nonce,
    code_size: code,
  } = facts;
  const { first_seen: first, last_seen: last, verified_name: name, transactions } = facts;
  const { delegates_to: delegate } = facts;
  const rows: FactRow[] = [
    ['Kind', 'kind', kind === null ? null : KINDS[kind]],
    ['First transfer seen', 'first_seen', momentOf(first)],
    ['Last transfer seen', 'last_seen', momentOf(last)],
    ['Funded by', 'funded_by', funded === null ? null : addressOf(funded.address, funded.chain)],
    ['Transactions seen', 'transactions', transactions],
    ['Sent by it (nonce)', 'nonce', nonce],
    ['Balance', 'balance_wei', wei === null ? null : coinsText(wei, chain)],
    ['Code', 'code_size', code === null ? null : `${code} bytes`],
    ['Created by', 'creator', addressOf(creator, chain)],
    ['Verified source', 'verified_name', name],
  ];
  if (delegate !== null)
    rows.push(['Runs the code of', 'delegates_to', addressOf(delegate, chain)]);
  return rows;
}

function addressOf(address: string | null, chain: OnChain): ComponentChildren {
  return address === null ? null : <Address of={address} chain={chain} />;
}

function momentOf(at: string | null): ComponentChildren {
  return at === null ? null : <Moment at={at} />;
}

// The largest counterparties of the address, as a table.

type FlowsData = EvidenceData['flows'];

const ROWS_MAX = 20;

function Flows({ flows }: { flows: FlowsData }) {
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
        <Table
          caption="The largest counterparties, by what of their transfers has a price"
          rows={counterparties.slice(0, ROWS_MAX)}
          columns={[
            {
              head: 'Counterparty',
              cell: (one) => <Address of={one.address} name={one.label} chain={one.chains} />,
            },
            { head: 'Sent to it', cell: (one) => sideText(one.sent) },
            { head: 'Received from it', cell: (one) => sideText(one.received) },
            { head: 'Last', cell: (one) => <Moment at={one.last_at} /> },
          ]}
        />
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
                cell: ({ symbol, token, chain }) =>
                  symbol === null && token !== null ? <Address of={token} chain={chain} /> : symbol,
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

type Side = NonNullable<FlowsData['counterparties']>[number]['sent'];

function sideText(side: Side): string {
  return side.transfers === 0 ? '–' : worthText(side);
}
