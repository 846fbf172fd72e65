// The child process that holds chDB: it runs statements and nothing else.
// A connection on which a statement failed is thrown away: chDB 3.4 hands the rows that the failed
// statement had already written to the next one on that connection.
// Refuses to outlive its parent: when the stream closes it kills itself, which the store survives.
import { Socket } from 'node:net';
import { Session } from 'chdb';
import {
  CHILD_FD,
  childOptions,
  type EngineOrder,
  type EngineSettings,
  engineOrder,
  frameReader,
  writeFrame,
} from './engine-protocol.ts';
import { quoteSql } from './executor.ts';

type Connection = { session: Session; settings: EngineSettings };
type Run = Extract<EngineOrder, { do: 'run' }>;
type Insert = Extract<EngineOrder, { do: 'insert' }>;

const argument: unknown = JSON.parse(String(process.argv[2]));
const options = childOptions.parse(argument);
const stream = new Socket({ fd: CHILD_FD, readable: true, writable: true });
const idle: Connection[] = [];
const running = new Set<number>();
/** Between two requests to stop the same statement. */
const CANCEL_PAUSE_MS = 50;
let killer: Session | undefined;
const NOTHING = Buffer.alloc(0);

function connect(): Connection {
  const session = new Session(options.directory, { connectionArgs: options.engineArgs });
  return { session, settings: {} };
}

/** A connection with these settings and no others; what was once set cannot be unset. */
function connectWith(connection: Connection, settings: EngineSettings): Connection {
  if (Object.keys(connection.settings).every((name) => name in settings)) return connection;
  connection.session.close();
  return connect();
}

function settingsFor(connection: Connection, settings: EngineSettings): string {
  const changed = Object.entries(settings).filter(([name, of]) => connection.settings[name] !== of);
  if (changed.length === 0) return '';
  connection.settings = settings;
  const words = changed.map(
    ([name, of]) => `${name}=${typeof of === 'number' ? of : quoteSql(of)}`,
  );
  return `SET ${words.join(', ')}; `;
}

async function run(connection: Connection, job: Run, body: Buffer): Promise<Uint8Array> {
  const set = settingsFor(connection, job.settings);
  const sql = `${set}/*job:${job.id}*/ ${body.toString('utf8')}`;
  const result = await connection.session.queryAsync(sql, { format: job.format });
  return result.bytes();
}

async function insert(connection: Connection, job: Insert, body: Buffer): Promise<Uint8Array> {
  await connection.session.insert({
    table: job.table,
    values: body,
    format: job.format,
    ...(job.columns === undefined ? {} : { columns: job.columns }),
  });
  return NOTHING;
}

/**
 * Asks the engine to stop a statement, again while it runs: one that has only been handed over is
 * not found yet. The parent decides how long that may go on, and kills this process.
 */
function cancel(id: number): void {
  if (!running.has(id)) return;
  if (killer === undefined) killer = connect().session;
  const asked = killer;
  const renew = () => {
    asked.close();
    if (killer === asked) killer = undefined;
  };
  const again = () => void setTimeout(cancel, CANCEL_PAUSE_MS, id);
  const sql = `KILL QUERY WHERE startsWith(query, '/*job:${id}*/') ASYNC`;
  asked
    .queryAsync(sql, { format: 'Null' })
    .then(() => undefined, renew)
    .then(again);
}

async function serve(job: Run | Insert, body: Buffer): Promise<void> {
  if (running.size >= options.connections) throw new Error('More statements than connections.');
  running.add(job.id);
  const free = idle.pop() ?? connect();
  const connection = job.do === 'run' ? connectWith(free, job.settings) : free;
  const work = job.do === 'run' ? run(connection, job, body) : insert(connection, job, body);
  await work.then(
    (bytes) => {
      idle.push(connection);
      running.delete(job.id);
      writeFrame(stream, { say: 'done', id: job.id }, bytes);
    },
    (error: unknown) => {
      connection.session.close();
      running.delete(job.id);
      const said = error instanceof Error ? error.message : String(error);
      writeFrame(stream, { say: 'failed', id: job.id }, Buffer.from(said));
    },
  );
}

/** Closes what is idle and leaves; statements still running keep the engine as a kill would. */
function close(): void {
  killer?.close();
  for (const connection of idle) connection.session.close();
  process.exit(0);
}

/** Immediate, because a normal exit would wait for statements that nobody can receive. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

function main(): void {
  // A terminal's Ctrl-C reaches the whole group; only the parent decides when the store closes.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  stream.on('close', die);
  stream.on('error', die);
  const connection = connect();
  idle.push(connection);
  stream.on(
    'data',
    frameReader(({ head, body }) => {
      const job = engineOrder.parse(head);
      if (job.do === 'close') close();
      else if (job.do === 'cancel') cancel(job.id);
      else void serve(job, body);
    }),
  );
  // The first statement loads what later ones share; it belongs to the start, not to a caller.
  connection.session.queryAsync('SELECT 1', { format: 'Null' }).then(
    () => writeFrame(stream, { say: 'ready' }, NOTHING),
    () => process.exit(1),
  );
}

main();
