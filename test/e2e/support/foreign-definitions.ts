import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

interface Source {
  module: string;
  /** As go.sum would have it. */
  sum: string;
  files: readonly string[];
}

const prometheus: readonly Source[] = [
  {
    module: "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    sum: "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
    files: ["podmonitors", "prometheusrules", "servicemonitors"].map(
      (plural) => `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`,
    ),
  },
];

const gitops: readonly Source[] = [
  {
    module: "github.com/argoproj/argo-cd/v3@v3.2.0",
    sum: "h1:m2eGAV+nXQGgzZbH5SyJD5laaPW27mzWXBrgisUHY/0=",
    files: ["manifests/crds/application-crd.yaml"],
  },
  {
    module: "github.com/fluxcd/source-controller@v1.7.0",
    sum: "h1:/fBgS4CSmT5Jj/fjQDF92y+pC3gst1GJjgNSzY8Ff9I=",
    files: ["gitrepositories", "ocirepositories"].map(
      (plural) => `config/crd/bases/source.toolkit.fluxcd.io_${plural}.yaml`,
    ),
  },
  {
    module: "github.com/fluxcd/kustomize-controller@v1.6.0",
    sum: "h1:13S+wqCQ44njSg59DNgm1qMqVkK6+0eoZs+jv4+EWCs=",
    files: ["config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml"],
  },
  {
    module: "github.com/fluxcd/helm-controller@v1.4.0",
    sum: "h1:rkm8rmB6Na7eNc4pJOnvtXEaJ19iKluRtayHKjBxcUM=",
    files: ["config/crd/bases/helm.toolkit.fluxcd.io_helmreleases.yaml"],
  },
];

const sources = { gitops, prometheus };

/** Files with the definitions of kinds of others that examples/gitops or the chart uses, from the Go modules of their makers. */
export async function definitionsOf(whose: keyof typeof sources): Promise<string[]> {
  const lists = sources[whose].map(async ({ module, sum, files }) => {
    const directory = await downloaded(module, sum);
    return files.map((file) => join(directory, file));
  });
  return (await Promise.all(lists)).flat();
}

async function downloaded(module: string, sum: string): Promise<string> {
  // outside of any module, so that nothing is resolved but this one
  const options = { cwd: tmpdir(), env: { ...process.env, GOFLAGS: "", GOWORK: "off" } };
  const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module], options);
  const { Dir, Sum } = JSON.parse(stdout);
  if (Sum !== sum) throw new Error(`${module} has another sum than expected: ${Sum}`);
  return Dir;
}
