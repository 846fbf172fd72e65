// How do reads that run at the same time become one, so that each costs a part of a query?
// A query costs milliseconds whatever it returns. Whoever gives up is let go at once; what nobody
// waits for any more is not asked, or is stopped.

/** Loads some keys at once; it answers each, and stops when its signal says so. */
export type Load<V> = (
  keys: readonly string[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, V>>;

/** Bounds of coalescing. */
type CoalesceLimits = {
  /** How long the first of some reads waits for others, in milliseconds. */
  readonly waitMs: number;
  /** The most keys of one load. */
  readonly keysMax: number;
  /** From how many keys on a load is divided among those that could run beside it. */
  readonly divideFrom: number;
  /** Loads at once; what comes meanwhile goes together into the next. */
  readonly loadsMax: number;
};

type Asked<V> = {
  readonly open: Set<string>;
  readonly got: Map<string, V>;
  readonly resolve: (got: ReadonlyMap<string, V>) => void;
  readonly reject: (fault: unknown) => void;
};

/** The same loading, coalesced. It rejects with the load's error, or with the signal's reason. */
export function coalesced<V>(load: Load<V>, limits: CoalesceLimits): Load<V> {
  const coalescer = new Coalescer(load, limits);
  return (keys, signal) => coalescer.ask(keys, signal);
}

class Coalescer<V> {
  readonly #load: Load<V>;
  readonly #limits: CoalesceLimits;
  /** Who waits for which key that is not being loaded yet, first come first served. */
  readonly #queue = new Map<string, Set<Asked<V>>>();
  readonly #running = new Set<(asked: Asked<V>) => void>();
  #loads = 0;
  #timer: NodeJS.Timeout | undefined;
  #soon = false;

  constructor(load: Load<V>, limits: CoalesceLimits) {
    this.#load = load;
    this.#limits = limits;
  }

  ask(keys: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, V>> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (keys.length === 0) return Promise.resolve(new Map<string, V>());
    return new Promise((resolve, reject) => {
      const leave = () => asked.reject(signal.reason);
      const ended = () => {
        signal.removeEventListener('abort', leave);
        this.#drop(asked);
      };
      const asked: Asked<V> = {
        open: new Set(keys),
        got: new Map(),
        resolve: (got) => {
          ended();
          resolve(got);
        },
        reject: (fault) => {
          ended();
          reject(fault);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      for (const key of asked.open) this.#enqueue(key, asked);
      this.#schedule();
    });
  }

  #enqueue(key: string, asked: Asked<V>): void {
    const waiting = this.#queue.get(key);
    if (waiting === undefined) this.#queue.set(key, new Set([asked]));
    else waiting.add(asked);
  }

  /** Takes a read out of the queue, and stops the loads for which nobody waits any more. */
  #drop(asked: Asked<V>): void {
    for (const key of asked.open) {
      const waiting = this.#queue.get(key);
      if (waiting?.delete(asked) === true && waiting.size === 0) this.#queue.delete(key);
    }
    for (const stop of this.#running) stop(asked);
  }

  #schedule(): void {
    if (this.#loads >= this.#limits.loadsMax || this.#queue.size === 0) return;
    if (this.#queue.size >= this.#limits.keysMax) this.#start();
    else if (this.#timer === undefined) {
      // Where nothing is loaded, nobody else may come: only this turn of the loop is waited for.
      if (this.#loads === 0) this.#startSoon();
      else this.#timer = setTimeout(() => this.#start(), this.#limits.waitMs);
    }
  }

  #startSoon(): void {
    if (this.#soon) return;
    this.#soon = true;
    setImmediate(() => {
      this.#soon = false;
      this.#start();
    });
  }

  #loadSize(): number {
    const { loadsMax, keysMax, divideFrom } = this.#limits;
    const share = Math.ceil(this.#queue.size / (loadsMax - this.#loads));
    return Math.min(keysMax, Math.max(divideFrom, share));
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#loads >= this.#limits.loadsMax || this.#queue.size === 0) return;
    const taken = new Map(first(this.#queue, this.#loadSize()));
    for (const key of taken.keys()) this.#queue.delete(key);
    const waiting = new Set([...taken.values()].flatMap((each) => [...each]));
    const stop = new AbortController();
    const left = (asked: Asked<V>) => {
      if (waiting.delete(asked) && waiting.size === 0) stop.abort();
    };
    this.#running.add(left);
    this.#loads += 1;
    const ended = () => {
      this.#running.delete(left);
      this.#loads -= 1;
      this.#start();
    };
    this.#load([...taken.keys()], stop.signal).then(
      (got) => {
        ended();
        give(taken, got);
      },
      (fault: unknown) => {
        ended();
        for (const asked of [...waiting]) asked.reject(fault);
      },
    );
    // What is left was not new: it has waited.
    this.#start();
  }
}

function give<V>(taken: ReadonlyMap<string, Set<Asked<V>>>, got: ReadonlyMap<string, V>): void {
  for (const [key, waiting] of taken) {
    const value = got.get(key);
    for (const asked of waiting) {
      if (value === undefined) asked.reject(new RangeError('a key was not loaded'));
      else if (asked.open.delete(key)) asked.got.set(key, value);
      if (asked.open.size === 0) asked.resolve(asked.got);
    }
  }
}

function* first<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const item of items) {
    if (left === 0) return;
    left -= 1;
    yield item;
  }
}
