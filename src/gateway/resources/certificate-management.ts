import { part, text } from "../wire.ts";

/** Null when certificates are not managed by the service. `private_key_type` is `rsa` or `ecdsa`. */
export const certificateManagementPolicy = part({ authority: text, private_key_type: text });

/** Null while nothing is being issued. `error_code`: `INTERNAL_ERROR` passes, `DNS_ERROR` waits for the user. */
export const provisioningJob = part({ error_code: text, msg: text, started_at: text, retries_at: text });

export const certificateManagementStatus = part({ renews_at: text, provisioning_job: provisioningJob });
