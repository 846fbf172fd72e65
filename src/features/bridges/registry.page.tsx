// Answers one question: which bridge contracts are looked for, on which chain, by which source.

import { type PageFacts, page } from '../../pages/layout.tsx';
import { Scroll } from '../../pages/words.tsx';
import type { PublishedRegistry } from './registry-bridges.contract.ts';

type Row = PublishedRegistry['rows'][number];

/** The page of the bridge registry; `reason` stands where no table could be read. */
export function registryBridgesPage(
  facts: PageFacts,
  table: PublishedRegistry | { readonly reason: string },
  chain?: string,
): string {
  return page({
    ...facts,
    title: 'Bridge contracts',
    current: '/registry/bridges',
    children:
      'reason' in table ? (
        <>
          <h1>Bridge contracts</h1>
          <p class="lead">No table could be read: {table.reason}</p>
        </>
      ) : (
        <Registry table={table} chain={chain} />
      ),
  });
}

type RegistryProps = { table: PublishedRegistry; chain: string | undefined };

/** One chain at a time: the rows of all of them are too many for a phone. */
function Registry({ table, chain }: RegistryProps) {
  const asked = table.coverage.find((one) => one.chain === chain);
  const shown = asked === undefined ? table.coverage.slice(0, 1) : [asked];
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
      <Coverage table={table} />
      {shown.map((one) => (
        <ChainRows
          key={one.chain}
          chain={one.chain}
          rows={table.rows.filter((row) => row.chain === one.chain)}
        />
      ))}
    </>
  );
}

function Coverage({ table }: { table: PublishedRegistry }) {
  return (
    <Scroll>
      <table class="tight">
        <caption>Contracts by chain and protocol</caption>
        <thead>
          <tr>
            <th scope="col">Protocol</th>
            {table.coverage.map(({ chain }) => (
              <th key={chain} scope="col">
                <a href={`/registry/bridges?chain=${chain}#${chain}`}>{chain}</a>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.protocols.map((protocol) => (
            <tr key={protocol}>
              <th scope="row">{protocol}</th>
              {table.coverage.map(({ chain, protocols }) => (
                <td key={chain}>{countOf(protocols, protocol)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

type Counts = PublishedRegistry['coverage'][number]['protocols'];

function countOf(counts: Counts, protocol: string): string {
  const found = counts.find((one) => one.protocol === protocol);
  return found === undefined ? 'none held' : String(found.contracts);
}

function ChainRows({ chain, rows }: { chain: string; rows: readonly Row[] }) {
  return (
    <section class="route" id={chain} aria-labelledby={`${chain}-title`}>
      <h2 id={`${chain}-title`}>{chain}</h2>
      <Scroll>
        <table>
          <caption>{rows.length} contracts</caption>
          <thead>
            <tr>
              <th scope="col">Contract</th>
              <th scope="col">Protocol</th>
              <th scope="col">Role</th>
              <th scope="col">From block</th>
              <th scope="col">Sources</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.address} ${row.role}`}>
                <td>
                  {row.name}
                  <br />
                  <code>{row.address}</code>
                </td>
                <td>{row.protocol}</td>
                <td>{row.role}</td>
                <td>{row.valid_from_block === null ? 'not known' : row.valid_from_block}</td>
                <td class="sources">
                  <Sources row={row} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
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
