// A policy as a command reads it. Its evaluator is loaded by the command that its caller typed, and
// by nothing that serves.

import { open } from 'node:fs/promises';
import type { Policy, PolicyFault } from '../client/policy.ts';
import { EXIT, type ExitStatus, fail, type Io } from './command.ts';

type Evaluator = Pick<
  typeof import('../client/policy.ts'),
  'evaluatePolicy' | 'parsePolicy' | 'policyHash' | 'screenOf'
>;

/** Loads what evaluates a policy, in the process of its caller. */
export async function loadEvaluator(): Promise<Evaluator> {
  return import('../client/policy.ts');
}

/** Reads a policy, or says each fault with its place and gives the exit status. */
export async function readPolicy(
  path: string,
  io: Pick<Io, 'err'>,
): Promise<{ readonly policy: Policy } | { readonly status: ExitStatus }> {
  const { parsePolicy } = await loadEvaluator();
  const bytes = await bytesOf(path);
  if (typeof bytes === 'string') {
    return { status: fail(io, `The policy cannot be read: ${bytes}.`) };
  }
  const parsed = parsePolicy(bytes);
  if (parsed.ok) return { policy: parsed.policy };
  for (const fault of parsed.faults) io.err(faultText(fault));
  return { status: EXIT.failed };
}

/** A fault by its name, behind its place. */
function faultText({ code, message, clause, line, column }: PolicyFault): string {
  const at = line === null ? '' : `, line ${line}, column ${column}`;
  return `${clause === null ? '' : `${clause}${at}: `}${code}: ${message}`;
}

/** One byte more than a policy has: what is longer is refused by its length alone. */
const READ_BYTES = 65_537;

/** The first bytes of a file, or why there are none. */
async function bytesOf(path: string): Promise<Uint8Array | string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (fault) {
    if (!(fault instanceof Error)) throw fault;
    return 'code' in fault ? String(fault.code) : fault.message;
  }
}
