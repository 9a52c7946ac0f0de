// A small operator on controller-runtime, for comparison: it manages the two kinds of the bench as a good engineer would
// write it for one cluster and one account. It writes the finalizer, sends the POST, and writes the status. It keeps no
// record of a create that is under way, so it may create a remote twice when it is killed.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctrl.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	// No limit of the client's own: the API server has one.
	config.QPS = -1
	resync, err := time.ParseDuration(os.Getenv("RESYNC_INTERVAL"))
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	addToScheme(scheme)
	operator, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{os.Getenv("WATCH_NAMESPACES"): {}}},
	})
	if err != nil {
		return err
	}
	if err := addControllers(operator, resync); err != nil {
		return err
	}
	if err := serveMetrics(); err != nil {
		return err
	}
	go endWithParent()
	return operator.Start(ctrl.SetupSignalHandler())
}

func addControllers(operator ctrl.Manager, resync time.Duration) error {
	kinds := map[string]func() object{
		"/reserved_domains":      func() object { return &PeerDomain{} },
		"/backends/tunnel_group": func() object { return &PeerTunnelGroup{} },
	}
	client := newHTTPClient()
	for path, newObject := range kinds {
		service := &service{client, os.Getenv("GATEWAY_BASE_URL") + path, os.Getenv("GATEWAY_API_KEY")}
		if err := (&reconciler{operator.GetClient(), service, newObject, resync}).setup(operator); err != nil {
			return err
		}
	}
	return operator.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if !operator.GetCache().WaitForCacheSync(ctx) {
			return ctx.Err()
		}
		say(map[string]any{"msg": "Started", "ts": time.Now().UTC().Format(time.RFC3339Nano)})
		return nil
	}))
}

func serveMetrics() error {
	listener, err := net.Listen("tcp", os.Getenv("METRICS_ADDRESS"))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}))
	go func() { _ = http.Serve(listener, mux) }()
	address := listener.Addr().(*net.TCPAddr)
	say(map[string]any{"msg": "Serving metrics and health", "host": address.IP.String(), "port": address.Port})
	return nil
}

// endWithParent ends this process when the bench ends, even if that was killed: the channel of node is closed then.
func endWithParent() {
	if os.Getenv("NODE_CHANNEL_FD") == "" {
		return
	}
	_, _ = io.Copy(io.Discard, os.NewFile(3, "channel"))
	os.Exit(1)
}

// say prints a line that the bench reads.
func say(line map[string]any) {
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}
