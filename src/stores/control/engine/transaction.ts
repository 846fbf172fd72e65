// Answers one question: how is work on one session made all or nothing, on either engine.
// It refuses to call stored what was not: after a failed statement there is no commit.

import { type Session, StoreUnavailable } from './database.ts';

/** One session that belongs to the transaction alone until it has ended. */
export type OwnSession = Session & {
  /** Whether the connection or engine behind the session still is the one that began. */
  readonly alive: () => boolean;
};

/** Runs `work` between begin and commit, undone when it throws or takes longer than `timeoutMs`. */
export async function transact<T>(
  session: OwnSession,
  work: (session: Session) => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  let open = true;
  let failed: unknown = null;

  // A statement sent late, or on a session begun since, would run outside the transaction.
  async function inside<R>(statement: () => Promise<R>): Promise<R> {
    if (failed !== null) throw failed;
    if (!open || !session.alive()) {
      throw new StoreUnavailable('the transaction has ended', '25P01');
    }
    try {
      return await statement();
    } catch (error) {
      failed = error;
      throw error;
    }
  }

  await session.script('begin');
  const clock = deadline(timeoutMs);
  try {
    const result = await Promise.race([
      work({
        query: (sql, params) => inside(() => session.query(sql, params)),
        script: (sql) => inside(() => session.script(sql)),
      }),
      clock.passed,
    ]);
    await inside(() => session.script('commit'));
    return result;
  } catch (error) {
    open = false;
    if (session.alive()) await session.script('rollback');
    throw error;
  } finally {
    open = false;
    clock.stop();
  }
}

function deadline(timeoutMs: number): { passed: Promise<never>; stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new StoreUnavailable('a transaction took too long', '25P03')),
      timeoutMs,
    );
  });
  return { passed, stop: () => clearTimeout(timer) };
}
