import type { KubeJSON } from "../../tools/shared/objects.ts";

/**
 * What a node refuses of a pod: the rules of kubelet 1.35 and of the CRI that a runtime has to keep, for the parts of a
 * pod that the chart uses. The API server has the others, those of Pod Security among them.
 */

/** The parts of an image that decide whether a pod of it starts. */
export interface Image {
  /** As `USER` in a Dockerfile: a user, or `user:group`, by number or by name. Empty: root. */
  readonly user: string;
  /** Folders that the program writes to, whatever is mounted there. */
  readonly writes: readonly string[];
  /** The ports that the program serves when it is run with these arguments and variables. */
  readonly serves: (args: readonly string[], env: Readonly<Record<string, string>>) => readonly number[];
}

/** The keys of objects, by the names of the objects. */
export type Keys = Readonly<Record<string, readonly string[]>>;

/** What pods of a namespace can refer to. */
export interface Sources {
  readonly secrets?: Keys;
  readonly configMaps?: Keys;
}

export interface Surroundings extends Sources {
  readonly image: Image;
}

/** Why no node would run the pod, each with the rule. Empty: it starts. */
export function refusalsOf(spec: KubeJSON, surroundings: Surroundings): string[] {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  return [
    ...sandboxRefusals(spec),
    ...volumeRefusals(spec, surroundings),
    ...containers.flatMap((container) => [
      ...userRefusals(spec, container, surroundings.image),
      ...variableRefusals(container, surroundings),
      ...probeRefusals(container, surroundings.image),
      ...fileRefusals(spec, container, surroundings.image),
    ]),
  ];
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** The kubelet gives the sandbox what the pod says, and nothing of the image. */
function sandboxRefusals({ securityContext }: KubeJSON): string[] {
  const { runAsUser, runAsGroup } = securityContext ?? {};
  if (isGiven(runAsUser) || !isGiven(runAsGroup)) return [];
  return [
    `Failed to create pod sandbox: user group "${runAsGroup}" is specified without user. ` +
      "CRI, LinuxSandboxSecurityContext: run_as_group should only be specified when run_as_user is specified; " +
      "otherwise, the runtime MUST error",
  ];
}

const effective = (spec: KubeJSON, container: KubeJSON, name: string) =>
  container.securityContext?.[name] ?? spec.securityContext?.[name];

function userRefusals(spec: KubeJSON, container: KubeJSON, { user }: Image): string[] {
  if (effective(spec, container, "runAsNonRoot") !== true) return [];
  const runAsUser = effective(spec, container, "runAsUser");
  const problem = isGiven(runAsUser)
    ? runAsUser === 0 && "container's runAsUser breaks non-root policy"
    : problemOf(user.split(":")[0] ?? "");
  return problem ? [`${container.name}: CreateContainerConfigError: ${problem}. kubelet, verifyRunAsNonRoot`] : [];
}

function problemOf(user: string): string | undefined {
  if (user === "" || Number(user) === 0) return "container has runAsNonRoot and image will run as root";
  if (/^\d+$/.test(user)) return undefined;
  return `container has runAsNonRoot and image has non-numeric user (${user}), cannot verify user is non-root`;
}

function variableRefusals({ name, env = [], envFrom = [] }: KubeJSON, sources: Sources): string[] {
  const references = [
    ...env.flatMap(({ valueFrom = {} }: KubeJSON) => [
      missing("secret", sources.secrets, valueFrom.secretKeyRef),
      missing("configmap", sources.configMaps, valueFrom.configMapKeyRef),
    ]),
    ...envFrom.flatMap(({ secretRef, configMapRef }: KubeJSON) => [
      missing("secret", sources.secrets, secretRef),
      missing("configmap", sources.configMaps, configMapRef),
    ]),
  ];
  const rule = "kubelet: a variable from what is missing needs optional: true";
  return references.filter(Boolean).map((what) => `${name}: CreateContainerConfigError: ${what}. ${rule}`);
}

/** What is missing of a required object or key. */
function missing(kind: string, there: Keys = {}, reference: KubeJSON | undefined): string | undefined {
  if (!reference || reference.optional) return undefined;
  const keys = there[reference.name];
  if (!keys) return `${kind} "${reference.name}" not found`;
  const { key } = reference;
  return key === undefined || keys.includes(key) ? undefined : `couldn't find key ${key} in ${kind} ${reference.name}`;
}

function volumeRefusals({ volumes = [] }: KubeJSON, { secrets, configMaps }: Sources): string[] {
  return volumes.flatMap(({ name, secret, configMap, projected }: KubeJSON) => {
    const parts: KubeJSON[] = projected?.sources ?? [{ secret, configMap }];
    const problems = parts.flatMap((part) => [
      ...missingKeys("secret", secrets, part.secret),
      ...missingKeys("configmap", configMaps, part.configMap),
    ]);
    const rule = "kubelet: a volume of what is missing needs optional: true";
    return problems.map((problem) => `MountVolume.SetUp failed for volume "${name}": ${problem}. ${rule}`);
  });
}

function missingKeys(kind: string, there: Keys | undefined, source: KubeJSON | undefined): string[] {
  if (!source) return [];
  const { optional, items = [] } = source;
  const name = source.secretName ?? source.name;
  const whole = missing(kind, there, { name, optional });
  if (whole) return [whole];
  const keys = items.map(({ key }: KubeJSON) => missing(kind, there, { name, key, optional }));
  return keys.filter(Boolean);
}

const probes = ["startupProbe", "livenessProbe", "readinessProbe"] as const;

/** A probe that never succeeds ends the container again and again, or leaves the pod without being ready. */
function probeRefusals(container: KubeJSON, image: Image): string[] {
  const { name, args = [], env = [], ports = [] } = container;
  const variables = Object.fromEntries(env.map((one: KubeJSON) => [one.name, one.value ?? ""]));
  const served = image.serves(args, variables);
  return probes.flatMap((kind) => {
    const { httpGet, tcpSocket, grpc } = container[kind] ?? {};
    const given = (httpGet ?? tcpSocket ?? grpc)?.port;
    if (given === undefined) return [];
    const named = ports.find((port: KubeJSON) => port.name === given);
    if (typeof given === "string" && !named)
      return [`${name}: ${kind}: couldn't find port: ${given}. kubelet, probe.ResolveContainerPort`];
    const port = named?.containerPort ?? given;
    if (served.includes(port)) return [];
    return [
      `${name}: ${kind}: connection refused: nobody serves the port ${port}. kubelet: it kills what does not answer a probe`,
    ];
  });
}

/** Files that the process cannot read, and folders that it cannot write to. */
function fileRefusals(spec: KubeJSON, container: KubeJSON, image: Image): string[] {
  const mounts: KubeJSON[] = container.volumeMounts ?? [];
  const isReadOnly = container.securityContext?.readOnlyRootFilesystem === true;
  const writable = mounts.filter(({ readOnly, name }) => !readOnly && isWritable(volumeOf(spec, name)));
  const isCovered = (path: string) => writable.some(({ mountPath }) => `${path}/`.startsWith(`${mountPath}/`));
  const unwritable = isReadOnly ? image.writes.filter((path) => !isCovered(path)) : [];
  return [
    ...unwritable.map(
      (path) => `${container.name}: EROFS: read-only file system: ${path}. CRI, readonly_rootfs: mount a volume there`,
    ),
    ...mounts.flatMap(({ name, mountPath }) =>
      unreadable(spec, container, image, volumeOf(spec, name)).map(
        (file) =>
          `${container.name}: EACCES: permission denied: ${mountPath}/${file}. kubelet: files of a volume belong to root, ` +
          "and others read them by their mode, or by the fsGroup of the pod",
      ),
    ),
  ];
}

const volumeOf = ({ volumes = [] }: KubeJSON, name: string): KubeJSON =>
  volumes.find((volume: KubeJSON) => volume.name === name) ?? {};

/** A kubelet mounts Secrets, ConfigMaps and what is projected from them read-only. */
const isWritable = ({ secret, configMap, projected, downwardAPI }: KubeJSON): boolean =>
  !(secret || configMap || projected || downwardAPI);

function unreadable(spec: KubeJSON, container: KubeJSON, { user }: Image, volume: KubeJSON): string[] {
  const { fsGroup, supplementalGroups = [] } = spec.securityContext ?? {};
  const uid = effective(spec, container, "runAsUser") ?? Number(user.split(":")[0] || 0);
  if (uid === 0) return [];
  // A kubelet hands the user of the image on without its group, which then is that of root.
  const gid = effective(spec, container, "runAsGroup") ?? 0;
  const mine = [gid, fsGroup, ...supplementalGroups].filter(isGiven);
  const { defaultMode = 0o644 } = volume.secret ?? volume.configMap ?? volume.projected ?? {};
  return itemsOf(volume).flatMap(({ path, mode = defaultMode }) => {
    const granted = isGiven(fsGroup) ? mode | 0o440 : mode;
    // the group is asked before the others, and what it lacks the others do not give
    const isRead = granted & (mine.includes(fsGroup ?? 0) ? 0o040 : 0o004);
    return isRead ? [] : [path];
  });
}

/** The files of a volume with their modes. All files of one that names none have the same. */
function itemsOf({ secret, configMap, projected }: KubeJSON): { path: string; mode?: number }[] {
  const sources: KubeJSON[] = projected?.sources ?? [{ secret, configMap }];
  return sources.flatMap((source) => {
    const from = source.secret ?? source.configMap;
    return from ? (from.items ?? [{ path: "*" }]) : [];
  });
}
