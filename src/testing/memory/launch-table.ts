// Which launches were put into this memory?
// An adapter like the control store's, for tests: the same promises, and nothing survives it.

import type { CorpusTable, CorpusTablePort, Launch } from '../../ports/launches/table.ts';
import { type MemoryImports, memoryImports } from './imports.ts';
import { countLaunches } from './launch-corpus.ts';

/** A memory of launches, and the means to make it silent. */
type MemoryCorpusTable = {
  readonly table: CorpusTable;
  readonly fallSilent: MemoryImports<Launch, CorpusTablePort>['fallSilent'];
};

/** An empty memory of launches. */
export function memoryCorpusTable(): MemoryCorpusTable {
  const byMint = new Map<string, Launch>();
  const imports = memoryImports<Launch, CorpusTablePort>(
    { port: 'corpus_table', table: 'launches', keyOf: ({ mint }) => mint },
    (launches) => {
      for (const launch of launches) {
        const known = byMint.get(launch.mint);
        if (known === undefined || replaces(launch, known)) byMint.set(launch.mint, launch);
      }
    },
  );
  const { said, fallSilent } = imports;
  const counts = () =>
    [...countLaunches(byMint.values()).values()].sort((a, b) => (a.deployer < b.deployer ? -1 : 1));
  return {
    table: {
      ...imports.table,
      settled: async () => said(() => [...byMint.values()].filter((one) => one.settled).length),
      counts: async (afterDeployer, rowsMax) =>
        said(() =>
          counts()
            .filter(({ deployer }) => deployer > afterDeployer)
            .slice(0, rowsMax),
        ),
      countsOf: async (deployers) =>
        said(() => counts().filter(({ deployer }) => deployers.includes(deployer))),
    },
    fallSilent,
  };
}

function replaces(launch: Launch, known: Launch): boolean {
  return launch.last_checked_at >= known.last_checked_at && (launch.settled || !known.settled);
}
