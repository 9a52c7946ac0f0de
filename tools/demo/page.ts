import { Child } from "../shared/child.ts";
import { OPERATOR } from "../shared/operator.ts";

export interface DemoPageOptions {
  readonly kubeconfig: string;
  readonly baseURL: string;
  readonly apiKeyFile: string;
  readonly signal: AbortSignal;
}

export interface DemoPage {
  /** With the token of this start. */
  readonly address: string;
  stop(): Promise<void>;
}

/** The page of `kubectl tunnelgateway ui`, on a port that is free. */
export async function startPage({ kubeconfig, baseURL, apiKeyFile, signal }: DemoPageOptions): Promise<DemoPage> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, KUBECONFIG: kubeconfig, GATEWAY_BASE_URL: baseURL, GATEWAY_API_KEY_FILE: apiKeyFile };
  const page = new Child(OPERATOR, { args: ["ui", "--port", "0"], env });
  const stop = async () => {
    page.signal("SIGKILL");
    await page.exited();
  };
  try {
    return { address: await page.said("?token=", signal), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
