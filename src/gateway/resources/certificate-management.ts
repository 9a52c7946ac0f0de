import { part, text } from "../wire.ts";

/** Null when the service does not manage the certificate. `private_key_type` is `rsa` or `ecdsa`. */
export const certificateManagementPolicy = part({ authority: text, private_key_type: text });

/** Null while no certificate is being issued. At `INTERNAL_ERROR` the service retries; `DNS_ERROR` needs the user. */
export const provisioningJob = part({ error_code: text, msg: text, started_at: text, retries_at: text });

export const certificateManagementStatus = part({ renews_at: text, provisioning_job: provisioningJob });
