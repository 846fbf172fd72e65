// The forms in which an outside writes what it answers. A form that is not its own is refused:
// nothing is padded, cut or filled in.

import { z } from 'zod';

/**
 * One object of an outside's answer. Members that we do not name are not read: providers add some
 * all the time, and a reading that rests on none of them stays right.
 */
export function outsideRow<const S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$strip> {
  return z.object(shape);
}

const NO_MORE = z.union([z.literal(false), z.literal(''), z.null()]).optional();

/** The members by which a body says that it is not all. */
const NOT_ALL = {
  truncated: NO_MORE,
  incomplete: NO_MORE,
  partial: NO_MORE,
  has_more: NO_MORE,
  hasMore: NO_MORE,
  next: NO_MORE,
  next_page: NO_MORE,
  nextPage: NO_MORE,
  next_page_params: NO_MORE,
  next_page_token: NO_MORE,
  nextPageToken: NO_MORE,
  next_cursor: NO_MORE,
  nextCursor: NO_MORE,
};

/**
 * An answer as a whole. Its other members are not read either, but one that says of itself that it
 * is not all is refused, whether we knew of such a member or not.
 */
export function outsideBody<const S extends z.ZodRawShape>(shape: S) {
  return z.object({ ...NOT_ALL, ...shape });
}

/** 20 bytes, in lower case. */
export const ADDRESS = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text.toLowerCase());

/** 32 bytes, in lower case: a hash or a topic. */
export const WORD = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((text) => text.toLowerCase());

/** A whole number that a double holds exactly. */
export const COUNT = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,13}$/)
  .transform((text) => Number(text));

/** A whole number of up to 32 bytes. */
export const AMOUNT = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform((text) => BigInt(text));

/** Whole bytes, as they came: blooms and data are long, and few who read them need one case. */
export const BYTES = z.string().regex(/^0x([0-9a-fA-F]{2})*$/);
