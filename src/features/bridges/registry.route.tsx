import type { ComponentChildren } from 'preact';
import { z } from 'zod';
import { checksumAddress, parseEvmAddress } from '../../chain/address.ts';
import { html } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { isoDay, prose, rowFact, rowFacts, unavailable, words } from '../../contract/wire.ts';
import { tally } from '../../evidence/measure.ts';
import { Read } from '../../evidence/reading.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { Table } from '../../pages/words.tsx';
import {
  BRIDGE_CHAINS,
  BRIDGE_PROTOCOLS,
  type BridgeRegistry,
  type RegistryTable,
  registryRow,
} from '../../ports/bridges.ts';

/** A row as it is published: its address in EIP-55 letter case. */
const publishedRow = rowFacts(registryRow).extend({
  chain: words(),
  protocol: words(),
  also_on: rowFact(registryRow.shape.also_on),
  reviewed: isoDay,
});

/** How many contracts of each protocol the table holds on a chain; a chain without one has none. */
const chainCoverage = z.strictObject({
  chain: words(),
  contracts: z.int().positive(),
  protocols: z.array(z.strictObject({ protocol: words(), contracts: z.int().positive() })),
});

const publishedRegistry = z.strictObject({
  /** SHA-256 of the file. */
  id: words(),
  reviewed: isoDay,
  contracts: z.int().positive(),
  protocols: z.array(words()).min(1),
  coverage: z.array(chainCoverage).min(1),
  rows: z.array(publishedRow).min(1),
  caveat: prose().min(1),
});

type PublishedRegistry = z.output<typeof publishedRegistry>;

export const registryBridges = plainRoute({
  name: 'registry_bridges',
  surface: 'web',
  method: 'GET',
  path: '/api/v1/registry/bridges',
  summary: 'The table of bridge contracts: each row with its role, sources and last review.',
  access: 'open',
  responses: {
    200: publishedRegistry.describe('The table in force, with its coverage by chain.'),
    503: unavailable.describe('No table could be read.'),
  },
});

export const bridgeContractsPage = plainRoute({
  name: 'bridge_contracts_page',
  surface: 'web',
  method: 'GET',
  path: '/registry/bridges',
  summary: 'The table of bridge contracts, for people.',
  access: 'open',
  query: z.strictObject({
    chain: z
      .string()
      .regex(/^[a-z0-9_-]{1,32}$/)
      .optional(),
  }),
  responses: { 200: html(), 503: html() },
});

const CAVEAT =
  'Partial by construction: seven protocols, and of each the contracts that a published source ' +
  'names. A contract that is not in the table may still be a bridge.';

/** @internal The handler of the published table. */
export function registryBridgesHandler(
  registry: BridgeRegistry,
): PlainHandler<typeof registryBridges> {
  return async () => {
    const table = await registry.table();
    if (table instanceof Read && table.value.rows.length > 0) {
      return registryBridges.reply(200, publicTable(table.value));
    }
    const reason = table instanceof Read ? 'The table holds no row.' : table.why.reason;
    return registryBridges.reply(503, { error: 'The table of bridges is not readable.', reason });
  };
}

function publicTable({ id, reviewed, rows }: RegistryTable): PublishedRegistry {
  return {
    id,
    reviewed,
    contracts: rows.length,
    caveat: CAVEAT,
    protocols: BRIDGE_PROTOCOLS.filter((one) => rows.some(({ protocol }) => protocol === one)),
    coverage: BRIDGE_CHAINS.flatMap((chain) => {
      const own = rows.filter((row) => row.chain === chain);
      if (own.length === 0) return [];
      const counts = new Map<string, number>();
      for (const { protocol } of own) tally(counts, protocol);
      const protocols = [...counts].map(([protocol, contracts]) => ({ protocol, contracts }));
      return { chain, contracts: own.length, protocols };
    }),
    rows: rows.map((row) => {
      const parsed = parseEvmAddress(row.address);
      return parsed === null ? row : { ...row, address: checksumAddress(parsed) };
    }),
  };
}

type Row = PublishedRegistry['rows'][number];

/** @internal */
export function bridgeContractsPageHandler(
  registry: BridgeRegistry,
  facts: PageFacts,
): PlainHandler<typeof bridgeContractsPage> {
  return async ({ query: { chain } }) => {
    const table = await registry.table();
    if (table instanceof Read && table.value.rows.length > 0) {
      const body = <Registry table={publicTable(table.value)} chain={chain} />;
      return bridgeContractsPage.reply(200, pageOf(facts, body));
    }
    const reason = table instanceof Read ? 'it holds no row.' : table.why.reason;
    const body = (
      <>
        <h1>Bridge contracts</h1>
        <p class="lead">No table could be read: {reason}</p>
      </>
    );
    return bridgeContractsPage.reply(503, pageOf(facts, body));
  };
}

function pageOf(facts: PageFacts, children: ComponentChildren): string {
  return page({ ...facts, title: 'Bridge contracts', current: '/registry/bridges', children });
}

/** One chain at a time: the rows of all of them are too many for a phone. */
function Registry({ table, chain }: { table: PublishedRegistry; chain: string | undefined }) {
  const wanted = table.coverage.find((one) => one.chain === chain);
  const listed = wanted === undefined ? table.coverage.slice(0, 1) : [wanted];
  return (
    <>
      <h1>Bridge contracts</h1>
      <p class="lead">
        A bridge trace looks for transfers with these {table.contracts} contracts and no others.
        Reviewed {table.reviewed}.
      </p>
      <p>{table.caveat}</p>
      <p>
        The same as a machine reads it:{' '}
        <a href="/api/v1/registry/bridges">/api/v1/registry/bridges</a>
      </p>
      <Table
        caption="Contracts by chain and protocol"
        look="tight"
        rows={table.protocols}
        columns={[
          { head: 'Protocol', cell: (protocol) => protocol, isName: true },
          ...table.coverage.map(({ chain, protocols }) => ({
            head: <a href={`/registry/bridges?chain=${chain}#${chain}`}>{chain}</a>,
            cell: (protocol: string) => {
              const found = protocols.find((one) => one.protocol === protocol);
              return found === undefined ? 'none held' : String(found.contracts);
            },
          })),
        ]}
      />
      {listed.map((one) => (
        <ChainRows
          key={one.chain}
          chain={one.chain}
          rows={table.rows.filter((row) => row.chain === one.chain)}
        />
      ))}
    </>
  );
}

function ChainRows({ chain, rows }: { chain: string; rows: readonly Row[] }) {
  return (
    <section class="route" id={chain} aria-labelledby={`${chain}-title`}>
      <h2 id={`${chain}-title`}>{chain}</h2>
      <Table
        caption={<>{rows.length} contracts</>}
        look="wide"
        rows={rows}
        columns={[
          {
            head: 'Contract',
            cell: ({ name, address }) => (
              <>
                {name}
                <br />
                <code>{address}</code>
              </>
            ),
          },
          { head: 'Protocol', cell: ({ protocol }) => protocol },
          { head: 'Role', cell: ({ role }) => role, look: 'whole' },
          {
            head: 'From block',
            cell: ({ valid_from_block: from }) => (from === null ? 'not known' : from),
          },
          { head: 'Sources', cell: (row) => <Sources row={row} />, look: 'sources' },
        ]}
      />
    </section>
  );
}

const LINK = /^(https:\/\/\S+)(.*)$/;

function Sources({ row }: { row: Row }) {
  return (
    <>
      {row.sources.map((source) => {
        const link = LINK.exec(source);
        const url = link?.[1];
        return (
          <div key={source}>
            {url === undefined ? source : <a href={url}>{hostOf(url)}</a>}
            {link?.[2]}
          </div>
        );
      })}
      {row.note !== null && <div class="quiet">{row.note}</div>}
    </>
  );
}

function hostOf(url: string): string {
  const { hostname, pathname } = new URL(url);
  const [, owner, name] = pathname.split('/');
  return hostname === 'github.com' ? `${owner}/${name}` : hostname;
}
