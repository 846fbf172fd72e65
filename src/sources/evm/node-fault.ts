// Answers one question: how does reading a node end where it does not end with its blocks.
// Two ways: the node failed, or its chain moved on meanwhile. Neither is ever an empty block.

/** The node did not tell what it was asked. `fault` is product text and holds no part of a URL. */
export class NodeFault extends Error {
  readonly fault: string;
  constructor(fault: string) {
    super(fault);
    this.name = 'NodeFault';
    this.fault = fault;
  }
}

/** What was asked is not on the node's chain (any more). */
export class ChainMoved extends Error {
  constructor() {
    super('the chain moved while it was read');
    this.name = 'ChainMoved';
  }
}
