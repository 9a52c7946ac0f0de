// JSON has neither RegExp nor Infinity

export const encode = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) => {
    if (member instanceof RegExp) return { $regexp: [member.source, member.flags] };
    return member === Number.POSITIVE_INFINITY ? { $infinity: true } : member;
  });

export const decode = (text: string): unknown =>
  JSON.parse(text, (_, member: { $regexp?: [string, string]; $infinity?: true } | null) => {
    if (Array.isArray(member?.$regexp)) return new RegExp(...member.$regexp);
    return member?.$infinity ? Number.POSITIVE_INFINITY : member;
  });
