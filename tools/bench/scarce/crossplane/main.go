// A Crossplane provider, for comparison: it manages the two kinds of the bench with the managed reconciler of
// crossplane-runtime, set up as the template for providers sets it up, with the defaults of its flags.
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

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
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

// The defaults of the flags --sync and --max-reconcile-rate. That of --poll is in the bench.
const (
	syncInterval     = time.Hour
	maxReconcileRate = 10
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
	scheme := runtime.NewScheme()
	addToScheme(scheme)
	sync := syncInterval
	provider, err := ctrl.NewManager(ratelimiter.LimitRESTConfig(config, maxReconcileRate), ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache: cache.Options{
			SyncPeriod:        &sync,
			DefaultNamespaces: map[string]cache.Config{os.Getenv("WATCH_NAMESPACES"): {}},
		},
	})
	if err != nil {
		return err
	}
	if err := addControllers(provider); err != nil {
		return err
	}
	if err := serveMetrics(); err != nil {
		return err
	}
	go endWithParent()
	return provider.Start(ctrl.SetupSignalHandler())
}

func addControllers(provider ctrl.Manager) error {
	pollInterval, err := time.ParseDuration(os.Getenv("POLL_INTERVAL"))
	if err != nil {
		return err
	}
	options := controller.Options{
		Logger:                  logging.NewNopLogger(),
		MaxConcurrentReconciles: maxReconcileRate,
		PollInterval:            pollInterval,
		GlobalRateLimiter:       ratelimiter.NewGlobal(maxReconcileRate),
		Features:                &feature.Flags{},
	}
	kinds := map[string]object{
		"/reserved_domains":      &CrossplaneDomain{},
		"/backends/tunnel_group": &CrossplaneTunnelGroup{},
	}
	client := newHTTPClient()
	for path, kind := range kinds {
		service := &service{client, os.Getenv("GATEWAY_BASE_URL") + path, os.Getenv("GATEWAY_API_KEY")}
		if err := addController(provider, kind, service, options); err != nil {
			return err
		}
	}
	return provider.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if !provider.GetCache().WaitForCacheSync(ctx) {
			return ctx.Err()
		}
		say(map[string]any{"msg": "Started", "ts": time.Now().UTC().Format(time.RFC3339Nano)})
		return nil
	}))
}

func addController(provider ctrl.Manager, kind object, service *service, options controller.Options) error {
	groupVersionKind, err := provider.GetClient().GroupVersionKindFor(kind)
	if err != nil {
		return err
	}
	name := managed.ControllerName(groupVersionKind.GroupKind().String())
	reconciler := managed.NewReconciler(provider, resource.ManagedKind(groupVersionKind),
		managed.WithExternalConnector(&external{service}),
		// Without any, for the service assigns the ids: the default is to take the name of the object for the id.
		managed.WithInitializers(),
		managed.WithLogger(options.Logger),
		managed.WithPollInterval(options.PollInterval),
		managed.WithManagementPolicies(),
		managed.WithRecorder(event.NewAPIRecorder(provider.GetEventRecorderFor(name))),
	)
	return ctrl.NewControllerManagedBy(provider).
		Named(name).
		WithOptions(options.ForControllerRuntime()).
		WithEventFilter(resource.DesiredStateChanged()).
		For(kind).
		Complete(ratelimiter.NewReconciler(name, reconciler, options.GlobalRateLimiter))
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
