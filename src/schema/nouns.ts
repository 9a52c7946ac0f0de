/**
 * The noun with its article, as it is spoken: "an IP policy", "a TCP edge". The letters of an acronym are spoken one by
 * one, so its article follows from the name of the first letter.
 */
export const withArticle = (noun: string): string =>
  `${/^(?:[AEIOUaeiou]|[FHLMNRSX](?=[A-Z]))/.test(noun) ? "an" : "a"} ${noun}`;

/** A number before its noun, such as `1 object` and `2 objects`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
