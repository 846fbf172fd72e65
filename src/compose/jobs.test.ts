// The table of jobs in the docs is made from their declarations, which are held against the code:
// each is started somewhere, each lease is taken by a job, and the times are those of the jobs.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { codeUnder } from '../testing/tidy-source.ts';
import { JOBS } from './jobs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const sources = codeUnder(ROOT, 'src/features')
  .filter((path) => !/\.(test|suite)\./.test(path))
  .map((path) => ({ path, text: readFileSync(`${ROOT}/${path}`, 'utf8') }));
const all = Object.entries(JOBS);
const MINUTE_S = 60;

function jobsPage(): string {
  const rows = all.map(([name, { kept, by, freeAfterS, looksEachS, late }]) => {
    const free = freeAfterS === null ? 'at once' : `${freeAfterS} s`;
    const looks = looksEachS === null ? 'never' : `${looksEachS} s`;
    return `| ${name} | ${kept} | ${by} | ${free} | ${looks} | ${late} |`;
  });
  return `# Jobs

This page is generated from \`src/compose/jobs.ts\`. Any number of processes run the jobs of
\`exhibit work\` over one control store. The table says how each job is kept to one of them, after
how long the work of a lost process is free for others (\`EXHIBIT_LEASE_MAX\` shortens leases), how
often a process looks for work, and what a process that was paused in a job can still do once it
wakes up.

* **lease with epoch**: one process holds the lease. Each holder has a greater epoch than all before
  it, and each write checks its epoch in its own transaction.
* **lease**: one process holds the lease. What it writes late is a fact that comes out the same,
  whoever writes it.
* **row lock**: a process locks the row that it works on, for a time.
* **unique key**: all processes may work; a unique key, or a comparison with what stood before, lets
  one write count.
* **each process**: the work is each process's own.

| job | kept to one by | which | free after | looks each | what a late holder can still do |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

test('docs/reference/jobs.md holds every job', async () => {
  await expect(jobsPage()).toMatchFileSnapshot('../../docs/reference/jobs.md');
});

test('each job is started by one feature', () => {
  for (const [name] of all) {
    const started = new RegExp(`name: '${name}',\\s*(role: '\\w+',\\s*)?start`);
    expect(
      sources.filter(({ text }) => started.test(text)).map(({ path }) => path),
      name,
    ).toEqual([expect.stringMatching(/feature\.ts$/)]);
  }
});

test('each lease that is taken is one of a job, under the time that is told', () => {
  const leased = all.filter(([, { kept }]) => kept.startsWith('lease'));
  const takers = sources.filter(({ text }) => /leases\.take\(/.test(text));
  const times = takers.map(({ text }) => Number(/const LEASE_S = (\d+);/.exec(text)?.[1]));
  // Tables and walks of watchlists share a file and a time.
  const told = leased.map(([, { freeAfterS }]) => freeAfterS);
  expect([...times, MINUTE_S].toSorted()).toEqual(told.toSorted());
});

test('work of a lost process moves on within two times of its lease', () => {
  for (const [name, { freeAfterS, looksEachS }] of all) {
    if (freeAfterS !== null) expect(looksEachS, name).toBeLessThanOrEqual(freeAfterS);
  }
});
