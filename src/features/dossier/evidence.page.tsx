// What was observed of the address: what it is, what stands out, and with whom it dealt?

import type { ComponentChildren } from 'preact';
import { Address, Badge, counted, FactRows, Moment, Table, Tx } from '../../pages/words.tsx';
import type { EvidenceData, PartOf } from './dossier.contract.ts';
import { Flows } from './flows.page.tsx';
import { Caveat, type PartFacts, Section } from './section.page.tsx';
import { evidenceVerdict } from './verdicts.page.tsx';

type EvidenceProps = { part: PartOf<EvidenceData>; facts: PartFacts };

/** The part of the evidence. */
export function Evidence({ part, facts }: EvidenceProps) {
  const verdict = evidenceVerdict(part);
  return (
    <Section name="evidence" title="What was observed" part={part} verdict={verdict} facts={facts}>
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
    </Section>
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
            caption={`Evidence: ${counted(one.evidence_count, 'item')}`}
            heads={['What', 'When', 'Transaction']}
            rows={one.evidence.slice(0, ITEMS_MAX).map((item) => [
              item.evidence === 'transfer' ? (
                <>
                  <Address of={item.from} /> to <Address of={item.to} />
                </>
              ) : (
                <span class="value">
                  {item.name}: {item.value}
                </span>
              ),
              item.at === null ? '–' : <Moment at={item.at} />,
              item.tx === null ? '–' : <Tx of={item.tx} />,
            ])}
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
        heads={['Kind of finding', 'Looked for', 'Why not']}
        rows={coverage.map(({ title, checked, reason }) => [
          title,
          checked ? 'to the end' : <Badge key="open" tone="open" />,
          reason === null ? '–' : reason,
        ])}
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
  const told = (
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
    ['Kind', told('kind', kind === null ? null : KINDS[kind], kind !== null)],
    ['First transfer seen', told('first_seen', momentOf(first), first !== null)],
    ['Last transfer seen', told('last_seen', momentOf(last), last !== null)],
    [
      'Funded by',
      told('funded_by', funded === null ? null : <Address of={funded.address} />, funded !== null),
    ],
    ['Transactions seen', told('transactions', transactions, transactions !== null)],
    ['Sent by it (nonce)', told('nonce', nonce, nonce !== null)],
    ['Balance', told('balance_wei', wei === null ? null : coins(wei), wei !== null)],
    ['Code', told('code_size', code === null ? null : `${code} bytes`, code !== null)],
    [
      'Created by',
      told('creator', creator === null ? null : <Address of={creator} />, creator !== null),
    ],
    ['Verified source', told('verified_name', name, name !== null)],
  ];
  const delegate = facts.delegates_to;
  if (delegate !== null) rows.push(['Runs the code of', <Address key="to" of={delegate} />]);
  return (
    <>
      <h3>Facts{facts.chain !== null && <span class="quiet"> on {facts.chain}</span>}</h3>
      <FactRows rows={rows} />
    </>
  );
}

function momentOf(at: string | null): ComponentChildren {
  return at === null ? null : <Moment at={at} />;
}
