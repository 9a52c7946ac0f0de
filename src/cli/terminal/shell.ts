/** A text as one word of a command that people paste into a shell such as bash or zsh. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** The same for fish, where a backslash has a meaning between quotes as well. */
export const fishWord = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
