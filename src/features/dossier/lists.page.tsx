// Does the address stand on a list, and what leads from it to one that does?

import { Graph, type GraphNode } from '../../pages/graph.tsx';
import { Address, amountText, Badge, counted, Moment, Table, Tx, usd } from '../../pages/words.tsx';
import type { ListsData, PartOf } from './dossier.contract.ts';
import { Caveat, type PartFacts, Section, Unchecked } from './section.page.tsx';
import {
  listVerdict,
  otherListsVerdict,
  pathVerdict,
  strongest,
  type Verdict,
} from './verdicts.page.tsx';

/** The part of the lists. */
export function Lists({ part, facts }: { part: PartOf<ListsData>; facts: PartFacts }) {
  const verdict = listVerdict(part);
  return (
    <Section
      name="lists"
      title="Sanctions lists, and paths to them"
      part={part}
      verdict={strongest([verdict, otherListsVerdict(part), pathVerdict(part)])}
      facts={facts}
    >
      {(data) => (
        <>
          <Direct data={data} verdict={verdict} />
          <OtherLists data={data} verdict={otherListsVerdict(part)} />
          <Path data={data} verdict={pathVerdict(part)} />
          <Caveat>{data.caveat}</Caveat>
        </>
      )}
    </Section>
  );
}

type Props = { data: ListsData; verdict: Verdict };

function Direct({ data: { matches, list, equivalent_forms: forms }, verdict }: Props) {
  return (
    <>
      <p class={`says ${verdict.tone}`}>{verdict.says}</p>
      {matches.map((match) => (
        <dl class="cells match" key={`${match.uid} ${match.listed_address}`}>
          <div>
            <dt>Entry</dt>
            <dd>
              {match.entity === null ? 'not named in the file' : match.entity}
              {match.type !== null && <span class="quiet"> ({match.type})</span>}
            </dd>
          </div>
          <div>
            <dt>Programs</dt>
            <dd>{match.programs === null ? 'not told in the file' : match.programs.join(', ')}</dd>
          </div>
          <div>
            <dt>As listed</dt>
            <dd>
              <code>{match.listed_address}</code> under {match.currency}, entry {match.uid}
            </dd>
          </div>
          {match.remarks !== null && (
            <div>
              <dt>Remarks</dt>
              <dd>{match.remarks}</dd>
            </div>
          )}
          {match.note !== null && (
            <div>
              <dt>Note</dt>
              <dd>{match.note}</dd>
            </div>
          )}
        </dl>
      ))}
      <p class="quiet">
        {list.name}, published {list.published}: {list.addresses.toLocaleString('en')} addresses,
        last checked <Moment at={list.as_of} />. SHA-256 <code class="cut">{list.sha256}</code>
      </p>
      {forms.length > 0 && (
        <details>
          <summary>{counted(forms.length, 'other form')} of it looked for on the same list</summary>
          <Table
            caption="Other forms of the address"
            heads={['Form', 'Address', 'On the list']}
            rows={forms.map(({ form, address, listed }) => [
              form.replaceAll('_', ' '),
              <code key="address">{address}</code>,
              listed === null ? <Badge key="listed" tone="open" /> : listed ? 'listed' : 'no entry',
            ])}
          />
        </details>
      )}
    </>
  );
}

function OtherLists({ data: { other_lists: lists }, verdict }: Props) {
  return (
    <>
      <h3>
        Lists of other authorities <Badge tone={verdict.tone} />
      </h3>
      <p class={`says ${verdict.tone}`}>{verdict.says}</p>
      {lists !== null && (
        <Table
          caption="Each list as it was imported"
          heads={['List', 'As of', 'Rows', 'This address']}
          rows={lists.map((one) => [
            one.list,
            <Moment key="as_of" at={one.as_of} />,
            one.rows.toLocaleString('en'),
            one.listed === null || !one.checked ? (
              <Badge key="open" tone="open" />
            ) : one.listed ? (
              'listed'
            ) : (
              'no entry'
            ),
          ])}
        />
      )}
    </>
  );
}

function Path({ data: { proximity, address }, verdict }: Props) {
  const { path, hops_detail: hops, hub_contacts: hubs, nodes_examined: examined } = proximity;
  return (
    <>
      <h3>
        Two hops of transfers <Badge tone={verdict.tone} />
      </h3>
      <p class={`says ${verdict.tone}`}>{verdict.says}</p>
      {verdict.tone === 'hit' && <Unchecked what="Other paths:" reason={proximity.reason} />}
      {examined !== null && (
        <p class="quiet">{counted(examined, 'address', 'addresses')} examined.</p>
      )}
      {path !== null && hops !== null && (
        <figure class="drawn">
          <Graph
            name="path"
            title={`From ${address} to a listed address, hop by hop; the table has the same.`}
            nodes={path.map((id, column) => nodeOf(id, column, path.length, proximity.entity))}
            edges={hops.map(({ from, to }, hop) => {
              const tone = hop === hops.length - 1 ? 'hit' : 'plain';
              return { from, to, tone, share: 0 } as const;
            })}
          />
          <Hops hops={hops} />
        </figure>
      )}
      {hubs !== null && hubs.length > 0 && (
        <Table
          caption="Busy counterparties that dealt with a listed address; no path leads past them"
          heads={['Counterparty', 'Its counterparties', 'Listed address']}
          rows={hubs.map((hub) => [
            <Address key="hub" of={hub.address} name={hub.label} />,
            hub.degree.toLocaleString('en'),
            <Address key="listed" of={hub.listed_address} />,
          ])}
        />
      )}
    </>
  );
}

function nodeOf(id: string, column: number, length: number, entity: string | null): GraphNode {
  if (column === 0) return { id, column, row: 0, says: 'this address', tone: 'subject' };
  if (column < length - 1) return { id, column, row: 0, says: 'between the two', tone: 'plain' };
  return { id, column, row: 0, says: entity === null ? 'listed' : entity, tone: 'listed' };
}

type Hop = NonNullable<ListsData['proximity']['hops_detail']>;

function Hops({ hops }: { hops: Hop }) {
  return (
    <Table
      caption="The largest transfer of each hop"
      heads={['From', 'To', 'Amount', 'Worth', 'When', 'Transaction']}
      rows={hops.map((hop) => [
        <Address key="from" of={hop.from} />,
        <Address key="to" of={hop.to} />,
        hop.token_id === null ? amountText(hop.amount, hop.symbol) : `NFT ${hop.token_id}`,
        usd(hop.usd),
        <Moment key="at" at={hop.at} />,
        <Tx key="tx" of={hop.tx} />,
      ])}
    />
  );
}
