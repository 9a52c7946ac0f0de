import { Command, Option } from "commander";
import { completionOf, shells } from "./completion.ts";
import { doctor } from "./doctor/doctor.ts";
import { importAccount } from "./import/import.ts";
import { move } from "./move/move.ts";
import { orphans } from "./orphans/orphans.ts";
import { showVersion } from "./status/show-version.ts";
import { status } from "./status/status.ts";
import { formats, structures } from "./terminal/output.ts";
import { type Terminal, UsageError } from "./terminal/terminal.ts";
import { wrappedText } from "./terminal/wrapped.ts";
import { drawings, tree } from "./tree/tree.ts";
import { users } from "./tree/users.ts";
import { uninstall } from "./uninstall/uninstall.ts";
import { why } from "./why/why.ts";

export interface ProgramParts {
  /** How the user calls the program. */
  name: string;
  terminal: Terminal;
  /** Runs the operator, and resolves with its exit code. */
  run: (options: { yes?: boolean }) => Promise<number>;
}

export interface Program {
  program: Command;
  /** The exit code of the command that ran last. */
  exitCode: () => number;
}

const ENVIRONMENT = `
The environment says which cluster and account: KUBECONFIG, WATCH_NAMESPACES, WATCH_SELECTOR, POD_NAMESPACE,
INSTALLATION, GATEWAY_BASE_URL and the others of docs/settings.md.

Exit codes: 0 done, 1 failed or only done in part, 2 invalid arguments.`;

/** Adds a command. */
type Add = (usage: string, summary: string) => Command;
/** What a command runs, so that its exit code is that of the program. */
type Ending = <A extends unknown[]>(action: (...args: A) => Promise<number>) => (...args: A) => Promise<void>;

interface Adding {
  add: Add;
  ending: Ending;
  terminal: Terminal;
}

/** All commands, with their arguments and help. A command runs only when `parse` of the result is called. */
export function programOf({ name, terminal, run }: ProgramParts): Program {
  let code = 0;
  const program = withoutExit(new Command(name), terminal)
    .description("Manages a tunnel gateway account through objects in Kubernetes.")
    // `dispatch` makes it the command `version`
    .option("--version", "the same as the command version")
    .addHelpText("after", note(ENVIRONMENT, terminal))
    .showSuggestionAfterError();
  const add: Add = (usage, summary) =>
    withoutExit(program.command(usage), terminal).description(summary).summary(summary).allowExcessArguments(false);
  const ending: Ending =
    (action) =>
    async (...args) => {
      // who waits sees within a second that something is done
      terminal.progress?.("Working");
      code = await action(...args);
    };
  const adding = { add, ending, terminal };

  add("run", "run the operator; outside a cluster, it says first what it is about to manage")
    .option("-y, --yes", "do not ask")
    .action(ending((options) => run(options)));
  addForOperator(adding);
  addImport(adding);
  addComparing(adding);
  addForAccount(adding);
  addForObjects(adding);
  add(`completion <${shells.join("|")}>`, "print a script that completes commands and flags in a shell")
    .addHelpText("after", note(completionHelp(name), terminal))
    .action(
      ending(async (shell: string) => {
        terminal.say(completionOf(shell, program).split("\n"));
        return 0;
      }),
    );
  return { program, exitCode: () => code };
}

function addForOperator({ add, ending, terminal }: Adding): void {
  withCluster(add("uninstall", "leave no object with a finalizer that only an operator would remove"))
    .option("--policy <retain|delete>", "what happens to what the objects stand for in the account")
    .option("--timeout <duration>", "how long it may take, such as 90s; default: 4m to retain, 1h to delete")
    .option("--deployment <name>", "Deployment in POD_NAMESPACE that runs the operator, to be stopped")
    .option("-y, --yes", "do not ask")
    .addHelpText("after", note(UNINSTALL, terminal))
    .action(ending((options) => uninstall(options, terminal)));
  withOutput(
    withCluster(add("doctor", "check the cluster, CRDs, rights and credentials that the operator needs")),
    structures,
  ).action(ending((options) => doctor(options, terminal)));
}

function addImport({ add, ending, terminal }: Adding): void {
  withAccount(withNamespace(add("import", "write manifests for what the account has, without changing it")))
    .argument("[what...]", "kinds, ids, or EDGE/ROUTE for a route of an HTTPS edge, which no list shows")
    .option("--all", "everything that the account lists")
    .option("-o, --output <dir>", "write a file for each object to this folder; default: one stream to stdout")
    .option("--overwrite", "with -o: also files that are there already with another text, which you may have edited")
    .option(
      "--name-from <source>",
      "domain, description, metadata:KEY or id; what has none is named by its id",
      "domain",
    )
    .option("--terraform <file>", "what a state file, or terraform show -json, has; objects are named by its addresses")
    .option("-l, --selector <labels>", "only remotes with these labels, key=value[,key=value]")
    .option("--metadata <pairs>", "only remotes whose metadata has these values, key=value[,key=value]")
    .option("--exclude-managed", "not what carries an owner mark, so is managed by an object already", true)
    .option("--no-exclude-managed", "also what carries an owner mark, so is managed by an object already")
    .option("--no-mark", "objects that only observe (managementPolicy: ObserveOnly): not even owner marks are written")
    .addHelpText("after", note(IMPORT, terminal))
    .action(ending((what: string[], options) => importAccount(what, options, terminal)));
}

function addComparing({ add, ending, terminal }: Adding): void {
  withOutput(withAccount(withScope(add("plan", "what the operator will do in the account once manifests are applied"))))
    .option(
      "-f, --filename <path...>",
      "files or folders with manifests, or - for stdin; default: the cluster as it is",
    )
    .option("-k, --kustomize <dir>", "a folder with a kustomization.yaml, in place of -f; needs kubectl")
    .option("-R, --recursive", "folders with all folders in them")
    .option("--all", "with -f or -k: also what the operator is about to do without the manifests")
    .option("--detailed-exitcode", "2 when there is something to do")
    .addHelpText("after", note(PLAN, terminal))
    // Other commands do not load the reconciler.
    .action(ending(async (options) => (await import("./plan/plan.ts")).plan(options, terminal)));
  withOutput(
    withAccount(
      withScope(add("diff <name...>", "objects beside their remotes in the account, field by field, as both are now")),
    ),
  )
    .option("--detailed-exitcode", "2 when something differs")
    .addHelpText("after", note(DIFF, terminal))
    .action(
      ending(async (words: string[], options) => (await import("./diff/diff.ts")).diff(words, options, terminal)),
    );
}

function addForAccount({ add, ending, terminal }: Adding): void {
  withTable(
    withAccount(withScope(add("users <name|id...>", "who uses remotes, with or without an object, in any namespace"))),
  )
    .addHelpText("after", note(NAMES, terminal))
    .action(ending((words: string[], options) => users(words, options, terminal)));
  withTable(
    withAccount(
      withScope(add("orphans", "remotes of this cluster without an object, and objects whose remotes are gone")),
    ),
  )
    .option("--unmanaged", "also remotes that nobody manages")
    .option("--import", "print manifests that adopt these remotes, instead of the list")
    .option("--delete", "delete these remotes in the account, and ask for each; what is used stays")
    .option("-y, --yes", "do not ask")
    .action(ending((options) => orphans(options, terminal)));
  withTable(
    withAccount(withScope(add("tree", "what hangs together in the account, and what of it is not Ready"))),
    drawings,
  )
    .argument("[name|id...]", "begin there; default: with everything that nothing uses")
    .option("--up", "from what is used to what uses it")
    .addHelpText("after", note(TREE, terminal))
    .action(ending((words: string[], options) => tree(words, options, terminal)));
}

function addForObjects({ add, ending, terminal }: Adding): void {
  withTable(withScope(add("why <name...>", "why objects are not Ready, down to the root")))
    .addHelpText("after", note(WHY, terminal))
    .action(ending((words: string[], options) => why(words, options, terminal)));
  withAccount(
    withNamespace(
      add("move <kind> <from> <to>", "give an object another name, namespace or cluster; its remote stays"),
    ),
  )
    .option("--to-context <name>", "context of the kubeconfig for the cluster that gets the new object")
    .option("--dry-run", "print the new object and who refers to the old one, and change nothing")
    .option("--rewrite", "write the move into the manifests that -f names")
    .option("-f, --filename <path...>", "files or folders with manifests")
    .option("-R, --recursive", "folders with all folders in them")
    .option("--timeout <duration>", "how long to wait, such as 90s, 4m or 1h", "4m")
    .addHelpText("after", note(MOVE, terminal))
    .action(ending((kind: string, from: string, to: string, options) => move(kind, from, to, options, terminal)));
  withTable(withScope(add("status", "operators, accounts and objects on one screen, and what waits or needs a person")))
    .option("-w, --watch", "read again every 5 seconds")
    .addHelpText("after", note(STATUS, terminal))
    .action(ending((options) => status(options, terminal)));
  withAccount(
    withCluster(
      add("ui", "serve a page on this machine: health, topology, drift, activity, certificates and plans, read-only"),
    ),
  )
    .option("-n, --namespace <name>", "only objects of this namespace")
    .option(
      "-A, --all-namespaces",
      "objects of all namespaces that you may list (default, since an account has no namespaces)",
    )
    .option("--port <number>", "port on 127.0.0.1; 0: one that is free", "8765")
    .option("--open", "open the page in the browser")
    .addHelpText("after", note(UI, terminal))
    // Other commands do not load the server and the layout.
    .action(ending(async (options) => (await import("./ui/ui.ts")).ui(options, terminal)));
  withOutput(
    withCluster(add("version", "print the version, and which operators run in the cluster")),
    structures,
  ).action(ending((options) => showVersion(options, terminal)));
}

/** Adds the flags that choose the cluster. */
const withCluster = (command: Command): Command =>
  command
    .option("--kubeconfig <file>", "which cluster, in place of KUBECONFIG")
    .option("--context <name>", "context of the kubeconfig");

const NAMESPACE = "namespace of the objects; default: that of the kubeconfig context";

const withNamespace = (command: Command): Command => withCluster(command).option("-n, --namespace <name>", NAMESPACE);

const withScope = (command: Command): Command =>
  withNamespace(command).option("-A, --all-namespaces", "objects of all namespaces");

/** Adds the flags that choose the account. */
const withAccount = (command: Command): Command =>
  command
    .option(
      "--account <name>",
      "GatewayAccount in the namespace of -n; default: the one called default, else the environment",
    )
    .option("--base-url <url>", "base address of the management API, in place of GATEWAY_BASE_URL")
    .option("--api-key-file <file>", "file with the API key, in place of GATEWAY_API_KEY");

/** The one way to choose how a command prints. */
function withOutput(command: Command, values: readonly string[] = formats): Command {
  const all = `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
  const wide = values.includes("wide") ? "; wide: no line is cut" : "";
  return command.addOption(
    new Option("-o, --output <format>", `${all}${wide}`).argParser((given) => {
      if (values.includes(given)) return given;
      throw new UsageError(`-o must be ${all}`);
    }),
  );
}

const withTable = (command: Command, more: readonly string[] = []): Command =>
  withOutput(command.option("--no-headers", "leave the headings out"), [...formats, ...more]);

const NAMES = `
  Names are given as to kubectl: KIND NAME..., KIND/NAME..., or a name or id alone.`;

const IMPORT = `
  import --all -o DIR/                      a file for each object
  import --all | kubectl apply -f -         adopts everything; writes nothing but owner marks
  import reserveddomains ra_2f5k            by kind, short name or id
  import --terraform STATE -o DIR/          what Terraform manages, and the blocks with which it forgets that

  Each object adopts its remote (adopt.id) and retains it when you delete the object. References between imported
  objects are by name, all others by id. An object that needs a Secret is only observed at first: the Secrets to
  fill in are listed at the end, or in secrets.yaml.example of the folder.`;

const PLAN = `
  plan -f DIR/                              before a pull request is merged
  plan -k DIR/                              as kubectl apply -k
  plan                                      what the operator is about to do, or waits for

  The operator's own code works on copies of the cluster and the account until nothing changes any more. The manifests
  are laid over the objects in the cluster as kubectl apply does, in a dry run of the API server. Only reads are sent.

  +    create
  ~    update
  -/+  replace; "interrupts traffic" where the old remote has to go first
  <=   adopt
  -    delete
  !    blocked: a person has to do something
  ?    waits for something that is not there yet

  Field names are those of the service's API. Exit codes: 0, 1 for an error or something that is blocked, and with
  --detailed-exitcode 2 for changes, and 1 in place of 2 for invalid arguments.`;

const DIFF = `
  diff tcpedge/ssh                          or: diff tcpedge ssh, and several: diff tcpedge ssh db

  Differs: the account has another value than the spec, or one that the spec has dropped. The operator corrects it, or
  reports it as drift. Unmanaged: the spec says nothing of it, so the operator leaves it alone. (secret) stands for a
  value from a Secret, which the service does not show. Names of fields are those of the service's API.

  Exit codes: 0, 1 for an error, and with --detailed-exitcode 2 for a difference, and 1 in place of 2 for invalid
  arguments.`;

const TREE = `
  tree reserveddomain/shop                  what listens at a domain, with its modules, policies, backends and tunnels
  tree ippolicy office --up                 what would notice if it went

  The API does not say which tunnel belongs to which session, so sessions stand below the credential that they use.
  Of many tunnels or sessions in one place the first 20 are shown, and all with -o json and -o yaml.`;

const WHY = `
  why tcpedge/ssh                           or: why tcpedge ssh, and several: why tcpedge/ssh tlsedge/db

  Reads the cluster only, so that no key of the account is needed. Also prints what the service answered when it refused
  something, the last events, and when the operator looks again. Only the operator knows the second of that, so it is
  told what makes it look, and how long that may take.`;

const MOVE = `
  move ippolicy team-a/office team-b/office     another namespace
  move ippolicy office headquarters --rewrite -f DIR/
                                                another name, in the manifests too
  move ippolicy team-a/office team-a/office --to-context green
                                                another cluster

  Releases the remote of the old object to the new one, creates that with adopt.from, waits until it is Ready, and
  deletes the old one, if nothing refers to it by name any more. It may end at any moment: run it again to go on.

  With --to-context the new object is in another cluster, whose operator uses the same account. The old one is released
  first. Then this command removes its owner mark from the remote, with the API key of the account: the operator of the
  other cluster writes to nothing with a mark that is not its own. The namespace there needs the right to adopt.

  Exit codes: 0 moved, 1 failed, or the old object stays because others refer to it, 2 invalid arguments.`;

const STATUS = `
  Reads the cluster only, and ends with whether all is well. How many requests go to an account, and when it was listed
  last, the leader writes on its Lease every two seconds, for the 20 busiest accounts. You need the right to list Leases
  for that.`;

const UI = `
  ui --open                                 the page in your browser
  ui --port 0 -n shop                       one namespace, on a port that is free

  The page is for you alone: only this machine reaches it, and only with the token in the printed address. It has your
  rights in the cluster, reads the account once a minute at most, and changes nothing. It ends with Ctrl-C.`;

const UNINSTALL = `
  retain:  take the operator's finalizer off all objects; the account keeps everything. Stop the operator first, or name
           its Deployment in POD_NAMESPACE.
  delete:  delete all objects, and wait until the operator has deleted what they stand for. Where nothing tells whether
           an operator is running, shows the objects and asks. Ends earlier when nothing is under way any more: after 4
           minutes without a change. At the end, stops the Deployment of the operator, if it is named. What is in use,
           and stays so, is released, listed, and left in the account; the exit code is 1.`;

const completionHelp = (name: string): string => `
  bash:  source <(${name} completion bash)
  zsh:   source <(${name} completion zsh)
  fish:  ${name} completion fish | source`;

/** Help is as wide as the terminal. In a pipe it is as wide as people can read. */
const helpWidth = ({ columns }: Terminal): number => columns ?? 100;

/** What stands below the options of a command. */
const note = (text: string, terminal: Terminal) => (): string => wrappedText(text, helpWidth(terminal)).join("\n");

/** Makes commander throw CommanderError instead of ending the process, and print nothing but help. */
const withoutExit = (command: Command, terminal: Terminal): Command =>
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.say(text.trimEnd().split("\n")),
    writeErr: () => {},
    getOutHelpWidth: () => helpWidth(terminal),
    getOutHasColors: () => false,
  });
