import { weightText } from '../../evidence/weight.ts';
import { Address, Badge, countWords, Moment, Prose, Table } from '../../pages/words.tsx';
import {
  Caveat,
  DossierSection,
  entityVerdict,
  type PartFacts,
  Says,
  Unchecked,
} from './section.page.tsx';
import type { EntityData, PartOf } from './shapes.ts';

const ROWS_MAX = 20;
/** Items that stand where other parts stand on the page too. */
const ITEMS_MAX = 3;

export function EntityPart({ part, facts }: { part: PartOf<EntityData>; facts: PartFacts }) {
  const verdict = entityVerdict(part);
  const max = facts.alone ? ROWS_MAX : ITEMS_MAX;
  return (
    <DossierSection
      name="entity"
      title="What ties it to other addresses"
      part={part}
      verdict={verdict}
      facts={facts}
    >
      {(data) => (
        <>
          <Says verdict={verdict} />
          {verdict.tone === 'inferred' && !data.checked && (
            <Unchecked what="Further members:" reason={data.reason} />
          )}
          {data.members.length > 0 && <Members data={data} subject={facts.subject} />}
          {data.evidence.length > 0 && (
            <Items evidence={data.evidence} chain={data.chain} max={max} />
          )}
          {data.against.length > 0 && (
            <Against against={data.against} chain={data.chain} max={max} />
          )}
          <Heuristics coverage={data.coverage} />
          <Caveat text={data.caveat} />
        </>
      )}
    </DossierSection>
  );
}

export const TIED_AS = {
  controlled: 'one controller, it may be',
  deposit_address: 'deposit address of an exchange',
} as const;

/** How many of them the rows are, where they are not all. */
function cutText(count: number, max: number): string | undefined {
  return count > max ? `The first ${max} of ${count}` : undefined;
}

function words(name: string): string {
  return name.replaceAll('_', ' ');
}

type MembersProps = { data: EntityData; subject: string };

function Members({ data: { members, cluster_id, chain }, subject }: MembersProps) {
  return (
    <>
      <p>
        Cluster <code>{cluster_id}</code>.
      </p>
      <details>
        <summary>{countWords(members.length, 'member')}, each with its weakest tie</summary>
        <Table
          caption={cutText(members.length, ROWS_MAX)}
          rows={members.slice(0, ROWS_MAX)}
          columns={[
            { head: 'Member', cell: (one) => <Address of={one.address} chain={chain} /> },
            { head: 'Tied as', cell: (one) => TIED_AS[one.tied_as] },
            { head: 'Items that name it', cell: (one) => one.links.toLocaleString('en') },
            { head: 'Weakest tie', cell: (one) => words(one.weakest.heuristic) },
            { head: 'Inferred with', cell: (one) => weightText(one.weakest) },
          ]}
        />
        {members.length > ROWS_MAX && (
          <p>
            <a href={`/address/${encodeURIComponent(subject)}/ways`}>All that leads to others</a>
          </p>
        )}
      </details>
    </>
  );
}

function Cut({ count, max }: { count: number; max: number }) {
  const text = cutText(count, max);
  return text === undefined ? null : <p class="quiet">{text}</p>;
}

type Bounded<K extends keyof EntityData> = Pick<EntityData, K | 'chain'> & { max: number };

function Items({ evidence, chain, max }: Bounded<'evidence'>) {
  return (
    <>
      <h3>{countWords(evidence.length, 'item')} of evidence</h3>
      <Cut count={evidence.length} max={max} />
      <ol class="findings">
        {evidence.slice(0, max).map((one) => (
          <li key={one.id}>
            <p>
              <strong>{words(one.heuristic)}</strong>, {weightText(one)}, <Moment at={one.at} />
            </p>
            <p>
              <Prose text={one.statement} chain={chain} />
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}

function Against({ against, chain, max }: Bounded<'against'>) {
  return (
    <>
      <h3>What speaks against a tie</h3>
      <Cut count={against.length} max={max} />
      <ul class="findings">
        {against.slice(0, max).map((one) => (
          <li key={`${one.kind} ${one.through} ${one.at}`}>
            <p>
              <strong>{words(one.kind)}</strong>, <Moment at={one.at} />
            </p>
            <p>
              <Prose text={one.statement} chain={chain} />
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}

function Heuristics({ coverage }: Pick<EntityData, 'coverage'>) {
  const unread = coverage.filter(({ checked }) => !checked).length;
  return (
    <details>
      <summary>
        {unread === 0
          ? `All ${coverage.length} ways to tie addresses were looked at to the end`
          : `${unread} of ${coverage.length} ways to tie addresses were not looked at to the end`}
      </summary>
      <Table
        caption="Ways to tie addresses"
        rows={coverage}
        columns={[
          { head: 'Way', cell: ({ heuristic }) => words(heuristic) },
          {
            head: 'Looked at',
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
