import { writeFile } from 'node:fs/promises';
import { createClient, ExhibitFailure, ExhibitRefusal } from '../../client/client.ts';
import { saveSignal } from '../../client/save-signal.ts';
import {
  anyText,
  defineCommand,
  EXIT,
  fail,
  filePath,
  mandatory,
  UsageError,
} from '../../command/command.ts';
import {
  CONNECTION_OPTIONS,
  type ConnectionServices,
  findService,
} from '../../command/connection.ts';
import { printRecord } from '../../command/output.ts';

export const signalsSave = defineCommand({
  name: 'signals save',
  summary: 'Save a signal, its bundle and its proof as one file.',
  example: 'exhibit signals save sig_00000000000000000000000000000000 signal.json',
  arguments: {
    id: mandatory('ID', 'as the feed gives it: sig_ and 32 hex digits', anyText),
    file: mandatory('FILE', 'a file that is not there yet', filePath),
  },
  options: { 'base-url': CONNECTION_OPTIONS['base-url'] },
  json: 'one document: the file, and whether a proof is in it',
  notes: [
    'It asks a running service, and needs no key. A file without a proof was saved before the next',
    'checkpoint of the log: save it again after that.',
    'Exit status 1: there is no such signal. 3: the service did not answer.',
  ],
  run: async ({ id, file, 'base-url': base }, io, services: ConnectionServices) => {
    const client = createClient({ baseUrl: await findService(base, services) });
    try {
      const saved = await saveSignal(client, id);
      if (saved.kind !== 'saved') {
        return fail(io, saved.says, saved.kind === 'absent' ? EXIT.failed : EXIT.couldNotCheck);
      }
      await writeNew(file, `${JSON.stringify(saved.file)}\n`);
      return printRecord({ file, has_proof: saved.file.proof !== null }, io, ['file', 'has_proof']);
    } catch (fault) {
      if (fault instanceof ExhibitRefusal) return fail(io, fault.message, EXIT.couldNotCheck);
      if (fault instanceof ExhibitFailure) return fail(io, fault.message, EXIT.couldNotCheck);
      throw fault;
    }
  },
});

/** Writes a file that was not there. */
async function writeNew(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' }).catch((fault: unknown) => {
    const isThere = Reflect.get(Object(fault), 'code') === 'EEXIST';
    throw new UsageError(`FILE ${isThere ? 'is there already' : 'cannot be written'}.`);
  });
}
