import { open } from 'node:fs/promises';
import { z } from 'zod';
import type { AskNode } from '../../client/anchored-root.ts';
import { type Trust, type Verification, verifySaved } from '../../client/verify.ts';
import {
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  filePath,
  mandatory,
  optional,
  UsageError,
} from '../../command/command.ts';
import { readCapped } from '../../command/connection.ts';
import { printJson, rowsPrinter } from '../../command/output.ts';

/** The largest file that is read: the longest answer that `exhibit answer save` saves fits. */
const FILE_BYTES_MAX = 32 * 1024 * 1024;
const MS_PER_S = 1_000;
const NODE_TIMEOUT_MS = 20_000;
const NODE_BYTES_MAX = 4 * 1024 * 1024;

const rpcAnswer = z.object({ result: z.unknown(), error: z.unknown() });

const EXITS: { readonly [outcome in Verification['outcome']]: ExitStatus } = {
  verified: EXIT.done,
  refuted: EXIT.failed,
  unchecked: EXIT.couldNotCheck,
};

export const verifyCommand = defineCommand({
  name: 'verify',
  summary: 'Check a saved signal or a saved answer by its bytes alone.',
  example: 'exhibit verify signal.json --keys exhibit-keys.json',
  arguments: { file: mandatory('FILE', null, filePath) },
  options: {
    keys: optional(
      'FILE',
      'the key set that you saved before, from /.well-known/exhibit-keys.json',
      filePath,
    ),
    checkpoint: optional('FILE', 'a checkpoint of the log that you saved before', filePath),
    rpc: optional('URL', 'a node of the chain that anchors; nothing else is asked', nodeUrl),
  },
  json: 'one document: the outcome, and each check with what it says',
  notes: [
    'The service is not asked, and nothing that it says of itself is believed. It cannot establish',
    'that evidence was true when it was collected.',
    'Exit status 1: a check fails. 3: none fails, and at least one could not be made.',
  ],
  run: async ({ file, keys, checkpoint, rpc }, io) => {
    const trust: Trust = {
      keys: keys === null ? null : (await bytesOf(keys, '--keys')).toString(),
      checkpoint:
        checkpoint === null ? null : (await bytesOf(checkpoint, '--checkpoint')).toString(),
      node: rpc === null ? null : askNode(rpc, io.signal),
      now: Date.now() / MS_PER_S,
    };
    const saved = await bytesOf(file, 'FILE');
    const said = await verifySaved(saved, trust);
    if (io.json) printJson(io, said);
    else {
      rowsPrinter<Verification['checks'][number]>(io, { columns: ['check', 'outcome', 'says'] })(
        said.checks,
      );
    }
    const status = EXITS[said.outcome];
    return status === EXIT.done ? status : fail(io, WORDS[said.outcome], status);
  },
});

const WORDS: { readonly [outcome in Verification['outcome']]: string } = {
  verified: 'Every check holds.',
  refuted: 'Not verified: a check fails.',
  unchecked: 'Not verified: no check fails, and not every one could be made.',
};

async function bytesOf(path: string, name: string): Promise<Buffer> {
  const file = await open(path).catch(() => {
    throw new UsageError(`${name} cannot be read.`);
  });
  try {
    const { size } = await file.stat();
    if (size > FILE_BYTES_MAX) throw new UsageError(`${name}: at most ${FILE_BYTES_MAX} bytes.`);
    return await file.readFile().catch(() => {
      throw new UsageError(`${name} cannot be read.`);
    });
  } finally {
    await file.close();
  }
}

function nodeUrl(text: string, name: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new UsageError(`${name} takes an http: or https: URL.`);
}

/** Asks one node, which must answer in time and within bounds. */
function askNode(url: URL, asked: AbortSignal): AskNode {
  return async (method, params) => {
    const { request } = await import('undici');
    const { statusCode, body } = await request(url, {
      method: 'POST',
      signal: AbortSignal.any([asked, AbortSignal.timeout(NODE_TIMEOUT_MS)]),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const bytes = await readCapped(body, NODE_BYTES_MAX);
    if (bytes === null) throw new Error('its answer is too long');
    if (statusCode !== HTTP_OK) throw new Error(`HTTP ${statusCode}`);
    const said: unknown = JSON.parse(bytes.toString());
    const { result, error } = rpcAnswer.partial().parse(said);
    if (error !== undefined && error !== null) throw new Error('it refused');
    if (result === undefined) throw new Error('its answer has no result');
    return result;
  };
}

const HTTP_OK = 200;
