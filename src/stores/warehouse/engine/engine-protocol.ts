// What do the warehouse executor and its child process say to each other?
// Both sides validate what they read; a frame that fits nothing is a bug and ends the child.
import { z } from 'zod';

/** Settings of one statement, as ClickHouse names them. */
export type Settings = Readonly<Record<string, string | number>>;

const settings = z.record(z.string().regex(/^[a-z]\w*$/i), z.union([z.string(), z.number()]));

/** How the child opens its directory; given as its one argument. */
export const childOptions = z.object({
  directory: z.string().min(1),
  /** Connections, which is statements at once. */
  connections: z.number().int().positive(),
  /** `--name=value` arguments of the engine. */
  engineArgs: z.array(z.string()),
});

/** To the child. The body of `run` is the SQL, that of `insert` the rows. */
export const order = z.discriminatedUnion('do', [
  z.object({ do: z.literal('run'), id: z.number(), format: z.string(), settings }),
  z.object({
    do: z.literal('insert'),
    id: z.number(),
    table: z.string(),
    columns: z.array(z.string()).optional(),
    format: z.enum(['JSONEachRow', 'JSONCompactEachRow', 'CSV', 'TabSeparated']),
  }),
  z.object({ do: z.literal('cancel'), id: z.number() }),
  z.object({ do: z.literal('close') }),
]);

/** From the child. The body of `done` is the result, that of `failed` the engine's words. */
export const reply = z.discriminatedUnion('say', [
  z.object({ say: z.literal('ready') }),
  z.object({ say: z.literal('done'), id: z.number() }),
  z.object({ say: z.literal('failed'), id: z.number() }),
]);

/** A message to the child. */
export type Order = z.infer<typeof order>;
/** What a caller asks of the child: an order without its number. */
export type EngineJob =
  | { readonly do: 'run'; readonly format: string; readonly settings: Settings }
  | {
      readonly do: 'insert';
      readonly table: string;
      readonly columns?: string[] | undefined;
      readonly format: 'JSONEachRow' | 'JSONCompactEachRow' | 'CSV' | 'TabSeparated';
    };
/** How the child opens its directory. */
export type ChildOptions = z.infer<typeof childOptions>;

/** The file descriptor on which the child finds its end of the stream. */
export const CHILD_FD = 3;
