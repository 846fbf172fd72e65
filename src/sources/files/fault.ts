// Which fault of a file is its operator's to mend, and in which words is it told?

/** A path or a file that cannot be imported as it is. The message names it and what to do. */
export class ImportFault extends Error {}

/** A file that is not what its name says. The message ends a sentence and quotes no value. */
export class FileFault extends Error {}
