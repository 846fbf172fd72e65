// Draws addresses and the flows between them in columns, as SVG without a script. A picture holds
// nothing that the table beside it does not.

import { Scroll, shorten } from './words.tsx';

/**
 * An address in the picture, or a place where nobody looked. `row` counts from the top of its
 * column and need not be whole.
 */
export type GraphNode = {
  readonly id: string;
  readonly column: number;
  readonly row: number;
  /** The lines about it, so many at most. */
  readonly lines: readonly string[];
  readonly tone: 'subject' | 'listed' | 'plain' | 'unread';
  /** The text in the place of the address. */
  readonly name?: string;
  /** Where it leads; absent: nowhere. */
  readonly href?: string;
};

/** A flow from one address to another, or a tie; `share` (0 to 1) sets its width. */
export type GraphEdge = {
  readonly from: string;
  readonly to: string;
  readonly tone: 'hit' | 'plain' | 'tie' | 'unread';
  readonly share: number;
};

const BOX = 200;
const BETWEEN = 60;
const LINE = 19;
const TALL = 38;
const APART = 16;
const MARGIN = 10;
const LINE_CHARS_MAX = 23;
const HEAD = 13;
const THIN = 1.5;
const THICK = 5;

type GraphProps = {
  name: string;
  title: string;
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
};

/** The dossier of an address, as a node leads to it. */
export function dossierPath(address: string): string {
  return `/address/${encodeURIComponent(address)}`;
}

/** The picture. `name` is of this one on its page. */
export function Graph({ name, title, nodes, edges }: GraphProps) {
  const lines = Math.max(...nodes.map((node) => node.lines.length));
  const tall = TALL + lines * LINE;
  const rows = Math.max(...nodes.map(({ row }) => row)) + 1;
  const columns = Math.max(...nodes.map(({ column }) => column)) + 1;
  const width = columns * (BOX + BETWEEN) - BETWEEN;
  const step = tall + APART;
  const places: Places = new Map(
    nodes.map(({ id, column, row }) => [
      id,
      { x: column * (BOX + BETWEEN), y: row * step + MARGIN, tall },
    ]),
  );
  return (
    <>
      <Scroll of="A picture that may scroll">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in. */}
        <svg
          class={`graph of-${columns}`}
          viewBox={`0 0 ${width} ${(rows - 1) * step + tall + 2 * MARGIN}`}
          role="group"
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
            <Edge
              key={`${edge.from} ${edge.to} ${edge.tone}`}
              edge={edge}
              places={places}
              name={name}
            />
          ))}
          {nodes.map((node) => (
            <Box key={node.id} node={node} at={placeOf(places, node.id)} />
          ))}
        </svg>
      </Scroll>
      {columns > 2 && (
        <p class="legend quiet narrow">It is wider than this page: it scrolls to the side.</p>
      )}
    </>
  );
}

type Place = { readonly x: number; readonly y: number; readonly tall: number };
type Places = ReadonlyMap<string, Place>;

function placeOf(places: Places, id: string): Place {
  const place = places.get(id);
  if (place === undefined) throw new Error(`graph: ${id} has no place`);
  return place;
}

type EdgeProps = { edge: GraphEdge; places: Places; name: string };

function Edge({ edge: { from, to, tone, share }, places, name }: EdgeProps) {
  const start = placeOf(places, from);
  const end = placeOf(places, to);
  const isPointed = tone === 'hit' || tone === 'plain';
  const head = isPointed ? HEAD - 1 : 0;
  const isRightward = start.x <= end.x;
  const x1 = start.x + (isRightward ? BOX : 0);
  const x2 = isRightward ? end.x - head : end.x + BOX + head;
  const y1 = start.y + start.tall / 2;
  const y2 = end.y + end.tall / 2;
  const middle = (x1 + x2) / 2;
  return (
    <path
      class={`edge ${tone}`}
      d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`}
      stroke-width={THIN + (THICK - THIN) * share}
      {...(isPointed ? { 'marker-end': `url(#${name}-${tone})` } : {})}
    />
  );
}

function Box({ node, at }: { node: GraphNode; at: Place }) {
  const box = (
    <g class={`box ${node.tone}`}>
      <rect x={at.x + 1} y={at.y} width={BOX - 2} height={at.tall} rx="8" />
      <text class="who" x={at.x + 14} y={at.y + 24}>
        {node.name === undefined ? shorten(node.id) : node.name}
      </text>
      {node.lines.map((line, number) => (
        <text key={number} class="says" x={at.x + 14} y={at.y + 24 + (number + 1) * LINE}>
          {line.length > LINE_CHARS_MAX ? `${line.slice(0, LINE_CHARS_MAX - 1).trimEnd()}…` : line}
        </text>
      ))}
    </g>
  );
  return node.href === undefined ? box : <a href={node.href}>{box}</a>;
}
