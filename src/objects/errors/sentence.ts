const MESSAGE_CHARACTERS = 200;
const MOST_NAMED = 3;

/** Whether a message names fewer than it is about. */
export const leavesSomeOut = (message: string): boolean => / and \d+ more/.test(message);

/** A message about several objects. It names as many as there is room for. */
export function sentence(before: string, names: readonly string[], after: string): string {
  const room = MESSAGE_CHARACTERS - before.length - after.length;
  const text = (shown: number) => {
    const more = names.length > shown ? ` and ${names.length - shown} more` : "";
    const [list, left] = [names.slice(0, shown).join(", "), room - more.length];
    return `${shown === 1 && list.length > left ? `${list.slice(0, left - 1)}…` : list}${more}`;
  };
  let shown = Math.min(names.length, MOST_NAMED);
  while (shown > 1 && text(shown).length > room) shown -= 1;
  return `${before}${text(shown)}${after}`;
}
