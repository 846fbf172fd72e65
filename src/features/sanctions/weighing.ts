// A file is the list in force, was refused before, is refused now, or replaces the list. A refusal
// is remembered with what it was judged by, so that nothing is read twice to the same end.

import { startOfDay } from '../../chain/time.ts';
import { Read, type Reading } from '../../evidence/reading.ts';
import {
  type Acceptable,
  type Acceptance,
  type Delivery,
  type FileRefusal,
  type HeldPublication,
  type HeldRefusal,
  isListRefusal,
  type ListEntry,
  type ListRefusal,
  type Mirror,
  type PublicationGate,
  type PublicationReader,
  type PublicationStore,
  type PublicationStorePort,
  type PublishedList,
  type Publisher,
  type RefreshOutcome,
  type ServedFile,
  type SpooledFile,
  UNREADABLE,
  type Validators,
} from '../../ports/sanctions.ts';

/** The outside of a refresh. The store's clock is the only one. */
export type RefreshWorld = {
  readonly publisher: Publisher;
  readonly reader: PublicationReader;
  /** The version of what `reader` makes of a file. */
  readonly readerVersion: number;
  readonly gate: PublicationGate;
  readonly store: PublicationStore;
};

/** One source that is asked, against the list in force, at a second of the store's clock. */
export type Case = {
  readonly mirror: Pick<Mirror, 'key' | 'url' | 'kind' | 'obtained_at'>;
  /** Whether it is the first configured one: the publisher, or the file in its place. */
  readonly first: boolean;
  readonly before: HeldPublication | null;
  readonly now: number;
  readonly acceptance: Acceptance | null;
  readonly signal: AbortSignal;
};

type Ended<K extends RefreshOutcome['kind']> = Omit<
  Extract<RefreshOutcome, { kind: K }>,
  'tried' | 'retry'
>;
export type Updated = Ended<'updated'>;
export type RefusedList = Ended<'refused'>;

/**
 * The result of one source; `moved`: another process replaced the list, so the source is queried
 * again.
 */
export type SourceStep =
  | { readonly kind: 'moved' }
  | ({ readonly served: ServedFile | null } & (
      | { readonly kind: 'served'; readonly end: Updated | Ended<'unchanged'> }
      | { readonly kind: 'refused'; readonly refused: RefusedList; readonly passing: boolean }
      | { readonly kind: 'failed'; readonly reason: string; readonly after_s?: number }
    ));

/** The store of publications did not answer: nothing can be judged or kept. */
export class StoreSilent extends Error {}

/** The value of the store's reading. Throws `StoreSilent`. */
export function requireStored<T>(reading: Reading<T, PublicationStorePort>): T {
  if (reading instanceof Read) return reading.value;
  throw new StoreSilent(reading.why.reason);
}

/** Whether the rows of a publication are what this reader makes of its file. */
export function isReadByThis(world: RefreshWorld, { reader_version }: HeldPublication): boolean {
  return reader_version === world.readerVersion;
}

/** Tells whether a result came from the publisher: only the publisher's own answer is a check. */
function isPublisher({ mirror, first }: Case): boolean {
  return first && mirror.kind === 'http';
}

function checkOf(asked: Case): Acceptable['check'] {
  if (isPublisher(asked)) return { at: asked.now, by: 'asked' };
  const { obtained_at } = asked.mirror;
  return obtained_at === null ? null : { at: obtained_at, by: 'obtained' };
}

/** Weighs a delivered file and puts it in force if it passes. */
export async function weigh(
  world: RefreshWorld,
  asked: Case,
  { file, validators }: Extract<Delivery, { kind: 'file' }>,
): Promise<SourceStep> {
  const { mirror, before } = asked;
  const served = { sha256: file.sha256, validators };
  if (before !== null && before.sha256 === file.sha256 && isReadByThis(world, before)) {
    return await stillNewest(world, asked, before, served);
  }
  if (asked.acceptance?.sha256 !== file.sha256) {
    const known = await findRefusal(world, file.sha256, before);
    if (known !== null) return await refuseAgain(world, asked, known, served);
  }
  const list = await world.reader(file.path, asked.signal);
  if (isListRefusal(list)) {
    if (list.code !== UNREADABLE) {
      return await refuse(world, asked, { ...list, file, validators });
    }
    return { kind: 'failed', reason: `${mirror.url}: ${list.reason}.`, served: null };
  }
  if (list.sha256 !== file.sha256) {
    const reason = `${mirror.url}: the file changed while it was read.`;
    return { kind: 'failed', reason, served: null };
  }
  const rows = await rowsOfSameDay(world, asked, list);
  const against = refusalOf(world, asked, list, rows);
  if (against === null && rows !== null && !asked.first && addsNothing(list, rows)) {
    return failInForce(mirror, served);
  }
  const overruled = against?.size === true && asked.acceptance?.sha256 === list.sha256;
  if (against !== null && !overruled) {
    return await refuse(world, asked, { ...against, published: list.published, file, validators });
  }
  const accepted_why = overruled && asked.acceptance !== null ? asked.acceptance.why : null;
  const step = await putInForce(world, asked, { list, served, accepted_why });
  if (step.kind === 'served') await file.keep();
  return step;
}

/** The first rule that speaks against a list; `null` where it may replace the one in force. */
function refusalOf(
  { gate }: RefreshWorld,
  { before, now }: Case,
  list: PublishedList,
  rows: readonly ListEntry[] | null,
): ListRefusal | null {
  const absolute = gate.absolute(list);
  if (absolute !== null) return absolute;
  const relative = gate.relative(list, before, now);
  return relative !== null || rows === null ? relative : gate.sameDay(list, rows);
}

/** The rows in force, where they are of the list's day and came from another source. */
async function rowsOfSameDay(
  { store }: RefreshWorld,
  { mirror, before }: Case,
  { published }: PublishedList,
): Promise<readonly ListEntry[] | null> {
  if (before === null || before.published !== published) return null;
  return before.source_key === mirror.key ? null : requireStored(await store.entries(before.id));
}

function addsNothing(list: PublishedList, rows: readonly ListEntry[]): boolean {
  const held = new Set(rows.map(({ address }) => address));
  return list.addresses.every(({ address }) => held.has(address));
}

type Passed = {
  readonly list: PublishedList;
  readonly served: ServedFile;
  readonly accepted_why: string | null;
};

async function putInForce(
  { store, readerVersion }: RefreshWorld,
  asked: Case,
  { list, served, accepted_why }: Passed,
): Promise<SourceStep> {
  const { mirror, before, now } = asked;
  const check = checkOf(asked);
  const written = requireStored(
    await store.accept({
      list,
      reader_version: readerVersion,
      source: { key: mirror.key, url: mirror.url },
      accepted_at: now,
      check,
      accepted_why,
      instead_of: before === null ? null : before.id,
    }),
  );
  if (written === 'moved') return { kind: 'moved' };
  const end: Updated = {
    kind: 'updated',
    list: {
      published: list.published,
      addresses: list.distinct_addresses,
      sha256: list.sha256,
      source: mirror.url,
      checked_at: check === null ? startOfDay(list.published) : check.at,
    },
    replaced: before === null ? null : { published: before.published, sha256: before.sha256 },
    accepted_why,
  };
  return { kind: 'served', end, served };
}

/** The source serves the list in force. From a mirror that is no check: it may lag for ever. */
export async function stillNewest(
  { store }: RefreshWorld,
  asked: Case,
  before: HeldPublication,
  served: ServedFile,
): Promise<SourceStep> {
  const { mirror } = asked;
  const check = checkOf(asked);
  if (check === null && !asked.first) return failInForce(mirror, served);
  if (check !== null) {
    const source = { key: mirror.key, url: mirror.url };
    const written = requireStored(
      await store.recordCheck({ publication_id: before.id, source, check }),
    );
    if (written === 'moved') return { kind: 'moved' };
  }
  const list = {
    published: before.published,
    addresses: before.distinct_addresses,
    sha256: before.sha256,
    source: before.source_url,
    checked_at: Math.max(before.checked_at, check === null ? before.checked_at : check.at),
  };
  return { kind: 'served', end: { kind: 'unchanged', list }, served };
}

function failInForce({ url }: Pick<Mirror, 'url'>, served: ServedFile): SourceStep {
  const reason = `${url}: it serves the list in force, which is no check of it.`;
  return { kind: 'failed', reason, served };
}

/** The rules that judge a file: under another reader, rule or list in force it is judged anew. */
function rulesOfJudgement(
  { readerVersion, gate }: RefreshWorld,
  before: HeldPublication | null,
): string {
  const against = before === null ? 'none' : `${before.id} of reader ${before.reader_version}`;
  return `reader ${readerVersion}, ${gate.rules}, against ${against}`;
}

/** The code of the rule that the clock alone can make pass. */
const AHEAD = 'future_publication';

/** The refusal of a file that would be refused again; `null` where it has to be judged. */
export async function findRefusal(
  world: RefreshWorld,
  sha256: string,
  before: HeldPublication | null,
): Promise<HeldRefusal | null> {
  const refusal = requireStored(await world.store.refusalOf(sha256));
  if (refusal === null || refusal.code === AHEAD) return null;
  return refusal.judged_by === rulesOfJudgement(world, before) ? refusal : null;
}

/** Faults of a delivery that passes soon: it was cut short, damaged, or is a page instead. */
const PASSING: ReadonlySet<string> = new Set(['truncated', 'bad_archive', 'not_xml']);

const NO_VALIDATORS: Validators = { etag: null, last_modified: null };

type Refusing = FileRefusal & {
  readonly file: Pick<SpooledFile, 'sha256' | 'keepAside'>;
  readonly validators: Validators;
};

async function refuse(world: RefreshWorld, asked: Case, refusing: Refusing): Promise<SourceStep> {
  const { code, reason, size, published, file, validators } = refusing;
  const passing = PASSING.has(code);
  const aside = await file.keepAside(code, reason);
  const refusal: HeldRefusal = {
    sha256: file.sha256,
    source_url: asked.mirror.url,
    code,
    reason: aside instanceof Read ? reason : `${reason} (not kept aside: ${aside.why.reason})`,
    published,
    from_publisher: isPublisher(asked),
    passing,
    acceptable: size,
    judged_by: rulesOfJudgement(world, asked.before),
    kept_as: aside instanceof Read ? aside.value : null,
    first_at: asked.now,
    refused_at: asked.now,
  };
  requireStored(await world.store.recordRefusal(refusal));
  // The validators of a delivery that was cut short are those of the whole file: with them the
  // whole one would never be fetched.
  const served = { sha256: file.sha256, validators: passing ? NO_VALIDATORS : validators };
  return { kind: 'refused', refused: refusalFrom(refusal, asked), passing, served };
}

/** The same file again: it is not read again, and when it was seen is remembered. */
export async function refuseAgain(
  world: RefreshWorld,
  asked: Case,
  refusal: HeldRefusal,
  served: ServedFile,
): Promise<SourceStep> {
  const from_publisher = isPublisher(asked);
  const again = { ...refusal, from_publisher, refused_at: asked.now };
  requireStored(await world.store.recordRefusal({ ...again, source_url: asked.mirror.url }));
  return { kind: 'refused', refused: refusalFrom(refusal, asked), passing: false, served };
}

function refusalFrom(
  { code, reason, published, sha256, acceptable, kept_as }: HeldRefusal,
  { mirror, before }: Case,
): RefusedList {
  const file = { published, sha256, source: mirror.url, acceptable, kept_as };
  const in_force = before === null ? null : before.published;
  return { kind: 'refused', code, reason, ...file, in_force };
}

/**
 * Reads the list in force again from its kept file, where an older reader read it. Where this
 * machine has no such file, the sources are asked for it as for a new one.
 */
export async function readAgain(world: RefreshWorld, signal: AbortSignal): Promise<void> {
  const { publication: before, now } = requireStored(await world.store.inForce());
  if (before === null || isReadByThis(world, before)) return;
  const file = await world.publisher.kept(before.sha256);
  if (file === null) return;
  const mirror = { key: before.source_key, url: before.source_url, kind: 'file' } as const;
  const asked = { before, now, signal, first: false, acceptance: null };
  const delivery = { kind: 'file', validators: NO_VALIDATORS, file } as const;
  await weigh(world, { ...asked, mirror: { ...mirror, obtained_at: null } }, delivery);
}
