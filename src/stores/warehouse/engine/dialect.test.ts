import { describe, expect, test } from 'vitest';
import { splitStatements } from './executor.ts';

const SOURCE = `-- Sides by address; it's sharded.
CREATE TABLE IF NOT EXISTS {{local:sides}} {{on_cluster}} (a String DEFAULT ';--{{x}}')
ENGINE = {{engine:ReplacingMergeTree(version)}} ORDER BY a; /* and; then */
{{distributed:sides:cityHash64(a)}};
{{cluster_only}} ALTER TABLE sides {{on_cluster}} ADD COLUMN IF NOT EXISTS b UInt8;
CREATE TABLE IF NOT EXISTS stamp {{on_cluster}} (a UInt8)
ENGINE = {{engine_everywhere:MergeTree()}} ORDER BY a`;

describe('one source', () => {
  test('on a single node names plain tables and nothing of a cluster', () => {
    expect(splitStatements(SOURCE.replace('{{x}}', 'x'), 'single')).toEqual([
      `CREATE TABLE IF NOT EXISTS sides  (a String DEFAULT ';--x')
ENGINE = ReplacingMergeTree(version) ORDER BY a`,
      `CREATE TABLE IF NOT EXISTS stamp  (a UInt8)
ENGINE = MergeTree() ORDER BY a`,
    ]);
  });

  test('on a cluster replicates, shards and distributes', () => {
    const [local, distributed, altered, everywhere] = splitStatements(
      SOURCE.replace('{{x}}', 'x'),
      'cluster',
    );
    expect(local).toContain("sides_local ON CLUSTER '{cluster}'");
    expect(local).toContain(
      "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', version)",
    );
    expect(distributed).toContain(
      "AS sides_local\nENGINE = Distributed('{cluster}', currentDatabase(), sides_local, cityHash64(a))",
    );
    expect(altered).toBe(
      "ALTER TABLE sides ON CLUSTER '{cluster}' ADD COLUMN IF NOT EXISTS b UInt8",
    );
    expect(everywhere).toContain(
      "ReplicatedMergeTree('/clickhouse/tables/{database}/{table}', '{shard}-{replica}')",
    );
  });

  test.each([
    ['CREATE TABLE a {{on_cluster}} (b UInt8) ENGINE = {{engine:MergeTree()}}', 'IF NOT EXISTS'],
    ['CREATE TABLE IF NOT EXISTS a (b UInt8) ENGINE = {{engine:MergeTree()}}', 'on_cluster'],
    ['CREATE TABLE IF NOT EXISTS a {{on_cluster}} (b UInt8) ENGINE = MergeTree()', 'an engine'],
    ['CREATE TABLE IF NOT EXISTS a {{on_cluster}} {{other}}', 'unknown placeholder'],
    ['CREATE TABLE IF NOT EXISTS a {{on_cluster}} ENGINE = {{engine:MergeTree}}', 'unknown'],
  ])('is refused where one layout would go wrong: %s', (statement, why) => {
    expect(() => splitStatements(statement, 'single')).toThrow(why);
  });
});
