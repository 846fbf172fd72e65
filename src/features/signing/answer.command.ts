// Saves one answer of a running service with its signature, to be verified later without it.

import { readFile, writeFile } from 'node:fs/promises';
import { requestSigned } from '../../client/signed.ts';
import {
  anyText,
  defineCommand,
  EXIT,
  fail,
  filePath,
  mandatory,
  optional,
  UsageError,
} from '../../command/command.ts';
import {
  CONNECTION_NOTE,
  CONNECTION_OPTIONS,
  type ConnectionServices,
  findConnection,
  requestOnce,
} from '../../command/connection.ts';
import { printRecord, timeText } from '../../command/output.ts';
import { parameterOf, parseSignatureInputs } from '../../contract/http-signature.ts';
import type { SavedAnswer } from '../../contract/saved-answer.ts';
import { listOrNone } from '../../evidence/measure.ts';

async function keysIn(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => {
    throw new UsageError('--keys cannot be read.');
  });
}

function factsOf({ request: { url }, answer }: SavedAnswer, file: string, isVerified: boolean) {
  const inputs = parseSignatureInputs(String(answer.headers['signature-input']));
  const [input] = listOrNone(inputs);
  const [kid, created] =
    input === undefined
      ? [null, null]
      : [parameterOf(input, 'keyid'), parameterOf(input, 'created')];
  return {
    file,
    url,
    status: answer.status,
    kid: typeof kid === 'string' ? kid : null,
    created: typeof created === 'number' ? created : null,
    verified: isVerified,
  };
}

export const answerSave = defineCommand({
  name: 'answer save',
  summary: 'Save an answer of a running service with its signature, as one file.',
  example:
    'exhibit answer save /api/v1/wallet/0x8589427373d6d84e98730d7795d8f6f8731fda16/ofac ' +
    '--out answer.json --keys keys.json',
  arguments: { path: mandatory('PATH', 'of a GET of the hosted API, with its query', anyText) },
  options: {
    out: mandatory('FILE', 'where it is written', filePath),
    keys: optional('FILE', 'the pinned key set; what does not verify is not written', filePath),
    ...CONNECTION_OPTIONS,
  },
  json: 'prints {file, url, status, kid, created, verified}',
  notes: [
    CONNECTION_NOTE,
    'The service shows its key set at /.well-known/exhibit-keys.json: fetch it once, and keep it.',
    'Exit status 1: it does not verify. 3: there was no answer, or it was not signed.',
  ],
  run: async ({ path, out, keys, ...named }, io, services: ConnectionServices) => {
    if (!path.startsWith('/')) throw new UsageError('PATH begins with a slash.');
    const pinned = keys === null ? null : await keysIn(keys);
    const { baseUrl, key } = await findConnection(named, io, services);
    const url = new URL(baseUrl.href.replace(/\/+$/, '') + path);
    let saved: SavedAnswer | null = null;
    const asked = requestSigned({
      ...(pinned === null ? {} : { keys: pinned }),
      save: (file) => {
        saved = file;
      },
    }).begin();
    const headers = { authorization: `Bearer ${key}`, 'accept-signature': asked.header };
    const said = await requestOnce(baseUrl, { path, headers }, io.signal);
    if (said.kind === 'silent') return fail(io, `${said.reason}.`, EXIT.couldNotCheck);
    const fault = await asked.take({ method: 'GET', url, ...said });
    if (fault !== null) {
      const isUnsigned = said.headers.get('signature') === null;
      const says = `Nothing was saved: ${fault.replace(/\.$/, '')}.`;
      return fail(io, says, isUnsigned ? EXIT.couldNotCheck : EXIT.failed);
    }
    if (saved === null) throw new Error('an answer without a fault is saved');
    await writeFile(out, `${JSON.stringify(saved, null, 2)}\n`);
    const facts = factsOf(saved, out, pinned !== null);
    const how = pinned === null ? 'not verified: no --keys' : 'verified';
    const says = `Saved to ${out}: HTTP ${said.status}, signed ${timeText(facts.created)}, ${how}.`;
    return printRecord(facts, io, says);
  },
});
