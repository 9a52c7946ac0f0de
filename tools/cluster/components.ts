import { join } from "node:path";
import type { Files } from "./build/files.ts";

export interface Component {
  readonly name: "etcd" | "kube-apiserver" | "kube-controller-manager";
  readonly args: readonly string[];
}

// a single member never connects to this address, but etcd requires one
const UNUSED = "http://127.0.0.1:1";

export function etcd(directory: string): Component {
  return {
    name: "etcd",
    args: [
      "--name=etcd",
      `--data-dir=${join(directory, "etcd")}`,
      `--listen-client-urls=${etcdURL(directory)}`,
      `--advertise-client-urls=${UNUSED}`,
      `--listen-peer-urls=unix://${join(directory, "peer.sock")}`,
      `--initial-advertise-peer-urls=${UNUSED}`,
      `--initial-cluster=etcd=${UNUSED}`,
      "--unsafe-no-fsync",
      "--log-level=warn",
    ],
  };
}

export function apiServer(directory: string, files: Files, port: number): Component {
  return {
    name: "kube-apiserver",
    args: [
      `--etcd-servers=${etcdURL(directory)}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${files.certificates}`,
      `--token-auth-file=${files.tokens}`,
      "--authorization-mode=Node,RBAC",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${files.serviceAccountKey}`,
      `--service-account-signing-key-file=${files.serviceAccountKey}`,
      "--service-cluster-ip-range=10.0.0.0/24",
      // a loopback address is not allowed as an endpoint
      "--endpoint-reconciler-type=none",
      "--allow-privileged",
      "--max-requests-inflight=2000",
      "--max-mutating-requests-inflight=1000",
      // otherwise a stop by SIGTERM waits for watches, up to a minute
      "--shutdown-watch-termination-grace-period=1s",
      "--profiling=false",
    ],
  };
}

export function controllerManager(files: Files): Component {
  return {
    name: "kube-controller-manager",
    args: [
      `--kubeconfig=${files.kubeconfig}`,
      `--service-account-private-key-file=${files.serviceAccountKey}`,
      `--root-ca-file=${files.certificate}`,
      "--secure-port=0",
      "--leader-elect=false",
      // with the default limits it takes seconds to delete a namespace
      "--kube-api-qps=500",
      "--kube-api-burst=1000",
    ],
  };
}

// a Unix socket needs no free port, and its directory is only open to this user
export const etcdSocket = (directory: string) => join(directory, "etcd.sock");
const etcdURL = (directory: string) => `unix://${etcdSocket(directory)}`;
