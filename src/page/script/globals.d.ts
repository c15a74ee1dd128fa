// What every file of the script finds in its function scope, besides the other files. See mod.rs.

/** The functions that Rust calls by name. */
declare const calls: Record<string, (args: any) => any>;
/** The token of the document. */
declare const token: string;
