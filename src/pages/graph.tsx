// Draws addresses and the flows between them in columns, as SVG without a script. A picture holds
// nothing that the table beside it does not.

import { Scroll, shorten } from './words.tsx';

/** An address in the picture. `row` counts from the top of its column and need not be whole. */
export type GraphNode = {
  readonly id: string;
  readonly column: number;
  readonly row: number;
  readonly says: string;
  readonly tone: 'subject' | 'listed' | 'plain';
};

/** A flow from one address to another; `share` (0 to 1) sets its width. */
export type GraphEdge = {
  readonly from: string;
  readonly to: string;
  readonly tone: 'hit' | 'plain';
  readonly share: number;
};

const WIDTH = 720;
const BOX = 200;
const TALL = 56;
const ROW = 74;
const MARGIN = 10;
const SAYS_MAX = 26;
const HEAD = 13;
const THIN = 1.5;
const THICK = 5;

type GraphProps = {
  name: string;
  title: string;
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
};

/** The picture. `name` is of this one on its page. */
export function Graph({ name, title, nodes, edges }: GraphProps) {
  const rows = Math.max(...nodes.map(({ row }) => row)) + 1;
  const columns = Math.max(...nodes.map(({ column }) => column)) + 1;
  const places = placesOf(nodes, columns);
  return (
    <Scroll of="A picture that may scroll">
      <svg
        class="graph"
        viewBox={`0 0 ${WIDTH} ${(rows - 1) * ROW + TALL + 2 * MARGIN}`}
        role="img"
        aria-labelledby={`${name}-title`}
      >
        <title id={`${name}-title`}>{title}</title>
        <defs>
          {(['plain', 'hit'] as const).map((tone) => (
            <marker
              key={tone}
              id={`${name}-${tone}`}
              class={`head ${tone}`}
              viewBox="0 0 10 10"
              refX="1"
              refY="5"
              markerWidth={HEAD}
              markerHeight={HEAD}
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path d="M0 0 10 5 0 10z" />
            </marker>
          ))}
        </defs>
        {edges.map((edge) => (
          <Edge key={`${edge.from} ${edge.to}`} edge={edge} places={places} name={name} />
        ))}
        {nodes.map((node) => (
          <Box key={node.id} node={node} at={placeOf(places, node.id)} />
        ))}
      </svg>
    </Scroll>
  );
}

type Place = { readonly x: number; readonly y: number };
type Places = ReadonlyMap<string, Place>;

function placesOf(nodes: readonly GraphNode[], columns: number): Places {
  const step = columns === 1 ? 0 : (WIDTH - BOX) / (columns - 1);
  return new Map(
    nodes.map(({ id, column, row }) => [id, { x: column * step, y: row * ROW + MARGIN }]),
  );
}

function placeOf(places: Places, id: string): Place {
  const place = places.get(id);
  if (place === undefined) throw new Error(`graph: ${id} has no place`);
  return place;
}

function Edge({ edge, places, name }: { edge: GraphEdge; places: Places; name: string }) {
  const from = placeOf(places, edge.from);
  const to = placeOf(places, edge.to);
  const isRightward = from.x <= to.x;
  const x1 = from.x + (isRightward ? BOX : 0);
  const x2 = isRightward ? to.x - HEAD + 1 : to.x + BOX + HEAD - 1;
  const y1 = from.y + TALL / 2;
  const y2 = to.y + TALL / 2;
  const middle = (x1 + x2) / 2;
  return (
    <path
      class={`edge ${edge.tone}`}
      d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`}
      stroke-width={THIN + (THICK - THIN) * edge.share}
      marker-end={`url(#${name}-${edge.tone})`}
    />
  );
}

function Box({ node, at }: { node: GraphNode; at: Place }) {
  const says =
    node.says.length > SAYS_MAX ? `${node.says.slice(0, SAYS_MAX - 1).trimEnd()}…` : node.says;
  return (
    <g class={`box ${node.tone}`}>
      <rect x={at.x + 1} y={at.y} width={BOX - 2} height={TALL} rx="8" />
      <text class="who" x={at.x + 14} y={at.y + 24}>
        {shorten(node.id)}
      </text>
      <text class="says" x={at.x + 14} y={at.y + 44}>
        {says}
      </text>
    </g>
  );
}
