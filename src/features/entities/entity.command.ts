// The commands on entities: show one, explain a link, import Bitcoin. Unread parts are named beside
// the findings; they never appear as "linked to nobody".

import type { z } from 'zod';
import {
  anyText,
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  filePath,
  flag,
  type Io,
  mandatory,
  numberWithin,
  optional,
  several,
  UsageError,
} from '../../command/command.ts';
import { factLines, print, printJson, tableLines } from '../../command/output.ts';
import { weightText } from '../../evidence/weight.ts';
import type { BlocksImported, BlocksOutcome, BlocksWatch } from '../../ports/entities.ts';
import type { walletEntityData } from './wallet-entity.route.ts';

/** An entity as the interface answers it. */
export type EntityView = z.output<typeof walletEntityData>;

/** The question. `subject`: an address, or the id of a cluster. */
export type EntityQuestion = {
  readonly subject: string;
  readonly chain: string | null;
  readonly explain: string | null;
  readonly signal: AbortSignal;
};

/** The services of the commands; compose fills them. */
export type EntityServices = {
  readonly entity: {
    /** The answer, or what is wrong with the question. */
    readonly ask: (
      question: EntityQuestion,
    ) => Promise<EntityView | { readonly problem: string; readonly couldNotCheck: boolean }>;
    readonly importFiles: (paths: readonly string[], watch: BlocksWatch) => Promise<BlocksOutcome>;
    /** `null` where no node is set. */
    readonly importNode:
      | ((from: number | null, to: number | null, watch: BlocksWatch) => Promise<BlocksOutcome>)
      | null;
  };
};

const BLOCK_MAX = 999_999_999;

const entityShow = defineCommand({
  name: 'entity show',
  summary: 'Show the entity of an address, or of a cluster by its id.',
  example: 'exhibit entity show 0x28c6c06298d514db089934071355e5743bf21d60 --chain base',
  usage: 'ADDRESS|CLUSTER_ID [--chain CHAIN]',
  arguments: { subject: mandatory('ADDRESS', null, anyText) },
  options: {
    chain: optional(
      'CHAIN',
      'solana, ethereum, base, bsc, arbitrum, hyperevm, bitcoin; ethereum for 0x…, else by the ' +
        'form of the address',
      anyText,
    ),
  },
  notes: [
    'Exit status 3: not everything that could link it was looked at; the reason says what was not.',
  ],
  run: async ({ subject, chain }, io, { entity }: EntityServices) =>
    tell(await entity.ask({ subject, chain, explain: null, signal: io.signal }), io, show),
});

const entityExplain = defineCommand({
  name: 'entity explain',
  summary: 'Show the shortest chain of evidence between two addresses.',
  example: 'exhibit entity explain 0x28c6…1d60 0x21a3…5549',
  arguments: { subject: mandatory('A', null, anyText), explain: mandatory('B', null, anyText) },
  options: { chain: optional('CHAIN', 'as for entity show', anyText) },
  notes: [
    'Exit status 1: no evidence links them, and everything that could was looked at.',
    'Exit status 3: none was found, and not everything was looked at.',
  ],
  run: async ({ subject, explain, chain }, io, { entity }: EntityServices) =>
    tell(await entity.ask({ subject, chain, explain, signal: io.signal }), io, tellChain),
});

const entityImport = defineCommand({
  name: 'entity import',
  summary: 'Take in blocks of Bitcoin for its entities.',
  usage: 'PATH… | --node [--from-block N] [--to-block N]',
  example: "exhibit entity import 'export/blocks_*.json' 'export/transactions_*.json'",
  arguments: {
    paths: several(
      'PATH',
      'bitcoin-etl JSON lines (blocks and enriched transactions), gzip or not: files, folders, ' +
        'or patterns; a block is held in full where its row is there too and tells as many ' +
        'transactions as came',
      filePath,
    ),
  },
  options: {
    node: flag('the Bitcoin Core node of EXHIBIT_RPC_BITCOIN instead of files'),
    'from-block': optional(
      'N',
      'the first block; without it the one behind those held from the first on',
      numberWithin(0, BLOCK_MAX),
    ),
    'to-block': optional(
      'N',
      'the last block; never one of the newest six, which may be replaced',
      numberWithin(0, BLOCK_MAX),
    ),
  },
  notes: [
    'Change addresses are told only while blocks come in order from the first one on.',
    'Exit status 1: a fault of the source or the store; what came before it is kept.',
  ],
  run: async (
    { paths, node, 'from-block': from, 'to-block': to },
    io,
    { entity }: EntityServices,
  ) => {
    const watch = {
      signal: io.signal,
      onProgress: ({ blocks, blocks_in_part, ties }: BlocksImported) => {
        const done = (blocks + blocks_in_part).toLocaleString('en');
        io.err(`${done} blocks, ${ties.toLocaleString('en')} ties`);
      },
    };
    if (node) {
      if (paths.length > 0) throw new UsageError('Either PATH or --node, not both.');
      if (entity.importNode === null) throw new UsageError('EXHIBIT_RPC_BITCOIN is not set.');
      return tellEnd(await entity.importNode(from, to, watch), io);
    }
    if (paths.length === 0) throw new UsageError('PATH is missing, or --node.');
    if (from !== null || to !== null) throw new UsageError('--from-block goes with --node.');
    return tellEnd(await entity.importFiles(paths, watch), io);
  },
});

export const entityCommands = [entityShow, entityExplain, entityImport] as const;

function tell(
  answer: Awaited<ReturnType<EntityServices['entity']['ask']>>,
  io: Io,
  show: (entity: EntityView, io: Io) => ExitStatus,
): ExitStatus {
  if (!('problem' in answer)) return show(answer, io);
  if (!answer.couldNotCheck) throw new UsageError(answer.problem);
  return fail(io, answer.problem, EXIT.couldNotCheck);
}

function show(entity: EntityView, io: Io): ExitStatus {
  if (io.json) printJson(io, entity);
  else {
    const { address, chain, cluster_id, confidence, confidence_basis: basis } = entity;
    const { related_wallets, members, evidence } = entity;
    const unknown = entity.checked ? 'none: the shape of no data' : 'not checked to the end';
    const known = basis === null ? unknown : `${confidence}, ${basis}`;
    const deposits = new Set(
      members.filter((one) => one.tied_as === 'deposit_address').map((one) => one.address),
    );
    const columns = [
      { title: 'HEURISTIC' },
      { title: 'WEIGHT', right: true },
      { title: 'BASIS' },
      { title: 'STATEMENT' },
    ];
    const rows = evidence.map(({ heuristic, weight, basis, statement }) => {
      return [heuristic, weight, basis, statement];
    });
    print(io, [
      ...factLines(
        [
          ['address', address],
          ['chain', chain],
          ['cluster', cluster_id],
          ['confidence', known],
          ['wallets', entity.related_wallets_total],
        ],
        io,
      ),
      ...related_wallets.map((one) => {
        return deposits.has(one) ? `  ${one}  deposit address of an exchange` : `  ${one}`;
      }),
      ...(rows.length === 0 ? [] : tableLines(columns, rows, io)),
      entity.caveat,
    ]);
  }
  return statusUnlessUnread(entity, io, EXIT.done);
}

function tellChain(entity: EntityView, io: Io): ExitStatus {
  const { explain } = entity;
  if (io.json) printJson(io, { ...explain, from: entity.address, checked: entity.checked });
  if (explain !== null && explain.linked === true) {
    for (const { from, to, evidence } of io.json ? [] : explain.chain) {
      io.out(`${from} – ${to}`);
      io.out(`  ${evidence.heuristic} (${weightText(evidence)}): ${evidence.statement}`);
      for (const transaction of evidence.transactions) io.out(`  ${transaction}`);
    }
    return EXIT.done;
  }
  if (!io.json && explain?.linked === false) {
    io.err('No chain of evidence between the two was found.');
  }
  return statusUnlessUnread(entity, io, EXIT.failed);
}

function statusUnlessUnread(
  { checked, reason }: EntityView,
  io: Io,
  status: ExitStatus,
): ExitStatus {
  if (checked) return status;
  if (reason !== null) io.err(`Not everything was looked at: ${reason}`);
  return EXIT.couldNotCheck;
}

function tellEnd(outcome: BlocksOutcome, io: Io): ExitStatus {
  const { imported } = outcome;
  const { refused, ...counts } = imported;
  if (io.json) {
    printJson(io, { outcome: outcome.outcome, ...counts, refused: Object.fromEntries(refused) });
  } else {
    const facts = Object.entries(counts).map(([name, count]) => {
      return [name.replaceAll('_', ' '), count] as const;
    });
    const reasons = [...refused].map(([reason, count]) => [`refused: ${reason}`, count] as const);
    print(io, factLines([...facts, ...reasons], io));
  }
  switch (outcome.outcome) {
    case 'completed':
      if (imported.transactions + imported.blocks_held > 0) return EXIT.done;
      return fail(io, 'No transaction was taken in.');
    case 'stopped':
      return fail(io, 'Stopped; what came before is kept.');
    case 'fault':
      return fail(io, `The source could not be read on: ${outcome.fault}.`);
    case 'unread':
      return fail(io, outcome.why.reason);
  }
}
