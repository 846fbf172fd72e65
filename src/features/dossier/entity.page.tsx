import { weightText } from '../../evidence/weight.ts';
import { Graph, type GraphEdge, type GraphNode } from '../../pages/graph.tsx';
import { Address, Badge, countWords, Moment, Table } from '../../pages/words.tsx';
import {
  Caveat,
  DossierSection,
  entityVerdict,
  type PartFacts,
  Unchecked,
} from './section.page.tsx';
import type { EntityData, PartOf } from './shapes.ts';

/** Members that are drawn. */
const DRAWN_MAX = 8;
const ROWS_MAX = 20;

/** The part of the entity. */
export function EntityPart({ part, facts }: { part: PartOf<EntityData>; facts: PartFacts }) {
  const verdict = entityVerdict(part);
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
          <p class={`says ${verdict.tone}`}>{verdict.says}</p>
          {verdict.tone === 'inferred' && !data.checked && (
            <Unchecked what="Further members:" reason={data.reason} />
          )}
          {data.members.length > 0 && <Members data={data} />}
          {data.evidence.length > 0 && <Items evidence={data.evidence} />}
          {data.against.length > 0 && <Against against={data.against} />}
          <Heuristics coverage={data.coverage} />
          <Caveat>{data.caveat}</Caveat>
        </>
      )}
    </DossierSection>
  );
}

const TIED_AS = {
  controlled: 'one controller, it may be',
  deposit_address: 'deposit address of an exchange',
} as const;

function words(name: string): string {
  return name.replaceAll('_', ' ');
}

function Members({ data: { members, address, cluster_id } }: { data: EntityData }) {
  const drawn = members.slice(0, DRAWN_MAX);
  const inner = new Set(drawn.flatMap(({ path }) => path.slice(0, -1).map(({ to }) => to)));
  const nodes = nodesOf(drawn, address, inner);
  const ids = new Set(nodes.map(({ id }) => id));
  const edges = new Map<string, GraphEdge>();
  for (const { path } of drawn) {
    for (const { from, to, weight } of path) {
      const isDrawn = ids.has(from) && ids.has(to);
      if (isDrawn) edges.set(`${from} ${to}`, { from, to, tone: 'plain', share: weight });
    }
  }
  return (
    <>
      <p>
        Cluster <code>{cluster_id}</code>.
      </p>
      <figure class="drawn">
        <Graph
          name="cluster"
          title="The members of the cluster and the ties that join them; the table has the same."
          nodes={nodes}
          edges={[...edges.values()]}
        />
        {members.length > drawn.length && (
          <figcaption>
            {drawn.length} of {countWords(members.length, 'member')} are drawn.
          </figcaption>
        )}
        <Table
          caption="Members, each with the weakest tie on the way to it"
          rows={members.slice(0, ROWS_MAX)}
          columns={[
            { head: 'Member', cell: (one) => <Address of={one.address} /> },
            { head: 'Tied as', cell: (one) => TIED_AS[one.tied_as] },
            { head: 'Items that name it', cell: (one) => one.links.toLocaleString('en') },
            { head: 'Weakest tie', cell: (one) => words(one.weakest.heuristic) },
            { head: 'Inferred with', cell: (one) => weightText(one.weakest) },
          ]}
        />
      </figure>
    </>
  );
}

function nodesOf(
  drawn: EntityData['members'],
  address: string,
  inner: ReadonlySet<string>,
): GraphNode[] {
  const near = drawn.filter(({ path }) => path.length === 1);
  const far = drawn.filter(({ path }) => path.length > 1);
  const middle = (Math.max(near.length, far.length) - 1) / 2;
  const column = (members: EntityData['members'], at: number): GraphNode[] =>
    members.map(({ address: id, tied_as, weakest }, row) => {
      const tie = tied_as === 'controlled' ? words(weakest.heuristic) : TIED_AS[tied_as];
      const says = inner.has(id) ? `${tie}, joins others` : tie;
      return { id, column: at, row, says, tone: 'plain' };
    });
  const subject = { id: address, column: 0, row: middle, says: 'this address' } as const;
  return [{ ...subject, tone: 'subject' }, ...column(near, 1), ...column(far, 2)];
}

function Items({ evidence }: Pick<EntityData, 'evidence'>) {
  return (
    <>
      <h3>{countWords(evidence.length, 'item')} of evidence</h3>
      <ol class="findings">
        {evidence.slice(0, ROWS_MAX).map((one) => (
          <li key={one.id}>
            <p>
              <strong>{words(one.heuristic)}</strong>, {weightText(one)}, <Moment at={one.at} />
            </p>
            <p>{one.statement}</p>
          </li>
        ))}
      </ol>
    </>
  );
}

function Against({ against }: Pick<EntityData, 'against'>) {
  return (
    <>
      <h3>What speaks against a tie</h3>
      <ul class="findings">
        {against.slice(0, ROWS_MAX).map((one) => (
          <li key={`${one.kind} ${one.through} ${one.at}`}>
            <p>
              <strong>{words(one.kind)}</strong>, <Moment at={one.at} />
            </p>
            <p>{one.statement}</p>
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
          { head: 'Why not', cell: ({ reason }) => (reason === null ? '–' : reason) },
        ]}
      />
    </details>
  );
}
