import { describe, expect, test } from 'vitest';
import { EXIT, type ExitStatus, type Io, UsageError } from '../../command/command.ts';
import type { BlocksImported, BlocksOutcome } from '../../ports/entities.ts';
import { type EntityServices, type EntityView, entityCommands } from './entity.command.ts';

type Asked = Parameters<EntityServices['entity']['ask']>[0];
type Told = Awaited<ReturnType<EntityServices['entity']['ask']>>;

const ITEM: EntityView['evidence'][number] = {
  id: 'tx 1',
  heuristic: 'multi_input',
  form: 'spent_together',
  addresses: ['a', 'b'],
  through: 'tx 1',
  transactions: ['tx 1'],
  at: '2026-11-20T09:00:00Z',
  weight: 0.9,
  basis: 'measured',
  statement: '2 addresses were spent together.',
  rule: 1,
  judged_at: '2026-11-21T09:00:00Z',
  histories_whole: true,
};
const ENTITY: EntityView = {
  address: 'a',
  chain: 'bitcoin',
  cluster_id: 'bitcoin:1',
  confidence: 0.9,
  confidence_basis: 'assumed',
  tied_as: 'controlled',
  evidence: [ITEM],
  evidence_total: 1,
  against: [],
  members: [],
  labels: [],
  related_wallets: ['a', 'b'],
  related_wallets_total: 2,
  checked: true,
  reason: null,
  coverage: [],
  edges_left_out: null,
  merge_history: [],
  explain: null,
  simulated: false,
  as_of: 1_795_000_000,
  caveat: 'Read the evidence.',
};
const DONE: BlocksImported = {
  blocks: 2,
  blocks_in_part: 0,
  blocks_held: 0,
  transactions: 5,
  joint: 1,
  ties: 4,
  refused: new Map([['twice', 1]]),
};

async function typed(
  line: string,
  {
    told = ENTITY,
    ended = { outcome: 'completed', imported: DONE },
    node = true,
  }: {
    readonly told?: Told;
    readonly ended?: BlocksOutcome;
    readonly node?: boolean;
  } = {},
) {
  const [out, err]: [string[], string[]] = [[], []];
  const asked: Asked[] = [];
  const imports: unknown[] = [];
  const io: Io = {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    json: line.includes('--json'),
    colour: false,
    cwd: '/here',
    signal: new AbortController().signal,
  };
  const entity: EntityServices['entity'] = {
    ask: async (question) => {
      asked.push(question);
      return told;
    },
    importFiles: async (paths) => {
      imports.push(paths);
      return ended;
    },
    importNode: node
      ? async (from, to) => {
          imports.push([from, to]);
          return ended;
        }
      : null,
  };
  const words = line.split(' ').filter((word) => word !== '--json');
  const command = entityCommands.find(({ name }) => name === words.slice(0, 2).join(' '));
  if (command === undefined) throw new Error('no such command');
  const status: ExitStatus = await command.run(words.slice(2), io, { entity });
  return { status, out: out.join('\n'), err: err.join('\n'), asked, imports };
}

const unchecked = { ...ENTITY, checked: false, reason: 'partial_history: some.' };
const explained = (linked: boolean | null): EntityView['explain'] => ({
  to: 'b',
  linked,
  chain: linked === true ? [{ from: 'a', to: 'b', evidence: ITEM }] : [],
});

describe('entity show', () => {
  test('shows the cluster, its wallets and its evidence', async () => {
    const { status, out, asked } = await typed('entity show a --chain bitcoin');
    expect(status).toBe(EXIT.done);
    for (const text of ['bitcoin:1', '0.9, assumed', '  b', 'multi_input', 'Read the evidence.']) {
      expect(out).toContain(text);
    }
    expect(asked).toMatchObject([{ subject: 'a', chain: 'bitcoin', explain: null }]);
  });

  test('says that not everything was looked at, with a status of its own', async () => {
    const { status, err } = await typed('entity show a', { told: unchecked });
    expect([status, err]).toEqual([
      EXIT.couldNotCheck,
      'Not everything was looked at: partial_history: some.',
    ]);
  });

  test('calls no confidence what rests on nothing', async () => {
    const none = { evidence: [], confidence: 1, confidence_basis: null, related_wallets: ['a'] };
    const nothing = { ...ENTITY, ...none };
    const { out } = await typed('entity show a', { told: nothing });
    expect(out).toContain('none: the shape of no data');
    const cut = { ...unchecked, ...none };
    expect((await typed('entity show a', { told: cut })).out).not.toContain('none');
  });

  test('refuses what is wrong with a question, and tells silence apart', async () => {
    const wrong = { problem: 'address: expected an address of base', couldNotCheck: false };
    await expect(typed('entity show a', { told: wrong })).rejects.toThrow(UsageError);
    const silent = { problem: 'The table could not be read.', couldNotCheck: true };
    expect((await typed('entity show a', { told: silent })).status).toBe(EXIT.couldNotCheck);
  });
});

describe('entity explain', () => {
  test('shows each step with its transactions', async () => {
    const told = { ...unchecked, explain: explained(true) };
    const { status, out, asked } = await typed('entity explain a b', { told });
    expect(status).toBe(EXIT.done);
    expect(out).toBe(
      'a – b\n  multi_input (weight 0.90, measured): 2 addresses were spent together.\n  tx 1',
    );
    expect(asked).toMatchObject([{ subject: 'a', explain: 'b' }]);
  });

  test('of no link fails where all was looked at, and could not check where it was not', async () => {
    const none = { ...ENTITY, explain: explained(false) };
    expect((await typed('entity explain a b', { told: none })).status).toBe(EXIT.failed);
    const unread = { ...unchecked, explain: explained(null) };
    const cut = await typed('entity explain a b', { told: unread });
    expect([cut.status, cut.err]).toEqual([
      EXIT.couldNotCheck,
      'Not everything was looked at: partial_history: some.',
    ]);
  });

  test('is one JSON document where that is asked', async () => {
    const told = { ...ENTITY, explain: explained(true) };
    const { out } = await typed('entity explain a b --json', { told });
    const document: unknown = JSON.parse(out);
    expect(document).toMatchObject({ from: 'a', to: 'b', linked: true, checked: true });
  });

  test('needs two addresses', async () => {
    await expect(typed('entity explain a')).rejects.toThrow('B is missing');
  });
});

describe('entity import', () => {
  test('takes files where the caller stands, and shows what became of them', async () => {
    const { status, out, imports } = await typed('entity import blocks.json /other/tx.json');
    expect([status, imports]).toEqual([EXIT.done, [['/here/blocks.json', '/other/tx.json']]]);
    expect(out).toContain('refused: twice');
  });

  test('takes the node’s blocks between two bounds', async () => {
    const { imports } = await typed('entity import --node --from-block 0 --to-block 9');
    expect(imports).toEqual([[0, 9]]);
    expect((await typed('entity import --node')).imports).toEqual([[null, null]]);
  });

  test.each([
    ['entity import', 'PATH is missing'],
    ['entity import a.json --node', 'not both'],
    ['entity import a.json --to-block 3', 'goes with --node'],
    ['entity import --node --from-block x', '--from-block takes a whole number'],
  ])('%s is bad usage', async (line, problem) => {
    await expect(typed(line)).rejects.toThrow(problem);
  });

  test('of a node that is not set is bad usage', async () => {
    await expect(typed('entity import --node', { node: false })).rejects.toThrow('is not set');
  });

  test('that ended in a fault, or took in nothing, has failed and says so', async () => {
    const fault = { outcome: 'fault', imported: DONE, fault: 'the node is gone' } as const;
    const ended = await typed('entity import a', { ended: fault });
    expect([ended.status, ended.err]).toEqual([
      EXIT.failed,
      'The source could not be read on: the node is gone.',
    ]);
    const none = { outcome: 'completed', imported: { ...DONE, transactions: 0 } } as const;
    expect((await typed('entity import a', { ended: none })).status).toBe(EXIT.failed);
  });
});
