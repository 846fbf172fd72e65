// Use: npm run bench -- signed. What does a hosted answer cost more if its client asks for a
// signature: in time at one connection, and in processor time of the service?

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signatureWishText } from '../src/contract/http-signature.ts';
import { load, middle, startService } from './asking.ts';
import { endChild, treeCpuMs } from './children.ts';
import { furnish } from './furnish.ts';

const TARGET_MS = 0.15;
const ROUNDS = process.argv.includes('--quick') ? 2 : 8;
const ROUND_MS = 2_000;
const WARM_MS = 3_000;
const PATH = '/api/v1/wallet/0x00000000219ab540356cbb839cbe05303d7705fa/ofac';

type Measured = { readonly p50Ms: number; readonly processorMs: number };

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'exhibit-bench-'));
  try {
    const furnished = await furnish(join(directory, 'data'));
    const bearer = `Authorization: Bearer ${furnished.keys[0]}\r\n`;
    const head = `GET ${PATH} HTTP/1.1\r\nHost: bench\r\n${bearer}`;
    const requests = {
      plain: `${head}\r\n`,
      signed: `${head}Accept-Signature: ${signatureWishText('of the bench')}\r\n\r\n`,
    };
    const { process_, port, pid } = await startService(furnished.env, false);
    const ask = (kind: keyof typeof requests, durationMs: number) =>
      load({ port, connections: 1, durationMs, requests: [requests[kind]] });
    const rounds: { plain: Measured[]; signed: Measured[] } = { plain: [], signed: [] };
    for (const kind of ['plain', 'signed'] as const) await ask(kind, WARM_MS);
    // In turn, so that the machine's drift hits both.
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const kind of ['plain', 'signed'] as const) {
        const before = treeCpuMs(pid);
        const said = await ask(kind, ROUND_MS);
        const processorMs = (treeCpuMs(pid) - before) / said.answers;
        if (said.byStatus['200'] !== said.answers) throw new Error(JSON.stringify(said.byStatus));
        rounds[kind].push({ p50Ms: said.p50_ms, processorMs });
      }
    }
    await endChild(process_, 'SIGTERM');
    const of = (kind: keyof typeof rounds, what: keyof Measured) =>
      middle(rounds[kind].map((one) => one[what]));
    const rows = [
      ['p50 of an answer, ms', 'p50Ms'],
      ['processor time of an answer, ms', 'processorMs'],
    ] as const;
    process.stdout.write('A direct screen at one connection, plain, signed, and the difference\n');
    for (const [name, what] of rows) {
      const [plain, signed] = [of('plain', what), of('signed', what)];
      const cells = [plain, signed, signed - plain].map((one) => one.toFixed(3).padStart(9));
      process.stdout.write(`  ${name.padEnd(34)}${cells.join('')}  target ${TARGET_MS}\n`);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
