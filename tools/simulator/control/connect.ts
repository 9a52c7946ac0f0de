import type { Control } from "./control.ts";
import { controlMethods, keyMethods } from "./methods.ts";
import { decode, encode } from "./wire.ts";

type Remote<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Result>
    : Remote<Methods[Name]>;
};

/** `Control` over HTTP. */
export type RemoteControl = Remote<Control>;

/** Controls the simulator at `url`, in this process or another. */
export function connectControl(url: string): RemoteControl {
  const method =
    (name: string) =>
    async (...args: readonly unknown[]): Promise<unknown> => {
      // A kept connection may be closed by the server at the moment when it is used again, which fetch does not repeat.
      const headers = { connection: "close" };
      const response = await fetch(`${url}/_control/${name}`, { method: "POST", headers, body: encode(args) });
      const { result, error } = decode(await response.text()) as { result?: unknown; error?: string };
      if (error !== undefined) throw new Error(`${name}: ${error}`);
      return result;
    };
  const plain = Object.fromEntries(controlMethods.map((name) => [name, method(name)]));
  const apiKeys = Object.fromEntries(keyMethods.map((name) => [name, method(`apiKeys.${name}`)]));
  return { ...plain, apiKeys } as unknown as RemoteControl;
}
