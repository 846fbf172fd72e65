// What does one migration file say to a single node, and what to a cluster?
// A few placeholders stand for what differs; migrations/warehouse/README.md lists them.
// Refuses a statement that cannot be run twice, or that would differ on one node of a cluster.
import { WarehouseRefusal } from './executor.ts';

/** One ClickHouse (or chDB), or a cluster whose nodes share their tables. */
export type Layout = 'single' | 'cluster';

// Quoted text is one token, so that no character within it ends a statement or begins a comment.
const TOKEN = /'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|;/g;
const PLACEHOLDER = /\{\{(\w+)(?::([^{}]*))?\}\}/g;
const ENGINE = /^\s*(\w+)\s*\(([\s\S]*)\)\s*$/;
const DISTRIBUTED = /^\s*\{\{distributed:(\w+):([^{}]+)\}\}\s*$/;
const CLUSTER_ONLY = '{{cluster_only}}';

const SHARDED = ["'/clickhouse/tables/{shard}/{database}/{table}'", "'{replica}'"];
const EVERYWHERE = ["'/clickhouse/tables/{database}/{table}'", "'{shard}-{replica}'"];

/** The statements of a migration file in a layout, in order. Throws `WarehouseRefusal`. */
export function statementsOf(source: string, layout: Layout): readonly string[] {
  return split(source).flatMap((statement) => {
    const distributed = DISTRIBUTED.exec(statement);
    if (distributed?.[1] !== undefined && distributed[2] !== undefined) {
      return layout === 'single' ? [] : [distributedTable(distributed[1], distributed[2])];
    }
    mustBeRepeatable(statement);
    if (!statement.startsWith(CLUSTER_ONLY)) return [rendered(statement, layout)];
    if (layout === 'single') return [];
    return [rendered(statement.slice(CLUSTER_ONLY.length), layout).trim()];
  });
}

function split(source: string): readonly string[] {
  const statements: string[] = [];
  let statement = '';
  let from = 0;
  for (const token of source.matchAll(TOKEN)) {
    const until = token.index + token[0].length;
    const comment = token[0].startsWith('--') || token[0].startsWith('/*');
    const kept = comment || token[0] === ';' ? token.index : until;
    statement += source.slice(from, kept);
    from = until;
    if (token[0] !== ';') continue;
    statements.push(statement.trim());
    statement = '';
  }
  statements.push((statement + source.slice(from)).trim());
  return statements.filter((text) => text !== '');
}

function mustBeRepeatable(statement: string): void {
  if (!/\bIF (NOT )?EXISTS\b|^CREATE OR REPLACE VIEW\b|\bMODIFY QUERY\b/i.test(statement)) {
    throw malformed('holds neither IF NOT EXISTS nor IF EXISTS', statement);
  }
  if (!statement.includes('{{on_cluster}}')) {
    throw malformed('does not say {{on_cluster}}', statement);
  }
  if (/(?<!\{)\bENGINE\b\s*=?\s*(?!\{\{engine|[\s={])/i.test(statement)) {
    throw malformed('names an engine without a placeholder', statement);
  }
}

function malformed(what: string, statement: string): WarehouseRefusal {
  const begin = statement.slice(0, 60).replace(/\s+/g, ' ');
  return new WarehouseRefusal('migration_malformed', `A migration ${what}: ${begin}`);
}

function rendered(statement: string, layout: Layout): string {
  return statement
    .replace(PLACEHOLDER, (whole: string, name: string, of: string | undefined) => {
      if (name === 'on_cluster') return layout === 'single' ? '' : "ON CLUSTER '{cluster}'";
      if (name === 'local' && of !== undefined) return layout === 'single' ? of : `${of}_local`;
      const path = name === 'engine' ? SHARDED : EVERYWHERE;
      const engine = ENGINE.exec(String(of));
      if ((name !== 'engine' && name !== 'engine_everywhere') || engine === null) {
        throw malformed(`has an unknown placeholder ${whole}`, statement);
      }
      const [, family, args] = engine;
      if (layout === 'single') return `${family}(${args})`;
      const all = args?.trim() === '' ? path : [...path, args];
      return `Replicated${family}(${all.join(', ')})`;
    })
    .replace(/[ \t]+$/gm, '');
}

function distributedTable(table: string, key: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} ON CLUSTER '{cluster}' AS ${table}_local
ENGINE = Distributed('{cluster}', currentDatabase(), ${table}_local, ${key.trim()})`;
}
