// Command kubernetes is the API server, kubectl and a controller manager in one program, by the name it is called by. So
// what they share is linked once, and of the controllers only those are compiled that the tests need:
// cmd/kube-controller-manager has a kubelet, a scheduler and drivers of volumes compiled too.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "kube-apiserver":
		os.Exit(cli.Run(app.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(controllerManager()))
	case "kubectl":
		kubectl()
	default:
		fmt.Fprintf(os.Stderr, "%s: no program of this name\n", name)
		os.Exit(1)
	}
}

func kubectl() {
	// kubectl reads its settings before it parses the flags, and logs meanwhile
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}

func controllerManager() *cobra.Command {
	var given options
	command := &cobra.Command{
		Use:          "kube-controller-manager",
		SilenceUsage: true,
		RunE:         func(*cobra.Command, []string) error { return run(given) },
	}
	given.register(command.Flags())
	return command
}
