// Command argocd has the three programs of Argo CD that the tests run, by the name of its first argument: the controller
// of applications, the server that reads repositories, and the API server, which lists trees of objects and runs actions.
package main

import (
	"os"

	"github.com/spf13/cobra"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	repository "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	server "github.com/argoproj/argo-cd/v3/cmd/argocd-server/commands"
)

func main() {
	command := &cobra.Command{Use: "argocd", SilenceUsage: true}
	command.AddCommand(controller.NewCommand(), repository.NewCommand(), server.NewCommand())
	if err := command.Execute(); err != nil {
		os.Exit(1)
	}
}
