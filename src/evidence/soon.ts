// Answers one question: is an answer there now, or does it come later.
// For readings that each request asks for and that are mostly known: a promise of what is at hand
// costs more than to look at it. A caller that awaits it need not tell the two apart.

/** An answer, or the promise of one. */
export type Soon<T> = T | Promise<T>;

/** Goes on with an answer as soon as it is there: at once where it is there now. */
export function whenThere<T, U>(answer: Soon<T>, goOn: (value: T) => Soon<U>): Soon<U> {
  return answer instanceof Promise ? answer.then(goOn) : goOn(answer);
}
