package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server"
	cacheddiscovery "k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
)

const (
	resync  = 12 * time.Hour
	refresh = 30 * time.Second
	// a namespace is deleted when it changes; this is for what failed
	namespaceResync = 5 * time.Minute
	workers         = 5
)

// The flags are those of kube-controller-manager, so that callers need not know which of the two they run.
type options struct {
	kubeconfig, privateKeyFile, rootCAFile string
	qps                                    float32
	burst                                  int
	securePort                             int
	leaderElect                            bool
}

func (o *options) register(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the API server")
	flags.StringVar(&o.privateKeyFile, "service-account-private-key-file", "", "the key that signs tokens")
	flags.StringVar(&o.rootCAFile, "root-ca-file", "", "the certificate that tokens come with")
	flags.Float32Var(&o.qps, "kube-api-qps", 20, "requests in a second, for each controller")
	flags.IntVar(&o.burst, "kube-api-burst", 30, "requests at once, for each controller")
	flags.IntVar(&o.securePort, "secure-port", 0, "must be 0: it serves nothing")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "must be false: there is one")
}

// What controllers are made of.
type cluster struct {
	config     *rest.Config
	informers  informers.SharedInformerFactory
	mapper     *restmapper.DeferredDiscoveryRESTMapper
	graph      *garbagecollector.GraphBuilder
	rootCA     []byte
	privateKey string
}

// client has a rate limit of its own.
func (c *cluster) client(name string) kubernetes.Interface {
	return kubernetes.NewForConfigOrDie(rest.AddUserAgent(rest.CopyConfig(c.config), name))
}

func run(given options) error {
	if given.securePort != 0 || given.leaderElect {
		return fmt.Errorf("needs --secure-port=0 and --leader-elect=false")
	}
	ctx := server.SetupSignalContext()
	config, err := clientcmd.BuildConfigFromFlags("", given.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = given.qps, given.burst
	rootCA, err := os.ReadFile(given.rootCAFile)
	if err != nil {
		return err
	}
	shared := kubernetes.NewForConfigOrDie(config)
	metadataClient := metadata.NewForConfigOrDie(config)
	c := &cluster{
		config:     config,
		informers:  informers.NewSharedInformerFactoryWithOptions(shared, resync, informers.WithTransform(trim)),
		mapper:     restmapper.NewDeferredDiscoveryRESTMapper(cacheddiscovery.NewMemCacheClient(shared.Discovery())),
		rootCA:     rootCA,
		privateKey: given.privateKeyFile,
	}
	go wait.UntilWithContext(ctx, func(context.Context) { c.mapper.Reset() }, refresh)

	metadataInformers := metadatainformer.NewSharedInformerFactoryWithOptions(
		metadataClient, resync, metadatainformer.WithTransform(trim))
	all := informerfactory.NewInformerFactory(c.informers, metadataInformers)
	started := make(chan struct{})
	c.graph = garbagecollector.NewDependencyGraphBuilder(
		ctx, metadataClient, c.mapper, garbagecollector.DefaultIgnoredResources(), all, started)

	for name, start := range controllers {
		loop, err := start(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		go loop(ctx)
	}
	all.Start(ctx.Done())
	close(started)
	<-ctx.Done()
	return nil
}

// The managed fields are the larger part of many objects, and no controller reads them.
func trim(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}
